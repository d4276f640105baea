#ifndef FCGI_SANDBOX_CALL_H_
#define FCGI_SANDBOX_CALL_H_

#include <stdint.h>

#include "jail/errand.h"

#include "fcgi/sandbox.h"

/* File operations: what a handler and a session's supervisor say to each other.
 */

struct file_call {
	struct sbx_req *r;
	struct errand er;
	struct msg done; /* What DONE held; points into er.body. */
};

/**
 * call_begin(c, op, path, rc):
 * Have the supervisor of ${c}->r's session begin with ${op} on ${path} (may be
 * NULL).  Return 0, with ${c}->er to be ended; or -1 with ${rc} set to what the
 * handler shall return.
 */
int call_begin(struct file_call *, enum op, const char *, int *);

/**
 * call_next(c, tag):
 * Wait for the next frame; DONE is read into ${c}->done.
 */
enum errand_rc call_next(struct file_call *, enum frame_tag *);

/**
 * call_status(c):
 * The enum reply that DONE held.
 */
uint64_t call_status(const struct file_call *);

/**
 * call_answer(r, status), call_answer_rc(r, rc):
 * Answer for a supervisor's reply that is not REPLY_OK, or for an errand that
 * is not ERRAND_OK.  Return what the handler shall.
 */
int call_answer(struct sbx_req *, uint64_t);
int call_answer_rc(struct sbx_req *, enum errand_rc);

#endif /* !FCGI_SANDBOX_CALL_H_ */
