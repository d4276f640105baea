#ifndef SPEECH_ARGS_H_
#define SPEECH_ARGS_H_

#include <stddef.h>

#include "speech/text.h"

/*
 * The arguments of a call, as models write them.  They go back to a model as
 * part of its history, and many servers answer 400 or 500 to a history in which
 * they are no JSON object, to every later turn too; so they are made one where
 * they come in.
 */

/* Opaque types. */
struct arena;
struct buf;

/* The way through arguments that come in pieces; begins zeroed. */
struct args {
	int begun;     /* A byte that is no space was seen... */
	int object;    /* ...and it began an object. */
	int in_string; /* The next byte is in a string... */
	int escaped;   /* ...after a backslash. */
};

/**
 * args_feed(A, b, p, len):
 * Append to ${b} the next ${len} bytes of arguments, with the control
 * characters escaped that stand bare in the strings of an object.  Return 0, or
 * -1 with ${b} spoiled.
 */
int args_feed(struct args *, struct buf *, const char *, size_t);

/**
 * args_none(x):
 * Is ${x} nothing but space?
 */
int args_none(struct text);

/**
 * args_sound(mem, x, sound):
 * Set ${sound} to the JSON object that ${x} is or was meant to be: bare control
 * characters are escaped, a string that holds an object is that object, nothing
 * is {}.  Return 0; 1 if it can only be an object that holds all of ${x} as a
 * text; or -1 if memory ran out.
 */
int args_sound(struct arena *, struct text, struct text *);

#endif /* !SPEECH_ARGS_H_ */
