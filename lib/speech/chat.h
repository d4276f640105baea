#ifndef SPEECH_CHAT_H_
#define SPEECH_CHAT_H_

#include "base/jspan.h"

#include "speech/reader.h"

/* The OpenAI Chat dialect (executor contract 2.5, 5.4). */

/* Opaque types. */
struct buf;
struct openai_files;
struct talk;
struct writer;

/**
 * chat_read(root, t, why):
 * See struct model_dialect.
 */
int chat_read(struct jspan, struct talk *, struct refusal *);

/**
 * chat_read_turns(rd, list, files):
 * Read the value ${list} of the member "messages".  ${files} are handed over
 * where the user first speaks.
 */
int chat_read_turns(struct reader *, struct jspan, struct openai_files *);

/**
 * chat_gather(t), chat_stream(t, out):
 * See struct model_dialect.
 */
struct writer *chat_gather(const struct talk *);
struct writer *chat_stream(const struct talk *, struct buf *);

#endif /* !SPEECH_CHAT_H_ */
