#ifndef DATA_QUOTA_H_
#define DATA_QUOTA_H_

#include <stdint.h>

#include "data/rc.h"
#include "io/db.h"

/*
 * What an owner holds: live files, and the parts of uploads that are pending.
 * The database adds it up from two indexes (file_quota and upload_quota), which
 * hold all that is asked of them; nothing is counted along that could go wrong.
 */

/* Opaque type. */
struct arena;

struct quota {
	const struct owner *owner;
	uint64_t most;    /* Bytes that may be held. */
	uint64_t add;     /* Bytes that are to come. */
	uint64_t joining; /* Row of an upload whose parts these were; 0. */
};

/**
 * quota_check(tx, mem, q):
 * Inside a transaction see whether there is room.  Until it is over every other
 * check of this owner waits, or on another node fails to commit: two that race
 * for the last bytes see each other.  DB_OK, DB_STOP if there is no room, or a
 * failure.
 */
enum db_rc quota_check(struct db *, struct arena *, const struct quota *);

#endif /* !DATA_QUOTA_H_ */
