#ifndef SPEECH_FILL_H_
#define SPEECH_FILL_H_

#include "base/conf.h"
#include "base/jspan.h"

/*
 * What is changed in an answer that is passed on: the model has the name by
 * which the caller asked for it; and of an answer of the Responses wire, what
 * the vendor's schema requires and the provider left out is there, empty.  All
 * other bytes stay.
 */

/* Opaque type. */
struct buf;

/**
 * fill_answer(b, wire, text, root, model):
 * Append ${text}, a whole answer of ${wire} whose value is ${root}; ${model} is
 * the name as a JSON string.  Return 0, or -1 with ${b} spoiled.
 */
int fill_answer(
    struct buf *, enum conf_wire, struct jspan, struct jspan, struct jspan);

/**
 * fill_event(b, wire, text, root, model, sequence):
 * The same of what one event of a stream says; one of Responses without a
 * number gets ${sequence}.
 */
int fill_event(struct buf *, enum conf_wire, struct jspan, struct jspan,
    struct jspan, uint64_t);

#endif /* !SPEECH_FILL_H_ */
