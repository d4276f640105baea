#ifndef HTTP_MULTIPART_H_
#define HTTP_MULTIPART_H_

#include <stddef.h>

/*
 * multipart/form-data read as it arrives, in pieces of any size.  A part's
 * bytes are handed on at once and never kept; memory is one part header.
 * Strict where a guess could change a file: a body without its closing
 * delimiter is incomplete, whatever the transport said.
 */

#define MULTIPART_BOUNDARY_MAX 70
#define MULTIPART_HEADER_MAX 16384
#define MULTIPART_PARTS_MAX 32
#define MULTIPART_IGNORED_MAX 65536 /* Before, between and behind the parts. */

/* Opaque type. */
struct multipart;

enum multipart_rc {
	MULTIPART_OK,
	MULTIPART_STOP,       /* A callback said so. */
	MULTIPART_TYPE,       /* The body is not multipart/form-data. */
	MULTIPART_BOUNDARY,   /* No boundary, or not 1 to 70 characters. */
	MULTIPART_MALFORMED,  /* Not what RFC 7578 says. */
	MULTIPART_NAME_BREAK, /* A raw CR or LF inside a quoted name. */
	MULTIPART_ENCODING,   /* A Content-Transfer-Encoding that encodes. */
	MULTIPART_HEADER_BIG, /* A part header over MULTIPART_HEADER_MAX. */
	MULTIPART_PARTS,      /* More parts than allowed. */
	MULTIPART_IGNORED,    /* Over MULTIPART_IGNORED_MAX outside of parts. */
	MULTIPART_EMPTY,      /* Not one byte came. */
	MULTIPART_INCOMPLETE, /* No closing delimiter. */
	MULTIPART_MEMORY
};

/*
 * What a part's header says.  Each text has a NUL after its length but may hold
 * NULs; NULL if the header does not say it.
 */
struct multipart_part {
	const char *name;     /* The field's; holds no NUL. */
	const char *filename; /* Quotes and \" \\ undone, nothing else. */
	size_t filename_len;
	const char *filename_ext; /* The value of filename*, undecoded. */
	size_t filename_ext_len;
	const char *type; /* The value of Content-Type. */
	size_t type_len;
};

/*
 * Who is told.  Each returns 0 to go on or another number to stop.  ${part} and
 * the bytes are valid during the call only.
 */
struct multipart_cb {
	int (*begin)(void *, const struct multipart_part *);
	int (*data)(void *, const char *, size_t);
	int (*end)(void *);
	void *cookie;
	size_t parts; /* At most; 0: MULTIPART_PARTS_MAX. */
};

/**
 * multipart_new(content_type, cb, M):
 * Begin to read a body whose Content-Type header is ${content_type} (may be
 * NULL) and set ${M}, to be freed by multipart_free().  MULTIPART_OK,
 * MULTIPART_TYPE, MULTIPART_BOUNDARY or MULTIPART_MEMORY; ${M} is NULL unless
 * OK.
 */
enum multipart_rc
multipart_new(const char *, const struct multipart_cb *, struct multipart **);

/**
 * multipart_feed(M, p, len):
 * Read the next ${len} bytes of the body.  MULTIPART_OK; MULTIPART_STOP; or
 * what is wrong.  After anything but OK every further call returns the same.
 */
enum multipart_rc multipart_feed(struct multipart *, const char *, size_t);

/**
 * multipart_end(M):
 * The body is over.  MULTIPART_OK if it was whole, else what was wrong with it.
 */
enum multipart_rc multipart_end(struct multipart *);

/**
 * multipart_text(rc):
 * A sentence for the caller about ${rc}, without a full stop.
 */
const char *multipart_text(enum multipart_rc);

/**
 * multipart_free(M):
 * Free ${M}.  NULL is allowed.
 */
void multipart_free(struct multipart *);

#endif /* !HTTP_MULTIPART_H_ */
