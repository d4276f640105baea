#ifndef FCGI_RATE_H_
#define FCGI_RATE_H_

#include <stddef.h>
#include <stdint.h>

/*
 * How much each user may ask for, counted in windows of fixed length by all
 * processes of a pool together, in memory that they share.  With more users at
 * once than there are places the one who has been quiet longest is forgotten,
 * which lets somebody through but refuses nobody.
 */

/* Opaque type. */
struct rates;

/* In the order of struct conf's lc_rate. */
enum rate_kind { RATE_EXEC, RATE_UPLOAD, RATE_DOWNLOAD, RATE_READ, RATE_KINDS };

/**
 * rates_new():
 * Return counters that processes forked from now on share, or NULL after
 * logging why not.
 */
struct rates *rates_new(void);

/**
 * rate_take(rates, kind, user, most, now_ms):
 * Count one for ${user} at ${now_ms}, unless ${rates} is NULL or ${most} is 0.
 * Return 0; or, if he has had ${most} in this window, the seconds until the
 * next.  Safe from any thread.
 */
unsigned int
rate_take(struct rates *, enum rate_kind, uint64_t, uint64_t, uint64_t);

/**
 * rate_noun(kind):
 * What is counted, as in "Too many executions".
 */
const char *rate_noun(enum rate_kind);

#endif /* !FCGI_RATE_H_ */
