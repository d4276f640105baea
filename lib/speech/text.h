#ifndef SPEECH_TEXT_H_
#define SPEECH_TEXT_H_

#include <stddef.h>

/* Decoded UTF-8 that somebody else keeps alive; not NUL-terminated. */
struct text {
	const char *p;
	size_t len;
};

/* The text of a literal. */
/* clang-format off */
#define TEXT_LIT(s) { s, sizeof(s) - 1 }
/* clang-format on */

#endif /* !SPEECH_TEXT_H_ */
