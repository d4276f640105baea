/*
 * Reasoning between tags at the beginning of a text, cut at every byte.
 */
#include "speech/think.h"

#include "wire.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static int
send(struct think *T, enum event_kind kind, const char *p, size_t len)
{
	const struct event ev = {.kind = kind, .text = {p, len}, .name = "f"};

	return (think_event(T, &ev));
}

/* The text in two pieces, then a call or the end. */
static char *
line(const char *text, size_t cut, enum event_kind then)
{
	struct heard_line h = {.line = BUF_INIT(1 << 20)};
	struct think T = {.fn = hear, .cookie = &h};

	send(&T, EVENT_TEXT, text, cut);
	send(&T, EVENT_TEXT, text + cut, strlen(text) - cut);
	send(&T, then, NULL, 0);
	return (h.line.p);
}

int
main(void)
{
	/* clang-format off */
	static const struct { const char *text, *want; } rows[] = {
		{ "<think>a</think>b", "|R:a|T:b" },
		{ "\n <think>\na <b> </thin> c\n</think>\n\nSo.\n",
		    "|R:\na <b> </thin> c\n|T:So.\n" },
		{ "<think></think>b", "|T:b" },
		{ "b <think>a</think>", "|T:b <think>a</think>" },
		{ "<thin>b", "|T:<thin>b" },
		{ "<think>never ends </th", "|R:never ends </th" },
		{ "<think>a</think>", "|R:a" },
		{ "<think>a</</think>b</think>", "|R:a</|T:b</think>" },
		{ "  plain", "|T:plain" },
		{ "<thi", "|T:<thi" },
		{ "", "" },
	};
	/* clang-format on */
	char want[128];
	size_t i, cut, bad;
	char *got;

	for (i = 0; i < NELEM(rows); i++) {
		bad = 0;
		for (cut = 0; cut <= strlen(rows[i].text); cut++) {
			(void)snprintf(
			    want, sizeof(want), "%s|S:0", rows[i].want);
			got = line(rows[i].text, cut, EVENT_STOP);
			if (strcmp(got, want) != 0 && bad++ == 0)
				printf("# cut at %zu: %s\n", cut, got);
			free(got);
		}
		ok(bad == 0, rows[i].want);
	}
	got = line("<think>a", 3, EVENT_CALL);
	ok(strcmp(got, "|R:a|C:-,f") == 0, "a call ends it");
	free(got);
	return (done_testing());
}
