#ifndef RUN_DOCUMENT_KIND_H_
#define RUN_DOCUMENT_KIND_H_

#include <stddef.h>

/*
 * What a document is.  Its bytes decide; its name and the type that it was
 * given count where the bytes leave it open.
 */

/* What is known of one. */
struct document_facts {
	const char *name, *mime; /* The type may have parameters. */
	const char *head;        /* The bytes that it begins with... */
	size_t head_len;
	int whole;        /* ...which are all. */
	const char *tail; /* Those that a large zip file ends with. */
	size_t tail_len;
};

struct document_kind {
	const char *type; /* Its media type; may be mime of the facts. */
	int text;         /* It is text in the encoding of charset_of(). */
};

/* Old files of Microsoft's, and new ones with a password: nobody says so, as
 * browsers call other files application/vnd.ms-excel. */
#define DOCUMENT_OLE "application/x-ole-storage"

#define DOCUMENT_HEAD 65536 /* Bytes of either end that suffice. */

/**
 * document_kind(f):
 * What the document of these facts is.
 */
struct document_kind document_kind(const struct document_facts *);

/**
 * document_is_zip(p, len):
 * Do the ${len} bytes at ${p} begin a zip file, whose end tells more?
 */
int document_is_zip(const char *, size_t);

/**
 * document_is_type(mime, want):
 * Is the media type ${mime}, its parameters aside, ${want}?
 */
int document_is_type(const char *, const char *);

#endif /* !RUN_DOCUMENT_KIND_H_ */
