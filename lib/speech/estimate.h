#ifndef SPEECH_ESTIMATE_H_
#define SPEECH_ESTIMATE_H_

#include <stdint.h>

/* Opaque type. */
struct talk;

/**
 * estimate_tokens(t):
 * How many tokens ${t} is to a model, roughly: a quarter of the bytes of what
 * is said and of the tools' schemas, four for the frame of each message and of
 * the whole, and a flat number for each image or document.
 */
uint64_t estimate_tokens(const struct talk *);

#endif /* !SPEECH_ESTIMATE_H_ */
