#ifndef SPEECH_UNECHO_H_
#define SPEECH_UNECHO_H_

#include "base/jspan.h"

#include "speech/text.h"

/*
 * What this gateway put into earlier answers, in a history that is passed on to
 * a provider, who has never heard of it: runs of ours become text, and what
 * only has an id of ours loses it (executor contract 6, third column).
 */

/* Opaque type. */
struct buf;

/**
 * Set the text to what the model was told of the run with this id, and the span
 * (checked by jspan_check()) to its input, unless that is not known.
 */
typedef void unecho_fn(void *, const char *, struct text *, struct jspan *);

/**
 * unecho_may(p, len):
 * May the ${len} bytes at ${p} hold anything of ours?  A look at them only.
 */
int unecho_may(const char *, size_t);

/**
 * unecho_messages(b, content, result, cookie):
 * Append the ${content} of an assistant's message of the Messages dialect as a
 * provider is to have it.  Return 1; 0, with nothing appended, if nothing in it
 * is ours; or -1 with ${b} spoiled.
 */
int unecho_messages(struct buf *, struct jspan, unecho_fn *, void *);

/**
 * unecho_item(b, item, at):
 * Append what is to stand in the place ${at} of an ${item} of the Responses
 * dialect, which tells of a run itself; if that is nothing and the place is all
 * of the item, then the item is to go, and a comma with it.  Return as
 * unecho_messages().
 */
int unecho_item(struct buf *, struct jspan, struct jspan *);

#endif /* !SPEECH_UNECHO_H_ */
