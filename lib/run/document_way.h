#ifndef RUN_DOCUMENT_WAY_H_
#define RUN_DOCUMENT_WAY_H_

#include <stddef.h>

/* Which program turns which documents into text. */

/* Opaque types. */
struct buf;
struct conf;
struct document;

struct document_way {
	const char *mime;
	const char *ending; /* Of the file that the program is given. */

	/* One of the readers of lib/run/read_*.py prints the text of the file
	 * "in.ENDING" (of "in" if that is "") in its working directory... */
	const char *reader;

	/* ...or this shell command; both NULL: the bytes are the text. */
	const char *command;
	int charset; /* The command wants "$charset". */
};

/* What it exits with, besides 0 and, for all else, a broken document. */
#define DOCUMENT_EXIT_LOCKED 65  /* A password is needed. */
#define DOCUMENT_EXIT_UNKNOWN 66 /* It is of a kind that nothing reads. */
#define DOCUMENT_EXIT_ABSENT 127 /* A program is not installed. */

#define DOCUMENT_COMMAND_MAX 65536

/* Prints the names of the images that it makes of a PDF without text. */
extern const struct document_way document_way_pages;

/**
 * document_way(c, d, way):
 * Fill in the ${way} to read ${d}, which document_look() has seen: one of the
 * setting documents.converters, else of the table here.  Return 0, or -1 if
 * nothing can.
 */
int document_way(
    const struct conf *, const struct document *, struct document_way *);

/**
 * document_way_type(i):
 * The media type of the row ${i} of the table; NULL past its end.
 */
const char *document_way_type(size_t);

/**
 * document_way_put(b, way, charset, max):
 * Append the shell command that reads a document of that ${charset} (NULL: it
 * has none) in this ${way}, of whose text ${max} bytes count.  Return 0 or -1.
 */
int document_way_put(
    struct buf *, const struct document_way *, const char *, size_t);

#endif /* !RUN_DOCUMENT_WAY_H_ */
