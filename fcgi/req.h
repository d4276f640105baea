#ifndef FCGI_REQ_H_
#define FCGI_REQ_H_

#include <stddef.h>
#include <stdint.h>

#include <json.h>

#include "base/log.h"
#include "base/jshape.h"
#include "base/buf.h"
#include "data/caller.h"
#include "data/file.h"
#include "http/query.h"
#include "speech/dialect.h"

#include "fcgi/io.h"
#include "fcgi/share.h"

/* Opaque types. */
struct arena;
struct conf;
struct db;
struct gate;
struct jwk_ring;
struct rates;
struct seats;
struct leases;
struct route;
struct shares;
struct stats;
struct store;

#define REQ_MAXARGS 3

/* What a worker process holds for all its requests. */
struct server {
	const struct conf *conf;
	struct db *db;
	struct store *store;
	struct leases *leases; /* NULL: plain CGI. */
	int xaccel_ok;         /* Behind a front that takes X-Accel-Redirect. */

	struct rates *rates;  /* NULL: nobody is limited (plain CGI). */
	struct seats *seats;  /* NULL: the same. */
	struct jwk_ring *jwk; /* Of LibreChat's tokens; NULL: none are taken. */
	struct gate *gate;    /* Of body readers; NULL: no limit. */
	struct shares *shares; /* Of all else; NULL: no limit. */
	struct stats *stats;   /* NULL: nothing is counted (plain CGI). */
	size_t slot;           /* Whose counters are this process's. */

	_Atomic int schema; /* The schema's number has been seen to fit... */
	_Atomic uint64_t schema_next; /* ...or is not looked at before, ms. */
};

/* How a body comes in; body.c's own. */
struct req_body {
	int held;     /* What of the gate is ours: enum gate_rc. */
	int hurry;    /* It must be over soon, whatever is ours. */
	uint64_t who; /* The user whom that counts for. */
	uint64_t waited_ms, slice_ms, slices;
	uint64_t slice[10]; /* Bytes, per tenth of the window. */
};

/* What of a process's this request holds; share.c's own. */
struct req_share {
	int held; /* enum gate_rc */
	uint64_t who;
	size_t n;
};

/* One request, from accept to answer; a thread has exactly one at a time. */
struct req {
	struct server *srv;
	struct io *io;
	struct arena *mem; /* Freed once the answer is out. */

	/* From the request; not yet trusted. */
	const char *method; /* HEAD is told as GET with head set. */
	int head;
	const char *path;             /* As sent, undecoded, mount point cut. */
	int decoded;                  /* But the front had decoded it. */
	int as_told;                  /* The mount point was not guessed. */
	const char *arg[REQ_MAXARGS]; /* The route's {...} segments. */
	struct query *query;

	/* From dispatch. */
	char id[32];                   /* "req_..." */
	const struct route *route;     /* NULL: none matched. */
	const struct dialect *dialect; /* Never NULL. */
	struct caller caller;          /* key == 0: not authenticated. */

	/* The file that a {file} segment names, looked up with the key;
	 * file_rc says what came of it. */
	char file_id[FILE_IDMAX + 1]; /* Without prefix. */
	struct file file;
	enum data_rc file_rc;

	/* LibreChat's routes: see lc.h. */
	int lc_how;        /* enum lc_how */
	int has_peeked;    /* The body has been read, and nobody has taken it */
	struct buf peeked; /* from here. */
	json_object *json; /* The body, once lc_json() has read it. */
	int lc_round;      /* A program is under way: errors are 200. */
	int lc_counted;    /* Against the user's rate, or not to be. */

	/* The answer so far. */
	int status; /* 0 until a status line has been written. */
	int gone;   /* The client left, or was cut off. */
	uint64_t bytes_in, bytes_out;
	struct buf headers; /* Added so far. */
	struct req_body body;
	struct log_access log; /* What else the log is told of it. */
	struct req_share share[SHARE_KINDS];
};

#define REQ_MEM_MAX (16UL << 20) /* Bytes of r->mem, JSON text not counted. */

/**
 * req_serve(srv, io):
 * Answer the request that ${io} carries, whatever becomes of it.
 */
void req_serve(struct server *, struct io *);

/**
 * req_header(r, name):
 * The request header ${name} ("Content-Type", any case), or NULL.  A repeated
 * one gives the first.
 */
const char *req_header(const struct req *, const char *);

/**
 * req_act_as(r, user, workspace):
 * The request names ${user} (NULL or empty: nobody) in a form field or in the
 * query.  A management key acts for that user from now on, in ${workspace}
 * unless that is NULL; any other key may only name its own.  Return 0, or -1
 * after answering.  Dispatch has done it for every route but those with
 * R_FORM_USER.
 */
int req_act_as(struct req *, const char *, const char *);

/**
 * req_json(r, max, o, text, len):
 * Read the body, at most ${max} bytes, as one JSON object into ${o}, and keep
 * its text in ${text} and ${len} (in r->mem) unless ${text} is NULL.  Return 0;
 * or -1 after answering (413, 415, 400 in the dialect) or finding the client
 * gone.  The caller must put ${o}.
 */
int req_json(struct req *, size_t, json_object **, const char **, size_t *);

/**
 * req_json_last(r, max, depth, o, text, len):
 * As req_json(), but nested at most ${depth} deep, and of a key that an object
 * has twice the last one counts.
 */
int req_json_last(struct req *, size_t, unsigned int, json_object **,
    const char **, size_t *);

/**
 * req_span(r, max, text, root):
 * As req_json(), but build nothing: set ${text} to the body as it was sent, in
 * r->mem, judged by jget_check(), and ${root} to the object in it.
 */
int req_span(struct req *, size_t, struct jspan *, struct jspan *);

/**
 * req_shape(r, max, rows, n, strict, out):
 * Read the body as req_span() does and then into the struct at ${out}, as
 * jshape_read() does.  Return 0, or -1 after answering.
 */
int req_shape(struct req *, size_t, const struct jshape *, size_t, int, void *);

/**
 * reply_shape(r, inside, rc, fault):
 * Answer 400 for what jshape_read() found wrong in the member ${inside} of the
 * body, or in the body itself where that is NULL; 500 if memory ran out.
 * Returns -1.
 */
int reply_shape(
    struct req *, const char *, enum jshape_rc, const struct jshape_fault *);

/**
 * req_peek(r, max, text, len):
 * Read the body of a caller who is not known yet, if it has at most ${max}
 * bytes and may be JSON, and set ${text} and ${len}, which are good until
 * req_json() takes it from here.  Return 0; 1 if it is another one, which
 * nobody can read any more; or -1 after answering.
 */
int req_peek(struct req *, size_t, const char **, size_t *);

/**
 * reply_header(r, name, fmt, ...):
 * Add a header to the answer, before it is begun.  Control bytes in the value
 * become '_'.
 */
void reply_header(struct req *, const char *, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * reply_begin(r, status, type, length):
 * Write the status line, the common headers and those added so far.  ${length}
 * -1: unknown.  Return 0, or -1 if the client has gone.
 */
int reply_begin(struct req *, int, const char *, int64_t);

/**
 * reply_body(r, buf, len):
 * Write part of the body; nothing for a HEAD.  Return 0 or -1.
 */
int reply_body(struct req *, const void *, size_t);

/**
 * reply_text(r, status, json, len):
 * Answer ${status} with the ${len} bytes of JSON text at ${json}, in which
 * nothing stands that a client could take for the end of a line.  Return 0 or
 * -1.
 */
int reply_text(struct req *, int, const char *, size_t);

/**
 * reply_json(r, status, body):
 * Answer ${status} with ${body}, whose reference is consumed.  Return 0, or -1
 * if ${body} is NULL or the client has gone.
 */
int reply_json(struct req *, int, json_object *);

/**
 * reply_problem(r, kind, param, fmt, ...):
 * Answer with an error in the caller's dialect; its status, type, code and
 * headers come from ${kind}'s row, ${param} may be NULL.  Returns as
 * reply_json().
 */
int reply_problem(struct req *, enum problem, const char *, const char *, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * reply_invalid(r, key, what):
 * Answer 400: the member ${key} must be ${what}.  Returns -1.
 */
int reply_invalid(struct req *, const char *, const char *);

/**
 * reply_row(r, row, param, message):
 * As reply_problem(), with a row of the caller's own.
 */
int
reply_row(struct req *, const struct problem_row *, const char *, const char *);

/**
 * reply_soon_ms():
 * Return when a caller may come back, in ms: another time for each.
 */
unsigned int reply_soon_ms(void);

/**
 * reply_data(r, rc):
 * Answer for a data_rc that means "not your fault": DATA_DOWN 503, DATA_UNSURE
 * 503, anything else 500.  Returns as reply_json().
 */
int reply_data(struct req *, enum data_rc);

/**
 * reply_store(r, rc):
 * Answer for a blob_rc (an int here): 507, 503 or 500.
 */
int reply_store(struct req *, int);

#endif /* !FCGI_REQ_H_ */
