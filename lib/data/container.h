#ifndef DATA_CONTAINER_H_
#define DATA_CONTAINER_H_

#include <stddef.h>
#include <stdint.h>

#include "data/file.h"
#include "data/rc.h"

/*
 * Containers as rows (executor contract 4.4).  The row is the truth, a live
 * sandbox session a cache of it: what the session held is put together again
 * from container_file when it has been lost.
 *
 * One request at a time works in a container.  It holds a lease, a token that
 * is good for CONTAINER_LEASE_MS and renewed meanwhile (run/leases.h); what it
 * writes to the row asks for that token.  Times are the database's, Unix ms.
 *
 * A public id is 20 of [0-9a-z] after "container_gw_" or "cntr_gw_", which name
 * the same.
 */

/* Opaque types. */
struct arena;
struct db;

#define CONTAINER_IDLEN 20
#define CONTAINER_PRINTMAX 40
#define CONTAINER_LEASE_MS 45000
#define CONTAINER_FILES_MAX 1000 /* That a container remembers. */
#define CONTAINER_PATHMAX 1024

struct container {
	uint64_t row;
	const char *id; /* Without a prefix. */
	const char *name;
	const char *memory;  /* As it was asked for: "1g". */
	const char *session; /* NULL: none yet.  "": the one it had is lost. */
	uint64_t idle_s;     /* It expires so long after its last use. */
	uint64_t created, last_active, expires, ends;
	uint64_t lease; /* Ours; 0: not held. */
};

/* What container_create() is told. */
struct container_new {
	const char *name, *memory;
	uint64_t idle_s, life_s;
	int lease; /* Begin with it held. */
};

/**
 * container_id_bare(s):
 * The id inside ${s} after one of our prefixes, whatever it holds; NULL if
 * there is none.
 */
const char *container_id_bare(const char *);

/**
 * container_create(db, mem, owner, new, now, c):
 * Make a container and fill in ${c}.  DATA_OK, DATA_DOWN, DATA_UNSURE or
 * DATA_FAIL.
 */
enum data_rc container_create(struct db *, struct arena *, const struct owner *,
    const struct container_new *, uint64_t, struct container *);

/**
 * container_find(db, mem, owner, id, now, c):
 * Look up the container with the bare ${id}.  DATA_OK; DATA_EXPIRED with ${c}
 * filled in; DATA_NONE; DATA_DOWN; DATA_FAIL.
 */
enum data_rc container_find(struct db *, struct arena *, const struct owner *,
    const char *, uint64_t, struct container *);

/**
 * container_forgotten(db, id, now):
 * May the bare ${id}, which its caller does not have, be that of a container
 * that is over and forgotten?  DATA_OK; DATA_NONE if nobody can ever have had
 * it, if it has been deleted, or if it is alive and somebody else's; DATA_DOWN;
 * DATA_FAIL.
 */
enum data_rc container_forgotten(struct db *, const char *, uint64_t);

/**
 * container_lease(db, mem, owner, id, now, c):
 * The same, taking the lease.  DATA_STATE: somebody else holds it.
 */
enum data_rc container_lease(struct db *, struct arena *, const struct owner *,
    const char *, uint64_t, struct container *);

/**
 * container_renew(db, row, lease):
 * Keep the lease for another while, by the database's own clock.
 */
enum data_rc container_renew(struct db *, uint64_t, uint64_t);

/**
 * container_note(db, c, session):
 * Note the ${session} that works for the leased ${c} now, so that it is found
 * again should whoever holds the lease die.
 */
enum data_rc
container_note(struct db *, const struct container *, const char *);

/**
 * container_release(db, c, now):
 * Give the lease up, note ${c}->session, and move its expiry.  DATA_OK;
 * DATA_STATE: the lease had lapsed, and the session is not noted.
 */
enum data_rc container_release(struct db *, struct container *, uint64_t);

/**
 * container_drop(db, c):
 * Remove the leased ${c}, which nobody was ever told of.
 */
enum data_rc container_drop(struct db *, const struct container *);

/**
 * container_delete(db, owner, id, now):
 * Make a container dead for everybody.  DATA_OK, DATA_NONE, DATA_DOWN,
 * DATA_UNSURE, DATA_FAIL.
 */
enum data_rc
container_delete(struct db *, const struct owner *, const char *, uint64_t);

/**
 * container_sessions(db, mem, owner, c, now, n):
 * Set ${n} to the number of containers of ${owner} that have a session, or are
 * leased and about to have one; of the latter those made before ${c} alone, so
 * that of several at once one goes ahead.  ${c} is not counted.  DATA_OK,
 * DATA_DOWN, DATA_FAIL.
 */
enum data_rc container_sessions(struct db *, struct arena *,
    const struct owner *, const struct container *, uint64_t, uint64_t *);

/**
 * container_evict(db, mem, owner, now, session):
 * Take the session away from the container of ${owner} (NULL: of anybody) that
 * has been idle longest, and set ${session}: the caller must end it, and the
 * container's next request learns that it had one.  DATA_OK; DATA_NONE: none is
 * idle; DATA_DOWN; DATA_FAIL.
 */
enum data_rc container_evict(
    struct db *, struct arena *, const struct owner *, uint64_t, const char **);

/* One page of the list, by (created, id). */
struct container_query {
	const struct owner *owner;
	const char *after; /* Bare id, exclusive; NULL = from the end. */
	int ascending;
	size_t limit;
	uint64_t now;
};

/**
 * container_list(db, mem, q, c, n):
 * Fill in the next at most ${q}->limit live containers and set ${n}.
 * DATA_NONE: ${q}->after is none of the owner's.
 */
enum data_rc container_list(struct db *, struct arena *,
    const struct container_query *, struct container *, size_t *);

/* ---- What lies in one */

struct container_file {
	const char *path; /* Below /mnt/data. */
	const char *id;   /* The file's, without a prefix. */
	int produced;     /* By code; else put there for it. */
	uint64_t created;
	struct file file; /* If ${rc} is DATA_OK. */
	enum data_rc rc;  /* What file_find() would say. */
};

/* A file that is put into one. */
struct container_put {
	const char *id;   /* Without a prefix. */
	const char *path; /* Below /mnt/data. */
	int produced;
};

/**
 * container_file_put(db, row, put, n, now):
 * Note that the ${n} files ${put} lie in the container ${row}, in place of
 * whatever did; all or none, by one commit.
 */
enum data_rc container_file_put(
    struct db *, uint64_t, const struct container_put *, size_t, uint64_t);

/**
 * container_file_drop(db, row, id):
 * Forget it.  DATA_NONE: it was not there.
 */
enum data_rc container_file_drop(struct db *, uint64_t, const char *);

/**
 * container_files(db, mem, owner, row, now, f, n):
 * Set ${f} and ${n} to all that the container ${row} remembers, oldest first.
 */
enum data_rc container_files(struct db *, struct arena *, const struct owner *,
    uint64_t, uint64_t, struct container_file **, size_t *);

/**
 * container_files_page(db, mem, q, row, f, n):
 * One page of the live ones: ${q}->after is the file's id.
 */
enum data_rc container_files_page(struct db *, struct arena *,
    const struct container_query *, uint64_t, struct container_file *,
    size_t *);

/**
 * container_file_find(db, mem, owner, row, id, now, f):
 * Find the file ${id} in the container ${row}.  DATA_OK, DATA_NONE (also where
 * the file has died), DATA_DOWN, DATA_FAIL.
 */
enum data_rc
container_file_find(struct db *, struct arena *, const struct owner *, uint64_t,
    const char *, uint64_t, struct container_file *);

#endif /* !DATA_CONTAINER_H_ */
