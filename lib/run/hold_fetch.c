#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/num.h"

#include "data/file.h"
#include "data/file_held.h"

#include "run/ask.h"
#include "run/hold.h"
#include "run/hold_copy.h"

#define FIRST_MS 30000

/* A fetch under way. */
struct fetch {
	int (*on_head)(void *, int64_t);
	upstream_body_fn *on_body;
	void *cookie;
	uint64_t max;
	int status, begun, stopped;
};

static const struct conf_provider *
provider_of(const struct conf *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->nproviders; i++)
		if (strcmp(c->providers[i].name, name) == 0)
			return (&c->providers[i]);
	return (NULL);
}

static int
see_head(void *cookie, int status, const struct upstream_head *head)
{
	struct fetch *k = cookie;
	const char *s = upstream_header(head, "content-length");
	uint64_t n;

	k->status = status;
	if (status != 200)
		return (0);
	if (s == NULL || num_u64(s, 0, INT64_MAX, &n)) {
		k->stopped = k->on_head(k->cookie, -1) != 0;
	} else {
		if (n > k->max)
			return (-1); /* Nothing has been promised yet. */
		k->stopped = k->on_head(k->cookie, (int64_t)n) != 0;
	}
	k->begun = 1;
	return (k->stopped ? -1 : 0);
}

static int
see_body(void *cookie, const void *p, size_t len)
{
	struct fetch *k = cookie;

	if (k->status != 200)
		return (0); /* An error's words are for nobody. */
	k->stopped = k->on_body(k->cookie, p, len) != 0;
	return (k->stopped ? -1 : 0);
}

static enum hold_rc
outcome(const struct fetch *k, enum upstream_rc rc)
{

	if (rc == UPSTREAM_GONE || k->stopped)
		return (HOLD_GONE);
	if (k->begun)
		return (rc == UPSTREAM_OK ? HOLD_OK : HOLD_BROKE);
	if (rc == UPSTREAM_OK && (k->status == 404 || k->status == 410))
		return (HOLD_NONE);
	return (HOLD_FAIL);
}

int
hold_path(const struct file_held *h, const char *what,
    char path[static HOLD_PATH_SIZE])
{
	int n;

	if (h->container != NULL)
		n = snprintf(path, HOLD_PATH_SIZE, "/containers/%s/files/%s%s",
		    h->container, h->id, what);
	else
		n = snprintf(path, HOLD_PATH_SIZE, "/files/%s%s", h->id, what);
	return (n < 0 || n >= HOLD_PATH_SIZE ? -1 : 0);
}

int
hold_head(struct ask_head *head, const struct file_held *h)
{

	if (h->container != NULL)
		return (0);
	return (ask_head_add(head, "anthropic-beta", "files-api-2025-04-14"));
}

enum hold_rc
hold_fetch(const struct run_env *env, const struct file *f,
    int (*on_head)(void *, int64_t), upstream_body_fn *on_body, void *cookie)
{
	struct fetch k = {
	    on_head, on_body, cookie, env->conf->files_max_bytes, 0, 0, 0};
	struct upstream_call call = {.method = "GET",
	    .gone_fd = env->gone_fd,
	    .first_ms = FIRST_MS,
	    .max = k.max,
	    .on_head = see_head,
	    .on_body = see_body,
	    .cookie = &k};
	const struct conf_provider *p;
	enum upstream_rc rc = UPSTREAM_FAIL;
	struct file_held h;
	struct ask_head head;
	char path[HOLD_PATH_SIZE];

	if (file_held_find(env->db, env->mem, f->row, &h) != DATA_OK ||
	    (p = provider_of(env->conf, h.provider)) == NULL ||
	    hold_path(&h, "/content", path))
		return (HOLD_FAIL);
	if (ask_head_new(&head, p) == 0 && hold_head(&head, &h) == 0) {
		call.label = p->name;
		call.base = head.base;
		call.path = path;
		call.headers = (const char *const *)head.header;
		rc = upstream_run(&call);
	}
	ask_head_free(&head);
	return (outcome(&k, rc));
}
