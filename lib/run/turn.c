#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"

#include "speech/args.h"
#include "speech/dialect.h"
#include "speech/estimate.h"
#include "speech/model_dialect.h"
#include "speech/outcome.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/ask.h"
#include "run/heard.h"
#include "run/picture.h"
#include "run/here.h"
#include "run/ptc_offer.h"
#include "run/ptc_turn.h"
#include "run/recall.h"
#include "run/remember.h"
#include "run/room.h"
#include "run/tally.h"
#include "run/show.h"
#include "run/turn.h"

#define RUNS_MAX 8                       /* Calls of ours in one message. */
#define CALLER "code_execution_20260120" /* Where he no longer says. */
#define FAILURES_MAX 3                   /* In a row, of the sandbox. */
#define TEXT_MAX 32768        /* Of output told to the model, a call. */
#define RESULT_MAX (4U << 20) /* All of what it is told, a call. */
#define LEAST_MS 1000         /* For which another round is begun. */

/* A turn under way. */
struct state {
	struct turn_job *job;
	struct refusal *why;
	struct room room;
	struct ptc_turn code; /* That calls functions of the caller's. */
	struct part *waits;   /* Holds the result of such, from before. */
	uint64_t deadline;    /* clock_ms() */
	uint64_t rounds;      /* Left in which calls are allowed. */
	uint64_t tokens;      /* Left; 0: no limit. */
	uint64_t runs;        /* Left, of all that the caller allows. */
	unsigned int failures;
	uint64_t pictures;  /* Bytes of them that may yet be shown. */
	struct usage usage; /* Of all rounds. */
	int relaxed, done;
	enum stop stop;
	struct text sequence;
};

static enum run_rc
no_memory(struct state *s)
{

	(void)refuse(s->why, P_SERVER, NULL, "out of memory");
	return (RUN_REFUSED);
}

static int
tell(struct state *s, const struct event *ev)
{

	return (s->job->writer->event(s->job->writer, ev));
}

/* Show the caller a call, whole. */
static int
tell_call(struct state *s, const char *id, const char *name, struct text args,
    int ours)
{
	const struct event begin = {
	    .kind = EVENT_CALL, .id = id, .name = name, .ours = ours};
	const struct event body = {.kind = EVENT_ARGS, .text = args};
	const struct event end = {.kind = EVENT_CALL_END};

	return (tell(s, &begin) || (args.len > 0 && tell(s, &body)) ||
	    tell(s, &end));
}

/* Show the caller what code of ours asks of him. */
static int
tell_asked(struct state *s)
{
	const struct ptc_call *c = s->code.asked;
	const struct event end = {.kind = EVENT_CALL_END};
	const struct tool *x;
	char id[CODE_USE_SIZE];
	size_t i;

	for (i = 0; i < s->code.nasked; i++, c++) {
		for (x = s->job->talk->code_tools; x != NULL; x = x->next)
			if (strcmp(x->name, c->tool) == 0)
				break;
		const struct event begin = {.kind = EVENT_CALL,
		    .id = id,
		    .name = c->tool,
		    .caller = x != NULL ? x->caller : CALLER,
		    .run = s->code.id};
		const struct event body = {
		    .kind = EVENT_ARGS, .text = {c->input, strlen(c->input)}};

		if (code_use_id(s->code.id, c->number, id) || tell(s, &begin) ||
		    tell(s, &body) || tell(s, &end))
			return (-1);
	}
	return (0);
}

/* What came of telling the caller; what he was told leaves now. */
static enum run_rc
told(struct state *s, int rc)
{
	struct writer *w = s->job->writer;

	if (rc != 0)
		return (no_memory(s));
	return (w->flush != NULL && w->flush(w) ? RUN_GONE : RUN_OK);
}

/* Show a call of ours that is to be run, unless the caller has seen it come or
 * wants to see none. */
static int
show_call(struct state *s, struct heard_call *c)
{
	const struct talk *t = s->job->talk;
	char id[TALK_IDMAX + 1];

	if (c->shown != NULL)
		return (0);
	if (talk_mint(t, id) ||
	    (c->shown = arena_strndup(t->mem, id, strlen(id))) == NULL)
		return (-1);
	if (t->quiet)
		return (0);
	return (tell_call(
	    s, c->shown, our_rows[c->call.tool].name, c->call.args, 1));
}

/* Show what came of it; of a quiet one too, for the sake of its files. */
static int
show_outcome(struct state *s, const char *id, const struct outcome *o)
{
	const struct event ev = {.kind = EVENT_RESULT, .id = id, .outcome = o};

	return (tell(s, &ev));
}

/* ---- The talk grows */

static int
add_call(struct state *s, const struct heard_call *c)
{
	struct part *p;
	struct text x;

	if ((p = talk_add(s->job->talk, TALK_ASSISTANT, PART_CALL)) == NULL)
		return (-1);
	p->id = c->id;
	p->ours = 1;
	p->name = c->whose == WHOSE_OURS ? s->job->talk->our_name[c->call.tool]
					 : c->name;
	x = c->whose == WHOSE_OURS ? c->call.args : c->args;
	return (args_sound(s->job->talk->mem, x, &p->text) == -1 ? -1 : 0);
}

static int
add_result(struct state *s, const struct heard_call *c, struct text x)
{
	struct talk *t = s->job->talk;
	struct part *p;

	if ((p = talk_add(t, TALK_USER, PART_RESULT)) == NULL)
		return (-1);
	p->text = x;
	p->id = c->id;
	p->ours = 1;
	return (0);
}

/* What the model is told of ${o}. */
static int
write_outcome(struct state *s, const struct outcome *o, struct text *x)
{
	const struct conf *conf = s->job->env->conf;
	const struct outcome_bounds bounds = {conf->files_output_max_files,
	    conf->files_output_max_bytes, TEXT_MAX};
	struct buf b = BUF_INIT(RESULT_MAX);
	int rc = -1;

	if (outcome_text(&b, o, &bounds) == 0)
		rc = talk_text(s->job->talk, b.p, b.len, x);
	buf_free(&b);
	return (rc);
}

static int
add_outcome(
    struct state *s, const struct heard_call *c, const struct outcome *o)
{
	struct text x;

	return (write_outcome(s, o, &x) || add_result(s, c, x) ? -1 : 0);
}

static int
add_unknown(struct state *s, const struct heard_call *c)
{
	struct buf b = BUF_INIT(1024);
	struct text x;
	int rc = -1;

	if (buf_printf(&b, "[tool error] no tool named %.200s", c->name) == 0 &&
	    talk_text(s->job->talk, b.p, b.len, &x) == 0)
		rc = add_result(s, c, x);
	buf_free(&b);
	return (rc);
}

static int
add_words(struct state *s, enum part_kind kind, const struct buf *words)
{
	struct part *p;

	if (words->len == 0)
		return (0);
	if ((p = talk_add(s->job->talk, TALK_ASSISTANT, kind)) == NULL)
		return (-1);
	return (talk_text(s->job->talk, words->p, words->len, &p->text));
}

/* What the model thought, where the server takes it back, and said before its
 * calls; and those that it gets results of. */
static int
add_said(struct state *s, const struct heard *h)
{
	const struct heard_call *c;

	if ((s->job->provider->reasoning_in != REASONING_USUAL &&
		add_words(s, PART_REASONING, &h->thought)) ||
	    add_words(s, PART_TEXT, &h->text))
		return (-1);
	for (c = h->first; c != NULL; c = c->next)
		if ((c->whose == WHOSE_OURS || c->whose == WHOSE_NOBODY) &&
		    add_call(s, c))
			return (-1);
	return (0);
}

/* ---- Running */

static enum run_rc
run_call(struct state *s, const struct heard_call *c, unsigned int nth,
    struct outcome *o)
{
	enum run_rc rc;

	if (nth >= RUNS_MAX) {
		*o = (struct outcome){.tool = c->call.tool,
		    .kind = OUTCOME_TOO_MANY,
		    .files_end = &o->files};
		return (RUN_OK);
	}
	if (c->call.tool == OUR_CODE && s->code.tools != NULL)
		rc = ptc_turn_run(&s->code, c->shown, &c->call, o);
	else
		rc = call_run(&s->room, &c->call, o);
	if (rc != RUN_OK || c->call.bad)
		return (rc);
	s->job->ran = 1;
	if (s->code.nasked > 0)
		return (RUN_OK);
	s->failures = o->kind == OUTCOME_UNAVAILABLE ? s->failures + 1 : 0;
	return (RUN_OK);
}

/* Keep what came of ${c} for the next request, and count it. */
static void
note(struct state *s, const char *id, const struct call *c,
    const struct outcome *o, uint64_t since)
{
	const struct run_env *env = s->job->env;
	const char *container = s->room.container.id;

	tally_run(env->tally, container, o, clock_ms() - since);
	if (!s->job->talk->quiet)
		remember_put(env, container, id, 0, c, o);
}

/* Runs that the caller is not shown are kept by the first call that is his. */
static void
note_hidden(struct state *s, const struct heard *h)
{
	const struct heard_call *c, *his = h->first;
	uint64_t nth = 0;

	while (his != NULL && his->whose != WHOSE_CALLER)
		his = his->next;
	if (his == NULL || !s->job->talk->quiet)
		return;
	for (c = h->first; c != NULL; c = c->next)
		if (c->outcome != NULL)
			remember_put(s->job->env, s->room.container.id, his->id,
			    nth++, &c->call, c->outcome);
}

/* Run one call of ours, the ${nth} of its message. */
static enum run_rc
run_one(struct state *s, struct heard_call *c, unsigned int nth)
{
	const uint64_t since = clock_ms();
	struct outcome *o;
	enum run_rc rc;

	if ((o = arena_alloc(s->job->env->mem, sizeof(*o))) == NULL)
		return (no_memory(s));
	if ((rc = told(s, show_call(s, c))) != RUN_OK ||
	    (rc = run_call(s, c, nth, o)) != RUN_OK)
		return (rc);
	if (s->code.nasked > 0)
		return (told(s, tell_asked(s)));
	c->outcome = o;
	note(s, c->shown, &c->call, o, since);
	if (s->job->talk->pictures)
		picture_load(s->job->env, o, &s->pictures);
	return (told(s, show_outcome(s, c->shown, o) || add_outcome(s, c, o)));
}

/* The caller wants no more runs: he is shown none, and the model is told. */
static int
add_none_left(struct state *s, const struct heard_call *c)
{
	static const struct text words =
	    TEXT_LIT("[tool error] no calls are left");

	return (add_result(s, c, words));
}

static enum run_rc
run_ours(struct state *s, struct heard_call *c, unsigned int nth)
{

	if (s->runs == 0)
		return (add_none_left(s, c) ? no_memory(s) : RUN_OK);
	if (!c->call.bad)
		s->runs--;
	return (run_one(s, c, nth));
}

static enum run_rc
run_all(struct state *s, const struct heard *h)
{
	struct heard_call *c;
	unsigned int nth = 0;
	enum run_rc rc;

	/* Nothing comes after code that has to wait. */
	for (c = h->first; c != NULL && s->code.nasked == 0; c = c->next) {
		if (c->whose == WHOSE_NOBODY && add_unknown(s, c))
			return (no_memory(s));
		if (c->whose == WHOSE_OURS &&
		    (rc = run_ours(s, c, nth++)) != RUN_OK)
			return (rc);
	}
	s->relaxed = 1;
	return (RUN_OK);
}

static int
tell_callers(struct state *s, const struct heard *h)
{
	const struct heard_call *c;

	for (c = h->first; c != NULL; c = c->next)
		if (c->whose == WHOSE_CALLER && c->shown == NULL &&
		    tell_call(s, c->id, c->name, c->args, 0))
			return (-1);
	return (0);
}

/* ---- Rounds */

/* Add a round's usage to the turn's; a server that told none is estimated. */
static void
account(struct state *s, const struct heard *h)
{
	struct usage u = h->usage, *all = &s->usage;
	const struct heard_call *c;
	size_t said = h->text.len;

	if (!u.known) {
		for (c = h->first; c != NULL; c = c->next)
			said += c->args.len;
		u.input = h->estimate;
		u.output = said / 4 > 0 ? said / 4 : 1;
	}
	all->input += u.input;
	all->output += u.output;
	all->cached += u.cached;
	all->reasoning += u.reasoning;
	all->has_cached |= u.has_cached;
	all->has_reasoning |= u.has_reasoning;
	if (s->tokens != 0)
		s->tokens = s->tokens > u.output ? s->tokens - u.output : 0;
	if (s->job->env->tally != NULL) {
		s->job->env->tally->rounds++;
		s->job->env->tally->usage = *all;
	}
}

static void
end(struct state *s, enum stop stop)
{

	s->done = 1;
	s->stop = stop;
}

/* The turn has used up its time. */
static void
end_late(struct state *s)
{
	const struct talk *t = s->job->talk;

	end(s, t->quiet || t->ours == 0 ? STOP_LENGTH : STOP_PAUSE);
}

/* Decide, after a round's calls have been dealt with, whether to go on. */
static void
decide(struct state *s, const struct heard *h, int limited)
{

	if (heard_count(h, WHOSE_CALLER) > 0 || s->code.nasked > 0)
		end(s, STOP_CALLS);
	else if (h->cut)
		end_late(s);
	else if (heard_count(h, WHOSE_OURS) + heard_count(h, WHOSE_NOBODY) == 0)
		end(s, h->stop == STOP_CALLS ? STOP_END : h->stop);
	else if (h->stop == STOP_LENGTH || (limited && s->tokens == 0))
		end(s, STOP_LENGTH);
	else if (clock_ms() + LEAST_MS > s->deadline)
		end_late(s);
	s->sequence = h->sequence;
}

/* Deal with what the model said in a round. */
static enum run_rc
answer_round(struct state *s, struct heard *h, const struct round *r)
{
	enum run_rc rc;

	if (heard_sort(h, r->max_tokens))
		return (no_memory(s));
	if (tell_callers(s, h) || add_said(s, h))
		return (no_memory(s));
	if ((rc = run_all(s, h)) != RUN_OK)
		return (rc);
	note_hidden(s, h);
	decide(s, h, r->max_tokens != 0);
	return (RUN_OK);
}

static uint64_t
time_for(const struct state *s)
{
	uint64_t now = clock_ms(), most = s->job->provider->timeout_s * 1000;
	uint64_t left = s->deadline > now ? s->deadline - now : 1;

	return (left < most ? left : most);
}

/* Was it the turn's own time that ended the round, and not the provider's?
 * Then the answer is what there is, if there is anything. */
static enum run_rc
judge_late(struct state *s, struct heard *h)
{
	int any;

	if (s->why->kind != P_UPSTREAM_TIMEOUT || clock_ms() < s->deadline)
		return (RUN_REFUSED);
	if ((any = heard_cut(h)) == -1)
		return (no_memory(s));
	return (any || s->job->ran ? RUN_OK : RUN_REFUSED);
}

static enum run_rc
one_round(struct state *s)
{
	struct turn_job *job = s->job;
	const struct round r = {.provider = job->provider,
	    .model = job->model,
	    .max_tokens = s->tokens,
	    .relaxed = s->relaxed,
	    .last =
		s->rounds == 0 || s->runs == 0 || s->failures >= FAILURES_MAX};
	struct heard h;
	const struct ask_sink sink = {heard_event, heard_flush, &h};
	enum run_rc rc;

	heard_init(&h, job->talk, job->writer, r.last);
	rc = ask_round(
	    job->env, job->provider, job->talk, &r, time_for(s), &sink, s->why);
	if (rc == RUN_REFUSED)
		rc = judge_late(s, &h);
	if (rc == RUN_OK) {
		account(s, &h);
		if (s->rounds > 0)
			s->rounds--;
		rc = answer_round(s, &h, &r);
	}
	heard_free(&h);
	return (rc);
}

/* ---- The turn */

/* Files of the editor that no later run has reported. */
static enum run_rc
report_rest(struct state *s)
{
	struct outcome o = {.tool = OUR_EDITOR};
	struct event ev = {.kind = EVENT_TEXT};
	struct buf b = BUF_INIT(RESULT_MAX);
	const struct outcome_file *f;
	char id[FILE_PRINTMAX];
	enum run_rc rc;

	o.files_end = &o.files;
	if ((rc = room_collect(&s->room, &o)) != RUN_OK)
		return (rc);
	for (f = o.files; f != NULL; f = f->next)
		buf_printf(&b, "\n\n[file /mnt/data/%s: %s, %" PRIu64 " bytes]",
		    f->path, file_id_print(f->id, id), f->bytes);
	ev.text.p = b.p;
	ev.text.len = b.len;
	if (!buf_ok(&b) || (b.len > 0 && tell(s, &ev)))
		rc = no_memory(s);
	buf_free(&b);
	return (rc);
}

static enum run_rc
finish(struct state *s)
{
	const struct event usage = {.kind = EVENT_USAGE, .usage = &s->usage};
	const struct event stop = {
	    .kind = EVENT_STOP, .stop = s->stop, .text = s->sequence};
	enum run_rc rc;

	if ((rc = report_rest(s)) != RUN_OK)
		return (rc);
	return (told(s, tell(s, &usage) || tell(s, &stop)));
}

/* What can be refused is, before the model is asked. */
static enum run_rc
admit(struct state *s)
{
	const struct run_env *env = s->job->env;
	struct talk *t = s->job->talk;
	char facts[HERE_FACTS];
	struct here here;
	int offered;
	enum run_rc rc;

	if (t->ours != 0) {
		here_look(env->conf, &here);
		here_say(&here, env->exec_timeout_s, facts);
		t->here = here.only;
		if (talk_our_facts(t, facts))
			return (no_memory(s));
	}
	if (ptc_offer(t, &s->room.sandbox, &s->code.tools))
		return (no_memory(s));
	if ((rc = ptc_turn_waits(t, &s->waits, s->why)) != RUN_OK)
		return (rc);
	offered = t->ours != 0 && (t->choice != CHOICE_NONE || s->waits);
	if (offered && (rc = room_enter(&s->room, t, s->why)) != RUN_OK)
		return (rc);
	if ((rc = recall_results(env, t, s->why)) != RUN_OK ||
	    (t->ours != 0 &&
		(rc = seed_resolve(env, t, &s->room.seeds, s->why)) !=
		    RUN_OK) ||
	    (rc = show_talk(env, s->job->provider, t, s->why)) != RUN_OK)
		return (rc);
	return (offered ? room_open(&s->room, s->why) : RUN_OK);
}

/* Go on with code that has waited for the results that have come. */
static enum run_rc
resume(struct state *s)
{
	const struct usage guess = {.input = estimate_tokens(s->job->talk)};
	const struct event begin = {.kind = EVENT_ROUND, .usage = &guess};
	const uint64_t since = clock_ms();
	struct part *p = s->waits;
	struct outcome *o;
	struct call c;
	enum run_rc rc;

	if ((o = arena_alloc(s->job->env->mem, sizeof(*o))) == NULL)
		return (no_memory(s));
	if ((rc = ptc_turn_resume(&s->code, p->id, &c, o, s->why)) != RUN_OK)
		return (rc);
	s->job->ran = s->relaxed = 1;
	if (tell(s, &begin))
		return (no_memory(s));
	if (s->code.nasked > 0) {
		end(s, STOP_CALLS);
		return (told(s, tell_asked(s)));
	}
	note(s, p->id, &c, o, since);
	p->outcome = NULL;
	return (told(
	    s, show_outcome(s, p->id, o) || write_outcome(s, o, &p->text)));
}

static uint64_t
least(uint64_t a, uint64_t b)
{

	return (b != 0 && b < a ? b : a);
}

enum run_rc
turn_run(struct turn_job *job, struct refusal *why)
{
	const struct conf *conf = job->env->conf;
	struct state s = {.job = job,
	    .why = why,
	    .pictures = PICTURES_MAX,
	    .deadline = clock_ms() + conf->turn_budget_s * 1000,
	    .rounds = least(job->env->max_rounds, job->talk->rounds),
	    .runs = least(UINT64_MAX, job->talk->max_calls),
	    .tokens = job->talk->max_tokens};
	enum run_rc rc;

	room_init(&s.room, job->env, s.deadline);
	if (job->talk->choice == CHOICE_NONE)
		s.rounds = 0; /* Calls it makes all the same are not run. */
	s.code.room = &s.room;
	s.code.talk = job->talk;
	rc = admit(&s);
	if (rc == RUN_OK && s.waits != NULL)
		rc = resume(&s);
	while (rc == RUN_OK && !s.done)
		rc = one_round(&s);
	if (rc == RUN_OK)
		rc = finish(&s);
	room_close(&s.room, rc == RUN_OK);
	why->ran = job->ran;
	return (rc);
}
