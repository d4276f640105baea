#ifndef SPEECH_THINK_H_
#define SPEECH_THINK_H_

#include "speech/event.h"

/*
 * Some models write what they think into their answer's text, between <think>
 * and </think> at its beginning.  A filter of events that makes reasoning of
 * it, wherever the text is cut into pieces.
 */

#define THINK_MAX 16 /* Longer than either tag. */

struct think {
	event_fn *fn; /* Where the events go on. */
	void *cookie;
	int state;            /* 0 at first; think.c's own. */
	char held[THINK_MAX]; /* What may be the beginning of a tag. */
	size_t n;
};

/**
 * think_event(T, ev):
 * An event_fn that takes an answer's events and passes them on.
 */
int think_event(void *, const struct event *);

#endif /* !SPEECH_THINK_H_ */
