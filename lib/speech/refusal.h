#ifndef SPEECH_REFUSAL_H_
#define SPEECH_REFUSAL_H_

#include "speech/problem.h"

/*
 * Why a request cannot be answered, in no dialect's words: filled in by
 * whoever finds out, told to the caller by the handler.
 */
struct refusal {
	enum problem kind;
	char param[160];   /* JSON path of what is at fault, or "". */
	char message[640]; /* UTF-8; fit for the caller's eyes. */
	char code[64];     /* Its own code; "": the kind's. */
	int retry_after;   /* Seconds an upstream asks for, or 0. */
	int ran;           /* Code has run: the caller must not retry. */
};

/**
 * refuse(why, kind, param, fmt, ...):
 * Fill in ${why}, cutting what is too long; ${param} may be NULL.  Always
 * returns -1.
 */
int refuse(struct refusal *, enum problem, const char *, const char *, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * refuse_code(why, code):
 * Give the refusal ${why} a code of its own in place of its kind's.
 */
void refuse_code(struct refusal *, const char *);

#endif /* !SPEECH_REFUSAL_H_ */
