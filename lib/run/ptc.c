#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/jget.h"
#include "base/jput.h"

#include "speech/refusal.h"

#include "run/ptc.h"

#define GIVEN "_ptc_history.json"
#define SETTLE_MS 250 /* In which a program in bash may make more calls. */

int
ptc_history(struct buf *b, const struct ptc_call *c)
{

	if (b->len > 0)
		(void)buf_puts(b, ",");
	(void)buf_puts(b, "{\"name\":");
	(void)jput_str(b, c->tool);
	(void)buf_printf(
	    b, ",\"is_error\":%s,\"input\":", c->is_error ? "true" : "false");
	(void)buf_puts(b, c->input);
	(void)buf_puts(b, ",\"result\":");
	(void)buf_puts(b, c->result != NULL ? c->result : "null");
	return (buf_puts(b, "}"));
}

static enum run_rc fail(struct ptc_round *p, const char *error, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

static enum run_rc
fail(struct ptc_round *p, const char *error, const char *fmt, ...)
{
	va_list ap;

	p->end = PTC_FAILED;
	(void)snprintf(p->error, sizeof(p->error), "%s", error);
	va_start(ap, fmt);
	(void)vsnprintf(p->detail, sizeof(p->detail), fmt, ap);
	va_end(ap);
	return (RUN_OK);
}

/* --- what the harness is given --- */

static ssize_t
read_buf(void *cookie, uint64_t off, void *p, size_t len)
{
	const struct buf *b = cookie;

	if (off >= b->len)
		return (0);
	if (len > b->len - off)
		len = b->len - off;
	memcpy(p, b->p + off, len);
	return ((ssize_t)len);
}

static enum run_rc
give(struct ptc_round *p, struct refusal *why)
{
	const char *tools =
	    json_object_to_json_string_ext(p->tools, JSON_C_TO_STRING_PLAIN);
	struct buf b = BUF_INIT(PTC_GIVEN_MAX);
	enum sandbox_rc rc = SANDBOX_DOWN;

	(void)buf_puts(&b, "{\"code\":");
	(void)jput_str(&b, p->code);
	(void)buf_puts(&b, ",\"tools\":");
	(void)buf_puts(&b, tools != NULL ? tools : "null");
	(void)buf_puts(&b, ",\"history\":[");
	(void)buf_put(
	    &b, p->history.p != NULL ? p->history.p : "", p->history.len);
	(void)buf_puts(&b, "]}");
	if (buf_ok(&b) && buf_ok(&p->history))
		rc = sandbox_put(&p->x.room.sandbox, p->x.room.session, GIVEN,
		    read_buf, &b, b.len);
	buf_free(&b);
	if (rc == SANDBOX_OK)
		return (RUN_OK);
	(void)refuse(why, P_SANDBOX, NULL,
	    "The code sandbox cannot take work right now.");
	return (rc == SANDBOX_GONE ? RUN_GONE : RUN_REFUSED);
}

/* --- what the program asks for --- */

static int
is_registered(const struct ptc_round *p, const char *name)
{
	const char *have;

	for (size_t i = 0; i < json_object_array_length(p->tools); i++)
		if (jget_str(json_object_array_get_idx(p->tools, i), "name",
			&have) == JGET_OK &&
		    strcmp(have, name) == 0)
			return (1);
	return (0);
}

static enum run_rc
diverged(struct ptc_round *p, uint64_t number)
{

	return (fail(p, "Execution failed or timed out",
	    "call_%03" PRIu64
	    " was made with other arguments than in the previous "
	    "round. The program is re-run from the top after every tool call, "
	    "so arguments must not depend on time, randomness or ordering.\n",
	    number));
}

/* Read the call ${o}; the text of its input belongs to r->mem. */
static enum run_rc
read_call(struct ptc_round *p, json_object *o)
{
	struct arena *mem = p->x.env->mem;
	struct ptc_call *c = &p->call[p->ncalls];
	const char *name, *text;
	json_object *input;
	char error[PTC_ERROR_SIZE];
	uint64_t n;

	if (jget_u64(o, "diverged", 1, PTC_CALLS_MAX, &n) == JGET_OK)
		return (diverged(p, n));
	if (jget_str(o, "name", &name) != JGET_OK ||
	    jget_object(o, "input", &input) != JGET_OK)
		return (fail(p, "Execution failed or timed out",
		    "The program wrote to the channel of tool calls.\n"));
	if (!is_registered(p, name)) {
		(void)snprintf(error, sizeof(error),
		    "Sandbox requested an unregistered tool: %.128s", name);
		return (fail(p, error, "%s", ""));
	}
	text = json_object_to_json_string_ext(
	    input, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	*c = (struct ptc_call){.number = p->made + p->ncalls + 1};
	if (text == NULL ||
	    (c->input = arena_strndup(mem, text, strlen(text))) == NULL ||
	    (c->tool = arena_strndup(mem, name, strlen(name))) == NULL)
		return (fail(p, "Execution failed or timed out",
		    "The input of a tool call is too large.\n"));
	p->ncalls++;
	return (RUN_OK);
}

static enum run_rc
read_calls(struct ptc_round *p)
{
	const struct sandbox_ran *ran = &p->x.ran;
	json_object *o;
	size_t at;

	if (ran->broken != NULL)
		return (fail(p, "Execution failed or timed out",
		    "The program's tool calls could not be read: %.200s\n",
		    ran->broken));
	if (ran->ncalls == 0)
		return (fail(p,
		    "sandbox emitted an empty pending tool call block; "
		    "aborting to avoid a tight retry loop",
		    "%s", ""));
	if (p->made + ran->ncalls > PTC_CALLS_MAX)
		return (fail(p, "Execution failed or timed out",
		    "The program makes more than %d tool calls.\n",
		    PTC_CALLS_MAX));
	p->call = arena_alloc(p->x.env->mem, ran->ncalls * sizeof(*p->call));
	p->end = PTC_ASKED;
	for (size_t i = 0; i < ran->ncalls && p->end == PTC_ASKED; i++) {
		if (p->call == NULL ||
		    jget_parse(ran->call[i].p, ran->call[i].len, &o, &at) !=
			JGET_PARSE_OK)
			return (fail(p, "Execution failed or timed out",
			    "A tool call could not be read.\n"));
		(void)read_call(p, o);
		json_object_put(o);
	}
	return (RUN_OK);
}

/*
 * Where the limit refuses memory instead of killing who asks for it, the
 * language says so: Python in the last line of stderr, bash in one of its own.
 */
static int
is_out_of_memory(const struct ptc_round *p)
{
	static const char python[] = "MemoryError",
			  bash[] = "alloc: cannot allocate ";
	const struct sandbox_result *res = &p->x.ran.res;
	const char *last;
	size_t len = res->errlen;

	if (res->err == NULL)
		return (0);
	if (p->lang == PTC_BASH)
		return (memmem(res->err, len, bash, strlen(bash)) != NULL);
	if (len > 0 && res->err[len - 1] == '\n')
		len--;
	last = memrchr(res->err, '\n', len);
	last = last != NULL ? last + 1 : res->err;
	return ((size_t)(res->err + len - last) >= strlen(python) &&
	    memcmp(last, python, strlen(python)) == 0);
}

/* How it ended, unless it asked. */
static enum run_rc
judge(struct ptc_round *p)
{
	const struct sandbox_ran *ran = &p->x.ran;
	char error[PTC_ERROR_SIZE];
	int code = ran->res.return_code;

	switch (ran->end) {
	case SANDBOX_ASKED:
		return (read_calls(p));
	case SANDBOX_TIMEOUT:
	case SANDBOX_CPU:
		return (fail(p, "Time limit exceeded",
		    "Time limit exceeded (%" PRIu64 " s)\n",
		    p->x.program.timeout_s));
	case SANDBOX_MEMORY:
		return (fail(p, "Out of memory", "Out of memory\n"));
	case SANDBOX_FILES:
	case SANDBOX_PROCESSES:
	case SANDBOX_UNSTARTED:
		return (fail(p, "Execution failed or timed out", "%.200s\n",
		    ran->note != NULL ? ran->note
				      : "The program could not be started."));
	case SANDBOX_SIGNAL:
		code = 128 + ran->signal;
		break;
	case SANDBOX_EXIT:
		p->end = PTC_COMPLETED;
		if (code == 0)
			return (RUN_OK);
		if (is_out_of_memory(p))
			return (fail(p, "Out of memory", "Out of memory\n"));
		break;
	}
	(void)snprintf(
	    error, sizeof(error), "Sandbox exited with code %d", code);
	return (fail(p, error, "%s", ""));
}

enum run_rc
ptc_round_go(struct ptc_round *p, struct refusal *why)
{
	enum run_rc rc;

	p->x.program.language = "py";
	p->x.program.source =
	    p->lang == PTC_BASH ? ptc_bash_source : ptc_python_source;
	p->x.program.calls = 1;
	p->x.program.settle_ms = p->lang == PTC_BASH ? SETTLE_MS : 0;
	if ((rc = give(p, why)) != RUN_OK ||
	    (rc = exec_run(&p->x, why)) != RUN_OK)
		return (rc);
	return (judge(p));
}

enum run_rc
ptc_round_run(struct ptc_round *p, struct refusal *why)
{
	enum run_rc rc;

	if ((rc = exec_open(&p->x, why)) != RUN_OK)
		return (rc);
	if (p->session != NULL)
		(void)snprintf(
		    p->x.session, sizeof(p->x.session), "%s", p->session);
	if (p->opened != NULL && p->opened(p->cookie, p->x.room.session))
		return (fail(p, "Execution failed or timed out",
		    "The request was cancelled.\n"));
	if ((rc = ptc_round_go(p, why)) != RUN_OK || p->end != PTC_COMPLETED)
		return (rc);
	return (exec_keep(&p->x, why));
}
