/*
 * Chat requests read into talks and written to the chat wire again: what is
 * ours is taken out and put in, all else is as it was; refusals by position.
 */
#include "speech/chat.h"

#include "tap.h"
#include "translate.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static void
fixtures(void)
{
	struct refusal why;
	json_object *got, *want;
	char *s = fixture_text("chat-request");

	/* The same words and files as in the Messages request. */
	want = fixture_json("upstream-chat-request-round1");
	json_object_array_del_idx(
	    json_object_object_get(want, "messages"), 0, 1);
	got = translate(chat_read, s, OURS_CODE, &why);
	ok(same(member(got, "messages"), member(want, "messages")),
	    "the stored files are told of in their place");
	ok(same(json_object_get(json_object_array_get_idx(
		    json_object_object_get(got, "tools"), 0)),
	       json_object_get(json_object_array_get_idx(
		   json_object_object_get(want, "tools"), 0))),
	    "the caller's function keeps its schema");
	ok(json_object_array_length(json_object_object_get(got, "tools")) == 2,
	    "and ours has taken the declaration's place");
	json_object_put(got);
	json_object_put(want);
	free(s);
}

static json_object *
ask(const char *messages, const char *more, unsigned int ours,
    struct refusal *why)
{
	char s[16384];

	(void)snprintf(s, sizeof(s), "{\"model\":\"m\",%s%s\"messages\":%s}",
	    quoted(more), more[0] != '\0' ? "," : "", quoted(messages));
	return (translate(chat_read, s, ours, why));
}

/* ---- Messages */

#define U "{'role':'user','content':'q'}"
#define CALL(id, name, args)                                         \
	"{'id':'" id "','type':'function','function':{'name':'" name \
	"','arguments':'" args "'}}"
#define A(said, calls) \
	"{'role':'assistant','content':" said ",'tool_calls':[" calls "]}"
/* Of the SHA-256 of "c1#1", the beginning. */
#define TWICE "toolu_gw_faf5c41d8876fffd280866d9"
#define T(id, x) "{'role':'tool','tool_call_id':'" id "','content':'" x "'}"

/* clang-format off */
/* out NULL: the same as in. */
static const struct { const char *name, *in, *out; } histories[] = {
	{ "a conversation", "[{'role':'system','content':'s'}," U
	    ",{'role':'assistant','content':'a'},{'role':'user','content':"
	    "'b'}]", NULL },
	{ "calls and their results", "[" U "," A("'a'", CALL("c1", "f", "{}")
	    "," CALL("c2", "f", "{oops")) "," T("c2", "y") "," T("c1", "x")
	    "]", "[" U "," A("'a'", CALL("c1", "f", "{}") ","
	    CALL("c2", "f", "{\\\"__raw_arguments\\\":\\\"{oops\\\"}"))
	    "," T("c2", "y") "," T("c1", "x") "]" },
	{ "an id that stands twice, each time with its result", "[" U ","
	    A("'a'", CALL("c1", "f", "{}")) "," T("c1", "x") ","
	    A("'b'", CALL("c1", "g", "")) "," T("c1", "y") "]",
	    "[" U "," A("'a'", CALL("c1", "f", "{}")) "," T("c1", "x") ","
	    A("'b'", CALL(TWICE, "g", "{}")) "," T(TWICE, "y") "]" },
	{ "no text beside the calls", "[" U "," A("null", CALL("c1", "f",
	    "{}")) "," T("c1", "x") "]", NULL },
	{ "developers are the system's", "[{'role':'developer','content':'d'},"
	    "{'role':'system','content':[{'type':'text','text':'s'}]}," U "]",
	    "[{'role':'system','content':'d\\n\\ns'}," U "]" },
	{ "text parts are one text", "[{'role':'user','content':[{'type':"
	    "'text','text':'a'},{'type':'text','text':'b'}]}]",
	    "[{'role':'user','content':'a\\nb'}]" },
	{ "an answer in parts, and a refusal", "[" U ",{'role':'assistant',"
	    "'content':[{'type':'text','text':'a'},{'type':'refusal',"
	    "'refusal':'b'}],'refusal':'c'}," U "]", "[" U ",{'role':"
	    "'assistant','content':'abc'}," U "]" },
	{ "a result in parts", "[" U "," A("null", CALL("c1", "f", "{}"))
	    ",{'role':'tool','tool_call_id':'c1','content':[{'type':'text',"
	    "'text':'x'},{'type':'text','text':'y'}]}]", "[" U ","
	    A("null", CALL("c1", "f", "{}")) "," T("c1", "xy") "]" },
	{ "a function's call of old", "[" U ",{'role':'assistant','content':"
	    "null,'function_call':{'name':'f','arguments':'{}'}},{'role':"
	    "'function','name':'f','content':'x'}]", "[" U ","
	    A("null", CALL("call_1", "f", "{}")) "," T("call_1", "x") "]" },
	{ "a custom tool's call", "[" U ",{'role':'assistant','content':null,"
	    "'tool_calls':[{'id':'c1','type':'custom','custom':{'name':'f',"
	    "'input':'a b'}}]}," T("c1", "x") "]", "[" U ","
	    A("null", CALL("c1", "f", "{\\\"input\\\":\\\"a b\\\"}")) ","
	    T("c1", "x") "]" },
	{ "an image elsewhere", "[{'role':'user','content':["
	    "{'type':'image_url','image_url':{'detail':'low',"
	    "'url':'https://x/y'}},{'type':'text','text':'?'}]}]", NULL },
	{ "images and files in the request", "[{'role':'user','content':["
	    "{'type':'image_url','image_url':{'url':"
	    "'data:image/png;base64,iVBO'}},{'type':'file','file':"
	    "{'filename':'a.pdf','file_data':"
	    "'data:application/pdf;base64,JVBE'}}]}]", NULL },
};
/* clang-format on */

static void
read_histories(void)
{
	struct refusal why;
	json_object *o;
	size_t i;

	for (i = 0; i < NELEM(histories); i++) {
		o = ask(histories[i].in, "", 0, &why);
		if (o == NULL)
			printf("# refused: %s\n", why.message);
		ok(same(member(o, "messages"),
		       parsed(
			   quoted(histories[i].out != NULL ? histories[i].out
							   : histories[i].in))),
		    histories[i].name);
		json_object_put(o);
	}
}

/* ---- What is refused, and where */

/* clang-format off */
static const struct { const char *name, *in, *more, *where; } bad[] = {
	{ "no messages", "[]", "", "messages" },
	{ "nothing but instructions", "[{'role':'system','content':'s'}]", "",
	    "messages" },
	{ "messages are no list", "{}", "", "messages" },
	{ "a message that is none", "[3]", "", "messages[0]" },
	{ "a role that is none", "[{'role':'god','content':'x'}]", "",
	    "messages[0]" },
	{ "no content", "[{'role':'user'}]", "", "messages[0].content" },
	{ "content of a wrong type", "[{'role':'user','content':7}]", "",
	    "messages[0].content" },
	{ "a text that is a number", "[{'role':'user','content':[{'type':"
	    "'text','text':5}]}]", "", "messages[0].content[0].text" },
	{ "a call without its result", "[" U "," A("null", CALL("c1", "f",
	    "{}")) "]", "", "messages[1].tool_calls[0]" },
	{ "a call of an unknown type", "[" U ",{'role':'assistant',"
	    "'tool_calls':[{'id':'c1','type':'spell'}]}]", "",
	    "messages[1].tool_calls[0]" },
	{ "a call without an id", "[" U ",{'role':'assistant','tool_calls':["
	    "{'type':'function','function':{'name':'f','arguments':'{}'}}]}]",
	    "", "messages[1].tool_calls[0].id" },
	{ "arguments that are no text", "[" U ",{'role':'assistant',"
	    "'tool_calls':[{'id':'c1','type':'function','function':{'name':"
	    "'f','arguments':{}}}]}]", "",
	    "messages[1].tool_calls[0].function.arguments" },
	{ "a result without its call", "[" U "," T("c1", "x") "]", "",
	    "messages[1]" },
	{ "a function's answer without its call",
	    "[" U ",{'role':'function','name':'f','content':'x'}]", "",
	    "messages[1]" },
	{ "a stored file without an id", "[{'role':'user','content':["
	    "{'type':'file','file':{'file_id':7}}]}]", "",
	    "messages[0].content[0].file.file_id" },
	{ "a file that is no data URL", "[{'role':'user','content':["
	    "{'type':'image_url','image_url':{'url':'data:image/png,x'}}]}]",
	    "", "messages[0].content[0].image_url" },
	{ "two choices", "[" U "]", "'n':2", "n" },
	{ "speech", "[" U "]", "'modalities':['text','audio']", "modalities" },
	{ "a voice", "[" U "]", "'audio':{'voice':'x'}", "audio" },
	{ "a search of the web", "[" U "]",
	    "'web_search_options':{'search_context_size':'low'}",
	    "web_search_options" },
	{ "a hosted tool", "[" U "]", "'tools':[{'type':'web_search'}]",
	    "tools[0]" },
	{ "a function without a name", "[" U "]",
	    "'tools':[{'type':'function','function':{}}]",
	    "tools[0].function.name" },
	{ "a function without its member", "[" U "]",
	    "'tools':[{'type':'function','name':'f'}]", "tools[0].function" },
	{ "a choice of no tool", "[" U "]", "'tool_choice':{'type':"
	    "'function','function':{'name':'g'}}", "tool_choice.function" },
	{ "a function of old without a name", "[" U "]", "'functions':[{}]",
	    "functions[0].name" },
	{ "a choice of no function of old", "[" U "]",
	    "'function_call':{'name':'g'}", "function_call" },
	{ "a stop of a wrong type", "[" U "]", "'stop':['a',1]", "stop[1]" },
	{ "max_tokens of 0", "[" U "]", "'max_tokens':0", "max_tokens" },
	{ "max_completion_tokens of 0", "[" U "]",
	    "'max_completion_tokens':0", "max_completion_tokens" },
	{ "stream options of a wrong type", "[" U "]", "'stream_options':7",
	    "stream_options" },
	{ "too many rounds", "[" U "]", "'max_tool_iterations':26",
	    "max_tool_iterations" },
	{ "a format that is none", "[" U "]",
	    "'response_format':{'type':'xml'}", "response_format" },
};
/* clang-format on */

/* ---- Whose instructions, and where they may stand */

#define DEV(x) "{'role':'developer','content':'" x "'}"
#define SYS(x) "{'role':'system','content':'" x "'}"

static void
instructions(void)
{
	static const char in[] = "[" DEV("d") "," U "," SYS("s") "," DEV(
	    "e") ",{'role':'user',"
		 "'content':'b'},{'role':'assistant','content':'c'},{'role':'"
		 "user',"
		 "'content':[{'type':'text','text':'f'},{'type':'image_url',"
		 "'image_url':{'url':'https://x/i'}}]}," SYS("z") "]";
	static const char tail[] =
	    ",{'role':'assistant','content':'c'},{'role':'user','content':["
	    "{'type':'text','text':'f'},{'type':'image_url','image_url':{"
	    "'url':'https://x/i'}}";
	/* clang-format off */
	static const struct { int developer, mid; const char *head, *end; }
	cases[] = {
		{ 0, 0, "[" SYS("d") ",{'role':'user','content':'q\\n[system] "
		    "s\\n[system] e\\nb'}", ",{'type':'text','text':"
		    "'[system] z'}]}]" },
		{ 1, 0, "[" DEV("d") ",{'role':'user','content':'q\\n[system] "
		    "s\\n[system] e\\nb'}", ",{'type':'text','text':"
		    "'[system] z'}]}]" },
		{ 0, 1, "[" SYS("d") "," U "," SYS("s") "," SYS("e")
		    ",{'role':'user','content':'b'}", "]}," SYS("z") "]" },
		{ 1, 1, "[" DEV("d") "," U "," SYS("s") "," DEV("e")
		    ",{'role':'user','content':'b'}", "]}," SYS("z") "]" },
	};
	/* clang-format on */
	struct refusal why;
	char want[4096], name[64];
	json_object *o;
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		server.developer_role = cases[i].developer;
		server.mid_system = cases[i].mid;
		o = ask(in, "", 0, &why);
		(void)snprintf(want, sizeof(want), "%s%s%s",
		    quoted(cases[i].head), quoted(tail), quoted(cases[i].end));
		(void)snprintf(name, sizeof(name),
		    "developer_role %d, mid_system %d", cases[i].developer,
		    cases[i].mid);
		ok(same(member(o, "messages"), parsed(want)), name);
		json_object_put(o);
	}
	server = (struct conf_provider){0};
}

static void
refusals(void)
{
	struct refusal why;
	json_object *o;
	size_t i;

	for (i = 0; i < NELEM(bad); i++) {
		o = ask(bad[i].in, bad[i].more, 0, &why);
		ok(o == NULL && strcmp(why.param, bad[i].where) == 0 &&
			strncmp(why.message, bad[i].where,
			    strlen(bad[i].where)) == 0,
		    bad[i].name);
		if (o != NULL || strcmp(why.param, bad[i].where) != 0)
			printf("# %s: %s\n", why.param, why.message);
		json_object_put(o);
	}
	o = translate(chat_read, "{\"model\":\"m\"}", 0, &why);
	ok(o == NULL && why.kind == P_MISSING_PARAMETER &&
		strcmp(why.param, "messages") == 0,
	    "messages left out");
	o = ask("[" U "]", "'container':'cntr_gw_3n8p5r1s6t2v9w4x8y1z'",
	    OURS_CODE, &why);
	ok(o != NULL, "whether a container is there is for others to find");
	json_object_put(o);
}

/* ---- Parameters and tools */

#define F "{'type':'function','function':{'name':'f'}}"
#define O "{'type':'code_interpreter'}"

/* clang-format off */
/* out NULL: not there. */
static const struct { const char *name, *more, *key, *out; } params[] = {
	{ "numbers keep their digits", "'temperature':0.70", "temperature",
	    "0.70" },
	{ "the token limit", "'max_completion_tokens':9", "max_tokens", "9" },
	{ "one stop", "'stop':'a'", "stop", "['a']" },
	{ "stops", "'stop':['a','b']", "stop", "['a','b']" },
	{ "how hard to think", "'reasoning_effort':'low'", "reasoning_effort",
	    "'low'" },
	{ "what this gateway does not know is the server's",
	    "'seed':7,'logit_bias':{'5':-100},'top_k':3,"
	    "'chat_template_kwargs':{'a':[1,2]}", "chat_template_kwargs",
	    "{'a':[1,2]}" },
	{ "big numbers in it too", "'seed':7", "seed", "7" },
	{ "the user", "'user':'u'", "user", "'u'" },
	{ "the form of the answer", "'response_format':{'type':'json_schema',"
	    "'json_schema':{'name':'n','schema':{'type':'object'},'strict':"
	    "true}}", "response_format", "{'type':'json_schema','json_schema':"
	    "{'name':'n','schema':{'type':'object'},'strict':true}}" },
	{ "an object as the answer",
	    "'response_format':{'type':'json_object'}", "response_format",
	    "{'type':'json_object'}" },
	{ "functions of old are tools", "'functions':[{'name':'f',"
	    "'description':'d','parameters':{'type':'object'}}]", "tools",
	    "[{'type':'function','function':{'name':'f','description':'d',"
	    "'parameters':{'type':'object'}}}]" },
	{ "one of them without parameters has none", "'functions':[{'name':'f',"
	    "'description':'d'}]", "tools",
	    "[{'type':'function','function':{'name':'f','description':'d'}}]" },
	{ "and their choice is one", "'functions':[{'name':'f'}],"
	    "'function_call':{'name':'f'}", "tool_choice", F },
	{ "a choice of code execution", "'tools':[" O
	    "],'tool_choice':{'type':'code_interpreter'}", "tool_choice",
	    "{'type':'function','function':{'name':'code_execution'}}" },
	{ "a list of what may be called", "'tools':[" F "," O
	    "],'tool_choice':{'type':'allowed_tools','allowed_tools':{'mode':"
	    "'required','tools':[" F "]}}", "tools", "[" F "]" },
	{ "a caller's function of our name", "'tools':[{'type':'function',"
	    "'function':{'name':'code_execution'}}]", "tools",
	    "[{'type':'function','function':{'name':'code_execution'}}]" },
	{ "runs' rounds are ours", "'max_tool_iterations':3",
	    "max_tool_iterations", NULL },
	{ "an empty list of tools is left out", "'tools':[]", "tools", NULL },
};
/* clang-format on */

static void
parameters(void)
{
	struct refusal why;
	json_object *o, *v;
	char *s;
	size_t i;

	for (i = 0; i < NELEM(params); i++) {
		o = ask("[" U "]", params[i].more,
		    strstr(params[i].more, "code_interpreter") != NULL
			? OURS_CODE
			: 0,
		    &why);
		if (o == NULL)
			printf("# refused: %s\n", why.message);
		v = member(o, params[i].key);
		if (params[i].out == NULL) {
			ok(o != NULL && v == NULL, params[i].name);
			json_object_put(v);
		} else
			ok(same(v, parsed(quoted(params[i].out))),
			    params[i].name);
		json_object_put(o);
	}
	s = translate_text(chat_read,
	    "{\"x\\u0065\": 12345678901234567890123 ,\"model\":\"m\","
	    "\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}",
	    0, &why);
	ok(s != NULL &&
		strstr(s, ",\"x\\u0065\":12345678901234567890123") != NULL,
	    "nothing of it is respelled");
	free(s);
}

/* Much of one kind costs no more than its length. */
static void
crowds(void)
{
	struct buf b = BUF_INIT(8U << 20);
	struct refusal why = {.message = ""};
	struct arena *mem = arena_new(16U << 20);
	struct talk *t = talk_new(mem);
	size_t i;

	buf_puts(&b, "{\"model\":\"m\",\"messages\":[");
	for (i = 0; i < 50000; i++)
		buf_puts(&b, "{\"role\":\"system\",\"content\":\"s\"},");
	buf_puts(&b, "{\"role\":\"user\",\"content\":\"q\"}]}");
	ok(chat_read(checked(b.p), t, &why) == 0 &&
		t->system.len == 50000 * 3 - 2,
	    "many instructions");
	if (why.message[0] != '\0')
		printf("# %s\n", why.message);
	arena_free(mem);
	buf_free(&b);
}

int
main(void)
{

	fixtures();
	read_histories();
	instructions();
	refusals();
	parameters();
	crowds();
	return (done_testing());
}
