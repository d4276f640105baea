#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/conf.h"
#include "base/log.h"

#include "data/caller.h"

#include "speech/refusal.h"

#include "run/exec.h"

#define STREAM_MAX 65536 /* Kept of stdout and stderr each. */

/* A session that has yet to be ended. */
struct rest {
	struct sandbox sandbox;
	char session[SANDBOX_IDMAX + 1];
	struct seat seat;
};

/* The inputs as the room places them; one object may be at several places. */
static int
fill_seeds(struct exec *x)
{
	struct seed *s;

	for (size_t i = 0; i < x->ninputs; i++) {
		if ((s = arena_alloc(x->env->mem, sizeof(*s))) == NULL)
			return (-1);
		s->file = x->input[i].o.file;
		s->name = x->input[i].place;
		x->room.seeds.bytes += s->file.bytes;
		*x->room.seeds.end = s;
		x->room.seeds.end = &s->next;
	}
	return (0);
}

/* The same, as the run compares them. */
static int
fill_manifest(struct exec *x)
{
	struct sandbox_input *in;

	in = arena_alloc(x->env->mem, (x->ninputs + 1) * sizeof(*in));
	if (in == NULL)
		return (-1);
	for (size_t i = 0; i < x->ninputs; i++)
		in[i] = (struct sandbox_input){.path = x->input[i].place,
		    .sha256 = x->input[i].o.file.sha256,
		    .read_only = x->input[i].o.read_only};
	x->program.input = in;
	x->program.ninputs = x->ninputs;
	return (0);
}

static enum run_rc
no_memory(struct refusal *why)
{

	(void)refuse(why, P_SERVER, NULL, "Internal server error");
	return (RUN_REFUSED);
}

enum run_rc
exec_open(struct exec *x, struct refusal *why)
{
	room_init(&x->room, x->env, clock_ms() + x->program.timeout_s * 1000);
	if (lc_id(x->session) || fill_seeds(x) || fill_manifest(x))
		return (no_memory(why));
	if (x->room.seeds.bytes > seed_budget(x->env->conf)) {
		(void)refuse(why, P_BODY_TOO_LARGE, "files",
		    "The input files together are larger than the sandbox's "
		    "working directory");
		return (RUN_REFUSED);
	}
	return (room_open(&x->room, why));
}

enum run_rc
exec_run(struct exec *x, struct refusal *why)
{

	x->program.output_bytes = STREAM_MAX;
	switch (sandbox_run(&x->room.sandbox, x->env->mem, x->room.session,
	    &x->program, STREAM_MAX, &x->ran)) {
	case SANDBOX_OK:
		return (RUN_OK);
	case SANDBOX_GONE:
		return (RUN_GONE);
	case SANDBOX_NO_LANGUAGE:
		(void)refuse(why, P_INVALID_VALUE, "lang",
		    "Unsupported language: %s", x->program.language);
		return (RUN_REFUSED);
	case SANDBOX_NO_TOOLCHAIN:
		(void)refuse(why, P_INVALID_VALUE, "lang", "%s",
		    x->ran.why != NULL ? x->ran.why
				       : "The language is not installed");
		log_warn("exec: %s", why->message);
		return (RUN_REFUSED);
	case SANDBOX_BAD:
		(void)refuse(why, P_INVALID_VALUE, NULL, "%s",
		    x->ran.why != NULL ? x->ran.why
				       : "The sandbox refuses this program");
		return (RUN_REFUSED);
	case SANDBOX_SLOW:
		(void)refuse(
		    why, P_UPSTREAM_TIMEOUT, NULL, "Execution timed out");
		return (RUN_REFUSED);
	default:
		(void)refuse(why, P_SANDBOX, NULL,
		    "The code sandbox cannot take work right now.");
		return (RUN_REFUSED);
	}
}

void
exec_close(struct exec *x)
{

	room_close(&x->room, 0);
}

void *
exec_leave(struct exec *x)
{
	const struct conf *c = x->env->conf;
	struct rest *rest;

	if (!room_is_open(&x->room) || (rest = malloc(sizeof(*rest))) == NULL) {
		exec_close(x);
		return (NULL);
	}
	/* The settings live as long as the process. */
	rest->sandbox = (struct sandbox){
	    .url = c->sandbox_url, .token = c->sandbox_token, .gone_fd = -1};
	memcpy(rest->session, x->room.session, sizeof(rest->session));
	rest->seat = x->room.seat;
	return (rest);
}

void
exec_end(void *cookie)
{
	struct rest *rest = cookie;

	(void)sandbox_destroy(&rest->sandbox, rest->session);
	seat_leave(&rest->seat);
	free(rest);
}
