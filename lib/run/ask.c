#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"

#include "speech/answer.h"
#include "speech/refusal.h"

#include "run/ask.h"
#include "run/tally.h"

#define REQUEST_MAX (256U << 20)
#define ANSWER_MAX (64U << 20)

/* A provider's base without a path means the usual one. */
static char *
base_of(const struct conf_provider *p)
{
	const char *host = strstr(p->base_url, "://");
	char *s;

	host = host != NULL ? host + 3 : p->base_url;
	if (asprintf(&s, "%s%s", p->base_url,
		strchr(host, '/') == NULL ? "/v1" : "") == -1)
		return (NULL);
	return (s);
}

/* Add the header line ${s}, which is freed by ask_head_free(). */
static int
add_line(struct ask_head *h, char *s)
{
	size_t i, len;

	if (s == NULL)
		return (-1);
	len = strcspn(s, ":") + 1;
	for (i = 0; i < h->n; i++)
		if (strncasecmp(h->header[i], s, len) == 0) {
			free(h->header[i]);
			h->header[i] = s;
			return (0);
		}
	if (h->n == ASK_HEADERS) {
		free(s);
		return (-1);
	}
	h->header[h->n++] = s;
	return (0);
}

int
ask_head_add(struct ask_head *h, const char *name, const char *value)
{
	char *s, *p;

	if (asprintf(&s, "%s: %s", name, value) == -1)
		return (-1);
	for (p = s; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '_';
	return (add_line(h, s));
}

int
ask_head_new(struct ask_head *h, const struct conf_provider *p)
{
	const struct wire *w = wire_of((enum conf_wire)p->wire);
	char value[4096];

	*h = (struct ask_head){.base = base_of(p)};
	if (h->base == NULL ||
	    ask_head_add(h, "Content-Type", "application/json") ||
	    (w->version != NULL && add_line(h, strdup(w->version))))
		return (-1);
	if (p->api_key == NULL || p->api_key[0] == '\0')
		return (0);
	(void)snprintf(
	    value, sizeof(value), "%s%s", w->auth_scheme, p->api_key);
	return (ask_head_add(h, w->auth_header, value));
}

int
ask_head_more(struct ask_head *h, const struct run_header *more)
{

	for (; more != NULL && more->name != NULL; more++)
		if (ask_head_add(h, more->name, more->value))
			return (-1);
	return (0);
}

void
ask_head_free(struct ask_head *h)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		free(h->header[i]);
	free(h->base);
}

enum run_rc
ask_failed(enum upstream_rc rc, struct refusal *why)
{

	switch (rc) {
	case UPSTREAM_GONE:
		return (RUN_GONE);
	case UPSTREAM_TIMEOUT:
		(void)refuse(why, P_UPSTREAM_TIMEOUT, NULL,
		    "The model provider did not answer in time.");
		break;
	case UPSTREAM_REFUSED:
		(void)refuse(why, P_UPSTREAM, NULL,
		    "The model provider cannot be reached.");
		break;
	case UPSTREAM_TOO_BIG:
		(void)refuse(why, P_UPSTREAM, NULL,
		    "The model provider's answer is too large.");
		break;
	case UPSTREAM_OK:
	case UPSTREAM_CUT:
	case UPSTREAM_STOPPED:
		(void)refuse(why, P_UPSTREAM, NULL,
		    "The model provider broke the connection off.");
		break;
	case UPSTREAM_FAIL:
		(void)refuse(
		    why, P_SERVER, NULL, "An internal error occurred.");
		break;
	}
	return (RUN_REFUSED);
}

void
ask_hear(struct ask_heard *h, const void *p, size_t len)
{

	if (len > ASK_WORDS)
		len = ASK_WORDS;
	memcpy(h->words, p, len);
	h->words[len] = '\0';
}

void
ask_log(
    const struct conf_provider *p, const char *path, const struct ask_heard *h)
{
	const uint64_t ms = clock_ms() - h->since;
	char *base = base_of(p);
	const int secret = p->api_key != NULL && p->api_key[0] != '\0' &&
	    strstr(h->words, p->api_key) != NULL;

	log_warn("upstream %s: %s%s: status %d after %llu ms: %s", p->name,
	    base != NULL ? base : "", path, h->status, (unsigned long long)ms,
	    secret ? "(words that hold the credential)" : h->words);
	free(base);
}

/* An answer as it comes: of an error the body, of any other the events. */
struct exchange {
	const struct ask_sink *sink;
	struct answer *answer;
	struct buf error;
	struct ask_heard heard;
	char retry_after[32];
	int gone; /* The caller's client. */
};

static int
on_head(void *cookie, int status, const struct upstream_head *head)
{
	struct exchange *x = cookie;
	const char *s = upstream_header(head, "retry-after");

	x->heard.status = status;
	(void)snprintf(
	    x->retry_after, sizeof(x->retry_after), "%s", s != NULL ? s : "");
	return (0);
}

static int
on_body(void *cookie, const void *p, size_t len)
{
	struct exchange *x = cookie;
	enum answer_rc rc;

	/* Of an error no more than what will be looked at. */
	if (x->heard.status != 200)
		return (x->error.len + len > ASK_ERROR_MAX
			? 0
			: buf_put(&x->error, p, len));
	ask_hear(&x->heard, p, len);
	rc = answer_feed(x->answer, p, len);
	if (x->sink->flush != NULL && x->sink->flush(x->sink->cookie)) {
		x->gone = 1;
		return (-1);
	}
	if (rc == ANSWER_FAILED)
		return (-1);
	return (rc == ANSWER_DONE);
}

static enum upstream_rc
send_request(const struct run_env *env, const struct conf_provider *p,
    const struct buf *request, uint64_t total_ms, struct exchange *x)
{
	struct ask_head h;
	struct upstream_call call = {.label = p->name,
	    .method = "POST",
	    .path = wire_of((enum conf_wire)p->wire)->path,
	    .body = request->p,
	    .len = request->len,
	    .gone_fd = env->gone_fd,
	    .total_ms = total_ms,
	    .max = ANSWER_MAX,
	    .on_head = on_head,
	    .on_body = on_body,
	    .cookie = x,
	    .on_wait = env->on_wait,
	    .wait_cookie = env->wait_cookie};
	enum upstream_rc rc = UPSTREAM_FAIL;

	if (ask_head_new(&h, p) == 0 && ask_head_more(&h, env->headers) == 0) {
		call.base = h.base;
		call.headers = (const char *const *)h.header;
		rc = upstream_run(&call);
	}
	ask_head_free(&h);
	return (rc);
}

/* What the exchange that came to ${rc} was.  One that broke off may have said
 * all it had to say. */
static enum run_rc
judge(const struct conf_provider *p, struct exchange *x, enum upstream_rc rc,
    struct refusal *why)
{

	if (x->gone || rc == UPSTREAM_GONE)
		return (RUN_GONE);
	const char *path = wire_of((enum conf_wire)p->wire)->path;

	if (x->heard.status == 200 &&
	    (rc == UPSTREAM_OK || rc == UPSTREAM_CUT ||
		rc == UPSTREAM_STOPPED)) {
		if (answer_end(x->answer, rc == UPSTREAM_CUT, why) == 0)
			return (RUN_OK);
		if (why->kind == P_RATE)
			why->retry_after = wire_seconds(x->retry_after);
		if (rc != UPSTREAM_CUT && why->kind != P_SERVER)
			ask_log(p, path, &x->heard);
		return (RUN_REFUSED);
	}
	if (rc != UPSTREAM_OK)
		return (ask_failed(rc, why));
	(void)wire_refuse(
	    p, x->heard.status, x->retry_after, x->error.p, x->error.len, why);
	ask_hear(&x->heard, x->error.len > 0 ? x->error.p : "", x->error.len);
	ask_log(p, path, &x->heard);
	return (RUN_REFUSED);
}

/* Tell how long the request is, in tokens, before it is sent. */
static int
tell_round(const struct ask_sink *sink, size_t len)
{
	const struct usage u = {.input = len / 4 > 0 ? len / 4 : 1};
	const struct event ev = {.kind = EVENT_ROUND, .usage = &u};

	return (sink->fn(sink->cookie, &ev));
}

enum run_rc
ask_round(const struct run_env *env, const struct conf_provider *p,
    const struct talk *t, const struct round *r, uint64_t total_ms,
    const struct ask_sink *sink, struct refusal *why)
{
	const struct wire *w = wire_of((enum conf_wire)p->wire);
	struct buf request = BUF_INIT(REQUEST_MAX);
	struct exchange x = {.sink = sink,
	    .error = BUF_INIT(ASK_ERROR_MAX),
	    .heard = {.since = clock_ms()}};
	enum run_rc rc = RUN_REFUSED;

	if (w->write(&request, t, r) || tell_round(sink, request.len) ||
	    (x.answer = answer_new(p, sink->fn, sink->cookie)) == NULL)
		(void)refuse(why, P_SERVER, NULL, "out of memory");
	else
		rc = judge(
		    p, &x, send_request(env, p, &request, total_ms, &x), why);
	answer_free(x.answer);
	if (env->tally != NULL)
		env->tally->upstream_ms += clock_ms() - x.heard.since;
	buf_free(&x.error);
	buf_free(&request);
	return (rc);
}
