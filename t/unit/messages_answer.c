/*
 * Answers of the chat wire as Messages answers: the contract's fixtures, what
 * models do wrong, every shape of a result, and what the model is told of one.
 */
#include "speech/messages.h"
#include "speech/messages_block.h"
#include "speech/model_dialect.h"
#include "speech/outcome.h"
#include "speech/talk.h"
#include "speech/wire_chat.h"

#include "fixture.h"
#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define TEXT(s) ((struct text){s, sizeof(s) - 1})

#define COMMAND                                                              \
	"{\"command\": \"cd /mnt/data && python3 - <<'PY'\\nimport csv\\n"   \
	"for f in ('data.csv','data_2.csv'):\\n    print(f, sum(int("        \
	"r['qty']) for r in csv.DictReader(open(f))))\\nopen('totals.csv',"  \
	"'w').write('file,total\\\\ndata.csv,42\\\\ndata_2.csv,17\\\\n')\\n" \
	"PY\"}"

static int
send(struct writer *w, struct event ev)
{

	return (w->event(w, &ev));
}

static void
call(struct writer *w, int ours, const char *id, const char *name,
    struct text args)
{

	send(w,
	    (struct event){
		.kind = EVENT_CALL, .id = id, .name = name, .ours = ours});
	if (args.len > 0)
		send(w, (struct event){.kind = EVENT_ARGS, .text = args});
	send(w, (struct event){.kind = EVENT_CALL_END});
}

/* The body that ${w} gathered, with what is minted anew in each answer taken
 * from the fixture ${want}. */
static json_object *
finished(struct writer *w, json_object *want)
{
	struct buf b = BUF_INIT(1 << 20);
	json_object *o, *id, *container;

	w->finish(w, &b);
	o = json_tokener_parse(b.p);
	buf_free(&b);
	w->free(w);
	if (want == NULL)
		return (o);
	json_object_object_get_ex(o, "id", &id);
	ok(strncmp(json_object_get_string(id), "msg_gw_", 7) == 0 &&
		strlen(json_object_get_string(id)) == 27,
	    "an id of ours: msg_gw_ and 20 characters");
	json_object_object_get_ex(want, "id", &id);
	json_object_object_add(o, "id", json_object_get(id));

	/* Containers are not given out yet. */
	json_object_object_get_ex(o, "container", &container);
	ok(container == NULL, "no container");
	json_object_object_get_ex(want, "container", &container);
	json_object_object_add(o, "container", json_object_get(container));
	return (o);
}

static struct outcome
ran(enum our_tool tool, struct text out, struct text err, int code)
{
	struct outcome o = {.tool = tool,
	    .kind = OUTCOME_RAN,
	    .out = out,
	    .err = err,
	    .code = code};

	return (o);
}

static const struct usage usage = {
    .input = 1364, .output = 171, .cached = 512, .has_cached = 1};

static struct talk talk = {.model = "qwen3-coder"};

static void
fixtures(void)
{
	struct outcome_file file = {.next = NULL,
	    .id = "file_9Zt4cc03",
	    .path = "totals.csv",
	    .bytes = 37};
	struct outcome o =
	    ran(OUR_BASH, TEXT("data.csv 42\ndata_2.csv 17\n"), TEXT(""), 0);
	static const char id[] = "srvtoolu_gw_7k2m9q4t1v8x3z5b6c0d2f4h";
	struct writer *w = messages_gather(&talk);
	json_object *want = fixture_json("messages-response");

	o.files = &file;
	send(w, (struct event){.kind = EVENT_TEXT, .text = TEXT("Let me ")});
	send(w,
	    (struct event){.kind = EVENT_TEXT, .text = TEXT("add them up.")});
	call(w, 1, id, "bash_code_execution", TEXT(COMMAND));
	send(w, (struct event){.kind = EVENT_RESULT, .id = id, .outcome = &o});
	send(w,
	    (struct event){.kind = EVENT_TEXT,
		.text = TEXT("data.csv totals 42 and data_2.csv totals 17."
			     " I wrote /mnt/data/totals.csv.")});
	send(w, (struct event){.kind = EVENT_USAGE, .usage = &usage});
	send(w, (struct event){.kind = EVENT_STOP, .stop = STOP_END});
	ok(same(finished(w, want), want), "messages-response");

	w = messages_gather(&talk);
	want = fixture_json("messages-mixed-response");
	call(w, 0, "call_b7f3", "save_report", TEXT("{\"title\":\"Totals\"}"));
	call(w, 1, id, "bash_code_execution", TEXT(COMMAND));
	send(w, (struct event){.kind = EVENT_RESULT, .id = id, .outcome = &o});
	send(w, (struct event){.kind = EVENT_USAGE, .usage = &usage});
	send(w, (struct event){.kind = EVENT_STOP, .stop = STOP_CALLS});
	ok(same(finished(w, want), want), "messages-mixed-response");

	w = messages_gather(&talk);
	want = fixture_json("messages-pause-turn-response");
	send(w,
	    (struct event){
		.kind = EVENT_TEXT, .text = TEXT("Let me add them up.")});
	call(w, 1, id, "bash_code_execution", TEXT(COMMAND));
	send(w, (struct event){.kind = EVENT_RESULT, .id = id, .outcome = &o});
	send(w, (struct event){.kind = EVENT_USAGE, .usage = &usage});
	send(w, (struct event){.kind = EVENT_STOP, .stop = STOP_PAUSE});
	ok(same(finished(w, want), want), "messages-pause-turn-response");

	w = messages_gather(&talk);
	want = fixture_json("messages-20250522-response");
	o = ran(OUR_CODE, TEXT("42\n"), TEXT(""), 0);
	call(w, 1, "srvtoolu_gw_9c2f5j8m1q4t7w0z3d6g9k2n", "code_execution",
	    TEXT("{\"code\":\"print(6*7)\"}"));
	send(w,
	    (struct event){.kind = EVENT_RESULT,
		.id = "srvtoolu_gw_9c2f5j8m1q4t7w0z3d6g9k2n",
		.outcome = &o});
	send(w, (struct event){.kind = EVENT_TEXT, .text = TEXT("It is 42.")});
	send(w, (struct event){.kind = EVENT_USAGE, .usage = &usage});
	send(w, (struct event){.kind = EVENT_STOP, .stop = STOP_END});
	ok(same(finished(w, want), want), "messages-20250522-response");
}

/* ---- Results */

#define CODE_ID "srvtoolu_gw_9c2f5j8m1q4t7w0z3d6g9k2n"
#define BASH_ID "srvtoolu_gw_7k2m9q4t1v8x3z5b6c0d2f4h"
#define EDIT_ID "srvtoolu_gw_1a5e8g3j7m2p6r9u4w0y3b7d"

/* Does ${o} make the block ${name} of messages-result-variants.json? */
static void
variant(const char *name, const char *id, const struct outcome *o)
{
	json_object *all = fixture_json("messages-result-variants"), *want;
	struct buf b = BUF_INIT(65536);

	json_object_object_get_ex(all, name, &want);
	if (json_object_is_type(want, json_type_array))
		want = json_object_array_get_idx(want, 1);
	messages_put_result(&b, id, o);
	ok(same(json_tokener_parse(b.p), json_object_get(want)), name);
	json_object_put(all);
	buf_free(&b);
}

static void
variants(void)
{
	struct outcome o = ran(OUR_CODE, TEXT("42\n"), TEXT(""), 0);

	variant("python_ok", CODE_ID, &o);
	o = ran(OUR_CODE, TEXT(""),
	    TEXT("Traceback (most recent call last):\n  File \"<cell 1>\", "
		 "line 1, in <module>\nNameError: name 'x' is not defined\n"),
	    1);
	variant("python_nonzero_exit", CODE_ID, &o);
	o = (struct outcome){.tool = OUR_CODE, .kind = OUTCOME_TIMEOUT};
	variant("python_timeout", CODE_ID, &o);
	o = (struct outcome){.tool = OUR_BASH, .kind = OUTCOME_UNAVAILABLE};
	variant("sandbox_unavailable", BASH_ID, &o);
	o.kind = OUTCOME_BAD_INPUT;
	variant("bad_arguments", BASH_ID, &o);
	o = (struct outcome){.tool = OUR_EDITOR, .kind = OUTCOME_CREATE};
	variant("editor_create", EDIT_ID, &o);
	o = (struct outcome){.tool = OUR_EDITOR,
	    .kind = OUTCOME_VIEW,
	    .out = TEXT("sku,qty\nA1,20\n"),
	    .start = 1,
	    .lines = 2,
	    .total = 4};
	variant("editor_view", EDIT_ID, &o);
	o = (struct outcome){.tool = OUR_EDITOR,
	    .kind = OUTCOME_REPLACE,
	    .out = TEXT("-# Notes\n+# Report"),
	    .start = 1,
	    .lines = 1,
	    .new_start = 1,
	    .new_lines = 1};
	variant("editor_str_replace", EDIT_ID, &o);
	o = (struct outcome){.tool = OUR_EDITOR,
	    .kind = OUTCOME_NO_FILE,
	    .message = "No such file: /mnt/data/nope.txt"};
	variant("editor_file_missing", EDIT_ID, &o);
}

/* ---- What the model is told */

static void
told(const char *name, const struct outcome *o, const char *want)
{
	static const struct outcome_bounds bounds = {20, 67108864, 100};
	struct buf b = BUF_INIT(65536);

	ok(outcome_text(&b, o, &bounds) == 0 && strcmp(b.p, want) == 0, name);
	if (strcmp(b.p, want) != 0)
		printf("# got <%s>\n", b.p);
	buf_free(&b);
}

static void
texts(void)
{
	struct outcome_file second = {.next = NULL,
	    .id = "0123456789abcdef0123456789abcdef",
	    .path = "d/b.txt",
	    .bytes = 5};
	struct outcome_file file = {.next = &second,
	    .id = "file_9Zt4cc03",
	    .path = "totals.csv",
	    .bytes = 37};
	struct outcome o =
	    ran(OUR_BASH, TEXT("data.csv 42\ndata_2.csv 17\n"), TEXT(""), 0);
	json_object *tail = fixture_json("upstream-chat-request-round2-tail");
	json_object *m;

	file.next = NULL;
	o.files = &file;
	json_object_object_get_ex(tail, "messages", &m);
	m = json_object_array_get_idx(m, 1);
	json_object_object_get_ex(m, "content", &m);
	told("as the fixture has it", &o, json_object_get_string(m));
	json_object_put(tail);

	file.next = &second;
	o = ran(OUR_BASH, TEXT("a"), TEXT("b"), 3);
	o.files = &file;
	o.over_count = 3;
	o.over_bytes = 1;
	o.empty = 1;
	o.failed = 2;
	told("everything at once", &o,
	    "[tool error] exit code 3\nstdout:\na\nstderr:\nb\nexit code: 3\n"
	    "files written: /mnt/data/totals.csv (file_9Zt4cc03, 37 bytes), "
	    "/mnt/data/d/b.txt (file-0123456789abcdef0123456789abcdef, 5 "
	    "bytes)\n"
	    "not kept: 3 files over the limit of 20\n"
	    "not kept: 1 file over the limit of 67108864 bytes\n"
	    "not kept: 1 empty file\n"
	    "not kept: 2 files that could not be stored");
	o = ran(OUR_BASH, TEXT(""), TEXT(""), 0);
	told("nothing at all", &o, "(no output)\nexit code: 0");
	o = (struct outcome){.tool = OUR_EDITOR, .kind = OUTCOME_REPLACE};
	told("an edit that leaves nothing", &o, "(no output)");
	o = (struct outcome){.tool = OUR_CODE,
	    .kind = OUTCOME_TIMEOUT,
	    .timeout_s = 60,
	    .out = TEXT("partial\n")};
	told("a time limit, and what there was", &o,
	    "[tool error] stopped at the time limit of 60 s\nstdout:\n"
	    "partial");
	o = (struct outcome){.tool = OUR_BASH, .kind = OUTCOME_BAD_INPUT};
	told("bad arguments", &o,
	    "[tool error] arguments must be JSON with a string field "
	    "\"command\"");
	o.tool = OUR_CODE;
	told("bad arguments for Python", &o,
	    "[tool error] arguments must be JSON with a string field "
	    "\"code\"");
	o = ran(OUR_BASH,
	    TEXT("0123456789012345678901234567890123456789012345678\xc3\xa9"
		 "....................................................."
		 "\xc3\xa9"
		 "0123456789012345678901234567890123456789012345678"),
	    TEXT(""), 0);
	told("long output loses its middle, not half a character", &o,
	    "stdout:\n0123456789012345678901234567890123456789012345678\n"
	    "[... 57 bytes left out ...]\n"
	    "0123456789012345678901234567890123456789012345678\n"
	    "exit code: 0");
}

/* ---- Answers of chat servers */

static int
pass(void *cookie, const struct event *ev)
{
	struct writer *w = cookie;

	return (w->event(w, ev));
}

/* What the events of ${json} make, or NULL if it is no answer. */
static json_object *
answer(const char *json)
{
	struct writer *w = messages_gather(&talk);
	json_object *o = NULL;

	if (wire_chat_read(NULL, checked(json), pass, w) == 0)
		o = finished(w, NULL);
	else
		w->free(w);
	return (o);
}

/* clang-format off */
#define CHAT(message, finish, more) \
	"{\"choices\":[{\"message\":" message ",\"finish_reason\":\"" finish \
	"\"}]" more "}"
static const struct { const char *name, *in, *content, *stop; } answers[] = {
	{ "text", CHAT("{\"content\":\"Hi\"}", "stop", ""),
	    "[{\"type\":\"text\",\"text\":\"Hi\"}]",
	    "end_turn" },
	{ "null content", CHAT("{\"content\":null}", "stop", ""), "[]",
	    "end_turn" },
	{ "empty content makes no block",
	    CHAT("{\"content\":\"\"}", "stop", ""), "[]", "end_turn" },
	{ "content in parts", CHAT("{\"content\":[{\"type\":\"text\",\"text\":"
	    "\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}", "stop", ""),
	    "[{\"type\":\"text\",\"text\":\"ab\"}]",
	    "end_turn" },
	{ "length", CHAT("{\"content\":\"a\"}", "length", ""),
	    "[{\"type\":\"text\",\"text\":\"a\"}]",
	    "max_tokens" },
	{ "content_filter", CHAT("{\"content\":\"a\"}", "content_filter", ""),
	    "[{\"type\":\"text\",\"text\":\"a\"}]",
	    "refusal" },
	{ "reasoning leads, unsigned", CHAT("{\"reasoning_content\":\"hm\","
	    "\"content\":\"a\"}", "stop", ""),
	    "[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":"
	    "\"gw_unsigned\"},{\"type\":\"text\",\"text\":\"a\"}]",
	    "end_turn" },
	{ "reasoning under its other name", CHAT("{\"reasoning\":\"hm\","
	    "\"content\":null}", "stop", ""),
	    "[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":"
	    "\"gw_unsigned\"}]", "end_turn" },
	{ "a call", CHAT("{\"content\":null,\"tool_calls\":[{\"id\":\"c1\","
	    "\"type\":\"function\",\"function\":{\"name\":\"f\","
	    "\"arguments\":\"{\\\"a\\\":1}\"}}]}", "tool_calls", ""),
	    "[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"f\",\"input\":"
	    "{\"a\":1},\"caller\":{\"type\":\"direct\"}}]", "tool_use" },
	{ "arguments that are an object already",
	    CHAT("{\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":\"f\","
	    "\"arguments\":{\"a\":1}}}]}", "tool_calls", ""),
	    "[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"f\",\"input\":"
	    "{\"a\":1},\"caller\":{\"type\":\"direct\"}}]", "tool_use" },
	{ "arguments that do not parse",
	    CHAT("{\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":\"f\","
	    "\"arguments\":\"{oops\"}}]}", "tool_calls", ""),
	    "[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"f\",\"input\":"
	    "{\"__raw_arguments\":\"{oops\"},\"caller\":{\"type\":\"direct\"}"
	    "}]", "tool_use" },
	{ "arguments that are a list",
	    CHAT("{\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":\"f\","
	    "\"arguments\":\"[1]\"}}]}", "tool_calls", ""),
	    "[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"f\",\"input\":"
	    "{\"__raw_arguments\":\"[1]\"},\"caller\":{\"type\":\"direct\"}}]",
	    "tool_use" },
	{ "text in any script", CHAT("{\"content\":\"\\u2028\\ud83d\\ude00"
	    "\\\"\\\\\"}", "stop", ""),
	    "[{\"type\":\"text\",\"text\":\"\\u2028\\ud83d\\ude00\\\"\\\\\"}]",
	    "end_turn" },
};

static const char *const no_answers[] = {
	"{}", "[]", "{\"choices\":[]}", "{\"choices\":{}}",
	"{\"choices\":[{}]}", "{\"choices\":[{\"message\":\"x\"}]}", "3",
};
/* clang-format on */

static json_object *
member(json_object *o, const char *key)
{

	return (json_object_get(json_object_object_get(o, key)));
}

static void
read_answers(void)
{
	json_object *o, *v;
	size_t i;
	int bad = 0;

	for (i = 0; i < NELEM(answers); i++) {
		o = answer(answers[i].in);
		v = member(o, "stop_reason");
		ok(same(member(o, "content"),
		       json_tokener_parse(answers[i].content)) &&
			strcmp(json_object_get_string(v), answers[i].stop) == 0,
		    answers[i].name);
		json_object_put(v);
		json_object_put(o);
	}
	for (i = 0; i < NELEM(no_answers); i++)
		bad += answer(no_answers[i]) != NULL;
	ok(bad == 0, "what is no answer is none");

	o = answer("{\"choices\":[{\"message\":{\"content\":\"a\"},"
		   "\"finish_reason\":\"stop\",\"stop_reason\":\"END\"}],"
		   "\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":5,"
		   "\"prompt_tokens_details\":{\"cached_tokens\":4},"
		   "\"completion_tokens_details\":{\"reasoning_tokens\":2}}}");
	v = member(o, "stop_sequence");
	ok(strcmp(json_object_get_string(v), "END") == 0,
	    "the stop text that the server names");
	json_object_put(v);
	ok(same(member(o, "usage"),
	       json_tokener_parse(
		   "{\"input_tokens\":8,\"output_tokens\":5,"
		   "\"cache_creation\":null,\"cache_creation_input_tokens\":"
		   "null,\"cache_read_input_tokens\":4,\"inference_geo\":null,"
		   "\"output_tokens_details\":{\"thinking_tokens\":2},"
		   "\"server_tool_use\":null,\"service_tier\":\"standard\","
		   "\"speed\":null}")),
	    "cached and reasoning tokens have their places");
	json_object_put(o);

	talk.hide_reasoning = 1;
	o = answer(answers[6].in);
	ok(same(member(o, "content"),
	       json_tokener_parse("[{\"type\":\"text\",\"text\":\"a\"}]")),
	    "reasoning is not shown to who asked for none");
	json_object_put(o);
	talk.hide_reasoning = 0;
}

int
main(void)
{

	talk.mem = arena_new(1 << 24);
	fixtures();
	variants();
	texts();
	read_answers();
	arena_free(talk.mem);
	return (done_testing());
}
