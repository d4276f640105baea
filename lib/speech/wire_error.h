#ifndef SPEECH_WIRE_ERROR_H_
#define SPEECH_WIRE_ERROR_H_

#include "base/jspan.h"

/*
 * Errors inside an answer of status 200: servers that have begun to stream, and
 * proxies before them, have no other way to tell of one.  Their forms do not
 * keep to one wire: most chat servers send OpenAI's, some a bare object or a
 * text, some put it beside a choice that ends with "error".
 */

struct wire_error {
	int status;      /* The one of HTTP that it names; else 502. */
	struct jspan at; /* What holds it: fit for wire_refuse(). */
};

/**
 * wire_error(root, called, e):
 * Is ${root}, a whole answer or what one event of a stream says, an error?
 * ${called}: the event's name says so.  Return 1 with ${e} filled in, or 0.
 */
int wire_error(struct jspan, int, struct wire_error *);

/**
 * wire_failed(why):
 * Is the word ${why}, with which an answer of any wire says that it ends, one
 * of a failure?
 */
int wire_failed(struct jspan);

/**
 * wire_choice(root, choice):
 * Set ${choice} to the first choice of the chat answer or event ${root}, the
 * one with the index 0 or with none.  Return 1, or 0 if there is none.
 */
int wire_choice(struct jspan, struct jspan *);

#endif /* !SPEECH_WIRE_ERROR_H_ */
