#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/num.h"

#include "speech/talk.h"

#define RUN "srvtoolu_gw_" /* See talk_new(). */
#define USE "toolu_gw_"
#define RANDOM 24
#define NUMBER_MAX 9999
#define FACTS_MAX 8192

/* Is ${s} what follows RUN in an id? */
static int
is_random(const char *s)
{

	return (strspn(s, "0123456789abcdefghijklmnopqrstuvwxyz") == RANDOM);
}

int
call_id(char id[static CALL_ID_SIZE])
{

	memcpy(id, USE, strlen(USE));
	return (id_base36(id + strlen(USE), RANDOM));
}

int
call_id_is(const char *id)
{
	const size_t len = strlen(USE);

	return (strncmp(id, USE, len) == 0 && is_random(id + len) &&
	    id[len + RANDOM] == '\0');
}

int
code_use_id(const char *run, uint64_t number, char id[static CODE_USE_SIZE])
{
	const size_t len = strlen(RUN);

	if (strncmp(run, RUN, len) != 0 || !is_random(run + len) ||
	    run[len + RANDOM] != '\0')
		return (-1);
	(void)snprintf(id, CODE_USE_SIZE, USE "%s_%" PRIu64, run + len, number);
	return (0);
}

/* The number at the end of ${id}. */
static int
parse_use(const char *id, uint64_t *n)
{
	const char *s = id + strlen(USE);

	return (strncmp(id, USE, strlen(USE)) == 0 && is_random(s) &&
		    s[RANDOM] == '_'
		? num_u64(s + RANDOM + 1, 1, NUMBER_MAX, n)
		: -1);
}

int
code_use_is(const char *id)
{
	uint64_t n;

	return (parse_use(id, &n) == 0);
}

struct code_use *
talk_use(struct talk *t, const char *id)
{
	char run[sizeof(RUN) + RANDOM];
	struct code_use *u;
	uint64_t n;

	if (parse_use(id, &n))
		return (NULL);
	(void)snprintf(run, sizeof(run), RUN "%.*s", RANDOM, id + strlen(USE));
	if ((u = arena_alloc(t->mem, sizeof(*u))) == NULL ||
	    (u->run = arena_strndup(t->mem, run, strlen(run))) == NULL)
		return (NULL);
	u->id = id;
	u->number = n;
	*t->uses_end = u;
	t->uses_end = &u->next;
	t->nuses++;
	return (u);
}

struct code_use *
talk_find_use(const struct talk *t, const char *id)
{
	struct code_use *u;

	if (!code_use_is(id))
		return (NULL);
	for (u = t->uses; u != NULL; u = u->next)
		if (strcmp(u->id, id) == 0)
			break;
	return (u);
}

int
talk_our_facts(struct talk *t, const char *facts)
{
	static const enum our_tool runs[] = {OUR_BASH, OUR_CODE};
	struct buf b = BUF_INIT(FACTS_MAX);
	struct text usual;
	size_t i;
	int rc;

	rc = talk_text(t, facts, strlen(facts), &t->our_facts);
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]) && rc == 0; i++) {
		usual = talk_our_words(t, runs[i]);
		b.len = 0;
		(void)buf_put(&b, usual.p, usual.len);
		(void)buf_puts(&b, " ");
		rc = buf_puts(&b, facts) ||
		    talk_text(t, b.p, b.len, &t->our_says[runs[i]]);
	}
	buf_free(&b);
	return (rc ? -1 : 0);
}

struct text
talk_our_words(const struct talk *t, enum our_tool tool)
{
	const struct our_row *row = &our_rows[tool];
	const char *usual = t->here ? row->description_here : row->description;

	if (tool == OUR_CODE && t->code_says.p != NULL)
		return (t->code_says);
	if (t->our_says[tool].p != NULL)
		return (t->our_says[tool]);
	return ((struct text){usual, strlen(usual)});
}
