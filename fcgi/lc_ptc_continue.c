#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/jget.h"
#include "base/num.h"

#include "fcgi/lc.h"
#include "fcgi/lc_ptc.h"
#include "fcgi/req.h"

#define ONE_MAX (5UL << 20)  /* Bytes of one result... */
#define ALL_MAX (40UL << 20) /* ...and of all of a program. */
#define RUN_MEM (64UL << 20)
#define SPARE_MS 120000 /* A round may take longer than its program. */
#define WAIT_MS 60000   /* For a round that another request has begun. */
#define POLL_MS 100

#define UNKNOWN                                                       \
	"The tool-calling session was not found or has expired; run " \
	"the code again from the start.\n"

/* Results that have come. */
struct results {
	struct ptc_call *call;
	size_t n;
	uint64_t bytes;
	char sha256[HASH_SIZE];
};

static int error(struct lc_ptc *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Refuse the continuation; the program is kept as it is.  Returns -1. */
static int
error(struct lc_ptc *p, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)lc_ptc_error(p->r, LC_PTC_FAILED, text, p->run.session);
	return (-1);
}

/* "call_" and at least three digits. */
static int
call_number(const char *id, uint64_t *n)
{
	const size_t len = strlen(id);

	return (len >= 8 && len <= 11 && strncmp(id, "call_", 5) == 0
		? num_u64(id + 5, 1, 999999, n)
		: -1);
}

/* The text of the result, by which a program is told. */
static const char *
result_text(json_object *o, int is_error)
{
	json_object *v = NULL;

	if (is_error &&
	    (!json_object_object_get_ex(o, "error_message", &v) ||
		!json_object_is_type(v, json_type_string)) &&
	    (!json_object_object_get_ex(o, "result", &v) ||
		!json_object_is_type(v, json_type_string)))
		return ("\"The tool call failed\"");
	if (!is_error)
		(void)json_object_object_get_ex(o, "result", &v);
	return (v == NULL
		? "null"
		: json_object_to_json_string_ext(v,
		      JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

static int
read_result(struct lc_ptc *p, json_object *o, struct results *res)
{
	struct ptc_call *c = &res->call[res->n];
	const char *id;
	size_t len;

	if (!json_object_is_type(o, json_type_object) ||
	    jget_str(o, "call_id", &id) != JGET_OK)
		return (error(p, "Every tool result needs a call_id.\n"));
	if (call_number(id, &c->number))
		return (error(p, "%.32s is no call that was made.\n", id));
	for (size_t i = 0; i < res->n; i++)
		if (res->call[i].number == c->number)
			return (
			    error(p, "There are two results for %s.\n", id));
	if (jget_bool(o, "is_error", &c->is_error) != JGET_OK)
		c->is_error = 0;
	if ((c->result = result_text(o, c->is_error)) == NULL)
		return (error(p, "The result of %s cannot be read.\n", id));
	if ((len = strlen(c->result)) > ONE_MAX)
		return (error(p,
		    "The result of %s is larger than the %lu bytes that one "
		    "may have.\n",
		    id, ONE_MAX));
	res->bytes += len;
	res->n++;
	return (0);
}

/* In the order of the calls, so that a repeated batch is known again. */
static int
hash_results(struct results *res)
{
	struct hash *h;
	char head[64];

	for (size_t i = 1; i < res->n; i++)
		for (size_t j = i;
		     j > 0 && res->call[j - 1].number > res->call[j].number;
		     j--) {
			const struct ptc_call t = res->call[j];

			res->call[j] = res->call[j - 1];
			res->call[j - 1] = t;
		}
	if ((h = hash_new(HASH_SHA256)) == NULL)
		return (-1);
	for (size_t i = 0; i < res->n; i++) {
		(void)snprintf(head, sizeof(head), "\n%" PRIu64 " %d %zu ",
		    res->call[i].number, res->call[i].is_error,
		    strlen(res->call[i].result));
		hash_add(h, head, strlen(head));
		hash_add(h, res->call[i].result, strlen(res->call[i].result));
	}
	return (hash_hex(h, res->sha256));
}

static int
read_results(struct lc_ptc *p, json_object *o, struct results *res)
{
	json_object *list;
	size_t n;

	if (jget_array(o, "tool_results", &list) != JGET_OK ||
	    (n = json_object_array_length(list)) == 0 || n > PTC_CALLS_MAX)
		return (error(p,
		    "tool_results must list one result per pending call.\n"));
	if ((res->call = arena_alloc(p->r->mem, n * sizeof(*res->call))) ==
	    NULL)
		return (-1);
	for (size_t i = 0; i < n; i++)
		if (read_result(p, json_object_array_get_idx(list, i), res))
			return (-1);
	return (hash_results(res));
}

/* Are they the results of just the calls that wait for them? */
static int
check_results(struct lc_ptc *p, const struct results *res)
{
	const uint64_t first = p->run.calls - p->run.pending + 1;

	for (size_t i = 0; i < res->n; i++)
		if (res->call[i].number < first ||
		    res->call[i].number > p->run.calls)
			return (error(p,
			    "call_%03" PRIu64 " is no call that waits for a "
			    "result.\n",
			    res->call[i].number));
	if (res->n != p->run.pending)
		return (error(p,
		    "tool_results must list one result per pending call.\n"));
	if (p->run.bytes + res->bytes > ALL_MAX)
		return (error(p,
		    "The results of this program's calls are larger than the "
		    "%lu bytes that they may have together.\n",
		    ALL_MAX));
	return (0);
}

static int
is_same(const struct lc_ptc *p, const struct results *res)
{

	return (p->run.answered != NULL &&
	    strcmp(p->run.answered, res->sha256) == 0);
}

static int
find(struct lc_ptc *p, struct arena *mem, const char *token, uint64_t now)
{
	enum data_rc rc;

	rc = ptc_find(
	    p->r->srv->db, mem, &p->r->caller.owner, token, now, &p->run);
	if (rc == DATA_OK)
		return (0);
	if (rc == DATA_NONE)
		(void)lc_ptc_error(p->r, LC_PTC_FAILED, UNKNOWN, NULL);
	else
		(void)reply_data(p->r, rc);
	return (-1);
}

/* Another request runs the same round: wait for it, as long as it lives. */
static int
wait_for(struct lc_ptc *p, struct arena *mem, const char *token)
{
	const uint64_t now = p->r->caller.now, since = clock_ms();
	struct pollfd fd = {.fd = io_fd(p->r->io), .events = POLLRDHUP};
	uint64_t spent = 0;

	while (p->run.state == PTC_RUNNING && spent < WAIT_MS &&
	    p->run.busy_until > now + spent) {
		if (poll(&fd, fd.fd != -1, POLL_MS) > 0) {
			p->r->gone = 1;
			return (-1);
		}
		spent = clock_ms() - since;
		if (find(p, mem, token, now + spent))
			return (-1);
	}
	return (0);
}

/* Give the answer that was given before. */
static int
repeat(struct lc_ptc *p)
{
	json_object *o;
	size_t at;

	if (jget_parse(p->run.answer, strlen(p->run.answer), &o, &at) !=
	    JGET_PARSE_OK)
		return (-1);
	return (reply_json(p->r, 200, o));
}

static int
add_history(void *cookie, const struct ptc_call *c)
{

	return (ptc_history(cookie, c));
}

static void
put_json(void *o)
{

	json_object_put(o);
}

/* Make ready what was stored of the first request. */
static int
setup(struct lc_ptc *p)
{
	json_object *o;
	size_t at;

	if (jget_parse(p->run.request, strlen(p->run.request), &o, &at) !=
	    JGET_PARSE_OK)
		return (-1);
	if (arena_cleanup(p->r->mem, put_json, o)) {
		json_object_put(o);
		return (-1);
	}
	p->r->lc_round = 1;
	return (lc_ptc_setup(p, o));
}

/* Claim the next round and run it. */
static int
go_on(struct lc_ptc *p, const struct results *res)
{
	struct req *r = p->r;
	enum data_rc rc;
	uint64_t until;

	if (setup(p))
		return (r->status != 0 ? 0 : -1);
	until = r->caller.now + p->round.x.program.timeout_s * 1000 + SPARE_MS;
	rc = ptc_claim(r->srv->db, &p->run, res->sha256, res->call, res->n,
	    p->run.bytes + res->bytes, until, r->caller.now);
	if (rc == DATA_STATE)
		return (error(p, "Another round of this program runs.\n"), 0);
	if (rc == DATA_OK)
		rc = ptc_each(
		    r->srv->db, &p->run, add_history, &p->round.history);
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	return (lc_ptc_go(p));
}

/* What is to be done for the results ${res} of the run that was found. */
static int
judge(struct lc_ptc *p, struct arena *mem, const char *token,
    const struct results *res)
{

	if (p->run.state == PTC_RUNNING && is_same(p, res) &&
	    wait_for(p, mem, token))
		return (0);
	if (is_same(p, res) && p->run.answer != NULL)
		return (repeat(p));
	if (p->run.state == PTC_DONE)
		return (lc_ptc_error(p->r, LC_PTC_FAILED, UNKNOWN, NULL));
	if (p->run.state == PTC_RUNNING && p->run.busy_until > p->r->caller.now)
		return (error(p, "Another round of this program runs.\n"), 0);
	if (check_results(p, res))
		return (0);
	return (go_on(p, res));
}

int
lc_ptc_continue(struct lc_ptc *p, json_object *o)
{
	struct results res = {0};
	const char *token;
	struct arena *mem;
	int rc = 0;

	if (jget_str(o, "continuation_token", &token) != JGET_OK ||
	    strlen(token) >= sizeof(p->token))
		return (lc_ptc_error(p->r, LC_PTC_FAILED, UNKNOWN, NULL));
	(void)snprintf(p->token, sizeof(p->token), "%s", token);
	if ((mem = arena_new(RUN_MEM)) == NULL)
		return (-1);
	if (find(p, mem, token, p->r->caller.now) == 0) {
		if (read_results(p, o, &res) == 0)
			rc = judge(p, mem, token, &res);
		else if (p->r->status == 0)
			rc = -1;
	}
	arena_free(mem);
	return (rc);
}
