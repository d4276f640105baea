/*
 * Events put in the words of the Chat dialect, against the contract's answers:
 * what is fed is taken from their deltas, and all that they hold must come out.
 */
#include "speech/chat.h"
#include "speech/model_dialect.h"
#include "speech/outcome.h"
#include "speech/talk.h"

#include "fixture.h"
#include "tap.h"

/* Ids are random: what begins one stays. */
static void
mask(char *s)
{
	char *p;

	for (p = s; (p = strstr(p, "chatcmpl-gw-")) != NULL; p += 12)
		memset(p + 12, '#', 20);
}

/* The data of every event; "[DONE]" as a string. */
static json_object *
chunks_of(const char *s)
{
	json_object *list = json_object_new_array();
	char line[65536];
	size_t n;

	for (; *s != '\0'; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		(void)snprintf(line, sizeof(line), "%.*s", (int)n, s);
		if (strcmp(line, "data: [DONE]") == 0)
			json_object_array_add(
			    list, json_object_new_string("[DONE]"));
		else if (strncmp(line, "data: ", 6) == 0)
			json_object_array_add(
			    list, json_tokener_parse(line + 6));
	}
	return (list);
}

static char *
sse_text(const char *name)
{
	char path[256], *s = calloc(1, 1 << 20);
	FILE *f;

	(void)snprintf(path, sizeof(path), "t/fixture/executor/%s.sse", name);
	if ((f = fopen(path, "r")) == NULL) {
		printf("# cannot read %s\n", path);
		exit(1);
	}
	(void)!fread(s, 1, (1 << 20) - 1, f);
	fclose(f);
	mask(s);
	return (s);
}

/* ---- A turn by hand */

struct script {
	struct arena *mem;
	struct talk *t;
	struct writer *w;
	struct buf out, whole;
};

static void
begin(struct script *s, const char *request, int streamed)
{
	struct refusal *why;

	*s = (struct script){.mem = arena_new(1 << 22)};
	s->out.max = s->whole.max = 1 << 20;
	s->t = talk_new(s->mem);
	s->t->model = "qwen3-coder";
	s->t->now = 1796119200;
	s->t->base = "https://gateway.example";
	s->t->ours = 1U << OUR_CODE;
	why = arena_alloc(s->mem, 4096);
	if (chat_read(checked(request), s->t, why))
		ok(0, "the request is read");
	s->w = streamed ? chat_stream(s->t, &s->out) : chat_gather(s->t);
}

static void
end(struct script *s)
{

	s->w->free(s->w);
	buf_free(&s->out);
	buf_free(&s->whole);
	arena_free(s->mem);
}

static void
say(struct script *s, enum event_kind kind, const char *x)
{
	const struct event ev = {.kind = kind,
	    .id = "call_b7f3",
	    .name = x,
	    .text = {x, x != NULL ? strlen(x) : 0}};

	if (s->w->event(s->w, &ev))
		ok(0, "an event is taken");
}

static void
wrote(struct script *s, const char *id, const char *path)
{
	struct outcome_file file = {
	    .next = NULL, .id = id, .path = path, .bytes = 37};
	const struct outcome o = {.tool = OUR_CODE, .files = &file};
	const struct event ev = {
	    .kind = EVENT_RESULT, .id = "x", .outcome = &o};

	s->w->event(s->w, &ev);
}

static void
stop(struct script *s, enum stop why)
{
	static const struct usage usage = {
	    .input = 1364, .cached = 512, .output = 171};
	const struct event u = {.kind = EVENT_USAGE, .usage = &usage};
	const struct event ev = {.kind = EVENT_STOP, .stop = why};

	s->w->event(s->w, &u);
	s->w->event(s->w, &ev);
	if (s->w->finish(s->w, &s->whole))
		ok(0, "it is finished");
}

static int
is_stream(struct script *s, json_object *want)
{

	mask(s->out.p);
	return (same(chunks_of(s->out.p), want));
}

/* ---- The fixtures */

static void
whole_turn(struct script *s)
{

	say(s, EVENT_ROUND, NULL);
	wrote(s, "file_9Zt4cc03", "totals.csv");
	say(s, EVENT_ROUND, NULL);
	say(s, EVENT_TEXT, "data.csv totals 42 ");
}

static void
fixtures(void)
{
	char *request = fixture_text("chat-request"), *text;
	struct script s;

	begin(&s, request, 1);
	whole_turn(&s);
	say(&s, EVENT_TEXT,
	    "and data_2.csv totals 17. The table is in totals.csv.");
	stop(&s, STOP_END);
	text = sse_text("chat-stream");
	ok(is_stream(&s, chunks_of(text)), "a stream that cites a file");
	free(text);
	end(&s);

	begin(&s, request, 0);
	whole_turn(&s);
	say(&s, EVENT_TEXT,
	    "and data_2.csv totals 17. The table is in totals.csv.");
	stop(&s, STOP_END);
	mask(s.whole.p);
	text = fixture_text("chat-response");
	mask(text);
	ok(same(json_tokener_parse(s.whole.p), json_tokener_parse(text)),
	    "the same as one answer");
	free(text);
	end(&s);

	begin(&s, request, 1);
	say(&s, EVENT_CALL, "save_report");
	say(&s, EVENT_ARGS, "{\"title\":");
	say(&s, EVENT_ARGS, "\"Totals\"}");
	say(&s, EVENT_CALL_END, NULL);
	stop(&s, STOP_CALLS);
	text = sse_text("chat-mixed-stream");
	ok(is_stream(&s, chunks_of(text)), "a stream with a caller's call");
	free(text);
	end(&s);

	begin(&s, request, 1);
	say(&s, EVENT_TEXT, "data.csv totals 42 ");
	{
		struct problem_row row = *problem_row(P_UPSTREAM);

		row.openai_code = "upstream_disconnected";
		s.w->fail(s.w, &row, "The model server closed the connection.",
		    "req_1");
	}
	text = sse_text("chat-error-midstream");
	ok(is_stream(&s, chunks_of(text)), "a stream that breaks off");
	free(text);
	end(&s);
	free(request);
}

/* ---- Answers in pieces */

#define ASK(more)                \
	"{\"model\":\"m\"," more \
	"\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}"
#define CUSTOM "\"tools\":[{\"type\":\"custom\",\"custom\":{\"name\":\"c\"}}],"

/* The message of a gathered answer. */
static json_object *
message(struct script *s, enum stop why, const char *reason)
{
	json_object *o, *m, *choice;

	stop(s, why);
	o = json_tokener_parse(s->whole.p);
	choice =
	    json_object_array_get_idx(json_object_object_get(o, "choices"), 0);
	ok(strcmp(json_object_get_string(
		      json_object_object_get(choice, "finish_reason")),
	       reason) == 0,
	    reason);
	m = json_object_get(json_object_object_get(choice, "message"));
	json_object_put(o);
	end(s);
	return (m);
}

static json_object *
said(const char *s)
{
	char text[4096];
	size_t i;

	(void)snprintf(text, sizeof(text),
	    "{'role':'assistant','refusal':null,'annotations':[],%s}", s);
	for (i = 0; text[i] != '\0'; i++)
		text[i] = text[i] == '\'' ? '"' : text[i];
	return (json_tokener_parse(text));
}

static void
gathered(void)
{
	struct script s;

	begin(&s, ASK(""), 0);
	say(&s, EVENT_TEXT, "One.");
	say(&s, EVENT_ROUND, NULL);
	say(&s, EVENT_TEXT, "Two.");
	say(&s, EVENT_TEXT, "Three.");
	ok(same(message(&s, STOP_LENGTH, "length"),
	       said("'content':'One.\\n\\nTwo.Three.'")),
	    "a blank line between rounds");

	begin(&s, ASK(""), 0);
	say(&s, EVENT_REASONING, "Hm.");
	ok(same(message(&s, STOP_FILTER, "content_filter"),
	       said("'content':'','reasoning_content':'Hm.'")),
	    "what the model thought");

	begin(&s, ASK(CUSTOM), 0);
	say(&s, EVENT_CALL, "c");
	say(&s, EVENT_ARGS, "{\"input\":\"a");
	say(&s, EVENT_ARGS, " \\\"b\\\"\"}");
	say(&s, EVENT_CALL_END, NULL);
	say(&s, EVENT_CALL, "f");
	say(&s, EVENT_ARGS, "{}");
	say(&s, EVENT_CALL_END, NULL);
	ok(same(message(&s, STOP_CALLS, "tool_calls"),
	       said("'content':null,'tool_calls':[{'id':'call_b7f3','type':"
		    "'custom','custom':{'name':'c','input':'a \\\"b\\\"'}},"
		    "{'id':'call_b7f3','type':'function','function':{'name':"
		    "'f','arguments':'{}'}}]")),
	    "calls of both kinds");

	begin(&s, ASK("\"functions\":[{\"name\":\"f\"}],"), 0);
	say(&s, EVENT_CALL, "f");
	say(&s, EVENT_ARGS, "{}");
	say(&s, EVENT_CALL_END, NULL);
	say(&s, EVENT_CALL, "f");
	say(&s, EVENT_ARGS, "{}");
	say(&s, EVENT_CALL_END, NULL);
	ok(same(message(&s, STOP_CALLS, "function_call"),
	       said("'content':null,'function_call':{'name':'f','arguments':"
		    "'{}'}")),
	    "a function's call of old, one only");

	begin(&s, ASK(""), 0);
	ok(same(message(&s, STOP_PAUSE, "length"), said("'content':''")),
	    "an answer may be empty");
}

/* The deltas of a stream, one after the other. */
static json_object *
deltas(struct script *s)
{
	json_object *list, *all = json_object_new_array(), *o;
	size_t i;

	stop(s, STOP_CALLS);
	list = chunks_of(s->out.p);
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (!json_object_is_type(o, json_type_object))
			continue;
		ok(json_object_object_get(o, "usage") == NULL,
		    "no usage that was not asked for");
		o = json_object_array_get_idx(
		    json_object_object_get(o, "choices"), 0);
		json_object_array_add(
		    all, json_object_get(json_object_object_get(o, "delta")));
	}
	json_object_put(list);
	end(s);
	return (all);
}

static void
streamed(void)
{
	struct script s;

	begin(&s, ASK(CUSTOM), 1);
	say(&s, EVENT_CALL, "c");
	say(&s, EVENT_ARGS, "{\"input\":\"a");
	say(&s, EVENT_ARGS, " b\"}");
	say(&s, EVENT_CALL_END, NULL);
	say(&s, EVENT_CALL, "f");
	say(&s, EVENT_ARGS, "{}");
	say(&s, EVENT_CALL_END, NULL);
	ok(same(deltas(&s),
	       json_tokener_parse(
		   "[{\"role\":\"assistant\",\"content\":null},"
		   "{\"tool_calls\":[{\"index\":0,\"id\":\"call_b7f3\","
		   "\"type\":\"custom\",\"custom\":{\"name\":\"c\",\"input\":"
		   "\"\"}}]},{\"tool_calls\":[{\"index\":0,\"custom\":{"
		   "\"input\":\"a\"}}]},{\"tool_calls\":[{\"index\":0,"
		   "\"custom\":{\"input\":\" b\"}}]},{\"tool_calls\":[{"
		   "\"index\":1,\"id\":\"call_b7f3\",\"type\":\"function\","
		   "\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]},{"
		   "\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":"
		   "\"{}\"}}]},{}]")),
	    "calls of both kinds, streamed");

	begin(&s, ASK("\"functions\":[{\"name\":\"f\"}],"), 1);
	say(&s, EVENT_CALL, "f");
	say(&s, EVENT_ARGS, "{}");
	say(&s, EVENT_CALL_END, NULL);
	ok(same(deltas(&s),
	       json_tokener_parse(
		   "[{\"role\":\"assistant\",\"content\":null},"
		   "{\"function_call\":{\"name\":\"f\",\"arguments\":\"\"}},"
		   "{\"function_call\":{\"arguments\":\"{}\"}},{}]")),
	    "a function's call of old, streamed");

	begin(&s, ASK(""), 1);
	s.w->alive(s.w);
	s.w->alive(s.w);
	ok(strstr(s.out.p, "\"role\":\"assistant\",\"content\":\"\"") != NULL &&
		strstr(s.out.p, "\n\n: keepalive\n\n: keepalive\n\n") != NULL,
	    "a sign of life opens the stream, once");
	end(&s);
}

int
main(void)
{

	fixtures();
	gathered();
	streamed();
	return (done_testing());
}
