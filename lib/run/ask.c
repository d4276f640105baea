#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/jspan.h"

#include "speech/refusal.h"

#include "run/ask.h"

#define REQUEST_MAX (256U << 20)
#define ANSWER_DEPTH 128

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

/* An answer being gathered. */
struct gather {
	struct buf *body;
	int status;
	char retry_after[32];
};

static int
on_head(void *cookie, int status, const struct upstream_head *head)
{
	struct gather *g = cookie;
	const char *s = upstream_header(head, "retry-after");

	g->status = status;
	(void)snprintf(
	    g->retry_after, sizeof(g->retry_after), "%s", s != NULL ? s : "");
	return (0);
}

static int
on_body(void *cookie, const void *p, size_t len)
{
	struct gather *g = cookie;

	/* Of an error no more than what will be looked at. */
	if (g->status != 200 && g->body->len + len > ASK_ERROR_MAX)
		return (0);
	return (buf_put(g->body, p, len));
}

/* Make events of a whole answer with status 200. */
static enum run_rc
read_answer(const struct run_env *env, const struct conf_provider *p,
    const struct buf *body, event_fn *fn, void *cookie, struct refusal *why)
{
	const struct wire *w = wire_of((enum conf_wire)p->wire);
	struct jspan_info info;
	struct jspan v;

	if (body->len == 0 ||
	    jspan_check(body->p, body->len, ANSWER_DEPTH, &info) != JSPAN_OK) {
		(void)refuse(why, P_UPSTREAM, NULL,
		    "The model provider's answer could not be read.");
		return (RUN_REFUSED);
	}
	if (jspan_get(info.root, w->answer, &v) == 0 &&
	    jspan_get(info.root, "error", &v) > 0) {
		(void)wire_refuse(p, 502, NULL, NULL, 0, why);
		return (RUN_REFUSED);
	}
	if (w->read(env->mem, info.root, fn, cookie) == 0)
		return (RUN_OK);
	(void)refuse(why, P_UPSTREAM, NULL,
	    "The model provider's answer could not be used.");
	return (RUN_REFUSED);
}

/* Send ${request} and gather the answer. */
static enum run_rc
exchange(const struct run_env *env, const struct conf_provider *p,
    const struct buf *request, uint64_t total_ms, struct gather *g,
    struct refusal *why)
{
	struct ask_head h;
	struct upstream_call call = {.label = p->name,
	    .method = "POST",
	    .path = wire_of((enum conf_wire)p->wire)->path,
	    .body = request->p,
	    .len = request->len,
	    .gone_fd = env->gone_fd,
	    .total_ms = total_ms,
	    .max = g->body->max,
	    .on_head = on_head,
	    .on_body = on_body,
	    .cookie = g};
	enum upstream_rc rc = UPSTREAM_FAIL;

	if (ask_head_new(&h, p) == 0) {
		call.base = h.base;
		call.headers = (const char *const *)h.header;
		rc = upstream_run(&call);
	}
	ask_head_free(&h);
	if (rc != UPSTREAM_OK)
		return (ask_failed(rc, why));
	if (g->status == 200)
		return (RUN_OK);
	(void)wire_refuse(
	    p, g->status, g->retry_after, g->body->p, g->body->len, why);
	return (RUN_REFUSED);
}

enum run_rc
ask_round(const struct run_env *env, const struct conf_provider *p,
    const struct talk *t, const struct round *r, uint64_t total_ms,
    event_fn *fn, void *cookie, struct buf *body, size_t *asked,
    struct refusal *why)
{
	const struct wire *w = wire_of((enum conf_wire)p->wire);
	struct buf request = BUF_INIT(REQUEST_MAX);
	struct gather g = {.body = body};
	enum run_rc rc;

	if (w->write(&request, t, r)) {
		(void)refuse(why, P_SERVER, NULL, "out of memory");
		rc = RUN_REFUSED;
	} else
		rc = exchange(env, p, &request, total_ms, &g, why);
	*asked = request.len;
	buf_free(&request);
	if (rc == RUN_OK)
		rc = read_answer(env, p, body, fn, cookie, why);
	return (rc);
}
