/*
 * The OpenAI Responses wire: what a conversation becomes, and what its answers
 * are, whole, streamed, and cut at every byte.
 */
#include "speech/wire_responses.h"

#include "wire.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define EV(type, more) \
	"event: " type "\ndata: {\"type\":\"" type "\"" more "}\n\n"

static const struct conf_provider provider;
static const struct wire *w;

static void
requests(void)
{
	struct arena *mem = arena_new(1 << 20);
	struct talk *t = example(mem);
	struct round r = {
	    .provider = &provider, .model = "gpt-x", .max_tokens = 300};

	t->choice = CHOICE_NAMED;
	t->choice_name = "save";
	t->parallel = 0;
	check_asked(w, t, &r,
	    "{\"model\":\"gpt-x\",\"store\":false,\"instructions\":"
	    "\"Be brief.\",\"input\":["
	    "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
	    "\"input_text\",\"text\":\"Look\"},{\"type\":\"input_image\","
	    "\"detail\":\"auto\",\"image_url\":\"data:image/png;base64,iVBO\"}"
	    ",{\"type\":\"input_file\",\"file_url\":"
	    "\"https://x.example/a.pdf\"}]},"
	    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":"
	    "[{\"type\":\"output_text\",\"text\":\"I will.\"}]},"
	    "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"save\","
	    "\"arguments\":\"{\\\"a\\\":1}\"},"
	    "{\"type\":\"function_call\",\"call_id\":"
	    "\"toolu_gw_9aba5a94eecc0dba951676c8\",\"name\":\"save\","
	    "\"arguments\":\"{\\\"__raw_arguments\\\":"
	    "\\\"{oops\\\"}\"},"
	    "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":"
	    "\"ok\"},{\"type\":\"function_call_output\",\"call_id\":"
	    "\"toolu_gw_9aba5a94eecc0dba951676c8\",\"output\":"
	    "\"[tool error] (empty result)\"},"
	    "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
	    "\"input_text\",\"text\":\"Go on \\\"now\\\"\"}]}],"
	    "\"tools\":[{\"type\":\"function\",\"name\":\"save\","
	    "\"description\":\"Save it.\",\"parameters\":{\"type\":\"object\","
	    "\"properties\":{\"a\":{\"type\":\"integer\"}}},\"strict\":false}],"
	    "\"tool_choice\":{\"type\":\"function\",\"name\":\"save\"},"
	    "\"parallel_tool_calls\":false,\"max_output_tokens\":300,"
	    "\"temperature\":1.5,\"top_p\":0.9,\"user\":\"u1\"}",
	    "one of everything");
	arena_free(mem);

	mem = arena_new(1 << 20);
	t = talk_new(mem);
	t->model = "m";
	t->stream = 1;
	t->effort = "low";
	t->format = checked("{\"type\":\"object\"}");
	t->choice = CHOICE_ANY;
	talk_tool(t)->name = "f";
	t->tools->strict = 1;
	say(t, TALK_USER, PART_TEXT, "Hi");
	say(t, TALK_ASSISTANT, PART_TEXT, "Yo");
	r.max_tokens = 5;
	r.relaxed = 1;
	check_asked(w, t, &r,
	    "{\"model\":\"gpt-x\",\"stream\":true,\"store\":false,\"input\":["
	    "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
	    "\"input_text\",\"text\":\"Hi\"}]},{\"type\":\"message\",\"role\":"
	    "\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":"
	    "\"Yo\"}]}],\"tools\":[{\"type\":\"function\",\"name\":\"f\","
	    "\"parameters\":{\"type\":\"object\",\"properties\":{}},"
	    "\"strict\":true}],\"tool_choice\":\"auto\","
	    "\"max_output_tokens\":16,\"text\":{\"format\":{\"type\":"
	    "\"json_schema\",\"name\":\"output\",\"strict\":true,\"schema\":"
	    "{\"type\":\"object\"}}},\"reasoning\":{\"effort\":\"low\"}}",
	    "a schema, an effort, a choice relaxed, the least limit");
	t->tools = NULL;
	t->effort = NULL;
	t->format.p = NULL;
	t->json_only = 1;
	t->verbosity = "low";
	check_asked(w, t, &r,
	    "{\"model\":\"gpt-x\",\"stream\":true,\"store\":false,\"input\":["
	    "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
	    "\"input_text\",\"text\":\"Hi\"}]},{\"type\":\"message\",\"role\":"
	    "\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":"
	    "\"Yo\"}]}],\"max_output_tokens\":16,\"text\":{\"format\":{"
	    "\"type\":"
	    "\"json_object\"},\"verbosity\":\"low\"}}",
	    "any object, in few words");
	arena_free(mem);
}

/* clang-format off */
#define MESSAGE(text) \
	"{\"type\":\"message\",\"id\":\"msg_1\",\"role\":\"assistant\"," \
	"\"content\":[{\"type\":\"output_text\",\"text\":\"" text "\"}]}"
#define FUNCTION(id, args) \
	"{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"" id "\"," \
	"\"name\":\"f\",\"arguments\":\"" args "\"}"
#define USAGE \
	"\"usage\":{\"input_tokens\":12,\"output_tokens\":5," \
	"\"input_tokens_details\":{\"cached_tokens\":4}," \
	"\"output_tokens_details\":{\"reasoning_tokens\":2}}"

static const struct { const char *name, *in, *want; } wholes[] = {
	{ "text", "{\"status\":\"completed\",\"output\":[" MESSAGE("Hi")
	    "]," USAGE "}", "|T:Hi|U:8,5,4,2|S:0" },
	{ "thoughts and calls", "{\"output\":[{\"type\":\"reasoning\","
	    "\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm\"}]},"
	    FUNCTION("c1", "{\\\"a\\\":1}") "," FUNCTION("c2", "") "]}",
	    "|R:hm|C:c1,f|A:{\"a\":1}|E|C:c2,f|E|S:2" },
	{ "thoughts in full go before their summary", "{\"output\":[{\"type\":"
	    "\"reasoning\",\"summary\":[{\"text\":\"short\"}],\"content\":"
	    "[{\"type\":\"reasoning_text\",\"text\":\"long\"}]}]}",
	    "|R:long|S:0" },
	{ "a refusal is text", "{\"output\":[{\"type\":\"message\","
	    "\"content\":[{\"type\":\"refusal\",\"refusal\":\"No.\"}]}]}",
	    "|T:No.|S:0" },
	{ "the token limit", "{\"status\":\"incomplete\","
	    "\"incomplete_details\":{\"reason\":\"max_output_tokens\"},"
	    "\"output\":[" MESSAGE("a") "]}", "|T:a|S:1" },
	{ "a filter", "{\"status\":\"incomplete\",\"incomplete_details\":"
	    "{\"reason\":\"content_filter\"},\"output\":[]}", "|S:4" },
	{ "a failure", "{\"status\":\"failed\",\"output\":[]}", "none" },
	{ "no answer", "{\"output\":7}", "none" },
	{ "no answer either", "{}", "none" },
};

#define AT(i) ",\"output_index\":" i
#define ADDED(i, item) EV("response.output_item.added", AT(i) ",\"item\":" item)
#define DONE(i, item) EV("response.output_item.done", AT(i) ",\"item\":" item)
#define TEXT_DELTA(i, text) \
	EV("response.output_text.delta", AT(i) ",\"delta\":\"" text "\"")
#define ARGS_DELTA(i, text) \
	EV("response.function_call_arguments.delta", AT(i) ",\"delta\":\"" \
	    text "\"")
#define BEGIN \
	EV("response.created", ",\"response\":{\"status\":\"in_progress\"," \
	    "\"error\":null,\"output\":[]}")
#define FINAL(items) \
	EV("response.completed", ",\"response\":{\"status\":\"completed\"," \
	    "\"output\":[" items "]," USAGE "}")
#define END_USAGE "|U:8,5,4,2"

static const struct { const char *name, *in, *want; } streams[] = {
	{ "text", BEGIN ADDED("0", "{\"type\":\"message\",\"content\":[]}")
	    TEXT_DELTA("0", "Hel") TEXT_DELTA("0", "lo \xc3\xa9\\u00e9")
	    EV("response.output_text.done", AT("0") ",\"text\":\"x\"")
	    DONE("0", MESSAGE("Hello")) FINAL(MESSAGE("Hello")),
	    "|T:Hello \xc3\xa9\xc3\xa9" END_USAGE "|S:0" },
	{ "thoughts and a call", BEGIN EV("response.reasoning_text.delta",
	    AT("0") ",\"delta\":\"hm\"") DONE("0", "{\"type\":\"reasoning\","
	    "\"content\":[{\"text\":\"hm\"}]}") ADDED("1", FUNCTION("c1", ""))
	    ARGS_DELTA("1", "{\\\"a\\\"") ARGS_DELTA("1", ":1}")
	    EV("response.function_call_arguments.done", AT("1")
	    ",\"arguments\":\"{}\"") DONE("1", FUNCTION("c1", "{}"))
	    FINAL(FUNCTION("c1", "{}")),
	    "|R:hm|C:c1,f|A:{\"a\":1}|E" END_USAGE "|S:2" },
	{ "items without deltas", BEGIN DONE("0", MESSAGE("Hi"))
	    DONE("1", FUNCTION("c1", "{}")) FINAL(""),
	    "|T:Hi|C:c1,f|A:{}|E" END_USAGE "|S:2" },
	{ "a call that has no deltas", BEGIN ADDED("0", FUNCTION("c1", ""))
	    DONE("0", FUNCTION("c1", "{}")) FINAL(""),
	    "|C:c1,f|A:{}|E" END_USAGE "|S:2" },
	{ "everything at the end", BEGIN FINAL(MESSAGE("Hi")),
	    "|T:Hi" END_USAGE "|S:0" },
	{ "two calls and a text at once", BEGIN ADDED("0", FUNCTION("c1", ""))
	    ADDED("1", FUNCTION("c2", "")) ARGS_DELTA("0", "{\\\"a\\\":")
	    ARGS_DELTA("1", "[") TEXT_DELTA("2", "wait")
	    DONE("1", FUNCTION("c2", "[]")) DONE("2", MESSAGE("wait"))
	    ARGS_DELTA("0", "1}") DONE("0", FUNCTION("c1", "{}")) FINAL(""),
	    "|C:c1,f|A:{\"a\":1}|E|C:c2,f|A:[]|E|T:wait" END_USAGE "|S:2" },
	{ "the token limit in a call", BEGIN ADDED("0", FUNCTION("c1", ""))
	    ARGS_DELTA("0", "{\\\"a") EV("response.incomplete",
	    ",\"response\":{\"status\":\"incomplete\",\"incomplete_details\":"
	    "{\"reason\":\"max_output_tokens\"}," USAGE "}"),
	    "|C:c1,f|A:{\"a|E" END_USAGE "|S:1" },
	{ "broken off", BEGIN TEXT_DELTA("0", "Hel"), "rc 2" },
	{ "failed", BEGIN EV("response.failed", ",\"response\":{\"status\":"
	    "\"failed\",\"error\":{\"code\":\"rate_limit_exceeded\"}}"),
	    "rc 429" },
	{ "an error", BEGIN EV("error", ",\"code\":\"server_error\""),
	    "rc 502" },
	{ "no event of this wire", "data: 7\n\n", "rc 3" },
};
/* clang-format on */

int
main(void)
{
	size_t i;

	w = wire_of(WIRE_RESPONSES);
	requests();
	for (i = 0; i < NELEM(wholes); i++)
		check_line(whole_line(w, wholes[i].in), wholes[i].want,
		    wholes[i].name);
	for (i = 0; i < NELEM(streams); i++) {
		check_line(stream_line(w, streams[i].in, 0), streams[i].want,
		    streams[i].name);
		check_cuts(w, streams[i].in, streams[i].want,
		    "the same wherever it is cut");
	}
	return (done_testing());
}
