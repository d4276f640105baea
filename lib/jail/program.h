#ifndef JAIL_PROGRAM_H_
#define JAIL_PROGRAM_H_

#include "jail/call.h"
#include "jail/frame.h"

/* A whole program in any language, run as a process of its own. */

enum program_stage { PROGRAM_RAN, PROGRAM_COMPILED };

/**
 * program_run(c, m, ends, stage):
 * Put the source that the message ${m} brings (MSG_TEXT, its name MSG_PATH)
 * into LANGUAGE_DIR, run MSG_COMPILE there if there is one, for at most
 * MSG_COMPILE_LIMIT seconds, and if that succeeds MSG_RUN in the workspace,
 * until ${c}'s deadline; what compiling took does not count.  Either ends by
 * ${ends} (clock_ms()).  MSG_ENV, MSG_MEMORY, MSG_SPACE and MSG_KEEP hold for
 * both.  ${c} is filled in as call_guest() does for what ran last, which
 * ${stage} says.  REPLY_OK; REPLY_BAD for a message that makes no sense;
 * REPLY_FULL if there is no room for the source.
 */
enum reply
program_run(struct call *, const struct msg *, uint64_t, enum program_stage *);

#endif /* !JAIL_PROGRAM_H_ */
