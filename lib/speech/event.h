#ifndef SPEECH_EVENT_H_
#define SPEECH_EVENT_H_

#include <stdint.h>

#include "speech/text.h"

/*
 * A model's answer as it comes, in no vendor's words: an upstream's wire makes
 * these whether it streams or not, the turn loop passes them on, and the
 * caller's dialect writes them.  A call is CALL, any ARGS, CALL_END; nothing
 * else stands between them.  An event's texts live until the function that
 * takes it returns.
 */

/* Opaque type. */
struct outcome;

enum event_kind {
	EVENT_ROUND,     /* The model is asked (again); from the loop only. */
	EVENT_TEXT,      /* More of the answer's text. */
	EVENT_REASONING, /* More of what the model thought. */
	EVENT_CALL,
	EVENT_ARGS, /* More of the call's arguments, JSON text. */
	EVENT_CALL_END,
	EVENT_RESULT, /* Of a call of ours; from the loop only. */
	EVENT_USAGE,  /* From a wire: of this round.  To a writer: of all,
		       * once, before EVENT_STOP. */
	EVENT_STOP    /* The last one. */
};

enum stop {
	STOP_END,
	STOP_LENGTH,   /* The token limit. */
	STOP_CALLS,    /* Calls of the caller's functions. */
	STOP_SEQUENCE, /* One of the caller's stop texts. */
	STOP_FILTER,
	STOP_PAUSE /* The loop ran out of time. */
};

struct usage {
	uint64_t input, output; /* Tokens; input without the cached ones. */
	uint64_t cached, reasoning;
	int has_cached, has_reasoning;
	int known; /* From a wire: it said so. */
};

struct event {
	enum event_kind kind;
	struct text text;   /* TEXT, REASONING, ARGS; STOP_SEQUENCE's text. */
	const char *id;     /* CALL, RESULT; NULL: a wire that gave none. */
	const char *name;   /* CALL */
	int ours;           /* CALL: run by this gateway. */
	const char *caller; /* CALL: the word for our code that made it... */
	const char *run;    /* ...and that call's id; NULL: the model did. */
	const struct outcome *outcome;
	const struct usage *usage; /* USAGE; ROUND: ${input} estimated. */
	enum stop stop;
};

/**
 * Take one event.  Return 0, or -1 to stop.
 */
typedef int event_fn(void *, const struct event *);

#endif /* !SPEECH_EVENT_H_ */
