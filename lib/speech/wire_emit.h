#ifndef SPEECH_WIRE_EMIT_H_
#define SPEECH_WIRE_EMIT_H_

#include <stdint.h>

#include "base/buf.h"
#include "base/jspan.h"

#include "speech/event.h"
#include "speech/wire.h"

/*
 * What the wires have in common when they make events of an answer.  Each
 * function that emits returns 0, or -1 if the one who takes the events stopped
 * it, or memory ran out.
 */

#define EMIT_TEXT_MAX (64U << 20) /* Of one text. */

struct emit {
	event_fn *fn;
	void *cookie;
	struct buf text, name;
	struct buf first; /* Of emit_first(). */
	int in_call;
	size_t args;   /* Bytes of the open call's arguments so far. */
	size_t ncalls; /* So far. */
};

/**
 * emit_init(e, fn, cookie):
 * Begin with no call open; emit_free() must follow.
 */
void emit_init(struct emit *, event_fn *, void *);

/**
 * emit_free(e):
 * Free what ${e} holds.
 */
void emit_free(struct emit *);

/**
 * emit_member(o, key):
 * The member ${key} of ${o}; null if there is none.
 */
struct jspan emit_member(struct jspan, const char *);

/**
 * emit_text(e, kind, v):
 * Emit the string ${v} as an event of ${kind}; nothing if it is none or empty.
 */
int emit_text(struct emit *, enum event_kind, struct jspan);

/**
 * emit_call(e, id, name):
 * Begin a call, after ending one that is open.
 */
int emit_call(struct emit *, struct jspan, struct jspan);

/**
 * emit_args(e, v):
 * Emit more of the open call's arguments: a string of JSON text, or an object
 * as it stands.
 */
int emit_args(struct emit *, struct jspan);

/**
 * emit_first(e, v):
 * The open call's arguments as its beginning has them: they count if none come
 * in pieces.
 */
int emit_first(struct emit *, struct jspan);

/**
 * emit_call_end(e):
 * End the open call, if there is one.
 */
int emit_call_end(struct emit *);

/**
 * emit_stop(e, usage, stop, sequence):
 * End the answer: the open call, the ${usage} if it is known, the ${stop}; with
 * the string ${sequence} if it was one of the caller's stop texts.
 */
int emit_stop(struct emit *, const struct usage *, enum stop, struct jspan);

/**
 * emit_rc(e, rc):
 * What ${rc}, of one of these functions, means to a stream's reader.
 */
enum wire_rc emit_rc(const struct emit *, int);

/**
 * emit_to_reader(reader, ev):
 * An event_fn for an emit inside the wire_reader ${reader}: pass ${ev} on to
 * whoever takes that one's events, who is known only after its birth.
 */
int emit_to_reader(void *, const struct event *);

#endif /* !SPEECH_WIRE_EMIT_H_ */
