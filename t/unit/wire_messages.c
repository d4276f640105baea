/*
 * The Anthropic Messages wire: what a conversation becomes, and what its
 * answers are, whole, streamed, and cut at every byte.
 */
#include "speech/wire_messages.h"

#include "wire.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define EV(type, more) \
	"event: " type "\ndata: {\"type\":\"" type "\"" more "}\n\n"
#define CALL_END "|C:toolu_1,save|A:{\"a\": 1}|E"

static const struct conf_provider provider;
static const struct wire *w;

/* A server that keeps to a schema, and one that is only asked to. */
static void
forms(void)
{
	static const struct conf_provider keeps = {.json_schema = 1};
	struct arena *mem = arena_new(1 << 20);
	struct talk *t = talk_new(mem);
	struct round r = {
	    .provider = &keeps, .model = "claude-x", .max_tokens = 9};

	t->model = "m";
	t->format = checked("{\"type\":\"object\"}");
	t->top_k = (struct jspan){"7", 1};
	say(t, TALK_USER, PART_TEXT, "Hi");
	check_asked(w, t, &r,
	    "{\"model\":\"claude-x\",\"messages\":[{\"role\":\"user\","
	    "\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}],"
	    "\"max_tokens\":9,\"top_k\":7,\"output_config\":{\"format\":"
	    "{\"type\":\"json_schema\",\"schema\":{\"type\":\"object\"}}}}",
	    "a schema that is kept to");
	r.provider = &provider;
	check_asked(w, t, &r,
	    "{\"model\":\"claude-x\",\"system\":\"Answer with nothing but "
	    "JSON that fits this schema: {\\\"type\\\":\\\"object\\\"}\","
	    "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
	    "\"text\",\"text\":\"Hi\"}]}],\"max_tokens\":9,\"top_k\":7}",
	    "a schema that is asked for");
	t->format.p = NULL;
	t->json_only = 1;
	check_asked(w, t, &r,
	    "{\"model\":\"claude-x\",\"system\":\"Answer with nothing but a "
	    "JSON object.\",\"messages\":[{\"role\":\"user\",\"content\":"
	    "[{\"type\":\"text\",\"text\":\"Hi\"}]}],\"max_tokens\":9,"
	    "\"top_k\":7}",
	    "any object");
	arena_free(mem);
}

static void
requests(void)
{
	struct arena *mem = arena_new(1 << 20);
	struct talk *t = example(mem);
	struct round r = {
	    .provider = &provider, .model = "claude-x", .max_tokens = 300};

	t->choice = CHOICE_NAMED;
	t->choice_name = "save";
	t->parallel = 0;
	check_asked(w, t, &r,
	    "{\"model\":\"claude-x\",\"system\":\"Be brief.\",\"messages\":["
	    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
	    "\"Look\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\","
	    "\"media_type\":\"image/png\",\"data\":\"iVBO\"}},{\"type\":"
	    "\"document\",\"title\":\"a.pdf\",\"source\":{\"type\":\"url\","
	    "\"url\":\"https://x.example/a.pdf\"}}]},"
	    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
	    "\"I will.\"},{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":"
	    "\"save\",\"input\":{\"a\":1}},{\"type\":\"tool_use\",\"id\":"
	    "\"toolu_gw_9aba5a94eecc0dba951676c8\",\"name\":\"save\","
	    "\"input\":{\"__raw_arguments\":\"{oops\"}}]},"
	    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
	    "\"tool_use_id\":\"c1\",\"content\":\"ok\"},{\"type\":"
	    "\"tool_result\",\"tool_use_id\":"
	    "\"toolu_gw_9aba5a94eecc0dba951676c8\",\"content\":"
	    "\"(empty result)\",\"is_error\":true},{\"type\":\"text\","
	    "\"text\":\"Go on \\\"now\\\"\"}]}],"
	    "\"tools\":[{\"name\":\"save\",\"description\":\"Save it.\","
	    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"a\":"
	    "{\"type\":\"integer\"}}}}],\"tool_choice\":{\"type\":\"tool\","
	    "\"name\":\"save\",\"disable_parallel_tool_use\":true},"
	    "\"max_tokens\":300,\"temperature\":1,\"top_p\":0.9,"
	    "\"metadata\":{\"user_id\":\"u1\"}}",
	    "one of everything");
	arena_free(mem);

	mem = arena_new(1 << 20);
	t = talk_new(mem);
	t->model = "m";
	t->stream = 1;
	t->parallel = -1;
	t->effort = "medium";
	t->temperature = (struct jspan){"0.3", 3};
	t->choice = CHOICE_ANY;
	t->ours = 1U << OUR_CODE;
	(void)talk_offer(t);
	say(t, TALK_USER, PART_TEXT, "Hi");
	say(t, TALK_ASSISTANT, PART_TEXT, "Well, \n");
	r.max_tokens = 0;
	r.relaxed = 1;
	t->our_name[OUR_CODE] = NULL; /* Its words are not what is tested. */
	check_asked(w, t, &r,
	    "{\"model\":\"claude-x\",\"stream\":true,\"messages\":[{\"role\":"
	    "\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]},"
	    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
	    "\"Well,\"}]}],\"tools\":[],\"tool_choice\":{\"type\":\"auto\"},"
	    "\"max_tokens\":8192,\"thinking\":{\"type\":\"enabled\","
	    "\"budget_tokens\":4096}}",
	    "thoughts within the limit, a choice relaxed, no space at the end");
	r.last = 1;
	t->effort = NULL;
	check_asked(w, t, &r,
	    "{\"model\":\"claude-x\",\"stream\":true,\"messages\":[{\"role\":"
	    "\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]},"
	    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
	    "\"Well,\"}]}],\"tools\":[],\"tool_choice\":{\"type\":\"none\"},"
	    "\"max_tokens\":8192,\"temperature\":0.3}",
	    "the last round allows no call");
	arena_free(mem);
	forms();
}

/* clang-format off */
static const struct { const char *name, *in, *want; } wholes[] = {
	{ "text", "{\"content\":[{\"type\":\"text\",\"text\":\"Hi \\u2028\"}],"
	    "\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":7,"
	    "\"output_tokens\":5,\"cache_read_input_tokens\":3,"
	    "\"cache_creation_input_tokens\":2}}",
	    "|T:Hi \xe2\x80\xa8|U:9,5,3,0|S:0" },
	{ "thoughts, text and calls", "{\"content\":[{\"type\":\"thinking\","
	    "\"thinking\":\"hm\",\"signature\":\"x\"},{\"type\":\"text\","
	    "\"text\":\"a\"},{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":"
	    "\"f\",\"input\":{\"x\": [1]}},{\"type\":\"tool_use\",\"id\":"
	    "\"t2\",\"name\":\"g\",\"input\":{}}],\"stop_reason\":"
	    "\"tool_use\"}",
	    "|R:hm|T:a|C:t1,f|A:{\"x\": [1]}|E|C:t2,g|A:{}|E|S:2" },
	{ "the token limit", "{\"content\":[],\"stop_reason\":\"max_tokens\"}",
	    "|S:1" },
	{ "a stop text", "{\"content\":[],\"stop_reason\":\"stop_sequence\","
	    "\"stop_sequence\":\"END\"}", "|S:3END" },
	{ "a refusal", "{\"content\":[],\"stop_reason\":\"refusal\"}", "|S:4" },
	{ "blocks yet to be invented", "{\"content\":[{\"type\":\"new\"},7],"
	    "\"stop_reason\":\"end_turn\"}", "|S:0" },
	{ "no answer", "{\"content\":7}", "none" },
	{ "no answer either", "{}", "none" },
};

#define HEAD \
	EV("message_start", ",\"message\":{\"id\":\"msg_1\",\"content\":[]," \
	    "\"usage\":{\"input_tokens\":25,\"output_tokens\":1," \
	    "\"cache_read_input_tokens\":4}}")
#define BLOCK(i, more) \
	EV("content_block_start", ",\"index\":" i ",\"content_block\":{" more \
	    "}")
#define DELTA(i, type, key, text) \
	EV("content_block_delta", ",\"index\":" i ",\"delta\":{\"type\":\"" \
	    type "\",\"" key "\":\"" text "\"}")
#define STOP(i) EV("content_block_stop", ",\"index\":" i)
#define TAIL(why, more) \
	EV("message_delta", ",\"delta\":{\"stop_reason\":\"" why "\"" more \
	    "},\"usage\":{\"output_tokens\":15}") \
	EV("message_stop", "")

static const struct { const char *name, *in, *want; } streams[] = {
	{ "text", HEAD EV("ping", "") BLOCK("0", "\"type\":\"text\",\"text\":"
	    "\"\"") DELTA("0", "text_delta", "text", "Hel")
	    DELTA("0", "text_delta", "text", "lo \xc3\xa9\\u00e9") STOP("0")
	    TAIL("end_turn", ""),
	    "|T:Hello \xc3\xa9\xc3\xa9|U:25,15,4,0|S:0" },
	{ "thoughts and a call", HEAD BLOCK("0", "\"type\":\"thinking\","
	    "\"thinking\":\"\",\"signature\":\"\"")
	    DELTA("0", "thinking_delta", "thinking", "hm")
	    DELTA("0", "signature_delta", "signature", "x") STOP("0")
	    BLOCK("1", "\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":"
	    "\"save\",\"input\":{}")
	    DELTA("1", "input_json_delta", "partial_json", "")
	    DELTA("1", "input_json_delta", "partial_json", "{\\\"a\\\"")
	    DELTA("1", "input_json_delta", "partial_json", ": 1}") STOP("1")
	    TAIL("tool_use", ""),
	    "|R:hm" CALL_END "|U:25,15,4,0|S:2" },
	{ "a call said all at once, and one without arguments", HEAD
	    BLOCK("0", "\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":"
	    "\"save\",\"input\":{\"a\": 1}") STOP("0")
	    BLOCK("1", "\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"g\","
	    "\"input\":{}") STOP("1") TAIL("tool_use", ""),
	    CALL_END "|C:t2,g|A:{}|E|U:25,15,4,0|S:2" },
	{ "a stop text", HEAD TAIL("stop_sequence", ",\"stop_sequence\":"
	    "\"E\\nD\""), "|U:25,15,4,0|S:3E\nD" },
	{ "a call that the limit breaks off", HEAD BLOCK("0", "\"type\":"
	    "\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}")
	    DELTA("0", "input_json_delta", "partial_json", "{\\\"a")
	    TAIL("max_tokens", ""), "|C:t,f|A:{\"a|E|U:25,15,4,0|S:1" },
	{ "no message_stop, but a reason", HEAD EV("message_delta",
	    ",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"
	    "{\"output_tokens\":2}"), "|U:25,2,4,0|S:0" },
	{ "nothing after message_stop counts", HEAD TAIL("end_turn", "")
	    DELTA("0", "text_delta", "text", "no"), "|U:25,15,4,0|S:0" },
	{ "broken off", HEAD BLOCK("0", "\"type\":\"text\",\"text\":\"\"")
	    DELTA("0", "text_delta", "text", "Hel"), "rc 2" },
	{ "overloaded", HEAD EV("error", ",\"error\":{\"type\":"
	    "\"overloaded_error\",\"message\":\"x\"}"), "rc 502" },
	{ "too many requests", EV("error", ",\"error\":{\"type\":"
	    "\"rate_limit_error\"}"), "rc 429" },
	{ "no event of this wire", "data: [1]\n\n", "rc 3" },
};
/* clang-format on */

int
main(void)
{
	size_t i;

	w = wire_of(WIRE_MESSAGES);
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
