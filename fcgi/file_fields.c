#include <inttypes.h>
#include <string.h>

#include "base/conf.h"
#include "base/num.h"
#include "http/filename.h"
#include "speech/problem.h"

#include "fcgi/file_fields.h"
#include "fcgi/req.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

#define DEFAULT_PURPOSE "user_data"
#define PURPOSE_MAX 64
#define PURPOSE_CHARS                                          \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" \
	"0123456789_.-"

/* The shortest life a file may ask for, and the longest in each dialect. */
#define LIFE_MIN 3600
#define LIFE_MAX_OPENAI 2592000
#define LIFE_MAX_ANTHROPIC 7776000

static int
is_produced(const char *purpose)
{
	static const char *const produced[] = {"assistants_output",
	    "batch_output", "fine-tune-results", "code_execution_output"};

	for (size_t i = 0; i < NELEM(produced); i++) {
		if (strcmp(purpose, produced[i]) == 0)
			return (1);
	}
	return (0);
}

int
field_is_purpose(const char *s)
{

	return (
	    strlen(s) <= PURPOSE_MAX && s[strspn(s, PURPOSE_CHARS)] == '\0');
}

int
field_purpose(struct req *r, const char *s, const char **purpose)
{

	if (s == NULL || *s == '\0') {
		*purpose = DEFAULT_PURPOSE;
		return (0);
	}
	if (!field_is_purpose(s)) {
		(void)reply_problem(r, P_INVALID_VALUE, "purpose",
		    "purpose must be at most %d letters, digits, '_', '.' or "
		    "'-'",
		    PURPOSE_MAX);
		return (-1);
	}
	if (is_produced(s)) {
		(void)reply_problem(r, P_INVALID_VALUE, "purpose",
		    "The purpose %s is for files that were produced here", s);
		return (-1);
	}
	*purpose = s;
	return (0);
}

/* Read ${s} as seconds between LIFE_MIN and ${max}. */
static int
seconds(struct req *r, const char *param, const char *s, uint64_t max,
    uint64_t *life)
{
	uint64_t n;
	int below = *s == '-';

	if (num_u64(s + below, 0, UINT64_MAX, &n)) {
		(void)reply_problem(r, P_INVALID_TYPE, param,
		    "%s must be a whole number of seconds", param);
		return (-1);
	}
	below = below || n < LIFE_MIN;
	if (below || n > max) {
		(void)reply_problem(r, below ? P_BELOW_MIN : P_ABOVE_MAX, param,
		    "%s must be between %d and %" PRIu64, param, LIFE_MIN, max);
		return (-1);
	}
	*life = n;
	return (0);
}

int
field_expires_after(
    struct req *r, const char *anchor, const char *secs, uint64_t *life)
{

	*life = 0;
	if (anchor == NULL && secs == NULL)
		return (0);
	if (anchor == NULL || secs == NULL) {
		(void)reply_problem(r, P_MISSING_PARAMETER, "expires_after",
		    "expires_after needs both anchor and seconds");
		return (-1);
	}
	if (strcmp(anchor, "created_at") != 0) {
		(void)reply_problem(r, P_INVALID_VALUE, "expires_after.anchor",
		    "expires_after.anchor must be created_at");
		return (-1);
	}
	return (
	    seconds(r, "expires_after.seconds", secs, LIFE_MAX_OPENAI, life));
}

int
field_expires_in(struct req *r, const char *secs, uint64_t *life)
{

	*life = 0;
	if (secs == NULL)
		return (0);
	return (
	    seconds(r, "expires_in_seconds", secs, LIFE_MAX_ANTHROPIC, life));
}

uint64_t
field_retention(const struct req *r, uint64_t life)
{
	uint64_t most = r->srv->conf->files_retention_s;

	return (most != 0 && (life == 0 || life > most) ? most : life);
}

int
field_name(struct req *r, const char *param, int rc)
{

	switch ((enum filename_rc)rc) {
	case FILENAME_OK:
		return (0);
	case FILENAME_NUL:
		(void)reply_problem(r, P_INVALID_FILENAME, param,
		    "The file's name holds a NUL");
		break;
	case FILENAME_LONG:
		(void)reply_problem(r, P_TOO_LONG, param,
		    "The file's name is longer than %d characters",
		    FILENAME_MAX_CHARS);
		break;
	case FILENAME_STRICT:
		(void)reply_problem(r, P_INVALID_FILENAME, param,
		    "The file's name holds one of < > : \" | ? *");
		break;
	case FILENAME_MEMORY:
		(void)reply_problem(
		    r, P_SERVER, NULL, "The server ran out of memory");
		break;
	}
	return (-1);
}
