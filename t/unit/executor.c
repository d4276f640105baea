/*
 * The decision table of the executor contract, section 1.3: each row by cases
 * written out from the page, and every combination against a second reading of
 * it in prose order.
 */
#include <stddef.h>
#include <string.h>

#include "data/policy.h"
#include "run/executor.h"

#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define A DECLARED_DATED
#define B DECLARED_BARE
#define O DECLARED_OPENAI
#define E DECLARED_EXPLICIT
#define F DECLARED_NONE
#define AUTO EXECUTOR_AUTO
#define LOCAL EXECUTOR_LOCAL
#define PROVIDER EXECUTOR_PROVIDER

/* clang-format off */
static const struct {
	int row;
	const char *name;
	struct executor_case c; /* declared, S, header, N, T, X, P */
	enum runs runs;
} cases[] = {
	{ 1, "no declaration", { F, AUTO, 0, 0, 1, 1, 1 }, RUNS_NOBODY },
	{ 1, "no declaration, policy off", { F, LOCAL, 1, 0, 0, 1, 0 },
	    RUNS_NOBODY },
	{ 1, "no declaration, no sandbox", { F, PROVIDER, 0, 0, 0, 0, 1 },
	    RUNS_NOBODY },
	{ 2, "E without a sandbox", { E, AUTO, 0, 0, 0, 0, 1 },
	    RUNS_NO_SANDBOX },
	{ 3, "E, policy off", { E, LOCAL, 0, 0, 1, 1, 0 }, RUNS_DISABLED },
	{ 4, "E", { E, AUTO, 0, 0, 1, 1, 1 }, RUNS_LOCAL },
	{ 4, "E although S is provider", { E, PROVIDER, 0, 1, 0, 1, 1 },
	    RUNS_LOCAL },
	{ 5, "header local, no sandbox", { A, LOCAL, 1, 1, 0, 0, 1 },
	    RUNS_NO_SANDBOX },
	{ 6, "auto, no sandbox, same wire", { A, AUTO, 0, 0, 0, 0, 1 },
	    RUNS_UPSTREAM },
	{ 6, "provider, no sandbox, same wire", { O, PROVIDER, 1, 0, 0, 0, 1 },
	    RUNS_UPSTREAM },
	{ 6, "default local, no sandbox, same wire",
	    { B, LOCAL, 0, 1, 0, 0, 1 }, RUNS_UPSTREAM },
	{ 7, "no sandbox, other wire", { A, AUTO, 0, 0, 1, 0, 1 },
	    RUNS_UNAVAILABLE },
	{ 7, "default local, no sandbox, other wire",
	    { A, LOCAL, 0, 0, 1, 0, 1 }, RUNS_UNAVAILABLE },
	{ 8, "provider, same wire", { A, PROVIDER, 0, 0, 0, 1, 0 },
	    RUNS_UPSTREAM },
	{ 9, "provider, other wire", { A, PROVIDER, 0, 0, 1, 1, 1 },
	    RUNS_UNAVAILABLE },
	{ 10, "local, policy off", { A, LOCAL, 0, 1, 0, 1, 0 },
	    RUNS_DISABLED },
	{ 10, "header local, policy off", { A, LOCAL, 1, 1, 0, 1, 0 },
	    RUNS_DISABLED },
	{ 11, "local beats a native upstream", { A, LOCAL, 0, 1, 0, 1, 1 },
	    RUNS_LOCAL },
	{ 11, "header local", { O, LOCAL, 1, 0, 1, 1, 1 }, RUNS_LOCAL },
	{ 12, "auto, native", { A, AUTO, 0, 1, 0, 1, 1 }, RUNS_UPSTREAM },
	{ 12, "auto, native, policy off", { A, AUTO, 0, 1, 0, 1, 0 },
	    RUNS_UPSTREAM },
	{ 13, "auto, not native, policy off", { A, AUTO, 0, 0, 0, 1, 0 },
	    RUNS_DISABLED },
	{ 14, "auto, not native", { A, AUTO, 0, 0, 1, 1, 1 }, RUNS_LOCAL },
};

static const struct {
	const char *name, *first, *second;
	int rc, given;
	enum conf_executor setting;
} headers[] = {
	{ "absent", NULL, NULL, 0, 0, AUTO },
	{ "empty is absent", "", NULL, 0, 0, AUTO },
	{ "spaces are absent", "  ", NULL, 0, 0, AUTO },
	{ "auto", "auto", NULL, 0, 1, AUTO },
	{ "upper case", "LOCAL", NULL, 0, 1, LOCAL },
	{ "trimmed", " \tprovider ", NULL, 0, 1, PROVIDER },
	{ "otari is local", "otari", NULL, 0, 1, LOCAL },
	{ "twice the same", "local", "Otari", 0, 1, LOCAL },
	{ "twice the same, joined", "local, local", NULL, 0, 1, LOCAL },
	{ "twice, contradicting", "local", "auto", -1, 0, AUTO },
	{ "joined, contradicting", "local, provider", NULL, -1, 0, AUTO },
	{ "no such word", "yes", NULL, -1, 0, AUTO },
	{ "a word and more", "local please", NULL, -1, 0, AUTO },
};
/* clang-format on */

/* Pin, header and default together (section 1.2). */
static void
precedence(void)
{
	/* clang-format off */
	static const struct {
		const char *name;
		int pin, header, row; /* enum conf_executor, or -1. */
		int rc, setting, by_header;
	} rows[] = {
		{ "nothing said: the file's", -1, -1, -1, 0, AUTO, 0 },
		{ "the row over the file", -1, -1, PROVIDER, 0, PROVIDER, 0 },
		{ "the header over the row", -1, LOCAL, PROVIDER, 0, LOCAL, 1 },
		{ "the pin over the row", LOCAL, -1, PROVIDER, 0, LOCAL, 0 },
		{ "a header that agrees", LOCAL, LOCAL, -1, 0, LOCAL, 1 },
		{ "a header that does not", PROVIDER, LOCAL, -1, -1, 0, 0 },
		{ "auto is a pin too", AUTO, LOCAL, -1, -1, 0, 0 },
	};
	/* clang-format on */
	struct policy_in_force f;
	struct executor_header h;
	struct executor_case c;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		f = (struct policy_in_force){
		    .policy = {.enabled = 1, .pinned = rows[i].pin != -1},
		    .defaulted = rows[i].row != -1};
		f.policy.executor = (enum conf_executor)(rows[i].pin & 3);
		f.executor = (enum conf_executor)(rows[i].row & 3);
		h = (struct executor_header){.given = rows[i].header != -1};
		h.setting = (enum conf_executor)(rows[i].header & 3);
		ok(executor_settle(&h, &f, AUTO, &c) == rows[i].rc &&
			(rows[i].rc != 0 ||
			    ((int)c.setting == rows[i].setting &&
				c.by_header == rows[i].by_header &&
				c.enabled == 1)),
		    rows[i].name);
	}
}

/* The table once more, as its reader would say it. */
static enum runs
say(const struct executor_case *c)
{

	if (c->declared == F)
		return (RUNS_NOBODY);
	if (c->declared == E) {
		if (!c->sandbox)
			return (RUNS_NO_SANDBOX);
		return (c->enabled ? RUNS_LOCAL : RUNS_DISABLED);
	}
	if (!c->sandbox) {
		if (c->setting == LOCAL && c->by_header)
			return (RUNS_NO_SANDBOX);
		return (c->translated ? RUNS_UNAVAILABLE : RUNS_UPSTREAM);
	}
	if (c->setting == PROVIDER)
		return (c->translated ? RUNS_UNAVAILABLE : RUNS_UPSTREAM);
	if (c->setting == AUTO && c->native)
		return (RUNS_UPSTREAM);
	return (c->enabled ? RUNS_LOCAL : RUNS_DISABLED);
}

static void
all_combinations(void)
{
	struct executor_case c;
	int bad = 0, seen[15] = {0}, i, d, s;

	for (d = F; d <= O; d++)
		for (s = AUTO; s <= PROVIDER; s++)
			for (i = 0; i < 32; i++) {
				c = (struct executor_case){(enum declared)d,
				    (enum conf_executor)s, i & 1, !!(i & 2),
				    !!(i & 4), !!(i & 8), !!(i & 16)};
				if (c.native && c.translated)
					continue; /* N excludes T. */
				bad += executor_decide(&c) != say(&c);
				seen[executor_row(&c)]++;
			}
	ok(bad == 0, "every combination is decided as the page says");
	for (i = 1, bad = 0; i <= 14; i++)
		bad += seen[i] == 0;
	ok(bad == 0 && seen[0] == 0, "every row decides something");
}

static void
declarations(void)
{
	ok(our_declared("code_execution_20250825") == A &&
		our_declared("code_execution_20991231") == A,
	    "any dated suffix is A");
	ok(our_declared("code_execution") == B, "the bare type is B");
	ok(our_declared("code_interpreter") == O, "code_interpreter is O");
	ok(our_declared("satchel_code_execution") == E &&
		our_declared("otari_code_execution") == E,
	    "both explicit types are E");
	ok(our_declared("function") == F && our_declared("custom") == F &&
		our_declared("code_execution_") == F &&
		our_declared("bash_20250124") == F && our_declared(NULL) == F,
	    "nothing else declares code execution");
	ok(executor_is_native(WIRE_MESSAGES, A) &&
		!executor_is_native(WIRE_MESSAGES, B) &&
		!executor_is_native(WIRE_MESSAGES, O) &&
		executor_is_native(WIRE_RESPONSES, O) &&
		!executor_is_native(WIRE_RESPONSES, A),
	    "a vendor knows its own declarations");
	ok(!executor_is_native(WIRE_CHAT, A) &&
		!executor_is_native(WIRE_CHAT, B) &&
		!executor_is_native(WIRE_CHAT, O),
	    "a chat upstream knows none");
}

int
main(void)
{
	struct executor_header h;
	char name[128];
	size_t i;
	int rc;

	for (i = 0; i < NELEM(cases); i++) {
		(void)snprintf(name, sizeof(name), "row %d: %s", cases[i].row,
		    cases[i].name);
		ok(executor_decide(&cases[i].c) == cases[i].runs &&
			executor_row(&cases[i].c) == cases[i].row,
		    name);
	}
	precedence();
	all_combinations();
	declarations();
	for (i = 0; i < NELEM(headers); i++) {
		h = (struct executor_header){0};
		rc = executor_header_add(&h, headers[i].first);
		if (rc == 0)
			rc = executor_header_add(&h, headers[i].second);
		(void)snprintf(
		    name, sizeof(name), "header: %s", headers[i].name);
		ok(rc == headers[i].rc &&
			(rc != 0 ||
			    (h.given == headers[i].given &&
				(!h.given || h.setting == headers[i].setting))),
		    name);
	}
	return (done_testing());
}
