#ifndef FCGI_FILE_FIELDS_H_
#define FCGI_FILE_FIELDS_H_

#include <stdint.h>

/*
 * The fields that say what a new file is to be, judged once for a form and for
 * JSON.  Each function returns 0, or -1 after answering.
 */

/* Opaque types. */
struct filename_raw;
struct req;

/**
 * field_is_purpose(s):
 * Is ${s} a word of at most 64 characters, as purposes are?
 */
int field_is_purpose(const char *);

/**
 * field_purpose(r, s, purpose):
 * Set ${purpose} to the purpose ${s}, or to the default if it is NULL or empty.
 * Refused: what field_is_purpose() says is none, and the purposes of
 * produced files, which nobody may forge.
 */
int field_purpose(struct req *, const char *, const char **);

/**
 * field_expires_after(r, anchor, seconds, life):
 * Set ${life} to the seconds that OpenAI's pair of fields asks for, 0 if both
 * are NULL.
 */
int field_expires_after(struct req *, const char *, const char *, uint64_t *);

/**
 * field_expires_in(r, seconds, life):
 * Set ${life} to what Anthropic's field asks for, 0 if it is NULL.
 */
int field_expires_in(struct req *, const char *, uint64_t *);

/**
 * field_retention(r, life):
 * What the deployment makes of the life asked for: its retention is the default
 * and the most.
 */
uint64_t field_retention(const struct req *, uint64_t);

/**
 * field_name(r, param, rc):
 * Judge the filename_rc ${rc} (an int here) of the name in the field ${param}.
 */
int field_name(struct req *, const char *, int);

#endif /* !FCGI_FILE_FIELDS_H_ */
