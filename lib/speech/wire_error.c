#include <string.h>
#include <strings.h>

#include "base/num.h"

#include "speech/pick.h"
#include "speech/wire_error.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define WORD_MAX 64

/* ---- Which status it names */

/* The short string or the number ${v} as a word; "" if it is neither. */
static void
word_of(struct jspan v, char word[static WORD_MAX])
{
	const int quoted = pick_is(v, '"');

	word[0] = '\0';
	if (v.len >= WORD_MAX || (!quoted && pick_is(v, '{')))
		return;
	memcpy(word, v.p + quoted, v.len - 2 * (size_t)quoted);
	word[v.len - 2 * (size_t)quoted] = '\0';
}

/* The status that one member of an error names; 0 if it names none. */
static int
status_in(struct jspan v)
{
	/* clang-format off */
	static const struct { const char *word; int status; } rows[] = {
		{ "invalid_request_error", 400 }, { "BadRequestError", 400 },
		{ "invalid_prompt", 400 }, { "context_length_exceeded", 400 },
		{ "exceed_context_size_error", 400 },
		{ "content_filter", 400 }, { "content_policy_violation", 400 },
		{ "authentication_error", 401 }, { "invalid_api_key", 401 },
		{ "insufficient_quota", 402 }, { "billing_error", 402 },
		{ "permission_error", 403 },
		{ "not_found_error", 404 }, { "NotFoundError", 404 },
		{ "model_not_found", 404 }, { "DeploymentNotFound", 404 },
		{ "request_too_large", 413 },
		{ "rate_limit_error", 429 }, { "rate_limit_exceeded", 429 },
		{ "RateLimitError", 429 }, { "too_many_requests", 429 },
	};
	/* clang-format on */
	char word[WORD_MAX];
	uint64_t n;
	size_t i;

	word_of(v, word);
	if (num_u64(word, 400, 599, &n) == 0)
		return ((int)n);
	for (i = 0; i < NELEM(rows); i++)
		if (strcmp(word, rows[i].word) == 0)
			return (rows[i].status);
	return (0);
}

/* ---- Whether it is one */

/* Is ${v} an error that says something? */
static int
is_said(struct jspan v)
{
	struct jspan_iter it;

	if (pick_is(v, '{'))
		return (jspan_iter(&it, v) == 0 && jspan_next(&it, NULL, &v));
	return (pick_is(v, '"') && v.len > 2);
}

int
wire_choice(struct jspan root, struct jspan *choice)
{
	struct jspan list = pick_member(root, "choices"), index;
	struct jspan_iter it;

	if (!pick_is(list, '[') || jspan_iter(&it, list))
		return (0);
	while (jspan_next(&it, NULL, choice)) {
		index = pick_member(*choice, "index");
		if (pick_is(index, 'n') || pick_is(index, '0'))
			return (1);
	}
	return (0);
}

int
wire_failed(struct jspan why)
{
	/* clang-format off */
	static const char *const words[] = {
		"abort", "aborted", "cancelled", "canceled", "failed",
		"timeout", "insufficient_system_resource",
		"malformed_function_call",
	};
	/* clang-format on */
	char word[WORD_MAX];
	size_t i;

	word_of(why, word);
	if (strcasestr(word, "error") != NULL)
		return (1);
	for (i = 0; i < NELEM(words); i++)
		if (strcasecmp(word, words[i]) == 0)
			return (1);
	return (0);
}

/* What of ${root} holds an error; its length is 0 if nothing does. */
static struct jspan
holder(struct jspan root)
{
	struct jspan response = pick_member(root, "response"), choice;

	if (is_said(pick_member(root, "error")) ||
	    jspan_is(pick_member(root, "type"), "error") ||
	    jspan_is(pick_member(root, "object"), "error"))
		return (root);
	if (!pick_is(response, '{'))
		response = root;
	if (is_said(pick_member(response, "error")) ||
	    wire_failed(pick_member(response, "status")))
		return (response);
	if (jspan_is(pick_member(root, "type"), "response.failed"))
		return (root);
	if (wire_choice(root, &choice) &&
	    (is_said(pick_member(choice, "error")) ||
		wire_failed(pick_member(choice, "finish_reason"))))
		return (choice);
	return ((struct jspan){NULL, 0});
}

int
wire_error(struct jspan root, int called, struct wire_error *e)
{
	static const char *const keys[] = {
	    "code", "status", "status_code", "type"};
	struct jspan error;
	size_t i;

	e->at = holder(root);
	if (e->at.len == 0 && !called)
		return (0);
	if (e->at.len == 0)
		e->at = root;
	error = pick_member(e->at, "error");
	if (!pick_is(error, '{'))
		error = e->at;
	for (i = 0; i < NELEM(keys); i++)
		if ((e->status = status_in(pick_member(error, keys[i]))) != 0)
			return (1);
	e->status = 502;
	return (1);
}
