#ifndef FCGI_SHARE_H_
#define FCGI_SHARE_H_

#include <stddef.h>
#include <stdint.h>

/*
 * What one key or one user may have of a process at once (gate.h says how
 * much): its threads, and memory for bodies that are held as a whole.  A
 * request beyond the share waits for some seconds and is then refused.
 */

/* Opaque types. */
struct req;
struct shares;

enum share_kind {
	SHARE_KEY,   /* Threads, by the key that was shown. */
	SHARE_OWNER, /* Threads, by the user that it is for. */
	SHARE_BULK,  /* Memory, by that user. */
	SHARE_KINDS
};

/**
 * shares_new(threads, bulk):
 * The shares of a process with that many threads and ${bulk} bytes of memory
 * for large bodies, or NULL if memory ran out.
 */
struct shares *shares_new(size_t, uint64_t);

/**
 * shares_free(S):
 * Free ${S}, which nobody may be using.  NULL is allowed.
 */
void shares_free(struct shares *);

/**
 * share_enter_key(r), share_enter_owner(r):
 * Count the thread that serves ${r} for its caller's key, or for the user whom
 * the caller acts for (again if that is another now).  Return 0, or -1 after
 * answering 429.
 */
int share_enter_key(struct req *);
int share_enter_owner(struct req *);

/**
 * share_bulk(r, bytes):
 * About ${bytes} of memory are needed until ${r} is answered.  Return 0, or -1
 * after answering 429 or 503.
 */
int share_bulk(struct req *, uint64_t);

/**
 * share_leave(r):
 * Give back what ${r} holds.
 */
void share_leave(struct req *);

#endif /* !FCGI_SHARE_H_ */
