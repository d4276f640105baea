#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

#include "speech/refusal.h"

int
refuse(struct refusal *why, enum problem kind, const char *param,
    const char *fmt, ...)
{
	struct buf clean = BUF_INIT(3 * sizeof(why->message));
	va_list ap;
	size_t len;

	why->kind = kind;
	why->retry_after = 0;
	why->code[0] = '\0';
	(void)snprintf(
	    why->param, sizeof(why->param), "%s", param != NULL ? param : "");
	va_start(ap, fmt);
	(void)vsnprintf(why->message, sizeof(why->message), fmt, ap);
	va_end(ap);

	/* What was cut in mid-character, here or by the format, is mended. */
	if (utf8_scrub(&clean, why->message, strlen(why->message)) == 0) {
		len = utf8_cut(clean.p, clean.len, sizeof(why->message) - 1);
		memcpy(why->message, clean.p, len);
		why->message[len] = '\0';
	}
	buf_free(&clean);
	return (-1);
}

void
refuse_code(struct refusal *why, const char *code)
{

	(void)snprintf(why->code, sizeof(why->code), "%s", code);
}
