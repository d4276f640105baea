/*
 * Messages answers as they are streamed: the contract's fixtures, and what
 * clients need whatever the model says.
 */
#include "http/sse.h"
#include "speech/messages.h"
#include "speech/model_dialect.h"
#include "speech/outcome.h"
#include "speech/talk.h"

#include "fixture.h"
#include "tap.h"

#define TEXT(s) ((struct text){s, sizeof(s) - 1})
#define ID "srvtoolu_gw_7k2m9q4t1v8x3z5b6c0d2f4h"

static const struct talk_container container = {
    "3n8p5r1s6t2v9w4x8y1z", 1796121612};
static struct talk talk = {.model = "qwen3-coder", .container = &container};
static const struct usage usage = {
    .input = 1364, .output = 171, .cached = 512, .has_cached = 1};

/* ---- Streams as lists, in which it does not show how they were cut */

static json_object *
member(json_object *o, const char *key)
{
	json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return (v);
}

/* Does the delta ${now} go on with ${last}?  Then add it there. */
static int
joined(json_object *last, json_object *now)
{
	static const char *const keys[] = {"text", "thinking", "partial_json"};
	json_object *a = member(last, "delta"), *b = member(now, "delta");
	char text[65536];
	size_t i;

	for (i = 0; a != NULL && b != NULL && i < 3; i++) {
		if (member(a, keys[i]) == NULL || member(b, keys[i]) == NULL)
			continue;
		(void)snprintf(text, sizeof(text), "%s%s",
		    json_object_get_string(member(a, keys[i])),
		    json_object_get_string(member(b, keys[i])));
		json_object_object_add(
		    a, keys[i], json_object_new_string(text));
		return (1);
	}
	return (0);
}

/* The events of ${text} but for pings; each is named as its data's type. */
static json_object *
events(const char *text, size_t len)
{
	json_object *list = kept(json_object_new_array()), *o, *last = NULL;
	struct sse *sse = sse_new();
	struct sse_event ev;
	int named = 1;

	while (sse_next(sse, &text, &len, &ev) == SSE_EVENT) {
		o = parsed(ev.data);
		named &= o != NULL &&
		    strcmp(json_object_get_string(member(o, "type")),
			ev.name) == 0;
		if (strcmp(ev.name, "ping") == 0 ||
		    (last != NULL && joined(last, o)))
			continue;
		last = o;
		json_object_array_add(list, o);
	}
	ok(named, "every event has its type's name");
	ok(sse_end(sse, &ev) == SSE_MORE, "the last one has its blank line");
	sse_free(sse);
	return (list);
}

/* The fixture NAME.sse, with what is minted anew taken from ${got}. */
static json_object *
wanted(const char *name, json_object *got)
{
	char path[256];
	char *text;
	json_object *want, *a, *b;
	const char *id;

	(void)snprintf(path, sizeof(path), "%s.sse", name);
	text = fixture_file(path);
	want = events(text, strlen(text));
	free(text);
	a = member(json_object_array_get_idx(got, 0), "message");
	b = member(json_object_array_get_idx(want, 0), "message");
	id = json_object_get_string(member(a, "id"));
	ok(strncmp(id, "msg_gw_", 7) == 0 && strlen(id) == 27,
	    "an id of ours: msg_gw_ and 20 characters");
	json_object_object_add(b, "id", json_object_new_string(id));
	return (want);
}

/* ---- Making one */

static struct buf out;

static struct writer *
begin(void)
{
	static const struct usage estimate = {.input = 640};
	struct writer *w;

	out = (struct buf)BUF_INIT(1 << 20);
	w = messages_stream(&talk, &out);
	w->event(w, &(struct event){.kind = EVENT_ROUND, .usage = &estimate});
	ok(out.len == 0, "nothing is sent before there is something to show");
	return (w);
}

static void
say(struct writer *w, enum event_kind kind, struct text x)
{

	w->event(w, &(struct event){.kind = kind, .text = x});
}

static void
call(struct writer *w, int ours, const char *id, const char *name,
    struct text args)
{
	size_t i;

	w->event(w,
	    &(struct event){
		.kind = EVENT_CALL, .id = id, .name = name, .ours = ours});
	for (i = 0; i < args.len; i++)
		say(w, EVENT_ARGS, (struct text){args.p + i, 1});
	w->event(w, &(struct event){.kind = EVENT_CALL_END});
}

static void
result(struct writer *w, const struct outcome *o)
{

	w->event(
	    w, &(struct event){.kind = EVENT_RESULT, .id = ID, .outcome = o});
}

static void
finish(struct writer *w, enum stop stop)
{

	w->event(w, &(struct event){.kind = EVENT_USAGE, .usage = &usage});
	w->event(w, &(struct event){.kind = EVENT_STOP, .stop = stop});
	w->finish(w, &out);
}

/* Compare what was sent with a fixture. */
static void
compare(struct writer *w, const char *name)
{
	json_object *got = events(out.p, out.len), *want = wanted(name, got);

	ok(json_object_equal(got, want), name);
	if (!json_object_equal(got, want))
		printf("# %s\n# %s\n", json_object_to_json_string(got),
		    json_object_to_json_string(want));
	json_object_put(got);
	json_object_put(want);
	w->free(w);
	buf_free(&out);
}

/* ---- Fixtures */

#define COMMAND                                                              \
	"{\"command\": \"cd /mnt/data && python3 - <<'PY'\\nimport csv\\n"   \
	"for f in ('data.csv','data_2.csv'):\\n    print(f, sum(int("        \
	"r['qty']) for r in csv.DictReader(open(f))))\\nopen('totals.csv',"  \
	"'w').write('file,total\\\\ndata.csv,42\\\\ndata_2.csv,17\\\\n')\\n" \
	"PY\"}"

static struct outcome_file file = {
    .next = NULL, .id = "file_9Zt4cc03", .path = "totals.csv", .bytes = 37};
static const struct outcome ran = {.tool = OUR_BASH,
    .kind = OUTCOME_RAN,
    .out = TEXT_LIT("data.csv 42\ndata_2.csv 17\n"),
    .err = TEXT_LIT(""),
    .files = &file};

static void
stream(void)
{
	struct writer *w = begin();

	say(w, EVENT_TEXT, TEXT("Let me "));
	say(w, EVENT_TEXT, TEXT("add them up."));
	call(w, 1, ID, "bash_code_execution", TEXT(COMMAND));
	w->alive(w);
	result(w, &ran);
	w->event(w, &(struct event){.kind = EVENT_ROUND, .usage = &usage});
	say(w, EVENT_TEXT, TEXT("data.csv totals 42 and data_2.csv totals "));
	say(w, EVENT_TEXT, TEXT("17. I wrote /mnt/data/totals.csv."));
	finish(w, STOP_END);
	compare(w, "messages-stream");
}

static void
mixed(void)
{
	struct writer *w = begin();

	call(w, 0, "call_b7f3", "save_report", TEXT("{\"title\": \"Totals\"}"));
	call(w, 1, ID, "bash_code_execution", TEXT(COMMAND));
	result(w, &ran);
	finish(w, STOP_CALLS);
	compare(w, "messages-mixed-stream");
}

static void
invalid(void)
{
	static const struct outcome bad = {
	    .tool = OUR_BASH, .kind = OUTCOME_BAD_INPUT};
	struct writer *w = begin();

	call(w, 1, ID, "bash_code_execution", TEXT("{\"command\": \"ls"));
	result(w, &bad);
	say(w, EVENT_TEXT, TEXT("I could not run that."));
	finish(w, STOP_END);
	compare(w, "messages-invalid-args-stream");
}

static void
thinking(void)
{
	struct writer *w;

	talk.container = NULL;
	w = begin();
	say(w, EVENT_REASONING, TEXT("Two files "));
	say(w, EVENT_REASONING, TEXT("share a name."));
	say(w, EVENT_TEXT, TEXT("Hello."));
	finish(w, STOP_END);
	talk.container = &container;
	ok(strstr(out.p, "container_gw_") == NULL, "no container, none told");
	w->free(w);
	buf_free(&out);
	talk.container = &container;
	w = begin();
	say(w, EVENT_REASONING, TEXT("Two files share a name."));
	say(w, EVENT_TEXT, TEXT("Hello."));
	talk.container = NULL; /* As the fixture has it. */
	finish(w, STOP_END);
	talk.container = &container;
	compare(w, "messages-thinking-stream");
}

static void
error(void)
{
	struct writer *w = begin();

	w->alive(w);
	say(w, EVENT_TEXT, TEXT("x"));
	/* The fixture broke off before the first delta. */
	strstr(out.p, "event: content_block_delta")[0] = '\0';
	out.len = strlen(out.p);
	w->fail(w, problem_row(P_UPSTREAM),
	    "The model server closed the connection.", "req_gw_4f7h");
	compare(w, "messages-error-midstream");
}

/* ---- What clients cannot parse must not reach them */

static void
broken(const char *args, size_t len, const char *shown)
{
	struct writer *w = begin();
	json_object *list, *o;
	const char *got = "";

	call(w, 1, ID, "bash_code_execution", (struct text){args, len});
	list = events(out.p, out.len);
	o = member(json_object_array_get_idx(list, 2), "delta");
	if (o != NULL)
		got = json_object_get_string(member(o, "partial_json"));
	ok(strcmp(got, shown) == 0, shown);
	if (strcmp(got, shown) != 0)
		printf("# got %s\n", got);
	json_object_put(list);
	w->free(w);
	buf_free(&out);
}

int
main(void)
{

	stream();
	mixed();
	invalid();
	thinking();
	error();
	broken("", 0, "{}");
	broken("ls -l", 5, "{}");
	broken("{\"command\": ls}", 15, "{\"command\": null}");
	broken("{\"command\": \"a\"} or so", 22, "{\"command\": \"a\"} ");
	broken(
	    "{\"a\":[1,{\"b\":\"\\u00e", 20, "{\"a\":[1,{\"b\":\"\\u00e0\"}]}");
	return (done_testing());
}
