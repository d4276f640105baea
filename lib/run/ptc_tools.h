#ifndef RUN_PTC_TOOLS_H_
#define RUN_PTC_TOOLS_H_

#include <stddef.h>

#include <json.h>

/*
 * The tools that a program may call, as its harness is told of them: the name
 * that the caller knows, an identifier for the program, and the same for each
 * parameter.  The identifiers are those that the client's own rule gives.
 */

#define PTC_TOOLS_MAX 100
#define PTC_IDENT_MAX 128

enum ptc_lang { PTC_PYTHON, PTC_BASH };

/**
 * ptc_ident(lang, name, ident):
 * Write the identifier of ${name} in ${lang}: hyphens and white space (in bash
 * dots too) become '_', what else cannot stand in one goes, a digit at its
 * beginning gets a '_' before it, and a word of the language "_tool" behind it.
 * Return 0, or -1 if nothing is left or it is longer than PTC_IDENT_MAX.
 */
int ptc_ident(enum ptc_lang, const char *, char[static PTC_IDENT_MAX + 8]);

/**
 * ptc_tools_read(list, lang, tools, why, size):
 * Read the request's ${list} of tools (NULL: none) and set ${tools}, a list of
 * {name, ident, open, params: [{name, ident, required}]} that the caller must
 * put.  Return 0; or -1 with a sentence in the ${size} bytes at ${why}.
 */
int
ptc_tools_read(json_object *, enum ptc_lang, json_object **, char *, size_t);

#endif /* !RUN_PTC_TOOLS_H_ */
