#ifndef FCGI_UPLOAD_BODY_H_
#define FCGI_UPLOAD_BODY_H_

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "http/filename.h"
#include "http/mediatype.h"
#include "io/blob.h"

/*
 * A multipart body taken apart as it arrives: one part's bytes go into a blob,
 * hashed and counted on the way, the small text fields are kept.  Fields may
 * come before or after the bytes, so nothing is judged until the body is over;
 * until then the bytes are a temporary blob.  Memory is the same for any size.
 *
 *	upload_body_read	-> fields, bytes counted, last bytes in memory
 *	(the handler judges the fields)
 *	upload_body_commit	-> the blob is durable, the hash is known
 *	(the handler makes the row live)
 *	upload_body_free	-> whatever was not committed goes
 */

/* Opaque types. */
struct multipart_part;
struct req;

#define UPLOAD_FIELD_MAX 65536
#define UPLOAD_FRAMING (1024 * 1024) /* What a body may be longer. */

/* A text field that the handler wants. */
struct upload_field {
	const char *name;
	const char *value; /* Of the first so named; NULL: none came. */
	size_t count;
};

/* What the handler does for a body; each returns 0, or -1 after answering. */
struct upload_hooks {
	/* The part's header has come. */
	int (*header)(struct req *, void *, const struct multipart_part *);
	/* Commit the row that holds the key, before its first byte is
	 * written, and set its number. */
	int (*begin)(struct req *, void *, const char *, uint64_t *);
	/* Remove that row, once its bytes have gone.  Returns nothing. */
	void (*drop)(struct req *, uint64_t);
};

struct upload_body {
	/* Set by the caller; the rest 0. */
	struct req *r;
	const char *part; /* Name of the part with the bytes. */
	uint64_t max;     /* Bytes it may have. */
	struct upload_field *field;
	size_t nfields;
	const struct upload_hooks *hooks;
	void *cookie;
	const struct upload_field *instead; /* One that will do without a file;
						NULL: none. */

	/* Found. */
	uint64_t bytes;
	char sha256[HASH_SIZE]; /* After upload_body_commit(). */
	char key[BLOB_KEYLEN + 1];
	uint64_t row; /* 0: none was begun. */

	/* The reader's own. */
	size_t seen;
	int where, committed;
	size_t index, field_len;
	char *field_text;
	struct hash *hash;
	struct blob *blob;
	unsigned char *held; /* Bytes not yet in the blob. */
	size_t nheld;
};

/**
 * upload_body_name(r, part, name, mime):
 * How the file of ${part} will be called, and its type.  Return 0, or -1 after
 * answering.
 */
int upload_body_name(struct req *, const struct multipart_part *,
    char[static FILENAME_SIZE], char[static MEDIATYPE_SIZE]);

/**
 * upload_file_begin(r, cookie, key, row), upload_file_drop(r, row):
 * Hooks for a body that becomes a file of the caller's.
 */
int upload_file_begin(struct req *, void *, const char *, uint64_t *);
void upload_file_drop(struct req *, uint64_t);

/**
 * upload_body_read(u):
 * Read ${u}->r's body.  Return 0 if it was whole and had one part named
 * ${u}->part that is not empty (or none, but the field ${u}->instead); or -1
 * after answering what was wrong, nothing being left behind once
 * upload_body_free() has been called.
 */
int upload_body_read(struct upload_body *);

/**
 * upload_body_commit(u):
 * Make the blob durable.  Return 0 with ${u}->sha256 set, ${u}->key being a
 * blob that the caller must now name in a live row or give to
 * upload_body_undo(); or -1 after answering.
 */
int upload_body_commit(struct upload_body *);

/**
 * upload_body_undo(u):
 * Remove the blob that upload_body_commit() made durable and its row.
 */
void upload_body_undo(struct upload_body *);

/**
 * upload_body_free(u):
 * Free what ${u} holds, dropping a blob that was not committed and its row.
 */
void upload_body_free(struct upload_body *);

#endif /* !FCGI_UPLOAD_BODY_H_ */
