#ifndef RUN_PTC_OFFER_H_
#define RUN_PTC_OFFER_H_

#include <json.h>

/* Opaque types. */
struct sandbox;
struct talk;

/*
 * Functions of the caller's that code of ours may call (executor contract 1.5,
 * "allowed_callers"): the model is told of them in the words of the function
 * that runs code, and of those that it may not call itself in no others.
 */

/**
 * ptc_offer(t, s, tools):
 * Settle who may call the functions of ${t}.  ${tools} becomes what
 * ptc_tools_read() made of those that code may call, in ${t}->mem, and they
 * stand in ${t}->code_tools; NULL if there are none or the sandbox ${s} cannot
 * serve them, and then the model calls all of them itself.  Return 0, or -1 if
 * memory ran out.
 */
int ptc_offer(struct talk *, const struct sandbox *, json_object **);

#endif /* !RUN_PTC_OFFER_H_ */
