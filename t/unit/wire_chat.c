/*
 * The chat wire's answers: what servers make of a call, where a stream ends,
 * and that it does not matter where its bytes are cut.
 */
#include "base/conf.h"
#include "speech/answer.h"
#include "speech/refusal.h"
#include "speech/wire_chat.h"

#include "wire.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* A chunk with this delta, with this end, and the usage. */
#define D(delta)                                          \
	"data: {\"id\":\"x\",\"choices\":[{\"index\":0,"  \
	"\"delta\":{" delta "},\"finish_reason\":null}]," \
	"\"usage\":null}\n\n"
#define END(why)                                                     \
	"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_rea" \
	"son\":\"" why "\"}]}\n\n"
#define USAGE                                                   \
	"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9," \
	"\"completion_tokens\":2,\"prompt_tokens_details\":"    \
	"{\"cached_tokens\":4}}}\n\n"
#define DONE "data: [DONE]\n\n"
#define SAY(text) D("\"content\":\"" text "\"")

/* A fragment of a call: its index, its id, its name, its arguments. */
#define CALL(members) D("\"tool_calls\":[{" members "}]")
#define I(n) "\"index\":" #n
#define ID(id) ",\"id\":\"" id "\""
#define F(name, args) \
	",\"function\":{\"name\":\"" name "\",\"arguments\":\"" args "\"}"
#define A(args) ",\"function\":{\"arguments\":\"" args "\"}"

static const struct wire *w;

/* clang-format off */
static const struct {
	const char *name, *stream, *want;
} rows[] = {
	{ "text, reasoning under either name, usage, [DONE]",
	    D("\"role\":\"assistant\",\"content\":\"\"")
	    D("\"reasoning_content\":\"Hm\"") D("\"reasoning\":\"m.\"")
	    SAY("Hi \\ud83d\\ude00") SAY("\\n\xc3\xa9") END("stop") USAGE DONE,
	    "|R:Hmm.|T:Hi \xf0\x9f\x98\x80\n\xc3\xa9|U:5,2,4,0|S:0" },
	{ "no [DONE]: a reason is enough (row 31)",
	    SAY("Hi") END("stop"), "|T:Hi|S:0" },
	{ "neither (row 31)", SAY("Hi"), "rc 2" },
	{ "[DONE] without a reason", SAY("Hi") DONE, "|T:Hi|S:0" },
	{ "nothing but [DONE]", DONE, "rc 2" },
	{ "a last event without its blank line",
	    SAY("Hi") "data: {\"choices\":[{\"delta\":{},\"finish_reason\":"
	    "\"length\"}]}", "|T:Hi|S:1" },
	{ "half of an event", SAY("Hi") "data: {\"choices\":[{\"del",
	    "rc 3" },
	{ "CRLF, no space, comments, names, several lines",
	    "\xef\xbb\xbf: hello\r\n\r\nevent: message\r\ndata:{\"choices\":[{"
	    "\r\ndata: \"delta\":{\"content\":\"a\"}}]}\r\n\r\n: keepalive\n\n"
	    "data:{\"choices\":[{\"delta\":{\"content\":\"b\"},"
	    "\"finish_reason\":\"stop\"}]}\n\n", "|T:ab|S:0" },
	{ "a text in parts", D("\"content\":[{\"type\":\"text\",\"text\":"
	    "\"a\"},{\"type\":\"text\",\"text\":\"b\"}]") END("stop"),
	    "|T:ab|S:0" },
	{ "a stop text", SAY("a") "data: {\"choices\":[{\"delta\":{},"
	    "\"finish_reason\":\"stop\",\"stop_reason\":\"\\nEND\"}]}\n\n",
	    "|T:a|S:3\nEND" },
	{ "a filter", END("content_filter"), "|S:4" },

	{ "one call in fragments",
	    CALL(I(0) ID("c1") F("f", "")) CALL(I(0) A("{\\\"a\\\":"))
	    CALL(I(0) A(" 1}")) END("tool_calls") USAGE DONE,
	    "|C:c1,f|A:{\"a\": 1}|E|U:5,2,4,0|S:2" },
	{ "two calls, text before",
	    SAY("So.") CALL(I(0) ID("c1") F("f", "{}"))
	    CALL(I(1) ID("c2") F("g", "{")) CALL(I(1) A("}")) END("tool_calls"),
	    "|T:So.|C:c1,f|A:{}|E|C:c2,g|A:{}|E|S:2" },
	{ "whole calls, called \"stop\" (row 27)",
	    CALL(I(0) ID("c1") F("f", "{}")) END("stop"),
	    "|C:c1,f|A:{}|E|S:0" },
	{ "no ids (row 28)",
	    CALL(I(0) F("f", "{}")) CALL(I(1) F("g", "{}")) END("stop"),
	    "|C:-,f|A:{}|E|C:-,g|A:{}|E|S:0" },
	{ "one id twice (row 28)",
	    CALL(I(0) ID("c") F("f", "{}")) CALL(I(1) ID("c") F("g", "{}"))
	    END("stop"), "|C:c,f|A:{}|E|C:c,g|A:{}|E|S:0" },
	{ "the name again and again (row 29)",
	    CALL(I(0) ID("c") F("f", "")) CALL(I(0) ID("c") F("f", "{\\\"a"))
	    CALL(I(0) ID("c") F("f", "\\\":1}")) CALL(I(0) ID("c") F("f", ""))
	    END("stop"), "|C:c,f|A:{\"a\":1}|E|S:0" },
	{ "index 0 and new ids (row 30)",
	    CALL(I(0) ID("c1") F("f", "{}")) CALL(I(0) ID("c2") F("g", "{}"))
	    CALL(I(0) ID("c3") F("h", "{}")) END("stop"),
	    "|C:c1,f|A:{}|E|C:c2,g|A:{}|E|C:c3,h|A:{}|E|S:0" },
	{ "index 0, no ids, whole calls",
	    CALL(I(0) F("f", "{\\\"a\\\":1}")) CALL(I(0) F("f", "{}"))
	    END("stop"), "|C:-,f|A:{\"a\":1}|E|C:-,f|A:{}|E|S:0" },
	{ "no index", D("\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":"
	    "\"f\",\"arguments\":\"{\"}}]") D("\"tool_calls\":[{\"id\":\"\","
	    "\"function\":{\"arguments\":\"}\"}}]") D("\"tool_calls\":[{\"id\":"
	    "\"c2\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]")
	    END("stop"), "|C:c1,f|A:{}|E|C:c2,g|A:{}|E|S:0" },
	{ "indexes that rise by more than one",
	    CALL(I(3) ID("c1") F("f", "{}")) CALL(I(7) ID("c2") F("g", "{}"))
	    END("stop"), "|C:c1,f|A:{}|E|C:c2,g|A:{}|E|S:0" },
	{ "fragments of two calls by turns",
	    CALL(I(0) ID("c1") F("f", "{\\\"a\\\":")) CALL(I(1) ID("c2")
	    F("g", "{\\\"b\\\":")) CALL(I(0) A("1}")) CALL(I(1) A("2}"))
	    END("stop"), "|C:c1,f|A:{\"a\":1}|E|C:c2,g|A:{\"b\":2}|E|S:0" },
	{ "text amid a call waits for its end",
	    CALL(I(0) ID("c1") F("f", "{\\\"a\\\":")) SAY("So.")
	    CALL(I(0) A("1}")) SAY(" On.") END("stop"),
	    "|C:c1,f|A:{\"a\":1}|E|T:So. On.|S:0" },
	{ "text after a whole call does not",
	    CALL(I(0) ID("c1") F("f", "{}")) SAY("So.")
	    CALL(I(1) ID("c2") F("g", "{}")) END("stop"),
	    "|C:c1,f|A:{}|E|T:So.|C:c2,g|A:{}|E|S:0" },
	{ "a call that is broken off (row 26)",
	    CALL(I(0) ID("c1") F("f", "{\\\"a\\\":")) END("length"),
	    "|C:c1,f|A:{\"a\":|E|S:1" },
	{ "no arguments at all (row 25)",
	    CALL(I(0) ID("c1") F("f", "")) CALL(I(1) ID("c2") F("g", "{}"))
	    END("stop"), "|C:c1,f|E|C:c2,g|A:{}|E|S:0" },
	{ "arguments that are an object", CALL(I(0) ID("c1")
	    ",\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1}}")
	    END("stop"), "|C:c1,f|A:{\"a\":1}|E|S:0" },
	{ "arguments before the name",
	    CALL(I(0) ID("c1") A("{\\\"a\\\"")) CALL(I(0) F("f", ":1}"))
	    END("stop"), "|C:c1,f|A:{\"a\":1}|E|S:0" },
	{ "a call of before there were tools",
	    D("\"function_call\":{\"name\":\"f\",\"arguments\":\"\"}")
	    D("\"function_call\":{\"arguments\":\"{}\"}") END("function_call"),
	    "|C:-,f|A:{}|E|S:2" },

	{ "an error amid the answer (row 33)",
	    SAY("Hi") "data: {\"error\":{\"message\":\"boom\"}}\n\n",
	    "rc 502" },
	{ "a reason that is a failure (row 33)", SAY("Hi") END("error") DONE,
	    "rc 502" },
	{ "only the first of two choices",
	    "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"B\"},"
	    "\"finish_reason\":null},{\"index\":0,\"delta\":{\"content\":"
	    "\"A\"}}]}\n\n"
	    "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"},"
	    "\"finish_reason\":\"length\"}]}\n\n"
	    SAY("a") END("stop"), "|T:Aa|S:0" },
	{ "what is no JSON", SAY("Hi") "data: {'a'}\n\n" DONE,
	    "rc 3" },
	{ "JSON that is no chunk", "data: [1]\n\ndata: 7\n\n" SAY("Hi")
	    END("stop"), "|T:Hi|S:0" },
};
/* clang-format on */

/* ---- Whole answers, and which of the two it is */

static char base_url[] = "http://gpu7.example/v1";
static struct conf_provider provider = {
    .wire = WIRE_CHAT, .base_url = base_url};

/* The line of an answer that comes in pieces of ${step} bytes; else why not. */
static char *
answer_line(const char *text, size_t step)
{
	struct heard_line h = {.line = BUF_INIT(16 << 20)};
	struct answer *A = answer_new(&provider, hear, &h);
	struct refusal why;
	size_t i, n, len = strlen(text);

	for (i = 0; i < len; i += n) {
		n = len - i < step ? len - i : step;
		if (answer_feed(A, text + i, n) != ANSWER_MORE)
			break;
	}
	if (answer_end(A, 0, &why)) {
		buf_free(&h.line);
		buf_puts(&h.line, why.message);
	}
	answer_free(A);
	return (h.line.p);
}

#define WHOLE                                                              \
	"{\"choices\":[{\"message\":{\"content\":\"Hi\",\"tool_calls\":"   \
	"[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"" \
	"}},{\"function\":{\"name\":\"g\",\"arguments\":\"\"}}]},"         \
	"\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\""  \
	":9,\"completion_tokens\":2}}"

static void
answers(void)
{
	/* clang-format off */
	static const struct { const char *name, *text, *want; } cases[] = {
		{ "JSON where a stream was asked for (row 32)", WHOLE,
		    "|T:Hi|C:c,f|A:{}|E|C:-,g|E|U:9,2,0,0|S:2" },
		{ "JSON after space", "\r\n \xef\xbb\xbf" WHOLE "\n",
		    "|T:Hi|C:c,f|A:{}|E|C:-,g|E|U:9,2,0,0|S:2" },
		{ "a stream where JSON was asked for", SAY("Hi") END("stop"),
		    "|T:Hi|S:0" },
		{ "what follows [DONE]", SAY("Hi") DONE "data: {'\n\n",
		    "|T:Hi|S:0" },
		{ "an error with status 200 (row 33)",
		    "{\"error\":{\"message\":\"boom\",\"code\":500}}",
		    "The model provider answered with an error." },
		{ "an error in a stream (row 33)", SAY("Hi")
		    "data: {\"error\":{\"message\":\"boom\"}}\n\n",
		    "The model provider answered with an error." },
		{ "words that tell what is wrong (row 33)",
		    "data: {\"error\":{\"code\":400,\"message\":\"maximum "
		    "context length is 8\"}}\n\n" DONE,
		    "maximum context length is 8" },
		{ "an error in an event that is called so", "event: error\n"
		    "data: {\"reason\":\"boom\"}\n\n",
		    "The model provider answered with an error." },
		{ "an error outside of any data", SAY("Hi")
		    "error: {\"code\":400,\"message\":\"too long\","
		    "\"type\":\"invalid_request_error\"}\n\n", "too long" },
		{ "the second choice first", "{\"choices\":[{\"index\":1,"
		    "\"message\":{\"content\":\"B\"}},{\"index\":0,"
		    "\"message\":{\"content\":\"A\"},\"finish_reason\":"
		    "\"stop\"}]}", "|T:A|S:0" },
		{ "nothing", "",
		    "The model provider's answer could not be read." },
		{ "HTML", "<html>\n", ANSWER_PAGE },
		{ "half of JSON", "{\"choices\":[",
		    "The model provider's answer could not be read." },
		{ "JSON that is no answer", "{\"choices\":[]}",
		    "The model provider's answer could not be used." },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		check_line(answer_line(cases[i].text, 1 << 20), cases[i].want,
		    cases[i].name);
		check_line(answer_line(cases[i].text, 1), cases[i].want,
		    "byte by byte");
	}
}

/* An event as large as it may be, and one byte more. */
static void
large(void)
{
	static const char head[] =
	    "data: {\"choices\":[{\"delta\":{\"content\":\"";
	static const char tail[] = "\"},\"finish_reason\":\"stop\"}]}";
	const size_t most = 8U << 20;
	char *text = malloc(most + 64), *line;
	size_t more;

	for (more = 0; more < 2; more++) {
		/* The data is what follows "data: "; lines count whole. */
		memset(text, 'x', most + more);
		memcpy(text, head, sizeof(head) - 1);
		memcpy(text + most + more - (sizeof(tail) - 1), tail,
		    sizeof(tail));
		memcpy(text + most + more, "\n\n", 3);
		line = answer_line(text, 65536);
		ok((strncmp(line, "|T:xxx", 6) == 0) == !more,
		    more ? "an event of more than 8 MiB" : "one of 8 MiB");
		free(line);
	}
	free(text);
}

/* ---- What servers of other kinds are asked */

/* The talk of every flag, with what of it the flags change. */
static json_object *
with_flags(const struct conf_provider *p, struct talk *t)
{
	const struct round r = {.provider = p, .model = "m", .max_tokens = 9};

	return (asked(w, t, &r));
}

static const char *
at(json_object *o, const char *key)
{
	json_object *v;

	return (json_object_object_get_ex(o, key, &v)
		? json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN)
		: "-");
}

static json_object *
message(json_object *o, size_t n)
{
	json_object *list;

	json_object_object_get_ex(o, "messages", &list);
	return (json_object_array_get_idx(list, n));
}

static struct talk *
one_of_all(struct arena *mem)
{
	struct talk *t = talk_new(mem);
	struct part *p;

	t->stream = 1;
	t->system = (struct text)TEXT_LIT("Be brief.");
	t->top_k = (struct jspan){"40", 2};
	t->effort = "low";
	t->format = checked("{\"type\":\"object\"}");
	t->choice = CHOICE_ANY;
	t->parallel = 0;
	t->ours = 1U << OUR_BASH;
	say(t, TALK_USER, PART_TEXT, "Go");
	say(t, TALK_ASSISTANT, PART_REASONING, "Hm");
	say(t, TALK_ASSISTANT, PART_TEXT, "So");
	p = say(t, TALK_ASSISTANT, PART_CALL, "{}");
	p->id = "call_1";
	p->name = "f";
	say(t, TALK_USER, PART_RESULT, "ok")->id = "call_1";
	say(t, TALK_ASSISTANT, PART_TEXT, "It is");
	(void)talk_offer(t);
	return (t);
}

static void
usual(struct talk *t)
{
	static const struct conf_provider p;
	json_object *o = with_flags(&p, t);

	ok(strcmp(at(o, "max_tokens"), "9") == 0 &&
		strcmp(at(o, "top_k"), "-") == 0 &&
		strcmp(at(o, "reasoning_effort"), "\"low\"") == 0 &&
		strcmp(at(o, "chat_template_kwargs"), "-") == 0 &&
		strcmp(at(o, "response_format"), "-") == 0 &&
		strcmp(at(o, "tool_choice"), "\"required\"") == 0 &&
		strcmp(at(o, "parallel_tool_calls"), "false") == 0 &&
		strcmp(at(o, "stream_options"), "{\"include_usage\":true}") ==
		    0 &&
		strcmp(at(o, "continue_final_message"), "-") == 0,
	    "the usual server");
	ok(strcmp(at(message(o, 0), "content"),
	       "\"Be brief.\\n\\nAnswer with nothing but JSON that fits this "
	       "schema: {\\\"type\\\":\\\"object\\\"}\"") == 0,
	    "is told the schema in words");
	ok(strcmp(at(message(o, 2), "content"), "\"So\"") == 0 &&
		strcmp(at(message(o, 2), "reasoning_content"), "-") == 0,
	    "and not what was thought");
	ok(strcmp(at(message(o, 3), "tool_call_id"), "\"call_1\"") == 0,
	    "ids as they are");
	json_object_put(o);
}

static void
other(struct talk *t)
{
	static const struct conf_provider p = {.no_parallel = 1,
	    .no_required = 1,
	    .no_stream_usage = 1,
	    .completion_tokens = 1,
	    .reasoning_in = REASONING_CONTENT,
	    .effort = EFFORT_SWITCH,
	    .json_schema = 1,
	    .top_k = 1,
	    .prefill = 1,
	    .nine = 1};
	json_object *o = with_flags(&p, t), *call;
	const char *id;

	ok(strcmp(at(o, "max_tokens"), "-") == 0 &&
		strcmp(at(o, "max_completion_tokens"), "9") == 0,
	    "max_tokens_field");
	ok(strcmp(at(o, "top_k"), "40") == 0, "top_k");
	ok(strcmp(at(o, "reasoning_effort"), "-") == 0 &&
		strcmp(at(o, "chat_template_kwargs"),
		    "{\"enable_thinking\":true}") == 0,
	    "effort");
	ok(strcmp(at(o, "response_format"),
	       "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"output"
	       "\",\"strict\":true,\"schema\":{\"type\":\"object\"}}}") == 0 &&
		strcmp(at(message(o, 0), "content"), "\"Be brief.\"") == 0,
	    "json_schema");
	ok(strcmp(at(o, "tool_choice"), "\"auto\"") == 0,
	    "tool_choice_required");
	ok(strcmp(at(o, "parallel_tool_calls"), "-") == 0, "parallel_tools");
	ok(strcmp(at(o, "stream"), "true") == 0 &&
		strcmp(at(o, "stream_options"), "-") == 0,
	    "stream_usage");
	ok(strcmp(at(o, "continue_final_message"), "true") == 0 &&
		strcmp(at(o, "add_generation_prompt"), "false") == 0,
	    "prefill");
	ok(strcmp(at(message(o, 2), "reasoning_content"), "\"Hm\"") == 0,
	    "reasoning_in: reasoning_content");
	json_object_object_get_ex(message(o, 2), "tool_calls", &call);
	id = at(json_object_array_get_idx(call, 0), "id");
	ok(strlen(id) == 11 &&
		strcmp(at(message(o, 3), "tool_call_id"), id) == 0,
	    "tool_id: the same nine characters in call and result");
	json_object_put(o);
}

static void
rest(struct talk *t)
{
	struct conf_provider p = {.no_tools = 1,
	    .reasoning_in = REASONING_TAGS,
	    .effort = EFFORT_NONE};
	json_object *o = with_flags(&p, t);

	ok(strcmp(at(o, "tools"), "-") == 0 &&
		strcmp(at(o, "tool_choice"), "-") == 0,
	    "tools");
	ok(strcmp(at(o, "reasoning_effort"), "-") == 0 &&
		strcmp(at(o, "chat_template_kwargs"), "-") == 0,
	    "no effort");
	ok(strcmp(at(message(o, 2), "content"),
	       "\"<think>Hm<\\/think>\\n\\nSo\"") == 0,
	    "reasoning_in: think_tags");
	json_object_put(o);
	p.reasoning_in = REASONING_PLAIN;
	o = with_flags(&p, t);
	ok(strcmp(at(message(o, 2), "reasoning"), "\"Hm\"") == 0,
	    "reasoning_in: reasoning");
	json_object_put(o);
}

/* Where a server says what a model thinks. */
static void
reasoning(void)
{
	static const char text[] =
	    "{\"choices\":[{\"message\":{\"content\":\"<think>t</think>s\","
	    "\"reasoning\":\"r\",\"reasoning_content\":\"c\"},"
	    "\"finish_reason\":\"stop\"}]}";
	/* clang-format off */
	static const struct { int out; const char *want; } cases[] = {
		{ REASONING_USUAL, "|R:c|T:<think>t</think>s|S:0" },
		{ REASONING_CONTENT, "|R:c|T:<think>t</think>s|S:0" },
		{ REASONING_PLAIN, "|R:r|T:<think>t</think>s|S:0" },
		{ REASONING_NONE, "|T:<think>t</think>s|S:0" },
		{ REASONING_TAGS, "|R:t|T:s|S:0" },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		provider.reasoning_out = cases[i].out;
		check_line(
		    answer_line(text, 1 << 20), cases[i].want, "reasoning_out");
	}
	provider.reasoning_out = REASONING_USUAL;
}

int
main(void)
{
	struct arena *mem = arena_new(1 << 20);
	struct talk *t = one_of_all(mem);
	size_t i;

	w = wire_of(WIRE_CHAT);
	for (i = 0; i < NELEM(rows); i++)
		check_cuts(w, rows[i].stream, rows[i].want, rows[i].name);
	answers();
	large();
	usual(t);
	other(t);
	rest(t);
	reasoning();
	arena_free(mem);
	return (done_testing());
}
