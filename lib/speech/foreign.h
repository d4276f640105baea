#ifndef SPEECH_FOREIGN_H_
#define SPEECH_FOREIGN_H_

#include "base/jspan.h"

#include "speech/text.h"

/*
 * Blocks, parts and items of a conversation that nothing here has words for: of
 * tools that run at a vendor, or of types that are newer than this program.
 * They never end a conversation: a model is told what text they hold.
 */

/* Opaque type. */
struct talk;

/**
 * foreign_line(t, type, v, x):
 * Set ${x} to a line in place of ${v}, which is of the ${type}: the texts in
 * it, cut short, without what is encoded or encrypted.  One that holds no text
 * is named if it is of a call or shows something, and ${x} is empty otherwise.
 * Return 0, or -1 if memory ran out.
 */
int foreign_line(struct talk *, const char *, struct jspan, struct text *);

#endif /* !SPEECH_FOREIGN_H_ */
