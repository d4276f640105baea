#ifndef SPEECH_MESSAGES_H_
#define SPEECH_MESSAGES_H_

#include "base/jspan.h"

#include "speech/reader.h"

/* The Anthropic Messages dialect (executor contract 2.1, 2.2, 5.1, 6). */

/* Opaque types. */
struct part;
struct writer;

/**
 * messages_read(root, t, why):
 * See struct model_dialect.
 */
int messages_read(struct jspan, struct talk *, struct refusal *);

/**
 * messages_read_turns(rd, list):
 * Read the value ${list} of the member "messages".
 */
int messages_read_turns(struct reader *, struct jspan);

/**
 * messages_read_upload(rd, v, newest), messages_read_media(rd, v, newest):
 * Read a block that names a file for code to have, or an image or a document;
 * ${newest}: it stands in the user's newest turn.
 */
int messages_read_upload(struct reader *, struct jspan, int);
int messages_read_media(struct reader *, struct jspan, int);

/**
 * messages_read_call(rd, v), messages_read_result(rd, v):
 * Read a block of code execution that an earlier answer held, ours or a
 * provider's: the use, and its result.
 */
int messages_read_call(struct reader *, struct jspan);
int messages_read_result(struct reader *, struct jspan);

/**
 * messages_read_use(rd, id):
 * If a block with this ${id} is a call that code of ours has made, add it to
 * the uses of the talk and return 1; else 0, or -1 after refusing it.
 */
int messages_read_use(struct reader *, const char *);

/**
 * messages_check_uses(rd, list, newest):
 * Every use must have its result; and where the messages of ${list} from
 * ${newest} on answer one, code waits, so they must hold results only.
 */
int messages_check_uses(struct reader *, struct jspan, size_t);

/**
 * messages_gather(t):
 * See struct model_dialect.
 */
struct writer *messages_gather(const struct talk *);

/**
 * messages_stream(t, out):
 * See struct model_dialect.
 */
struct writer *messages_stream(const struct talk *, struct buf *);

#endif /* !SPEECH_MESSAGES_H_ */
