#ifndef TRANSLATE_H_
#define TRANSLATE_H_

/*
 * Requests of a caller's dialect, read into talks and written to the chat wire,
 * with what lib/run does between the two.
 */

#include "speech/outcome.h"
#include "speech/refusal.h"
#include "speech/talk.h"
#include "speech/wire_chat.h"

#include "fixture.h"

#define OURS_CODE (1U << OUR_CODE)

typedef int read_fn(struct jspan, struct talk *, struct refusal *);

/* What the executor fixtures' markers say. */
static const char *const markers[] = {
    "[file /mnt/data/data.csv - uploaded as \"data.csv\", text/csv, 1204 "
    "bytes]",
    "[file /mnt/data/data_2.csv - uploaded as \"data.csv\", text/csv, 988 "
    "bytes]",
};

/* What run/ does to a talk before a model is asked. */
static inline void
settle(struct talk *t)
{
	static const struct outcome_bounds bounds = {20, 67108864, 32768};
	struct buf b = BUF_INIT(65536);
	struct turn *u;
	struct part *p;
	size_t n = 0;

	for (u = t->first; u != NULL; u = u->next)
		for (p = u->first; p != NULL; p = p->next) {
			if (p->kind == PART_FILE &&
			    n < sizeof(markers) / sizeof(markers[0])) {
				p->text.p = markers[n];
				p->text.len = strlen(markers[n++]);
			}
			if (p->outcome == NULL)
				continue;
			if (p->outcome->files != NULL) {
				p->outcome->files->path = "totals.csv";
				p->outcome->files->bytes = 37;
			}
			outcome_text(&b, p->outcome, &bounds);
			talk_text(t, b.p, b.len, &p->text);
			buf_drop(&b, b.len);
		}
	buf_free(&b);
}

/* Whom it is written for; a test may change it. */
static struct conf_provider server;

/* The text of the upstream's request for ${text}; NULL if it was refused. */
static inline char *
translate_text(
    read_fn *read, const char *text, unsigned int ours, struct refusal *why)
{
	struct arena *mem = arena_new(16 << 20);
	struct talk *t = talk_new(mem);
	struct round r = {.provider = &server, .model = "Qwen/Qwen3-Coder"};
	struct buf b = BUF_INIT(1 << 20);

	memset(why, 0, sizeof(*why));
	t->ours = ours;
	if (read(checked(text), t, why) == 0) {
		settle(t);
		r.max_tokens = t->max_tokens;
		wire_chat_write(&b, t, &r);
	}
	arena_free(mem);
	return (b.p);
}

static inline json_object *
translate(
    read_fn *read, const char *text, unsigned int ours, struct refusal *why)
{
	char *s = translate_text(read, text, ours, why);
	json_object *o = s != NULL ? parsed(s) : NULL;

	free(s);
	return (o);
}

/* Ids in the fixtures are shorter than any that is given out; put ${by} in
 * place of each ${what} in ${s}, and free ${s}. */
static inline char *
replaced(char *s, const char *what, const char *by)
{
	struct buf b = BUF_INIT(4 << 20);
	char *at, *p = s;

	for (; (at = strstr(p, what)) != NULL; p = at + strlen(what)) {
		buf_put(&b, p, (size_t)(at - p));
		buf_puts(&b, by);
	}
	buf_puts(&b, p);
	free(s);
	return (b.p);
}

/* C's quotes for the tables' apostrophes. */
static inline char *
quoted(const char *s)
{
	static char out[4][8192];
	static unsigned int turn;
	char *p = out[turn++ % 4];
	size_t i;

	for (i = 0; s[i] != '\0'; i++)
		p[i] = s[i] == '\'' ? '"' : s[i];
	p[i] = '\0';
	return (p);
}

static inline json_object *
member(json_object *o, const char *key)
{

	return (json_object_get(json_object_object_get(o, key)));
}

#endif /* !TRANSLATE_H_ */
