#ifndef DATA_CODE_CALL_H_
#define DATA_CODE_CALL_H_

#include <stddef.h>
#include <stdint.h>

#include "data/rc.h"

/*
 * Runs of code kept for a later request (executor contract section 6), by the
 * id that the caller was shown; several under one id are told apart by their
 * number.  What the columns hold is run/remember.h's.
 */

/* Opaque types. */
struct arena;
struct db;

struct code_call {
	const char *id;
	uint64_t nth;
	const char *container; /* Bare id; NULL: none. */
	uint64_t tool, kind;
	/* UTF-8 without NULs, each within a MEDIUMBLOB. */
	const char *input, *facts, *out, *err;
};

/**
 * code_call_put(db, owner, c, now, expires):
 * Keep ${c} until ${expires}, in place of one of that id and number.  DATA_OK,
 * DATA_DOWN, DATA_UNSURE or DATA_FAIL.
 */
enum data_rc code_call_put(struct db *, const struct owner *,
    const struct code_call *, uint64_t, uint64_t);

/**
 * code_call_find(db, mem, owner, id, nth, now, c):
 * Find ${owner}'s own.  DATA_OK, DATA_NONE (also once it has expired),
 * DATA_DOWN or DATA_FAIL.
 */
enum data_rc code_call_find(struct db *, struct arena *, const struct owner *,
    const char *, uint64_t, uint64_t, struct code_call *);

#endif /* !DATA_CODE_CALL_H_ */
