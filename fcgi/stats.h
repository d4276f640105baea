#ifndef FCGI_STATS_H_
#define FCGI_STATS_H_

#include <stddef.h>
#include <stdint.h>

/*
 * Counters of a pool of processes, in memory that its parent shares with all
 * its children.  What a child counted stays when it ends; only what it had in
 * hand at that moment is forgotten.
 */

/* Opaque types. */
struct buf;
struct route;
struct stats;

/**
 * stats_new(pool):
 * Make counters, all zero, for the pool named ${pool} (a literal); call it
 * before the first fork.  Return NULL after logging why not.
 */
struct stats *stats_new(const char *);

/**
 * stats_begin(s, slot), stats_end(s, slot, rt, status, us, in, out):
 * A request began in the process ${slot}; it was answered ${status} after ${us}
 * microseconds, with so many bytes read and sent.  NULL for ${s} is allowed.
 */
void stats_begin(struct stats *, size_t);
void stats_end(struct stats *, size_t, const struct route *, int, uint64_t,
    uint64_t, uint64_t);

/**
 * stats_gone(s, slot):
 * The process ${slot} has ended and has nothing in hand any more.
 */
void stats_gone(struct stats *, size_t);

/**
 * stats_print(s, b):
 * Append all counters as Prometheus text.  Return 0, or -1 with ${b} spoiled.
 */
int stats_print(const struct stats *, struct buf *);

#endif /* !FCGI_STATS_H_ */
