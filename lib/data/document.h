#ifndef DATA_DOCUMENT_H_
#define DATA_DOCUMENT_H_

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "data/rc.h"

/*
 * What documents say, read once for a workspace: a cache by the SHA-256 of a
 * document's bytes and by the way it was read.  It is not shared further, for
 * how soon a text is there would tell that others have an equal document.
 */

/* Opaque types. */
struct arena;
struct db;

struct document_key {
	uint64_t workspace;
	char sha256[HASH_SIZE]; /* Of the bytes. */
	char way[HASH_SIZE];    /* Of what describes the way. */
};

#define DOCUMENT_MAX (4U << 20) /* Bytes of a text. */

/**
 * document_find(db, mem, key, said):
 * Set ${said} to the text of ${key} in ${mem}.  DATA_OK, DATA_NONE, DATA_DOWN
 * or DATA_FAIL.
 */
enum data_rc document_find(
    struct db *, struct arena *, const struct document_key *, const char **);

/**
 * document_keep(db, key, said, now):
 * Keep ${said} (at most DOCUMENT_MAX bytes, without NUL) under ${key}.
 */
enum data_rc
document_keep(struct db *, const struct document_key *, const char *, uint64_t);

#endif /* !DATA_DOCUMENT_H_ */
