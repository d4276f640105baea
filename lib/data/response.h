#ifndef DATA_RESPONSE_H_
#define DATA_RESPONSE_H_

#include <stddef.h>
#include <stdint.h>

#include "data/rc.h"

/*
 * Answers of the Responses dialect, kept so that their callers can name them
 * later (executor contract 9.3 a).  An id is 20 of [0-9a-z] after "resp_gw_".
 */

/* Opaque types. */
struct arena;
struct db;

#define RESPONSE_IDLEN 20
#define RESPONSE_SEEDLEN 12 /* Of an id, which its items' ids share. */

struct stored_response {
	const char *id;   /* Without its prefix. */
	const char *body; /* The object as it was sent, JSON text. */
	size_t body_len;
	const char *input; /* The items it answered, a JSON array. */
	size_t input_len;
	uint64_t created, expires; /* Unix ms. */
};

/**
 * response_id_bare(s):
 * The id inside ${s}, whatever it holds; NULL if it has not our prefix.
 */
const char *response_id_bare(const char *);

/**
 * response_keep(db, owner, previous, s):
 * Keep ${s}, which goes on from ${previous} (bare id) unless that is NULL.
 * DATA_OK, DATA_DOWN, DATA_UNSURE or DATA_FAIL.
 */
enum data_rc response_keep(struct db *, const struct owner *, const char *,
    const struct stored_response *);

/**
 * response_find(db, mem, owner, id, now, s):
 * Find ${owner}'s own with the bare ${id}.  DATA_OK, DATA_NONE (also once it
 * has expired), DATA_DOWN or DATA_FAIL.
 */
enum data_rc response_find(struct db *, struct arena *, const struct owner *,
    const char *, uint64_t, struct stored_response *);

/**
 * response_find_seed(db, mem, owner, seed, now, s):
 * As response_find() for the one whose id begins with the RESPONSE_SEEDLEN
 * characters ${seed}; its input is not read.
 */
enum data_rc response_find_seed(struct db *, struct arena *,
    const struct owner *, const char *, uint64_t, struct stored_response *);

/**
 * response_prolong(db, owner, id, expires):
 * Keep it until ${expires} at least.  DATA_OK, DATA_DOWN or DATA_FAIL.
 */
enum data_rc
response_prolong(struct db *, const struct owner *, const char *, uint64_t);

/**
 * response_drop(db, owner, id, now):
 * Forget it.  DATA_OK for one of several callers at once, DATA_NONE for the
 * others.
 */
enum data_rc
response_drop(struct db *, const struct owner *, const char *, uint64_t);

#endif /* !DATA_RESPONSE_H_ */
