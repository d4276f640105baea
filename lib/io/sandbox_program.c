#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/jput.h"
#include "base/log.h"

#include "io/sandbox_ask.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define BODY_MAX (8U << 20)
#define WHY_MAX 1024
#define WHY_DEPTH 8
#define NAME_MAX_LEN 64
#define COMPILE_S 600 /* No sandbox of ours compiles longer. */

/* What a sandbox says that it offers. */
static unsigned int
extension(struct jspan name)
{
	/* clang-format off */
	static const struct { const char *name; unsigned int bit; } rows[] = {
		{ "run", SANDBOX_HAS_RUN },
		{ "manifest", SANDBOX_HAS_MANIFEST },
		{ "calls", SANDBOX_HAS_CALLS },
		{ "stream", SANDBOX_HAS_STREAM },
		{ "edit", SANDBOX_HAS_EDIT },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		if (jspan_is(name, rows[i].name))
			return (rows[i].bit);
	return (0);
}

enum sandbox_rc
sandbox_extensions(const struct sandbox *s, unsigned int *bits)
{
	struct ask a = ask_health(s);
	struct jspan root, list, v;
	struct jspan_iter it;
	enum sandbox_rc rc;

	*bits = 0;
	if ((rc = ask(&a, NULL)) == SANDBOX_OK && answer_root(&a, &root))
		rc = SANDBOX_DOWN;
	if (rc == SANDBOX_OK && jspan_get(root, "extensions", &list) > 0 &&
	    list.p[0] == '[')
		for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);)
			*bits |= extension(v);
	if (rc == SANDBOX_OK && jspan_get(root, "workspace", &v) > 0 &&
	    jspan_is(v, "."))
		*bits |= SANDBOX_HERE;
	ask_free(&a);
	return (rc);
}

/* Is ${b} what a package can be called, as a model may be told? */
static int
is_name(const struct buf *b)
{

	return (b->len > 0 && b->len <= NAME_MAX_LEN &&
	    strlen(b->p) == b->len &&
	    strspn(b->p,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-_.") == b->len);
}

/* The names in ${list}, as far as there is room for them. */
static void
read_packages(struct jspan list, char packages[static SANDBOX_PACKAGES])
{
	struct buf b = BUF_INIT(NAME_MAX_LEN);
	struct jspan_iter it;
	struct jspan v;
	size_t len = 0;

	for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);) {
		buf_free(&b);
		b.spoiled = 0;
		if (jspan_str(&b, v) || !is_name(&b) ||
		    len + b.len + 3 > SANDBOX_PACKAGES)
			continue;
		len += (size_t)snprintf(packages + len, SANDBOX_PACKAGES - len,
		    "%s%s", len > 0 ? ", " : "", b.p);
	}
	buf_free(&b);
}

enum sandbox_rc
sandbox_host(const struct sandbox *s, struct sandbox_host *h)
{
	struct ask a = ask_health(s);
	struct jspan root, keeper, v;
	enum sandbox_rc rc;

	memset(h, 0, sizeof(*h));
	if ((rc = ask(&a, NULL)) == SANDBOX_OK && answer_root(&a, &root))
		rc = SANDBOX_DOWN;
	if (rc == SANDBOX_OK && jspan_get(root, "keeper", &keeper) > 0) {
		h->says = 1;
		h->own_users =
		    jspan_get(root, "own_users", &v) > 0 && v.p[0] == 't';
		h->keeper = jspan_get(keeper, "runs", &v) > 0 && v.p[0] == 't';
		h->served =
		    jspan_get(keeper, "serves", &v) > 0 && v.p[0] == 't';
		h->ready = (uint64_t)answer_int(keeper, "ready", 0);
	}
	if (rc == SANDBOX_OK) {
		h->here =
		    jspan_get(root, "workspace", &v) > 0 && jspan_is(v, ".");
		if (jspan_get(root, "packages", &v) > 0 && v.p[0] == '[')
			read_packages(v, h->packages);
	}
	ask_free(&a);
	return (rc);
}

static void
put_number(struct buf *b, const char *key, uint64_t n)
{

	if (n != 0)
		(void)buf_printf(b, ",\"%s\":%ju", key, (uintmax_t)n);
}

static void
put_input(struct buf *b, const struct sandbox_program *p)
{
	size_t i;

	(void)buf_puts(b, "{\"language\":");
	(void)jput_str(b, p->language);
	(void)buf_puts(b, ",\"source\":");
	(void)jput_str(b, p->source);
	(void)buf_puts(b, ",\"args\":[");
	for (i = 0; i < p->nargs; i++) {
		(void)buf_puts(b, i > 0 ? "," : "");
		(void)jput_str(b, p->args[i]);
	}
	(void)buf_puts(b, "],\"env\":{");
	for (i = 0; i < p->nenv; i++) {
		(void)buf_puts(b, i > 0 ? "," : "");
		(void)jput_str(b, p->env[2 * i]);
		(void)buf_puts(b, ":");
		(void)jput_str(b, p->env[2 * i + 1]);
	}
	(void)buf_puts(b, "}");
	put_number(b, "compile_timeout_seconds", p->compile_s);
	put_number(b, "memory_bytes", p->memory_bytes);
	put_number(b, "output_bytes", p->output_bytes);
	if (p->calls && p->settle_ms != 0)
		(void)buf_printf(b, ",\"calls\":{\"settle_ms\":%ju}",
		    (uintmax_t)p->settle_ms);
	else if (p->calls)
		(void)buf_puts(b, ",\"calls\":{}");
	(void)buf_puts(b, "}");
}

/* The whole request. */
static void
put_program(struct buf *b, const struct sandbox_program *p)
{
	size_t i;

	(void)buf_printf(b,
	    "{\"tool\":\"run_code_execution\",\"timeout_seconds\":%ju,"
	    "\"input\":",
	    (uintmax_t)p->timeout_s);
	put_input(b, p);
	(void)buf_puts(b, ",\"manifest\":{\"inputs\":[");
	for (i = 0; i < p->ninputs; i++) {
		(void)buf_puts(b, i > 0 ? ",{\"path\":" : "{\"path\":");
		(void)jput_str(b, p->input[i].path);
		(void)buf_puts(b, ",\"sha256\":");
		(void)jput_str(b, p->input[i].sha256);
		(void)buf_printf(b, ",\"read_only\":%s}",
		    p->input[i].read_only ? "true" : "false");
	}
	(void)buf_puts(b, "]}}");
}

/* Which of ${words} is the string under ${key}?  Their number if none. */
static size_t
read_word(struct jspan o, const char *key, const char *const *words, size_t n)
{
	struct jspan v;
	size_t i = n;

	if (jspan_get(o, key, &v) > 0)
		for (i = 0; i < n; i++)
			if (jspan_is(v, words[i]))
				break;
	return (i);
}

/* How it ended. */
static int
read_run(struct jspan root, struct arena *mem, struct sandbox_ran *ran)
{
	static const char *const ends[] = {[SANDBOX_EXIT] = "exit",
	    [SANDBOX_SIGNAL] = "signal",
	    [SANDBOX_TIMEOUT] = "timeout",
	    [SANDBOX_MEMORY] = "memory",
	    [SANDBOX_FILES] = "files",
	    [SANDBOX_PROCESSES] = "processes",
	    [SANDBOX_CPU] = "cpu",
	    [SANDBOX_ASKED] = "calls",
	    [SANDBOX_UNSTARTED] = "start"};
	static const char *const stages[] = {"run", "compile"};
	struct jspan run, v;
	size_t end, stage;

	if (jspan_get(root, "run", &run) == 0)
		return (-1);
	end = read_word(run, "ended", ends, NELEM(ends));
	stage = read_word(run, "stage", stages, NELEM(stages));
	if (end == NELEM(ends) || stage == NELEM(stages))
		return (-1);
	ran->end = (enum sandbox_end)end;
	ran->compiling = stage == 1;
	ran->signal = (int)answer_int(run, "signal", 0);
	if (jspan_get(run, "note", &v) > 0)
		ran->note = answer_str(mem, v, WHY_MAX);
	return (0);
}

static int
read_change(struct jspan o, struct arena *mem, struct sandbox_change *c)
{
	static const char *const states[] = {[SANDBOX_NEW] = "new",
	    [SANDBOX_CHANGED] = "changed",
	    [SANDBOX_DELETED] = "deleted"};
	size_t state = read_word(o, "state", states, NELEM(states));
	struct jspan v;

	if (state == NELEM(states) || jspan_get(o, "path", &v) == 0 ||
	    (c->path = answer_str(mem, v, SANDBOX_PATH_MAX)) == NULL)
		return (-1);
	c->state = state;
	c->bytes = (uint64_t)answer_int(o, "size_bytes", 0);
	c->sha256 = NULL;
	if (jspan_get(o, "sha256", &v) > 0)
		c->sha256 = answer_str(mem, v, 64);
	if (c->sha256 == NULL)
		c->sha256 = "";
	return (0);
}

static int
read_changes(struct jspan root, struct arena *mem, struct sandbox_ran *ran)
{
	struct jspan manifest, list, v;
	struct jspan_iter it;
	size_t n = 0;

	if (jspan_get(root, "manifest", &manifest) == 0 ||
	    jspan_get(manifest, "files", &list) == 0 || list.p[0] != '[')
		return (-1);
	for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);)
		n++;
	ran->change = arena_alloc(mem, (n + 1) * sizeof(*ran->change));
	if (ran->change == NULL)
		return (-1);
	for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);)
		if (read_change(v, mem, &ran->change[ran->nchanges++]))
			return (-1);
	ran->res.truncated =
	    jspan_get(manifest, "truncated", &v) > 0 && v.p[0] == 't';
	return (0);
}

static int
read_calls(struct jspan root, struct arena *mem, struct sandbox_ran *ran)
{
	struct jspan calls, list, v;
	struct jspan_iter it;
	size_t n = 0;
	char *text;

	if (jspan_get(root, "calls", &calls) == 0)
		return (0);
	if (jspan_get(calls, "error", &v) > 0)
		ran->broken = answer_str(mem, v, WHY_MAX);
	if (jspan_get(calls, "pending", &list) == 0 || list.p[0] != '[')
		return (-1);
	for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);)
		n++;
	if ((ran->call = arena_alloc(mem, (n + 1) * sizeof(v))) == NULL)
		return (-1);
	for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);) {
		if ((text = arena_strndup(mem, v.p, v.len)) == NULL)
			return (-1);
		ran->call[ran->ncalls].p = text;
		ran->call[ran->ncalls++].len = v.len;
	}
	return (0);
}

static enum sandbox_rc
read_ran(
    const struct ask *a, struct arena *mem, size_t max, struct sandbox_ran *ran)
{
	enum sandbox_rc rc = answer_result(a, mem, max, &ran->res);
	struct jspan root;

	if (rc != SANDBOX_OK)
		return (rc);
	if (answer_root(a, &root) || read_run(root, mem, ran) ||
	    read_changes(root, mem, ran) || read_calls(root, mem, ran)) {
		log_err(SANDBOX_LABEL ": the answer to a run makes no sense");
		return (SANDBOX_DOWN);
	}
	return (SANDBOX_OK);
}

/* What a refusal says. */
static enum sandbox_rc
read_refusal(const struct ask *a, struct arena *mem, struct sandbox_ran *ran)
{
	struct jspan_info info;
	struct jspan v;

	if (a->body.len == 0 ||
	    jspan_check(a->body.p, a->body.len, WHY_DEPTH, &info) != JSPAN_OK)
		return (SANDBOX_BAD);
	if (jspan_get(info.root, "detail", &v) > 0)
		ran->why = answer_str(mem, v, WHY_MAX);
	if (jspan_get(info.root, "code", &v) == 0)
		return (SANDBOX_BAD);
	return (jspan_is(v, "language_unknown")  ? SANDBOX_NO_LANGUAGE
		: jspan_is(v, "language_absent") ? SANDBOX_NO_TOOLCHAIN
						 : SANDBOX_BAD);
}

enum sandbox_rc
sandbox_run(const struct sandbox *s, struct arena *mem, const char *id,
    const struct sandbox_program *p, size_t max, struct sandbox_ran *ran)
{
	struct ask a = ask_session(s, "POST", id, "/exec", NULL);
	struct buf body = BUF_INIT(BODY_MAX);
	uint64_t start = clock_ms();
	enum sandbox_rc rc = SANDBOX_BAD;

	memset(ran, 0, sizeof(*ran));
	a.body.max = SANDBOX_ANSWER_MAX;
	a.call.total_ms =
	    (p->timeout_s + (p->compile_s != 0 ? p->compile_s : COMPILE_S)) *
		1000 +
	    SANDBOX_GRACE_MS;
	a.call.first_ms = a.call.total_ms;
	put_program(&body, p);
	a.call.body = body.p;
	a.call.len = body.len;
	if (buf_ok(&body))
		rc = ask(&a, "Content-Type: application/json");
	else
		ran->why = "the program and what it takes are over 8 MiB";
	ran->res.ms = clock_ms() - start;
	if (rc == SANDBOX_OK)
		rc = read_ran(&a, mem, max, ran);
	else if (rc == SANDBOX_BAD && a.status != 0)
		rc = read_refusal(&a, mem, ran);
	buf_free(&body);
	ask_free(&a);
	return (rc);
}
