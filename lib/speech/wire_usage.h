#ifndef SPEECH_WIRE_USAGE_H_
#define SPEECH_WIRE_USAGE_H_

#include "base/jspan.h"

#include "speech/event.h"

/* What OpenAI's two protocols call the same numbers of tokens. */
struct wire_usage_names {
	const char *input, *output, *input_details, *output_details;
};

/**
 * wire_usage(usage, v, names):
 * Read the object ${v} of one of OpenAI's protocols into ${usage}, which is
 * left as it is if input and output are not both told.
 */
void wire_usage(struct usage *, struct jspan, const struct wire_usage_names *);

#endif /* !SPEECH_WIRE_USAGE_H_ */
