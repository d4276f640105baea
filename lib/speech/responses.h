#ifndef SPEECH_RESPONSES_H_
#define SPEECH_RESPONSES_H_

#include "base/jspan.h"

#include "speech/reader.h"

/* The OpenAI Responses dialect (executor contract 2.3, 2.4, 5.2, 6). */

/* Opaque types. */
struct buf;
struct openai_files;
struct outcome;
struct talk;
struct writer;

/**
 * responses_read(root, t, why):
 * See struct model_dialect.
 */
int responses_read(struct jspan, struct talk *, struct refusal *);

/**
 * responses_read_input(rd, input, files):
 * Read the value ${input} of the member "input".  ${files} are handed over
 * where the user first speaks.
 */
int responses_read_input(struct reader *, struct jspan, struct openai_files *);

/**
 * responses_read_run(rd, v, o):
 * Read the item ${v}, a run of code that an earlier answer held, ours or a
 * provider's.  Set ${o} to what came of it, NULL if the item does not say.
 */
int responses_read_run(struct reader *, struct jspan, struct outcome **);

/**
 * responses_read_cited(rd, part, o):
 * Take the files that the text ${part} cites as written by the run ${o}.
 */
int responses_read_cited(struct reader *, struct jspan, struct outcome *);

/**
 * responses_gather(t), responses_stream(t, out):
 * See struct model_dialect.
 */
struct writer *responses_gather(const struct talk *);
struct writer *responses_stream(const struct talk *, struct buf *);

#endif /* !SPEECH_RESPONSES_H_ */
