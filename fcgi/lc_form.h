#ifndef FCGI_LC_FORM_H_
#define FCGI_LC_FORM_H_

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "http/mediatype.h"
#include "http/place.h"
#include "io/blob.h"

/*
 * A form with several files, taken apart as it arrives: the bytes of each go
 * into a blob of its own, durable when its part is over, under a row
 * "uploading".  What is wrong with one file is noted and the others go on.
 */

/* Opaque types. */
struct hash;
struct req;

#define LC_FORM_FILES 200 /* More are counted and left out. */
#define LC_FORM_FIELD 1024

enum lc_field {
	LC_F_KIND,
	LC_F_ID,
	LC_F_VERSION,
	LC_F_READ_ONLY,
	LC_F_ENTITY,
	LC_FIELDS
};

struct lc_file {
	char place[PLACE_SIZE], mime[MEDIATYPE_SIZE];
	char key[BLOB_KEYLEN + 1], sha256[HASH_SIZE];
	uint64_t row, bytes;
	int too_big;   /* Its bytes have been dropped. */
	int committed; /* There is a blob. */
};

struct lc_form {
	struct req *r;
	size_t most; /* Files taken. */

	/* Found. */
	const char *field[LC_FIELDS]; /* NULL: not given. */
	struct lc_file *file[LC_FORM_FILES];
	size_t n, over; /* Files taken, and left out. */

	/* The reader's own. */
	int where;
	size_t field_at, held_n;
	char *held; /* Of a field, or of a file not yet written. */
	struct hash *hash;
	struct blob *blob;
};

/**
 * lc_form_read(f):
 * Read the body of ${f}->r.  Return 0, or -1 after answering.  Whatever the
 * outcome, lc_form_free() must follow.
 */
int lc_form_read(struct lc_form *);

/**
 * lc_form_undo(f):
 * Remove what was stored, rows and bytes.
 */
void lc_form_undo(struct lc_form *);

/**
 * lc_form_free(f):
 * Free what ${f} holds.
 */
void lc_form_free(struct lc_form *);

#endif /* !FCGI_LC_FORM_H_ */
