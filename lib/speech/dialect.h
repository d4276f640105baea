#ifndef SPEECH_DIALECT_H_
#define SPEECH_DIALECT_H_

#include <json.h>

#include "speech/problem.h"

/* Opaque types. */
struct conf;
struct file;

#define FILE_PRINTMAX 136 /* A printed file id and its NUL. */

/* What the envelope of a list is told besides its objects. */
struct list_end {
	const char *first_id, *last_id; /* As printed; NULL if none. */
	const char *next_page;          /* Token, or NULL on the last page. */
	int has_more;
};

/**
 * One vendor's way of saying things.  Functions that return a json_object give
 * a new reference that the caller must put, or NULL if memory ran out.
 */
struct dialect {
	const char *name; /* "openai", "anthropic" or "codeapi" */

	/* The file object; ${c} says what is downloadable and how purposes
	 * print. */
	json_object *(*file)(const struct conf *, const struct file *);

	/* The answer to a delete of the file with this printed id. */
	json_object *(*deleted)(const char *);

	/* What a list begins with, before its first object, as text; and the
	 * members that follow "data", without the closing brace's own text. */
	const char *list_begin;
	json_object *(*list_end)(const struct list_end *);

	/* An error: row, message, param (may be NULL), request id. */
	json_object *(*error)(const struct problem_row *, const char *,
	    const char *, const char *);

	/* Limits of a list's page (files-api contract section 6). */
	unsigned int page_default, page_max;
};

extern const struct dialect dialect_openai;
extern const struct dialect dialect_anthropic;

/* LibreChat's: only the error. */
extern const struct dialect dialect_codeapi;

/**
 * dialect_choose(anthropic_version, anthropic_beta):
 * The dialect of a request with these header values, either of which may be
 * NULL: Anthropic if the first is not empty or the second lists a value that
 * begins "files-api-", else OpenAI.
 */
const struct dialect *dialect_choose(const char *, const char *);

/**
 * file_id_print(id, out):
 * Write the file id ${id} as callers see it: "file-" before our own 32 digits,
 * a provider's id as it is.  Return ${out}.
 */
const char *file_id_print(const char *, char[static FILE_PRINTMAX]);

/**
 * file_is_downloadable(c, f):
 * Will the content route give out the bytes of ${f}?
 */
int file_is_downloadable(const struct conf *, const struct file *);

#endif /* !SPEECH_DIALECT_H_ */
