#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/jget.h"
#include "base/jset.h"
#include "speech/refusal.h"

#include "fcgi/lc.h"
#include "fcgi/lc_exec.h"
#include "fcgi/lc_refs.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ARGS_MAX 256
#define CAUSE_SIZE 256

/* The languages that the client offers, and what else it may call them. */
static const struct language {
	const char *name;      /* The sandbox's. */
	const char *others[4]; /* Aliases; ends with NULL. */
} languages[] = {
    {"py", {"python", "python3", NULL}},
    {"js", {"javascript", "node", "nodejs", NULL}},
    {"ts", {"typescript", NULL}},
    {"c", {NULL}},
    {"cpp", {"c++", NULL}},
    {"java", {NULL}},
    {"php", {NULL}},
    {"rs", {"rust", NULL}},
    {"go", {"golang", NULL}},
    {"d", {"dlang", NULL}},
    {"f90", {"fortran", NULL}},
    {"r", {NULL}},
    {"bash", {"sh", NULL}},
};

static const char *
find_language(const char *s)
{

	for (size_t i = 0; i < NELEM(languages); i++) {
		const struct language *l = &languages[i];

		if (strcasecmp(s, l->name) == 0)
			return (l->name);
		for (size_t j = 0; l->others[j] != NULL; j++)
			if (strcasecmp(s, l->others[j]) == 0)
				return (l->name);
	}
	return (NULL);
}

int
lc_code(struct req *r, json_object *o, const char **code)
{

	if (jget_str(o, "code", code) == JGET_OK &&
	    (*code)[strspn(*code, " \t\r\n\v\f")] != '\0')
		return (0);
	(void)lc_reply(r, 400, "Missing required field: code", NULL);
	return (-1);
}

int
lc_timeout(struct req *r, json_object *o, uint64_t *s)
{
	const uint64_t most = r->srv->conf->lc_exec_timeout_s;
	double ms;

	*s = most;
	switch (jget_num(o, "timeout", 1, 1e15, &ms)) {
	case JGET_OK:
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		return (0);
	default:
		(void)lc_reply(r, 400,
		    "timeout must be a positive number of milliseconds", NULL);
		return (-1);
	}
	if (ms < (double)most * 1000)
		*s = ((uint64_t)ms + 999) / 1000;
	return (0);
}

void
lc_env(struct req *r, struct run_env *env)
{

	*env = (struct run_env){.conf = r->srv->conf,
	    .db = r->srv->db,
	    .store = r->srv->store,
	    .seats = r->srv->seats,
	    .slot = r->srv->slot,
	    .caller = &r->caller,
	    .mem = r->mem,
	    .gone_fd = io_fd(r->io),
	    .exec_timeout_s = r->srv->conf->lc_exec_timeout_s};
}

int
lc_refused(struct req *r, const struct refusal *why)
{
	struct problem_row row = *problem_row(why->kind);

	if (why->kind == P_UPSTREAM_TIMEOUT)
		return (lc_reply(
		    r, 504, "execution_timeout", "Execution timed out"));
	if (why->kind == P_RATE)
		return (lc_rate_limited(
		    r, (unsigned int)why->retry_after, why->message));
	if (why->retry_after > 0)
		row.retry_after = why->retry_after;
	return (reply_row(r, &row, NULL, why->message));
}

/* One argument, whatever JSON scalar it came as. */
static int
put_arg(struct req *r, json_object *v, const char **args, size_t *n)
{

	if (*n == ARGS_MAX || v == NULL ||
	    json_object_is_type(v, json_type_object) ||
	    json_object_is_type(v, json_type_array)) {
		(void)lc_reply(
		    r, 400, "args must be a list of at most 256 texts", NULL);
		return (-1);
	}
	args[(*n)++] = json_object_get_string(v);
	return (0);
}

static int
read_args(struct req *r, json_object *o, struct sandbox_program *p)
{
	const char **args;
	json_object *v;
	size_t n = 0;

	if (!json_object_object_get_ex(o, "args", &v) || v == NULL)
		return (0);
	if ((args = arena_alloc(r->mem, ARGS_MAX * sizeof(*args))) == NULL)
		return (-1);
	if (json_object_is_type(v, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(v); i++)
			if (put_arg(
				r, json_object_array_get_idx(v, i), args, &n))
				return (-1);
	} else if (!json_object_is_type(v, json_type_string)) {
		return (put_arg(r, NULL, args, &n));
	} else if (put_arg(r, v, args, &n)) {
		return (-1);
	}
	p->args = args;
	p->nargs = n;
	return (0);
}

/* Bash takes no carriage returns at the ends of lines. */
static const char *
without_cr(struct req *r, const char *s)
{
	char *copy, *to;

	if ((copy = arena_strndup(r->mem, s, strlen(s))) == NULL)
		return (NULL);
	for (to = copy; *s != '\0'; s++)
		if (s[0] != '\r' || s[1] != '\n')
			*to++ = *s;
	*to = '\0';
	return (copy);
}

/* What is to be run.  Return 0, or -1 after answering. */
static int
read_program(struct req *r, json_object *o, struct sandbox_program *p)
{
	const char *lang;

	if (lc_code(r, o, &p->source) || lc_timeout(r, o, &p->timeout_s) ||
	    read_args(r, o, p))
		return (-1);
	if (jget_str(o, "lang", &lang) != JGET_OK) {
		(void)lc_reply(r, 400, "Missing required field: lang", NULL);
		return (-1);
	}
	if ((p->language = find_language(lang)) == NULL) {
		(void)reply_problem(r, P_INVALID_VALUE, NULL,
		    "Unsupported language: %.64s", lang);
		return (-1);
	}
	if (strcmp(p->language, "bash") == 0 &&
	    (p->source = without_cr(r, p->source)) == NULL)
		return (-1);
	return (0);
}

/* stderr, with the cause of the end where nothing else tells it. */
static int
put_stderr(const struct exec *x, json_object *o)
{
	const struct sandbox_ran *ran = &x->ran;
	char cause[CAUSE_SIZE];
	struct buf b = BUF_INIT(1 << 20);
	int rc;

	lc_cause(x, cause, sizeof(cause));
	(void)buf_put(&b, ran->res.err, ran->res.errlen);
	if (*cause != '\0' && b.len > 0 && b.p[b.len - 1] != '\n')
		(void)buf_puts(&b, "\n");
	(void)buf_puts(&b, cause);
	rc = buf_ok(&b)
	    ? lc_put_text(o, "stderr", b.p != NULL ? b.p : "", b.len)
	    : -1;
	buf_free(&b);
	return (rc);
}

/* What people read of an end; the client does not. */
static int
put_end(const struct exec *x, json_object *o)
{
	static const struct {
		const char *message, *status;
	} ends[] = {
	    [SANDBOX_EXIT] = {NULL, NULL},
	    [SANDBOX_SIGNAL] = {"Killed by a signal", "SG"},
	    [SANDBOX_TIMEOUT] = {"Time limit exceeded", "TO"},
	    [SANDBOX_CPU] = {"Time limit exceeded", "TO"},
	    [SANDBOX_ASKED] = {NULL, NULL},
	    [SANDBOX_MEMORY] = {"Out of memory", "SG"},
	    [SANDBOX_UNSTARTED] = {"The program could not be started", "XX"},
	};
	const struct sandbox_ran *ran = &x->ran;
	const int killed = ran->end == SANDBOX_TIMEOUT ||
	    ran->end == SANDBOX_CPU || ran->end == SANDBOX_MEMORY;
	const int signal = killed ? SIGKILL : ran->signal;
	const char *abbrev = signal > 0 ? sigabbrev_np(signal) : NULL;
	char name[32] = "";

	if (abbrev != NULL)
		(void)snprintf(name, sizeof(name), "SIG%s", abbrev);
	return (
	    (ran->end == SANDBOX_EXIT
		    ? jset(o, "code", json_object_new_int(ran->res.return_code))
		    : jnull(o, "code")) ||
	    jtext(o, "signal", *name != '\0' ? name : NULL) ||
	    jtext(o, "message", ends[ran->end].message) ||
	    jtext(o, "status", ends[ran->end].status) ||
	    jset(o, "wall_time", jint(ran->res.ms)));
}

static json_object *
answer(struct req *r, const struct exec *x)
{
	const struct sandbox_result *res = &x->ran.res;
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "session_id", jstr(x->session)) ||
	    lc_put_text(o, "stdout", res->out, res->outlen) ||
	    put_stderr(x, o) || lc_put_outcome(r, x, o) || put_end(x, o)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* Run ${x} and answer. */
static int
run(struct req *r, struct exec *x)
{
	struct refusal why = {0};
	enum run_rc rc;
	void *rest;

	rc = exec_open(x, &why);
	if (rc == RUN_OK)
		rc = exec_run(x, &why);
	if (rc == RUN_OK)
		rc = exec_keep(x, &why);
	if ((rest = exec_leave(x)) != NULL)
		io_after(r->io, exec_end, rest);
	switch (rc) {
	case RUN_OK:
		return (reply_json(r, 200, answer(r, x)));
	case RUN_GONE:
		r->gone = 1;
		return (0);
	case RUN_REFUSED:
		break;
	}
	return (lc_refused(r, &why));
}

/*
 * POST /v1/exec
 *
 * 200: the program has run, however it ended.
 * 400, 403, 413: what cannot be run, or not with these files.
 * 503, 504: no sandbox; none that answers.
 */
int
lc_exec(struct req *r)
{
	struct run_env env;
	struct exec x = {.env = &env};
	const char *user = NULL;
	json_object *o;

	if (lc_json(r, &o))
		return (0);
	(void)jget_str(o, "user_id", &user);
	if (lc_identify(r, user) || read_program(r, o, &x.program) ||
	    lc_refs(r, o, 0, &x.input, &x.ninputs))
		return (r->status != 0 ? 0 : -1);
	if (r->srv->conf->sandbox_url == NULL)
		return (lc_reply(r, 503, "No sandbox is configured", NULL));
	lc_env(r, &env);
	return (run(r, &x));
}
