#ifndef IO_STORE_MARK_H_
#define IO_STORE_MARK_H_

#include "io/blob.h"

/*
 * The mark of a store: one line in a file of its root that says which database
 * the store belongs to.  An empty mount point has none, so a store whose
 * filesystem is not mounted is told from an empty one.
 */

#define STORE_MARK ".satchel-store" /* In the root. */
#define STORE_MARKLEN BLOB_KEYLEN   /* Lower-case hex digits. */

/**
 * store_expect(S, mark):
 * From now on ${S} is away (BLOB_AWAY, with a line in the log) whenever its
 * root bears another mark than ${mark} or none.  Looked at as often as the root
 * itself is, once a second.
 */
void store_expect(struct store *, const char[static STORE_MARKLEN + 1]);

/**
 * store_expects(S):
 * Has store_expect() been called for ${S}?
 */
int store_expects(struct store *);

/**
 * store_mark_read(S, mark):
 * Set ${mark} to what the root of ${S} bears, whatever is expected.  BLOB_GONE
 * if it bears none, or what it bears makes no sense; BLOB_AWAY if there is no
 * root, or it cannot be looked at.
 */
enum blob_rc store_mark_read(struct store *, char[static STORE_MARKLEN + 1]);

/**
 * store_mark_write(S, mark):
 * Give the root of ${S} the ${mark}, durably, in place of any other.  BLOB_OK,
 * BLOB_FULL or BLOB_AWAY.
 */
enum blob_rc
store_mark_write(struct store *, const char[static STORE_MARKLEN + 1]);

#endif /* !IO_STORE_MARK_H_ */
