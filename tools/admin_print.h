#ifndef TOOLS_ADMIN_PRINT_H_
#define TOOLS_ADMIN_PRINT_H_

#include <stdint.h>
#include <stdio.h>

#include <json.h>

#include "base/clock.h"

/* Room for a time as print_time() writes it. */
#define PRINT_TIME CLOCK_RFC3339_SIZE

/**
 * print_time(ms, s):
 * Write ${ms} to ${s} as RFC 3339 text, or "-" if it is 0.  Return ${s}.
 */
const char *print_time(uint64_t, char[static PRINT_TIME]);

/**
 * print_json(o):
 * Print the object ${o} as one line and put it.  Return an enum admin_exit:
 * ADMIN_NO if ${o} is NULL.
 */
int print_json(json_object *);

/**
 * print_jtime(o, key, ms):
 * Put ${ms} into ${o} under the literal ${key}, as RFC 3339 text or, if it is
 * 0, null.  Return 0 or -1.
 */
int print_jtime(json_object *, const char *, uint64_t);

/**
 * time_parse(s, now, ms):
 * Read all of ${s}, RFC 3339 text or "+DAYSd" counted from ${now}, into the
 * Unix milliseconds ${ms}.  Return 0 or -1.
 */
int time_parse(const char *, uint64_t, uint64_t *);

/**
 * print_aligned(fp, text):
 * Write the lines of ${text} to ${fp}, the tabs between their columns replaced
 * by as many spaces as align them.
 */
void print_aligned(FILE *, const char *);

#endif /* !TOOLS_ADMIN_PRINT_H_ */
