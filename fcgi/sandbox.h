#ifndef FCGI_SANDBOX_H_
#define FCGI_SANDBOX_H_

#include <stddef.h>
#include <stdint.h>

#include <json.h>

#include "jail/limits.h"
#include "jail/session.h"

#include "fcgi/io.h"

/* The second program: the code-execution protocol, version 1. */

/* Opaque types. */
struct arena;
struct conf;
struct languages;
struct query;

#define SBX_WAIT_MS 60000        /* For the turn of a file operation. */
#define SBX_GRACE_MS 15000       /* For the end of what should have ended. */
#define SBX_TIMEOUT_S 30         /* Of an execution that asks for none, */
#define SBX_TIMEOUT_MAX_S 3600   /* and at most. */
#define SBX_TEXT_CHARS 200000    /* Of a command or program. */
#define SBX_FILE_TEXT (1U << 20) /* Bytes of each text for the editor. */
#define SBX_BODY_MAX (8U << 20)  /* Of a JSON body. */

/* What a process holds for all its requests. */
struct sbx_server {
	const struct conf *conf;
	struct host *host;
	struct limits limits;
	struct languages *languages;
};

/* One request. */
struct sbx_req {
	const struct sbx_server *srv;
	struct io *io;
	struct arena *mem; /* Freed once the answer is out. */
	const char *method;
	const char *id; /* The path's {id}, as sent. */
	struct query *query;
	int status; /* 0 until a status line has been written. */
	int gone;   /* The client left. */
	int events; /* The answer is a stream of them, and has begun. */
	uint64_t bytes_in, bytes_out;
};

/**
 * sbx_body(r, max, text, len):
 * Read the body, at most ${max} bytes, into r->mem.  Return 0, or -1 after
 * answering or finding the client gone.
 */
int sbx_body(struct sbx_req *, size_t, const char **, size_t *);

/**
 * sbx_json(r, max, o):
 * Read the body as one JSON object, which the caller must put; no body at all
 * gives NULL.  Return as sbx_body().
 */
int sbx_json(struct sbx_req *, size_t, json_object **);

/**
 * sbx_begin(r, status, type, length), sbx_write(r, p, len):
 * Write the head of an answer of ${length} bytes, then its body.  ${type} NULL:
 * it has none.  Return 0, or -1 once the client has gone.
 */
int sbx_begin(struct sbx_req *, int, const char *, uint64_t);
int sbx_write(struct sbx_req *, const void *, size_t);

/**
 * sbx_begin_events(r), sbx_event(r, name, p, len):
 * Write the head of an answer that is a stream of events (SSE), and one of
 * them, whose data are the ${len} bytes of JSON at ${p}.  Return 0, or -1 once
 * the client has gone.
 */
int sbx_begin_events(struct sbx_req *);
int sbx_event(struct sbx_req *, const char *, const char *, size_t);

/**
 * sbx_reply(r, status, o):
 * Answer with the object ${o}, whose reference is consumed; NULL means that
 * memory ran out, and answers 500.  In a stream of events it is the last one,
 * "result", or "error" where ${status} is none of success.  Returns 0.
 */
int sbx_reply(struct sbx_req *, int, json_object *);

/**
 * sbx_fail(r, status, code, fmt, ...):
 * Answer {"detail": the text, "code": ${code}}.  Returns 0.
 */
int sbx_fail(struct sbx_req *, int, const char *, const char *, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * sbx_seconds(ms):
 * A new JSON number: ${ms} milliseconds in seconds, with three decimals.
 */
json_object *sbx_seconds(uint64_t);

/**
 * sbx_dispatch(io, srv):
 * Answer one request and write its access line.
 */
void sbx_dispatch(struct io *, void *);

/**
 * A handler answers one request.  It returns 0 once it has answered or the
 * client has gone, or -1 when it could not, after logging why.
 */
typedef int sbx_handler(struct sbx_req *);

sbx_handler sbx_health, sbx_create, sbx_retrieve, sbx_destroy;
sbx_handler sbx_exec;
sbx_handler sbx_list, sbx_get, sbx_put;

#endif /* !FCGI_SANDBOX_H_ */
