#ifndef JAIL_CALL_H_
#define JAIL_CALL_H_

#include <stdint.h>

#include "jail/calls.h"
#include "jail/guest.h"
#include "jail/kernel.h"
#include "jail/meter.h"

/* One execution of a caller's program, from its start until nothing of it runs
 * any more. */

enum call_end {
	CALL_ENDED,
	CALL_LATE,   /* The deadline passed. */
	CALL_MEMORY, /* The session's processes used more than they may, */
	CALL_CPU,    /* or more time, */
	CALL_FILES,  /* or have made more files, */
	CALL_SPACE,  /* or filled more space, */
	CALL_TASKS,  /* or are more. */
	CALL_ASKS,   /* It has asked for tool calls, and was ended for that. */
	CALL_LEFT,   /* The worker closed the connection. */
	CALL_FAIL,   /* It could not be started. */
	CALL_WATCHES /* They have more descriptors in epolls than they may. */
};

struct call {
	struct jail *J;
	int conn;
	uint64_t deadline; /* clock_ms() */
	uint64_t limit_s;  /* What the deadline came from, for its message. */
	struct limits lim; /* The session's, or less. */
	struct out out, err;
	struct buf note;     /* A line for each limit that ended it. */
	struct buf *wire;    /* Frames of output for the worker; NULL: at the
			      * end all is told. */
	struct calls *calls; /* What it asks for; NULL: nothing is heard. */
	uint64_t settle_ms;  /* It asks for no more after so long. */
	enum call_end end;
	int code;   /* The return code to report. */
	int signal; /* What ended it, or 0. */

	/* call.c's own. */
	struct guest *g;
	struct meter meter;
	struct buf ask; /* What the interpreter has yet to be sent. */
	char nonce[KERNEL_NONCE + 1];
	struct kernel_line line;
	int told;         /* It has said that it is done. */
	uint64_t settled; /* When it will have asked for all; 0: not begun. */
};

/**
 * call_guest(c, how):
 * Run the program that ${how} says, as call_bash() does.  The descriptors extra
 * and ctl of ${how} are closed in any case.
 */
void call_guest(struct call *, const struct guest_how *);

/**
 * call_bash(c, text, len), call_python(c, code, len):
 * Run the command or the program in ${c}->J, and set ${c}'s out, err, note, end
 * and code.  On return no process of the call is left; the interpreter is,
 * unless it was what ended.
 */
void call_bash(struct call *, const char *, size_t);
void call_python(struct call *, const char *, size_t);

#endif /* !JAIL_CALL_H_ */
