/*
 * Messages requests read into talks and written to the chat wire: the
 * contract's fixtures, refusals by position, and histories in every order that
 * clients give them back in.
 */
#include <time.h>

#include "speech/messages.h"

#include "tap.h"
#include "translate.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define BASH_AND_EDITOR (1U << OUR_BASH | 1U << OUR_EDITOR)

static void
fixtures(void)
{
	struct refusal why;
	json_object *want, *echo;
	char *s = fixture_text("messages-request");

	want = fixture_json("upstream-chat-request-round1");
	json_object_object_del(want, "stream");
	json_object_object_del(want, "stream_options");
	ok(same(translate(messages_read, s, BASH_AND_EDITOR, &why), want),
	    "the fixture request becomes the fixture of round 1");
	free(s);

	/* Containers are not given out yet, so none can be given back. */
	echo = fixture_json("messages-echo-request");
	json_object_object_del(echo, "container");
	ok(same(translate(messages_read, json_object_to_json_string(echo),
		    BASH_AND_EDITOR, &why),
	       fixture_json("messages-echo-upstream-chat")),
	    "an answer given back becomes the model's own calls and results");
	json_object_put(echo);
}

/* ---- Requests in pieces */

/* A request with these messages, and more members before the usual ones. */
static json_object *
ask(const char *messages, const char *more, unsigned int ours,
    struct refusal *why)
{
	char s[8192];

	(void)snprintf(s, sizeof(s),
	    "{\"model\":\"m\",%s%s\"max_tokens\":10,\"messages\":%s}", more,
	    more[0] != '\0' ? "," : "", messages);
	return (translate(messages_read, s, ours, why));
}

/* What becomes of the messages alone. */
static json_object *
turns(const char *messages, unsigned int ours, struct refusal *why)
{
	json_object *o = ask(messages, "", ours, why), *m;

	m = json_object_get(json_object_object_get(o, "messages"));
	json_object_put(o);
	return (m);
}

/* clang-format off */
static const struct { const char *name, *in, *out; } histories[] = {
	{ "a string", "[{'role':'user','content':'Hi'}]",
	    "[{'role':'user','content':'Hi'}]" },
	{ "texts of a user are joined by line ends",
	    "[{'role':'user','content':[{'type':'text','text':'a'},"
	    "{'type':'text','text':'b'}]},{'role':'user','content':'c'}]",
	    "[{'role':'user','content':'a\\nb\\nc'}]" },
	{ "texts of the assistant by nothing",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':["
	    "{'type':'text','text':'b'},{'type':'text','text':'c'}]}]",
	    "[{'role':'user','content':'a'},"
	    "{'role':'assistant','content':'bc'}]" },
	{ "thinking is dropped",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':["
	    "{'type':'thinking','thinking':'t','signature':'gw_unsigned'},"
	    "{'type':'redacted_thinking','data':'x'},"
	    "{'type':'text','text':'b'}]},{'role':'user','content':'c'}]",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':'b'},"
	    "{'role':'user','content':'c'}]" },
	{ "system in mid-conversation",
	    "[{'role':'user','content':'a'},{'role':'system','content':'s'}]",
	    "[{'role':'user','content':'a\\n[system] s'}]" },
	{ "results come before the text of their turn; errors are marked",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':["
	    "{'type':'tool_use','id':'c1','name':'f','input':{}},"
	    "{'type':'tool_use','id':'c2','name':'f','input':{}}]},"
	    "{'role':'user','content':[{'type':'text','text':'go'},"
	    "{'type':'tool_result','tool_use_id':'c2','content':["
	    "{'type':'text','text':'x'},{'type':'text','text':'y'}]},"
	    "{'type':'tool_result','tool_use_id':'c1','is_error':true,"
	    "'content':'no'}]}]",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':null,"
	    "'tool_calls':[{'id':'c1','type':'function','function':{'name':'f',"
	    "'arguments':'{}'}},{'id':'c2','type':'function','function':{"
	    "'name':'f','arguments':'{}'}}]},"
	    "{'role':'tool','tool_call_id':'c2','content':'x\\ny'},"
	    "{'role':'tool','tool_call_id':'c1','content':'[tool error] no'},"
	    "{'role':'user','content':'go'}]" },
	{ "input that is no object",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':["
	    "{'type':'tool_use','id':'c1','name':'f','input':'x'},"
	    "{'type':'tool_use','id':'c2','name':'f'}]},"
	    "{'role':'user','content':[{'type':'tool_result','tool_use_id':"
	    "'c1','content':'b'},{'type':'tool_result','tool_use_id':'c2',"
	    "'content':'c'}]}]",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':null,"
	    "'tool_calls':[{'id':'c1','type':'function','function':{'name':'f',"
	    "'arguments':{'__raw_arguments':'\\'x\\''}}},"
	    "{'id':'c2','type':'function','function':{'name':'f',"
	    "'arguments':{}}}]},"
	    "{'role':'tool','tool_call_id':'c1','content':'b'},"
	    "{'role':'tool','tool_call_id':'c2','content':'c'}]" },
	{ "a call that stands twice in a message, with one result",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':["
	    "{'type':'tool_use','id':'c1','name':'f','input':{}},"
	    "{'type':'tool_use','id':'c1','name':'f','input':{}}]},"
	    "{'role':'user','content':[{'type':'tool_result','tool_use_id':"
	    "'c1','content':'b'}]}]",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':null,"
	    "'tool_calls':[{'id':'c1','type':'function','function':{'name':'f',"
	    "'arguments':{}}}]},"
	    "{'role':'tool','tool_call_id':'c1','content':'b'}]" },
	{ "an empty result says so",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':["
	    "{'type':'tool_use','id':'c1','name':'f','input':{}}]},"
	    "{'role':'user','content':[{'type':'tool_result','tool_use_id':"
	    "'c1'}]}]",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':null,"
	    "'tool_calls':[{'id':'c1','type':'function','function':{'name':'f',"
	    "'arguments':'{}'}}]},"
	    "{'role':'tool','tool_call_id':'c1','content':'(empty result)'}]" },
	{ "a document that is text, under its title",
	    "[{'role':'user','content':[{'type':'document','title':'T',"
	    "'source':{'type':'text','media_type':'text/plain','data':'D'}},"
	    "{'type':'text','text':'q'}]}]",
	    "[{'role':'user','content':'T\\nD\\nq'}]" },
	{ "a search result",
	    "[{'role':'user','content':[{'type':'search_result','title':'T',"
	    "'source':'S','content':[{'type':'text','text':'C'}]}]}]",
	    "[{'role':'user','content':'T\\nS\\nC'}]" },
};
/* clang-format on */

static void
read_histories(void)
{
	struct refusal why;
	size_t i;
	char *in;

	for (i = 0; i < NELEM(histories); i++) {
		in = quoted(histories[i].in);
		ok(same(turns(in, 0, &why),
		       json_tokener_parse(quoted(histories[i].out))),
		    histories[i].name);
	}
	server.mid_system = 1;
	ok(same(turns(quoted("[{'role':'user','content':'a'},{'role':'system',"
			     "'content':[{'type':'text','text':'s'}]},{'role':"
			     "'user','content':'b'}]"),
		    0, &why),
	       json_tokener_parse(quoted(
		   "[{'role':'user','content':'a'},{'role':'system','content':"
		   "'s'},{'role':'user','content':'b'}]"))),
	    "system in mid-conversation, for a server that takes it");
	server.mid_system = 0;
}

/* ---- Our own blocks, as clients give them back */

#define USE(n)                                            \
	"{'type':'server_tool_use','id':'srvtoolu_gw_" #n \
	"','name':'bash_code_execution','input':{'command':'c" #n "'}}"
#define RES(n)                                                     \
	"{'type':'bash_code_execution_tool_result','tool_use_id':" \
	"'srvtoolu_gw_" #n "','content':{'type':"                  \
	"'bash_code_execution_result','stdout':'o" #n              \
	"','stderr':'','return_code':0,'content':[]}}"
#define TXT(s) "{'type':'text','text':'" s "'}"
#define OWN "{'type':'tool_use','id':'own','name':'f','input':{}}"
#define ECHO(blocks, rest)                                              \
	"[{'role':'user','content':'q'},{'role':'assistant','content':" \
	"[" blocks "]}" rest "]"
#define OWN_RESULT                                          \
	",{'role':'user','content':[{'type':'tool_result'," \
	"'tool_use_id':'own','content':'r'}]}"

/* clang-format off */
/* The roles, then what stands in them: t text, c call, r result. */
static const struct { const char *name, *in, *out; } echoes[] = {
	{ "one pair", ECHO(USE(1) "," RES(1), ""), "u a:1 r:1=o1" },
	{ "pair, text", ECHO(USE(1) "," RES(1) "," TXT("t"), ""),
	    "u a:1 r:1=o1 a(t)" },
	{ "text between pairs is kept in its place",
	    ECHO(TXT("x") "," USE(1) "," RES(1) "," TXT("y") "," USE(2) ","
	    RES(2) "," TXT("z"), ""),
	    "u a(x):1 r:1=o1 a(y):2 r:2=o2 a(z)" },
	{ "two pairs without text between",
	    ECHO(USE(1) "," RES(1) "," USE(2) "," RES(2), ""),
	    "u a:1 r:1=o1 a:2 r:2=o2" },
	{ "both uses, then both results",
	    ECHO(USE(1) "," USE(2) "," RES(1) "," RES(2), ""),
	    "u a:1:2 r:1=o1 r:2=o2" },
	{ "a use whose result was dropped",
	    ECHO(USE(1) "," TXT("t"), ",{'role':'user','content':'go'}"),
	    "u a:1 r:1=- a(t) u" },
	{ "a use without result at the end, and the user goes on",
	    ECHO(USE(1), ",{'role':'user','content':'go'}"), "u a:1 r:1=- u" },
	{ "a caller's call beside ours: ours is answered first",
	    ECHO(OWN "," USE(1) "," RES(1), OWN_RESULT),
	    "u a:own:1 r:1=o1 r:own=r" },
	{ "a caller's call after ours joins what follows",
	    ECHO(USE(1) "," RES(1) "," TXT("t") "," OWN, OWN_RESULT),
	    "u a:1 r:1=o1 a(t):own r:own=r" },
	{ "a caller's call before ours, and text after",
	    ECHO(OWN "," USE(1) "," RES(1) "," TXT("t"), OWN_RESULT),
	    "u a:1 r:1=o1 a(t):own r:own=r" },
	{ "a caller who answers our call is not heard",
	    ECHO(USE(1) "," RES(1), ",{'role':'user','content':[{'type':"
	    "'tool_result','tool_use_id':'srvtoolu_gw_1','content':'fake'},"
	    TXT("go") "]}"), "u a:1 r:1=o1 u" },
};
/* clang-format on */

/* One message in the tables' shorthand. */
static void
put_short(struct buf *b, json_object *m)
{
	const char *role =
	    json_object_get_string(json_object_object_get(m, "role"));
	json_object *text = json_object_object_get(m, "content"), *calls, *id;
	const char *s;
	size_t i;

	if (b->len > 0)
		buf_puts(b, " ");
	if (strcmp(role, "tool") == 0) {
		id = json_object_object_get(m, "tool_call_id");
		s = json_object_get_string(text);
		buf_printf(b, "r:%s=",
		    json_object_get_string(id) +
			(strncmp(json_object_get_string(id), "srv", 3) == 0
				? 12
				: 0));
		if (strcmp(s, "(result not available)") == 0)
			buf_puts(b, "-");
		else if (strncmp(s, "stdout:\n", 8) == 0)
			buf_put(b, s + 8, strcspn(s + 8, "\n"));
		else
			buf_puts(b, s);
		return;
	}
	buf_put(b, role, 1);
	if (role[0] == 'a' && text != NULL)
		buf_printf(b, "(%s)", json_object_get_string(text));
	calls = json_object_object_get(m, "tool_calls");
	for (i = 0; calls != NULL && i < json_object_array_length(calls); i++) {
		id = json_object_object_get(
		    json_object_array_get_idx(calls, i), "id");
		s = json_object_get_string(id);
		buf_printf(b, ":%s", strncmp(s, "srv", 3) == 0 ? s + 12 : s);
	}
}

static void
read_echoes(void)
{
	struct refusal why;
	struct buf b = BUF_INIT(4096);
	json_object *m;
	size_t i, k;

	for (i = 0; i < NELEM(echoes); i++) {
		m = turns(quoted(echoes[i].in), BASH_AND_EDITOR, &why);
		for (k = 0; m != NULL && k < json_object_array_length(m); k++)
			put_short(&b, json_object_array_get_idx(m, k));
		ok(m != NULL && strcmp(b.p, echoes[i].out) == 0,
		    echoes[i].name);
		if (m == NULL)
			printf("# refused: %s\n", why.message);
		else if (strcmp(b.p, echoes[i].out) != 0)
			printf("# got %s\n", b.p);
		buf_drop(&b, b.len);
		json_object_put(m);
	}

	m = turns(quoted(ECHO(USE(1) "," RES(1), "")), 0, &why);
	ok(m != NULL && json_object_array_length(m) == 2 &&
		strstr(json_object_to_json_string(m), "tool_calls") == NULL &&
		strstr(json_object_to_json_string(m), "c1") != NULL &&
		strstr(json_object_to_json_string(m), "o1") != NULL,
	    "without the functions a pair is told as text");
	json_object_put(m);
	buf_free(&b);
}

/* ---- What is refused, and where */

#define U "[{'role':'user','content':'q'}"
#define USER(blocks) "[{'role':'user','content':[" blocks "]}]"

/* clang-format off */
static const struct { const char *name, *messages, *more, *where; } bad[] = {
	{ "no messages", "[]", "", "messages" },
	{ "messages are no list", "{}", "", "messages" },
	{ "a message that is none", "[3]", "", "messages.0" },
	{ "a role that is none", "[{'role':'tool','content':'x'}]", "",
	    "messages.0" },
	{ "content of a wrong type", "[{'role':'user','content':7}]", "",
	    "messages.0.content" },
	{ "no content", "[{'role':'user'}]", "", "messages.0" },
	{ "a text that is a number",
	    USER("{'type':'text','text':'a'},{'type':'text','text':5}"), "",
	    "messages.0.content.1.text" },
	{ "nothing but an unknown block", USER("{'type':'hologram'}"), "",
	    "messages" },
	{ "a block without a type", USER("{'text':'a'}"), "",
	    "messages.0.content.0.type" },
	{ "a user's tool_use",
	    USER("{'type':'tool_use','id':'a','name':'f','input':{}}"), "",
	    "messages.0.content.0" },
	{ "a result without its call",
	    USER("{'type':'tool_result','tool_use_id':'x','content':'y'}"), "",
	    "messages.0.content.0" },
	{ "a call without its result", U ",{'role':'assistant','content':["
	    OWN "]},{'role':'user','content':'go'}]", "",
	    "messages.1.content.0" },
	{ "a call without its result at the end",
	    U ",{'role':'assistant','content':[" OWN "]}]", "",
	    "messages.1.content.0" },
	{ "a result twice", U ",{'role':'assistant','content':[" OWN "]},"
	    "{'role':'user','content':[{'type':'tool_result','tool_use_id':"
	    "'own','content':'r'},{'type':'tool_result','tool_use_id':'own',"
	    "'content':'r'}]}]", "", "messages.2.content.1" },
	{ "an image that is text", USER("{'type':'image','source':{'type':"
	    "'text','media_type':'text/plain','data':'x'}}"), "",
	    "messages.0.content.0.source" },
	{ "a document at no address", USER("{'type':'document','source':"
	    "{'type':'url','url':'file:///etc/passwd'}}"), "",
	    "messages.0.content.0.source" },
	{ "a stored file without an id",
	    USER("{'type':'container_upload','file_id':7}"), "",
	    "messages.0.content.0.file_id" },
	{ "max_tokens of 0", U "]", "'max_tokens':0", "max_tokens" },
	{ "temperature as text", U "]", "'temperature':'hot'", "temperature" },
	{ "too many rounds", U "]", "'max_tool_iterations':26",
	    "max_tool_iterations" },
	{ "no rounds", U "]", "'max_tool_iterations':0",
	    "max_tool_iterations" },
	{ "a stop sequence of a wrong type", U "]",
	    "'stop_sequences':['a',1]", "stop_sequences.1" },
	{ "tools are no list", U "]", "'tools':{}", "tools" },
	{ "a tool without a name", U "]", "'tools':[{'input_schema':{}}]",
	    "tools.0.name" },
	{ "a tool without a schema", U "]", "'tools':[{'name':'f'}]",
	    "tools.0.input_schema" },
	{ "a tool of a vendor's server", U "]",
	    "'tools':[{'type':'web_search_20250305','name':'web_search'}]",
	    "tools.0" },
	{ "two tools of one name", U "]", "'tools':[{'name':'f',"
	    "'input_schema':{}},{'name':'f','input_schema':{}}]", "tools.1" },
	{ "a choice that is none", U "]", "'tool_choice':{'type':'maybe'}",
	    "tool_choice" },
	{ "a choice of no tool", U "]",
	    "'tool_choice':{'type':'tool','name':'g'}", "tool_choice" },
	{ "skills", U "]", "'container':{'skills':[{'type':'anthropic'}]}",
	    "container.skills" },
	{ "MCP servers", U "]", "'mcp_servers':[{'url':'https://x'}]",
	    "mcp_servers.0" },
	{ "a system block of another kind", U "]",
	    "'system':[{'type':'image'}]", "system.0" },
};
/* clang-format on */

static void
refusals(void)
{
	char messages[4096];
	struct refusal why;
	json_object *o;
	size_t i;

	for (i = 0; i < NELEM(bad); i++) {
		memset(&why, 0, sizeof(why));
		(void)snprintf(
		    messages, sizeof(messages), "%s", quoted(bad[i].messages));
		o = ask(messages, quoted(bad[i].more), 0, &why);
		ok(o == NULL && strcmp(why.param, bad[i].where) == 0 &&
			strncmp(why.message, bad[i].where,
			    strlen(bad[i].where)) == 0,
		    bad[i].name);
		if (o != NULL || strcmp(why.param, bad[i].where) != 0)
			printf("# %s: %s\n", why.param, why.message);
		json_object_put(o);
	}
	o = translate(messages_read,
	    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\","
	    "\"content\":\"q\"}]}",
	    0, &why);
	ok(o == NULL && why.kind == P_MISSING_PARAMETER &&
		strcmp(why.param, "max_tokens") == 0,
	    "max_tokens left out");
}

/* ---- Parameters and tools */

/* What becomes of a request with these members, seen through one of its own. */
static json_object *
part_of(const char *more, const char *key, unsigned int ours)
{
	struct refusal why;
	char own[4096];
	json_object *o, *v;

	(void)snprintf(own, sizeof(own), "%s", quoted(more));
	o = ask(quoted(U "]"), own, ours, &why);
	v = member(o, key);
	if (o == NULL)
		printf("# refused: %s\n", why.message);
	json_object_put(o);
	return (v);
}

/* clang-format off */
static const struct { const char *name, *more, *key, *out; } params[] = {
	{ "numbers keep their digits", "'temperature':0.70", "temperature",
	    "0.70" },
	{ "top_p", "'top_p':0.1", "top_p", "0.1" },
	{ "top_k has no place", "'top_k':5", "top_k", NULL },
	{ "stop sequences", "'stop_sequences':['a','b']", "stop",
	    "['a','b']" },
	{ "a choice of any", "'tools':[{'name':'f','input_schema':{}}],"
	    "'tool_choice':{'type':'any'}", "tool_choice", "'required'" },
	{ "a choice of none", "'tools':[{'name':'f','input_schema':{}}],"
	    "'tool_choice':{'type':'none'}", "tool_choice", "'none'" },
	{ "a choice of one", "'tools':[{'name':'f','input_schema':{}}],"
	    "'tool_choice':{'type':'tool','name':'f'}", "tool_choice",
	    "{'type':'function','function':{'name':'f'}}" },
	{ "one call a message", "'tools':[{'name':'f','input_schema':{}}],"
	    "'tool_choice':{'type':'auto','disable_parallel_tool_use':true}",
	    "parallel_tool_calls", "false" },
	{ "an empty list of tools is left out", "'tools':[]", "tools",
	    NULL },
	{ "a little thinking",
	    "'thinking':{'type':'enabled','budget_tokens':2048}",
	    "reasoning_effort", "'low'" },
	{ "much thinking",
	    "'thinking':{'type':'enabled','budget_tokens':16384}",
	    "reasoning_effort", "'high'" },
	{ "an effort as it was said", "'output_config':{'effort':'medium'}",
	    "reasoning_effort", "'medium'" },
	{ "a user is told by a hash", "'metadata':{'user_id':'u'}", "user",
	    "'0bfe935e70c321c7ca3afc75ce0d0ca2f98b5422e008bb31c00c6d7f1f1c0ad6"
	    "'" },
	{ "what has no place is left out", "'service_tier':'auto','speed':"
	    "'fast','inference_geo':'eu','context_management':{}",
	    "service_tier", NULL },
	{ "a schema for the answer",
	    "'output_format':{'type':'json_schema','schema':{'type':"
	    "'object'}}", "messages",
	    "[{'role':'system','content':'Answer with nothing but JSON that "
	    "fits this schema: {\\\"type\\\":\\\"object\\\"}'},"
	    "{'role':'user','content':'q'}]" },
	{ "system blocks are joined by blank lines",
	    "'system':[{'type':'text','text':'a'},{'type':'text','text':'b',"
	    "'cache_control':{'type':'ephemeral'}}]", "messages",
	    "[{'role':'system','content':'a\\n\\nb'},"
	    "{'role':'user','content':'q'}]" },
};
/* clang-format on */

static void
parameters(void)
{
	struct refusal why;
	json_object *v;
	const char *s;
	char *raw;
	size_t i;

	for (i = 0; i < NELEM(params); i++) {
		v = part_of(params[i].more, params[i].key, 0);
		if (params[i].out == NULL) {
			ok(v == NULL, params[i].name);
			json_object_put(v);
		} else
			ok(same(v, json_tokener_parse(quoted(params[i].out))),
			    params[i].name);
	}

	/* No schema is respelled on its way: big numbers, odd spellings. */
	raw = translate_text(messages_read,
	    "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":"
	    "\"user\",\"content\":\"q\"}],\"tools\":[{\"name\":\"f\","
	    "\"input_schema\":{\"default\": 12345678901234567890123, "
	    "\"x\":1e2}}]}",
	    0, &why);
	ok(raw != NULL &&
		strstr(raw,
		    "{\"default\": 12345678901234567890123, "
		    "\"x\":1e2}") != NULL,
	    "a tool's schema goes on as it was sent");
	free(raw);

	v = part_of("'tools':[{'name':'bash_code_execution','input_schema':{}}"
		    ",{'type':'code_execution_20250825','name':"
		    "'code_execution'}]",
	    "tools", BASH_AND_EDITOR);
	s = json_object_to_json_string(v);
	ok(strstr(s, "\"gw_bash_code_execution\"") != NULL &&
		strstr(s, "\"bash_code_execution\"") != NULL,
	    "a caller's function of our name is kept, ours renamed");
	json_object_put(v);

	ok(same(part_of("'tool_choice':{'type':'tool','name':"
			"'code_execution'}",
		    "tool_choice", BASH_AND_EDITOR),
	       json_tokener_parse("{\"type\":\"function\",\"function\":{"
				  "\"name\":\"bash_code_execution\"}}")),
	    "a choice of the declaration means our first function");
}

/* What is refused in ${n} times ${one}, each with another ${key}. */
static const char *
read_many(const char *head, size_t n, const char *key, const char *one,
    const char *tail)
{
	static struct refusal why;
	struct buf b = BUF_INIT(8U << 20);
	struct jspan_info info;
	struct arena *mem = arena_new(64U << 20);
	struct talk *t = talk_new(mem);
	size_t i;

	buf_puts(&b, head);
	for (i = 0; i < n; i++) {
		buf_puts(&b, i > 0 ? "," : "");
		buf_printf(&b, "{\"%s\":\"n%zu\",%s}", key, i, one);
	}
	buf_puts(&b, tail);
	t->ours = BASH_AND_EDITOR;
	why.message[0] = '\0';
	if (jspan_check(b.p, b.len, 128, &info) != JSPAN_OK)
		return ("no JSON");
	(void)messages_read(info.root, t, &why);
	arena_free(mem);
	buf_free(&b);
	return (why.message);
}

/* Much of one kind costs no more than its length. */
static void
crowds(void)
{
	static const char head[] =
	    "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":"
	    "\"user\",\"content\":\"x\"},{\"role\":\"assistant\","
	    "\"content\":[";
	static const char tail[] = "]},{\"role\":\"user\",\"content\":\"x\"}]}";
	const clock_t began = clock();

	ok(strcmp(read_many(head, 40000, "id",
		      "\"type\":\"text\",\"text\":\"x\"", tail),
	       "") == 0,
	    "40,000 blocks of the assistant's");
	ok(strcmp(read_many(head, 20000, "id",
		      "\"type\":\"server_tool_use\",\"name\":\"bash_code_"
		      "execution\",\"input\":{}",
		      tail),
	       "messages.1.content.128: more than 128 calls in one message") ==
		0,
	    "20,000 calls of ours");
	ok(strcmp(read_many("{\"model\":\"m\",\"max_tokens\":1,\"tools\":[",
		      40000, "name", "\"input_schema\":{}",
		      "],\"messages\":[{\"role\":\"user\",\"content\":"
		      "\"x\"}]}"),
	       "tools.2048: there are too many") == 0,
	    "40,000 functions");
	ok(clock() - began < 3 * CLOCKS_PER_SEC, "... are read in a moment");
}

int
main(void)
{

	fixtures();
	read_histories();
	read_echoes();
	refusals();
	parameters();
	crowds();
	return (done_testing());
}
