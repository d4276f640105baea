#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "data/policy.h"

#include "run/executor.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Sets of declarations. */
#define NONE (1 << DECLARED_NONE)
#define E (1 << DECLARED_EXPLICIT)
#define ABO (1 << DECLARED_DATED | 1 << DECLARED_BARE | 1 << DECLARED_OPENAI)

/* Sets of settings; HEADER is local said by the request itself. */
#define AUTO 1
#define LOCAL 2
#define PROVIDER 4
#define HEADER 8
#define ANY (AUTO | LOCAL | PROVIDER | HEADER)

/* Of a yes or no. */
#define NO 1
#define YES 2
#define ALL (NO | YES)

/* clang-format off */
static const struct row {
	int number;
	int declared, setting, native, translated, sandbox, enabled;
	enum runs runs;
} rows[] = {
/*	  #   declared  setting    N    T    X    P */
	{ 1,  NONE, ANY,          ALL, ALL, ALL, ALL, RUNS_NOBODY },
	{ 2,  E,    ANY,          ALL, ALL, NO,  ALL, RUNS_NO_SANDBOX },
	{ 3,  E,    ANY,          ALL, ALL, YES, NO,  RUNS_DISABLED },
	{ 4,  E,    ANY,          ALL, ALL, YES, YES, RUNS_LOCAL },
	{ 5,  ABO,  HEADER,       ALL, ALL, NO,  ALL, RUNS_NO_SANDBOX },
	{ 6,  ABO,  ANY & ~HEADER, ALL, NO, NO,  ALL, RUNS_UPSTREAM },
	{ 7,  ABO,  ANY,          ALL, YES, NO,  ALL, RUNS_UNAVAILABLE },
	{ 8,  ABO,  PROVIDER,     ALL, NO,  YES, ALL, RUNS_UPSTREAM },
	{ 9,  ABO,  PROVIDER,     ALL, YES, YES, ALL, RUNS_UNAVAILABLE },
	{ 10, ABO,  LOCAL | HEADER, ALL, ALL, YES, NO, RUNS_DISABLED },
	{ 11, ABO,  LOCAL | HEADER, ALL, ALL, YES, YES, RUNS_LOCAL },
	{ 12, ABO,  AUTO,         YES, ALL, YES, ALL, RUNS_UPSTREAM },
	{ 13, ABO,  AUTO,         NO,  ALL, YES, NO,  RUNS_DISABLED },
	{ 14, ABO,  AUTO,         NO,  ALL, YES, YES, RUNS_LOCAL },
};

static const struct {
	const char *word;
	enum conf_executor setting;
} words[] = {
	{ "auto", EXECUTOR_AUTO }, { "local", EXECUTOR_LOCAL },
	{ "otari", EXECUTOR_LOCAL }, { "provider", EXECUTOR_PROVIDER },
};
/* clang-format on */

static int
setting_bit(const struct executor_case *c)
{

	switch (c->setting) {
	case EXECUTOR_LOCAL:
		return (c->by_header ? HEADER : LOCAL);
	case EXECUTOR_PROVIDER:
		return (PROVIDER);
	case EXECUTOR_AUTO:
		break;
	}
	return (AUTO);
}

static int
truth(int x)
{

	return (x ? YES : NO);
}

static const struct row *
find(const struct executor_case *c)
{
	const struct row *r;

	for (r = rows; r < rows + NELEM(rows) - 1; r++)
		if ((r->declared & (1 << c->declared)) &&
		    (r->setting & setting_bit(c)) &&
		    (r->native & truth(c->native)) &&
		    (r->translated & truth(c->translated)) &&
		    (r->sandbox & truth(c->sandbox)) &&
		    (r->enabled & truth(c->enabled)))
			break;
	return (r);
}

enum runs
executor_decide(const struct executor_case *c)
{

	return (find(c)->runs);
}

int
executor_row(const struct executor_case *c)
{

	return (find(c)->number);
}

/* The setting that the ${len} bytes at ${s} name; -1 for none. */
static int
word_setting(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < NELEM(words); i++)
		if (strlen(words[i].word) == len &&
		    strncasecmp(words[i].word, s, len) == 0)
			return ((int)words[i].setting);
	return (-1);
}

int
executor_header_add(struct executor_header *h, const char *value)
{
	size_t len;
	int setting;

	/* A front may have joined a repeated header by commas. */
	for (; value != NULL; value += len, value += *value == ',') {
		value += strspn(value, " \t");
		len = strcspn(value, ",");
		if (*value == '\0')
			break;
		while (len > 0 && strchr(" \t", value[len - 1]) != NULL)
			len--;
		setting = word_setting(value, len);
		len = strcspn(value, ",");
		if (setting == -1 || (h->given && (int)h->setting != setting))
			return (-1);
		h->given = 1;
		h->setting = (enum conf_executor)setting;
	}
	return (0);
}

int
executor_settle(const struct executor_header *h,
    const struct policy_in_force *f, enum conf_executor def,
    struct executor_case *c)
{
	const struct policy *p = f != NULL ? &f->policy : NULL;

	c->by_header = h->given;
	c->enabled = p == NULL || p->enabled;
	if (p != NULL && p->pinned) {
		c->setting = p->executor;
		return (h->given && h->setting != p->executor ? -1 : 0);
	}
	if (h->given)
		c->setting = h->setting;
	else
		c->setting = f != NULL && f->defaulted ? f->executor : def;
	return (0);
}

int
executor_is_native(enum conf_wire wire, enum declared kind)
{

	switch (wire) {
	case WIRE_MESSAGES:
		/* The vendor knows dated types only. */
		return (kind == DECLARED_DATED);
	case WIRE_RESPONSES:
		return (kind == DECLARED_OPENAI);
	case WIRE_CHAT:
		break;
	}
	return (0);
}
