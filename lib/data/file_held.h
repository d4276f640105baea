#ifndef DATA_FILE_HELD_H_
#define DATA_FILE_HELD_H_

#include <stdint.h>

#include "data/rc.h"

/*
 * Files that a model provider holds: its own sandbox wrote them, its reply
 * named them, and their bytes are fetched from there.  Such a row is of origin
 * FILE_PROVIDER, has the provider's id as its own, and no bytes in the store
 * unless they have been copied.
 */

/* Opaque types. */
struct arena;
struct db;

struct file_held {
	const char *id; /* The provider's. */
	const char *name, *mime;
	const char *vendor;    /* "anthropic" or "openai" */
	const char *provider;  /* The name of the configured one. */
	const char *container; /* NULL: none is needed. */
	uint64_t lifetime_s;   /* 0: does not expire. */
};

/**
 * file_held_record(db, owner, h, now, row):
 * Record ${h} as ${owner}'s and set ${row}.  DATA_OK; DATA_TAKEN if this owner
 * has a file of that id; DATA_DOWN; DATA_FAIL.
 */
enum data_rc file_held_record(struct db *, const struct owner *,
    const struct file_held *, uint64_t, uint64_t *);

/**
 * file_held_find(db, mem, row, h):
 * Fill in where the bytes of the file row ${row} are.  DATA_OK; DATA_NONE if it
 * is not a provider's; DATA_DOWN; DATA_FAIL.
 */
enum data_rc
file_held_find(struct db *, struct arena *, uint64_t, struct file_held *);

/**
 * file_held_learn(db, row, bytes):
 * The file's length has been seen.
 */
void file_held_learn(struct db *, uint64_t, uint64_t);

/**
 * file_held_name(db, row, name, mime):
 * Its provider has told the file's name and type.
 */
void file_held_name(struct db *, uint64_t, const char *, const char *);

/**
 * file_held_keep(db, row, key, bytes, sha256):
 * The bytes of ${row} have been copied to the blob ${key}.  DATA_OK; DATA_STATE
 * if the row is no longer live or has bytes already: the blob is then nobody's;
 * DATA_DOWN; DATA_FAIL.
 */
enum data_rc
file_held_keep(struct db *, uint64_t, const char *, uint64_t, const char *);

#endif /* !DATA_FILE_HELD_H_ */
