#ifndef SPEECH_WIRE_PUT_H_
#define SPEECH_WIRE_PUT_H_

#include "base/jspan.h"

#include "speech/text.h"

/* What the wires have in common when they write a request. */

/* Opaque types. */
struct buf;
struct part;
struct talk;

/**
 * put_comma(b):
 * Append a comma unless ${b} ends where a list or an object begins.
 */
void put_comma(struct buf *);

/**
 * put_member(b, key, v):
 * Append ,"${key}":${v}; nothing if ${v} was not said.
 */
void put_member(struct buf *, const char *, struct jspan);

/**
 * put_schema(b, schema):
 * Append the ${schema} of a function's arguments, which some servers want to
 * be there and to say that it is one of an object.
 */
void put_schema(struct buf *, struct jspan);

/**
 * Append a function: its name, what it is for, the schema of its arguments, and
 * whether the model must keep to that (-1: not said).
 */
typedef void
put_tool_fn(struct buf *, const char *, struct text, struct jspan, int);

/**
 * put_tools(b, t, fn):
 * Append ,"tools":[...] with the caller's functions and ours, each by ${fn};
 * nothing if there are none.
 */
void put_tools(struct buf *, const struct talk *, put_tool_fn *);

/**
 * put_call_id(b, id):
 * Append the id of a call as a string that every vendor takes: itself if it is
 * one, else one made from it.
 */
void put_call_id(struct buf *, const char *);

/**
 * part_says(p), part_shows(p):
 * Is there text to be said, more than space, or a file to be shown?
 */
int part_says(const struct part *);
int part_shows(const struct part *);

#endif /* !SPEECH_WIRE_PUT_H_ */
