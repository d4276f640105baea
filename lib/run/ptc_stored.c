#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/jget.h"
#include "base/jput.h"
#include "base/jset.h"

#include "data/caller.h"

#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/ptc.h"
#include "run/ptc_stored.h"

#define ONE_MAX (5UL << 20)  /* Bytes of one result... */
#define ALL_MAX (40UL << 20) /* ...and of all of a program. */
#define REQUEST_MAX (10UL << 20)
#define SPARE_MS 120000 /* A round may take longer than its program. */

static void
put_json(void *o)
{

	json_object_put(o);
}

/* Parse ${x}, an object that lives as long as the request. */
static json_object *
parse(const struct run_env *env, struct text x)
{
	json_object *o = NULL;
	size_t at;

	if (jget_parse(x.p, x.len, &o, &at) != JGET_PARSE_OK ||
	    !json_object_is_type(o, json_type_object) ||
	    arena_cleanup(env->mem, put_json, o)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* Find the code in the call's arguments. */
static int
read_args(const struct run_env *env, struct ptc_stored *s)
{
	json_object *o;

	return ((o = parse(env, s->args)) != NULL &&
		    jget_str(o, "code", &s->code) == JGET_OK
		? 0
		: -1);
}

int
ptc_stored_make(const struct run_env *env, struct ptc_stored *s,
    struct text args, json_object *tools)
{

	s->args = args;
	s->tools = tools;
	return (read_args(env, s));
}

/* ---- What is kept */

/* The JSON that is stored of it; the caller must free it. */
static char *
request_of(const struct ptc_stored *s)
{
	json_object *o;
	const char *text;
	char *copy = NULL;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "container", jstr(s->container)) ||
	    jset(o, "args",
		json_object_new_string_len(s->args.p, (int)s->args.len)) ||
	    jset(o, "tools", json_object_get(s->tools)))
		goto done;
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	if (text != NULL && strlen(text) <= REQUEST_MAX)
		copy = strdup(text);

done:
	json_object_put(o);
	return (copy);
}

enum data_rc
ptc_stored_ask(const struct run_env *env, struct ptc_stored *s,
    const struct ptc_call *call, size_t n, uint64_t now)
{
	char *request;
	enum data_rc rc;

	if (s->run.id != 0)
		return (ptc_ask(env->db, &s->run, call, n, NULL, now));
	if ((request = request_of(s)) == NULL)
		return (DATA_FAIL);
	s->run.session = s->container;
	s->run.request = request;
	rc = ptc_begin(
	    env->db, &env->caller->owner, s->id, &s->run, call, n, now);
	s->run.request = NULL;
	free(request);
	return (rc);
}

void
ptc_stored_end(const struct run_env *env, const struct ptc_stored *s)
{

	if (s->run.id != 0)
		ptc_release(env->db, &s->run);
}

static int
add_history(void *cookie, const struct ptc_call *c)
{

	return (ptc_history(cookie, c));
}

enum data_rc
ptc_stored_history(
    const struct run_env *env, const struct ptc_stored *s, struct buf *b)
{

	return (s->run.id != 0 ? ptc_each(env->db, &s->run, add_history, b)
			       : DATA_OK);
}

/* ---- Going on with it */

/* Results that have come, in the order of the calls. */
struct results {
	struct ptc_call *call;
	const struct code_use **use;
	size_t n;
	uint64_t bytes;
	char sha256[HASH_SIZE];
};

static enum run_rc
refuse_data(enum data_rc rc, struct refusal *why)
{

	if (rc == DATA_DOWN || rc == DATA_UNSURE)
		(void)refuse(why, P_DATABASE, NULL,
		    "The database is not available right now.");
	else if (rc == DATA_STATE)
		(void)refuse(why, P_CONTAINER_BUSY, "container",
		    "The code of this container is being run.");
	else
		(void)refuse(
		    why, P_SERVER, NULL, "An internal error occurred.");
	return (RUN_REFUSED);
}

static int
by_number(const void *a, const void *b)
{
	const struct code_use *const *x = a, *const *y = b;

	return (((*x)->number > (*y)->number) - ((*x)->number < (*y)->number));
}

static int
take_result(const struct run_env *env, struct results *res, struct hash *h,
    size_t i, struct refusal *why)
{
	const struct code_use *u = res->use[i];
	struct ptc_call *c = &res->call[i];
	struct buf b = BUF_INIT(ONE_MAX);
	char *copy;

	if (jput_text(&b, u->result.p, u->result.len)) {
		buf_free(&b);
		return (refuse(why, P_BAD_REQUEST, u->where,
		    "%s: a result that code is given may have %lu bytes at "
		    "most",
		    u->where, ONE_MAX));
	}
	copy = arena_strndup(env->mem, b.p, b.len);
	*c = (struct ptc_call){
	    .number = u->number, .result = copy, .is_error = u->is_error};
	res->bytes += b.len;
	hash_add(h, &c->number, sizeof(c->number));
	hash_add(h, &c->is_error, sizeof(c->is_error));
	hash_add(h, b.p, b.len);
	buf_free(&b);
	return (
	    copy != NULL ? 0 : refuse(why, P_SERVER, NULL, "out of memory"));
}

static int
take_results(const struct run_env *env, struct results *res,
    const struct talk *t, struct refusal *why)
{
	const struct code_use *u;
	struct hash *h;
	size_t i, n = 0;

	for (u = t->uses; u != NULL; u = u->next)
		n += u->newest != 0;
	res->call = arena_alloc(env->mem, (n + 1) * sizeof(*res->call));
	res->use = arena_alloc(env->mem, (n + 1) * sizeof(*res->use));
	if (res->call == NULL || res->use == NULL ||
	    (h = hash_new(HASH_SHA256)) == NULL)
		return (refuse(why, P_SERVER, NULL, "out of memory"));
	for (u = t->uses; u != NULL; u = u->next)
		if (u->newest)
			res->use[res->n++] = u;
	qsort(res->use, n, sizeof(*res->use), by_number);
	for (i = 0; i < n; i++)
		if (take_result(env, res, h, i, why)) {
			hash_free(h);
			return (-1);
		}
	if (hash_hex(h, res->sha256))
		return (refuse(why, P_SERVER, NULL, "out of memory"));
	return (0);
}

static enum run_rc
find(const struct run_env *env, struct ptc_stored *s, const struct results *res,
    uint64_t now, struct refusal *why)
{
	const char *where = res->use[0]->where, *container, *args;
	enum data_rc rc;
	json_object *o;
	size_t len;

	rc = ptc_find(
	    env->db, env->mem, &env->caller->owner, s->id, now, &s->run);
	if (rc == DATA_NONE) {
		(void)refuse(why, P_BAD_REQUEST, where,
		    "%s: the code that made this call waits no longer", where);
		return (RUN_REFUSED);
	}
	if (rc != DATA_OK)
		return (refuse_data(rc, why));
	if ((o = parse(
		 env, (struct text){s->run.request, strlen(s->run.request)})) ==
		NULL ||
	    jget_str(o, "container", &container) != JGET_OK ||
	    jget_text(o, "args", &args, &len) != JGET_OK ||
	    jget_array(o, "tools", &s->tools) != JGET_OK)
		return (refuse_data(DATA_FAIL, why));
	s->args = (struct text){args, len};
	if (read_args(env, s))
		return (refuse_data(DATA_FAIL, why));
	if (strcmp(container, s->container) == 0)
		return (RUN_OK);
	(void)refuse(why, P_BAD_REQUEST, "container",
	    "container: the code that made this call runs in another one");
	return (RUN_REFUSED);
}

/* Are they the results of just the calls that wait for them? */
static enum run_rc
check(
    const struct ptc_stored *s, const struct results *res, struct refusal *why)
{
	const uint64_t first = s->run.calls - s->run.pending + 1;
	const struct code_use *u;
	size_t i;

	for (i = 0; i < res->n; i++) {
		u = res->use[i];
		if (u->number >= first && u->number <= s->run.calls)
			continue;
		(void)refuse(why, P_BAD_REQUEST, u->where,
		    "%s: the call %.80s waits for no result", u->where, u->id);
		return (RUN_REFUSED);
	}
	if (res->n == s->run.pending && s->run.bytes + res->bytes <= ALL_MAX)
		return (RUN_OK);
	u = res->use[0];
	if (res->n != s->run.pending)
		(void)refuse(why, P_BAD_REQUEST, u->where,
		    "%s: the code has made %" PRIu64 " calls and waits for "
		    "the results of all of them",
		    u->where, s->run.pending);
	else
		(void)refuse(why, P_BAD_REQUEST, u->where,
		    "%s: the results that one piece of code is given may have "
		    "%lu bytes together",
		    u->where, ALL_MAX);
	return (RUN_REFUSED);
}

/* The round before the last, with the results that it had. */
static int
is_repeat(const struct ptc_stored *s, const struct results *res)
{

	return (s->run.answered != NULL &&
	    strcmp(s->run.answered, res->sha256) == 0 &&
	    res->use[res->n - 1]->number == s->run.calls - s->run.pending);
}

enum run_rc
ptc_stored_claim(const struct run_env *env, struct ptc_stored *s,
    const struct talk *t, uint64_t now, uint64_t for_ms, struct refusal *why)
{
	struct results res = {0};
	struct ptc_call *call;
	enum data_rc rc;
	enum run_rc run;

	if (take_results(env, &res, t, why))
		return (RUN_REFUSED);
	if ((run = find(env, s, &res, now, why)) != RUN_OK)
		return (run);
	if (is_repeat(s, &res)) {
		rc = ptc_pending(env->db, env->mem, &s->run, &call, &s->nasked);
		s->asked = call;
		return (rc == DATA_OK ? RUN_OK : refuse_data(rc, why));
	}
	if ((run = check(s, &res, why)) != RUN_OK)
		return (run);
	rc = ptc_claim(env->db, &s->run, res.sha256, res.call, res.n,
	    s->run.bytes + res.bytes, now + for_ms + SPARE_MS, now);
	return (rc == DATA_OK ? RUN_OK : refuse_data(rc, why));
}
