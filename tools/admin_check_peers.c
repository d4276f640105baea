#include <string.h>

#include "base/conf.h"
#include "base/jspan.h"
#include "io/upstream.h"
#include "run/ask.h"
#include "speech/reader.h"

#include "tools/admin_check.h"

/* The servers that others run or start: the sandbox and the providers. */

#define PEER_MS 3000
#define LIST_MAX (8U << 20) /* Bytes of a provider's list of models. */
#define LIST_DEPTH 64

/* An answer that is read whole. */
struct peer {
	int status; /* 0: there was none. */
	struct buf body;
};

static int
on_head(void *cookie, int status, const struct upstream_head *head)
{

	(void)head;
	((struct peer *)cookie)->status = status;
	return (0);
}

static int
on_body(void *cookie, const void *p, size_t len)
{

	return (buf_put(&((struct peer *)cookie)->body, p, len));
}

/* Ask for ${path}; append to ${said} why there was no answer.  0 or -1. */
static int
peer_ask(struct peer *p, const char *base, const char *path,
    const char *const *headers, struct buf *said)
{
	const struct upstream_call call = {.label = "check",
	    .method = "GET",
	    .base = base,
	    .path = path,
	    .headers = headers,
	    .gone_fd = -1,
	    .first_ms = PEER_MS,
	    .total_ms = PEER_MS,
	    .max = LIST_MAX,
	    .on_head = on_head,
	    .on_body = on_body,
	    .cookie = p};

	switch (upstream_run(&call)) {
	case UPSTREAM_OK:
		return (0);
	case UPSTREAM_REFUSED:
		buf_puts(said,
		    " refuses the connection, or there is no such "
		    "host");
		break;
	case UPSTREAM_TIMEOUT:
		buf_printf(
		    said, " does not answer within %d s", PEER_MS / 1000);
		break;
	case UPSTREAM_TOO_BIG:
		buf_puts(said, " sends too much");
		break;
	default:
		buf_puts(said,
		    " breaks the connection off, or does not speak "
		    "HTTP");
		break;
	}
	return (-1);
}

/* --- the sandbox --- */

static enum check_state
look_sandbox(const struct check *k, struct buf *said)
{
	struct peer p = {.body = BUF_INIT(LIST_MAX)};
	struct buf auth = BUF_INIT(4096);
	const char *headers[2] = {NULL};
	enum check_state st = CHECK_FAIL;

	if (k->c->sandbox_url == NULL) {
		buf_puts(said, "none configured, so no code is run here");
		return (CHECK_WARN);
	}
	buf_puts(said, k->c->sandbox_url);
	if (k->c->sandbox_token != NULL &&
	    buf_printf(
		&auth, "Authorization: Bearer %s", k->c->sandbox_token) == 0)
		headers[0] = auth.p;
	if (peer_ask(&p, k->c->sandbox_url, "/health", headers, said))
		goto done;
	if (p.status == 200) {
		st = CHECK_OK;
	} else if (p.status == 502 || p.status == 504) {
		buf_printf(said,
		    ": nginx answers %d, because it does not reach "
		    "satchel-sandbox",
		    p.status);
		buf_puts(k->remedy,
		    "start satchel-sandbox, and let nginx's "
		    "account use its socket (nginx's "
		    "error.log says which)");
	} else if (p.status == 401) {
		buf_puts(said, " refuses our credential");
		buf_puts(k->remedy, "give both sides the same sandbox.token");
	} else
		buf_printf(said, " answers /health with %d", p.status);
done:
	buf_free(&p.body);
	buf_free(&auth);
	return (st);
}

/* --- providers --- */

/* How many models the list in ${b} has; -1 if it is not a list. */
static long
count_models(const struct buf *b)
{
	struct jspan_info info;
	struct jspan_iter it;
	struct jspan data, v;
	long n = 0;

	if (b->len == 0 ||
	    jspan_check(b->p, b->len, LIST_DEPTH, &info) != JSPAN_OK ||
	    !reader_member(info.root, "data", &data) || jspan_iter(&it, data) ||
	    it.object)
		return (-1);
	while (jspan_next(&it, NULL, &v))
		n++;
	return (n);
}

/* Does ${s} end with "/v1"? */
static int
ends_v1(const char *s)
{
	size_t len = strlen(s);

	return (len >= 3 && strcmp(s + len - 3, "/v1") == 0);
}

/* What the answer ${a} of ${p} says of the settings. */
static enum check_state
judge(const struct conf_provider *p, const struct peer *a, struct buf *said)
{
	long n;

	switch (a->status) {
	case 200:
		if ((n = count_models(&a->body)) >= 0) {
			buf_printf(said, ": %ld models", n);
			return (CHECK_OK);
		}
		buf_puts(said, " answers /models, but not with a list");
		return (CHECK_WARN);
	case 401:
	case 403:
		buf_printf(
		    said, " answers %d: is its api_key right?", a->status);
		return (CHECK_FAIL);
	case 404:
		if (!ends_v1(p->base_url)) {
			buf_puts(said, " answers 404: should it end in /v1?");
			return (CHECK_FAIL);
		}
		buf_puts(said, " answers 404: it does not list its models");
		return (CHECK_WARN);
	default:
		buf_printf(said, " answers /models with %d", a->status);
		return (CHECK_WARN);
	}
}

static enum check_state
look_provider(const struct conf_provider *p, struct buf *said)
{
	struct peer a = {.body = BUF_INIT(LIST_MAX)};
	enum check_state st = CHECK_FAIL;
	struct ask_head h;

	buf_printf(
	    said, "%s%s: %s", said->len > 0 ? "; " : "", p->name, p->base_url);
	if (ask_head_new(&h, p) == 0 &&
	    peer_ask(&a, h.base, "/models", (const char *const *)h.header,
		said) == 0)
		st = judge(p, &a, said);
	ask_head_free(&h);
	buf_free(&a.body);
	return (st);
}

/* One that is not there is for its operator to judge; none at all is not. */
static enum check_state
look_providers(const struct check *k, struct buf *said)
{
	size_t i, failed = 0, odd = 0;

	if (k->c->nproviders == 0) {
		buf_puts(said, "none configured");
		buf_puts(k->remedy,
		    "name a model server under providers:, or "
		    "model requests get 404");
		return (CHECK_WARN);
	}
	for (i = 0; i < k->c->nproviders; i++)
		switch (look_provider(&k->c->providers[i], said)) {
		case CHECK_OK:
			break;
		case CHECK_FAIL:
			failed++;
			break;
		default:
			odd++;
			break;
		}
	if (failed == k->c->nproviders)
		return (CHECK_FAIL);
	return (failed + odd > 0 ? CHECK_WARN : CHECK_OK);
}

/* clang-format off */
const struct check_item check_peers[] = {
	{ "sandbox.health", look_sandbox,
	  "start satchel-sandbox and set sandbox.url to its address" },
	{ "providers", look_providers,
	  "start it, or correct base_url, the address up to but without "
	  "/chat/completions, and api_key" },
	{ NULL, NULL, NULL }
};
/* clang-format on */
