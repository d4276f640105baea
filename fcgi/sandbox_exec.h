#ifndef FCGI_SANDBOX_EXEC_H_
#define FCGI_SANDBOX_EXEC_H_

#include <stdint.h>

#include <json.h>

#include "base/buf.h"

#include "jail/frame.h"

#include "fcgi/sandbox.h"

/* One execution, and what of it is done where. */

/* Opaque types. */
struct gap;
struct tool;

/* What a stream of it has printed. */
struct output {
	struct buf first; /* The beginning; more may come. */
	struct buf last;  /* The end of what was longer than half the bound. */

	/* Where it is told as it comes. */
	size_t raw;   /* Bytes of the beginning that have been shown, */
	size_t bytes; /* as so many of UTF-8. */
	int full;     /* No more is shown until all is there. */
};

/* clang-format off */
#define OUTPUT_INIT							\
	{								\
		.first = BUF_INIT(LIMIT_OUTPUT),			\
		.last = BUF_INIT(LIMIT_OUTPUT)				\
	}
/* clang-format on */

struct exec {
	struct sbx_req *r;
	const struct tool *tool;
	json_object *body, *input; /* The second belongs to the first. */
	uint64_t timeout_s, compile_s, began;
	const char *tool_use_id;
	char made_id[40]; /* Where the caller gave none. */
	int manifest;     /* One is wanted; */
	int stream;       /* so are events, as the output comes; */
	int calls;        /* so are the program's tool calls. */
	struct buf ask;   /* What the supervisor is asked. */

	/* What it answers. */
	struct output out, err;
	json_object *files; /* Those that are new or changed, */
	json_object *all;   /* and those that are not as they were. */
	json_object *asked; /* The tool calls. */
	const char *broken; /* Why there are none, or NULL. */
	struct msg done;
	const char *note;
};

/* One kind of execution. */
struct tool {
	const char *name, *result;
	int (*read)(struct exec *); /* Its input, into ask; 0 or -1. */
};

/**
 * exec_refuse(e, fmt, ...):
 * Answer 422 with that text.  Returns -1.
 */
int exec_refuse(struct exec *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * exec_read_text(e), exec_read_edit(e), exec_read_run(e):
 * Read the input of the kinds that run a text, edit, or run a program.
 */
int exec_read_text(struct exec *);
int exec_read_edit(struct exec *);
int exec_read_run(struct exec *);

/**
 * exec_read_manifest(e):
 * Read what the request says about inputs.  Return 0, or -1 after answering.
 */
int exec_read_manifest(struct exec *);

/**
 * exec_add_file(e, body):
 * Take what a FRAME_FILE holds.  Return 0 or -1.
 */
int exec_add_file(struct exec *, const struct buf *);

/**
 * exec_unfinished(p, len):
 * How many of the last of the ${len} bytes at ${p} may be the beginning of a
 * character whose rest has not come, or was dropped.
 */
size_t exec_unfinished(const char *, size_t);

/**
 * exec_output(o, dropped, b, g):
 * Append to ${b} what can be shown of ${o}, between whose parts ${dropped}
 * bytes are missing; with a line that says so, at most LIMIT_OUTPUT besides
 * that.  ${g} as ends_put() has it.  Return 0 or -1.
 */
int exec_output(const struct output *, uint64_t, struct buf *, struct gap *);

/**
 * exec_show(e, done):
 * In a stream, send what has come of the output since the last time: whole
 * characters, until ${done} says that all is there.  Return 0, or -1 once the
 * client has gone.
 */
int exec_show(struct exec *, int);

/**
 * exec_text(b, p, len, max):
 * Append what can be shown of the ${len} bytes at ${p}: at most ${max} bytes in
 * ${b}, whole characters, U+FFFD for each broken piece.  Return how many bytes
 * of ${p} had no room.
 */
size_t exec_text(struct buf *, const char *, size_t, size_t);

/**
 * exec_add_call(e, body):
 * Take what a FRAME_CALL holds.  Return 0 or -1.
 */
int exec_add_call(struct exec *, const struct buf *);

/**
 * exec_edited(e):
 * What the editor has done, as an object; NULL if memory ran out.
 */
json_object *exec_edited(const struct exec *);

/**
 * exec_answer(e):
 * The answer's object, or NULL if memory ran out.
 */
json_object *exec_answer(struct exec *);

/* The kinds, the last without a name. */
extern const struct tool exec_tools[];

#endif /* !FCGI_SANDBOX_EXEC_H_ */
