#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/jset.h"
#include "base/num.h"
#include "data/policy.h"
#include "data/usage.h"
#include "http/query.h"
#include "speech/dialect.h"

#include "fcgi/containers.h"
#include "fcgi/page_ask.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define PAGE_DEFAULT 100
#define SPAN_MS 2592000000 /* Thirty days, unless the caller says. */
#define MILLION 1000000

/* A price as it was set: a decimal number, as text, so that none is rounded. */
static json_object *
money(uint64_t millionths)
{
	char s[48];

	(void)snprintf(s, sizeof(s), "%" PRIu64 ".%06" PRIu64,
	    millionths / MILLION, millionths % MILLION);
	return (jstr(s));
}

static int
put_numbers(json_object *o, const struct usage_row *u)
{
	const struct {
		const char *name;
		uint64_t n;
		int tokens;
	} numbers[] = {{"input_tokens", u->input, 1},
	    {"output_tokens", u->output, 1}, {"cached_tokens", u->cached, 1},
	    {"reasoning_tokens", u->reasoning, 1}, {"rounds", u->rounds, 0},
	    {"runs", u->runs, 0}, {"priced_runs", u->priced, 0},
	    {"run_ms", u->run_ms, 0}, {"output_bytes", u->bytes, 0}};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].tokens && !u->counted
			? jnull(o, numbers[i].name)
			: jset(o, numbers[i].name, jint(numbers[i].n)))
			return (-1);
	return (jset(o, "price", money(u->price)));
}

static json_object *
usage_object(const struct usage_row *u)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jstr(u->id)) || jset(o, "object", jstr("usage")) ||
	    jtext(o, "request_id", u->request) ||
	    jset(o, "created_at", jint(u->created / 1000)) ||
	    jset(o, "key_id", jint(u->key)) || jtext(o, "user", u->user) ||
	    jset(o, "route", jstr(u->route)) ||
	    jset(o, "model", jstr(u->model)) ||
	    jset(o, "provider", jstr(u->provider)) ||
	    jset(o, "code_execution_ran", jstr(u->ran)) ||
	    jset(o, "status", jint(u->status)) || jtext(o, "error", u->error) ||
	    jset(o, "duration_ms", jint(u->ms)) || put_numbers(o, u)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
sum_object(const struct usage_row *sum, uint64_t requests)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "requests", jint(requests)) || put_numbers(o, sum)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* A time in Unix seconds. */
static int
take_time(struct req *r, const char *name, uint64_t *ms)
{
	const char *s = query_get(r->query, name, 0);
	uint64_t n;

	if (s == NULL || *s == '\0')
		return (0);
	if (query_count(r->query, name) > 1 ||
	    num_u64(s, 0, INT64_MAX / 1000, &n)) {
		(void)reply_problem(r, P_INVALID_VALUE, name,
		    "%s must be a time in Unix seconds", name);
		return (-1);
	}
	*ms = n * 1000;
	return (0);
}

/*
 * Whose usage: the caller's own key's; a workspace's for its administrator, and
 * for a management key, which must name it.
 */
static int
take_whose(struct req *r, struct usage_query *q)
{
	const char *name = query_get(r->query, "workspace", 0);
	const int all = r->caller.role != ROLE_USER;
	struct policy unused;
	enum data_rc rc = DATA_OK;

	q->key = r->caller.key;
	q->workspace = r->caller.owner.workspace;
	if (name == NULL || *name == '\0') {
		if (r->caller.role != ROLE_MANAGEMENT)
			return (0);
		(void)reply_problem(r, P_MISSING_PARAMETER, "workspace",
		    "A management key must name the workspace");
		return (-1);
	}
	q->key = 0;
	if (strcmp(name, r->caller.workspace) != 0)
		rc = r->caller.role == ROLE_MANAGEMENT
		    ? policy_find(
			  r->srv->db, r->mem, name, &q->workspace, &unused)
		    : DATA_NONE;
	if (rc == DATA_OK && all)
		return (0);
	if (rc == DATA_NONE)
		(void)reply_problem(
		    r, P_NOT_FOUND, "workspace", "There is no such workspace");
	else if (rc == DATA_OK)
		(void)reply_problem(r, P_DENIED, "workspace",
		    "A workspace's usage is for its administrators");
	else
		(void)reply_data(r, rc);
	return (-1);
}

static int
take(struct req *r, struct usage_query *q)
{
	struct page_ask ask;

	q->until = r->caller.now + 1;
	q->since = q->until > SPAN_MS ? q->until - SPAN_MS : 0;
	if (page_ask_read(r, PAGE_DEFAULT, USAGE_PAGE - 1, &ask) ||
	    take_time(r, "since", &q->since) ||
	    take_time(r, "until", &q->until) || take_whose(r, q))
		return (-1);
	q->limit = ask.limit + 1;
	q->ascending = ask.ascending;
	q->after = ask.after;
	return (0);
}

static json_object *
page_object(const struct usage_row *u, size_t n, size_t limit,
    const struct usage_row *sum, uint64_t requests)
{
	json_object *a, *o;
	size_t i;

	if ((a = json_object_new_array()) == NULL)
		return (NULL);
	for (i = 0; i < n && i < limit; i++)
		if (jadd(a, usage_object(&u[i]))) {
			json_object_put(a);
			return (NULL);
		}
	o = containers_page(
	    a, i > 0 ? u[0].id : NULL, i > 0 ? u[i - 1].id : NULL, n > limit);
	if (o != NULL && jset(o, "total", sum_object(sum, requests))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/*
 * GET /v1/usage
 *
 * 200: a page of what was used, and the sums of all pages.
 * 400, 403, 404: limit, order, after, since or until; not for this key; no such
 *	workspace.
 */
int
usage_get(struct req *r)
{
	struct usage_query q = {0};
	struct usage_row *u, sum;
	uint64_t requests = 0;
	size_t n = 0;
	enum data_rc rc;

	if (take(r, &q))
		return (0);
	if ((u = arena_alloc(r->mem, q.limit * sizeof(*u))) == NULL)
		return (-1);
	rc = usage_list(r->srv->db, r->mem, &q, u, &n);
	if (rc == DATA_NONE)
		return (
		    reply_problem(r, P_NOT_FOUND, "after", "No such cursor"));
	if (rc == DATA_OK)
		rc = usage_sum(r->srv->db, r->mem, &q, &sum, &requests);
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	sum.counted = 1;
	return (
	    reply_json(r, 200, page_object(u, n, q.limit - 1, &sum, requests)));
}
