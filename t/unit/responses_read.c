/*
 * Responses requests read into talks and written to the chat wire: the
 * contract's fixtures, every kind of item, refusals by position.
 */
#include "speech/responses.h"

#include "tap.h"
#include "translate.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static void
fixtures(void)
{
	struct refusal why;
	json_object *got, *want;
	char *s = replaced(fixture_text("responses-echo-request"),
	    "cfile_9Zt4cc03", "cfile_0123456789abcdef0123456789abcdef");
	char *up = replaced(fixture_text("responses-echo-upstream-chat"),
	    "file_9Zt4cc03", "file-0123456789abcdef0123456789abcdef");

	/* Only the function's description is worded otherwise here. */
	want = parsed(up);
	free(up);
	got = translate(responses_read, s, OURS_CODE, &why);
	ok(same(member(got, "messages"), member(want, "messages")),
	    "an answer given back becomes the model's own calls and results");
	ok(same(json_object_get(json_object_array_get_idx(
		    json_object_object_get(got, "tools"), 0)),
	       parsed(
		   "{\"type\":\"function\",\"function\":{\"name\":"
		   "\"save_report\",\"description\":\"Store a finished report "
		   "in the caller's system.\",\"parameters\":{\"type\":"
		   "\"object\",\"properties\":{\"title\":{\"type\":\"string\"}"
		   "},\"required\":[\"title\"]},\"strict\":false}}")),
	    "the caller's function keeps its schema");
	json_object_put(got);
	json_object_put(want);
	free(s);

	s = fixture_text("responses-request");
	got = translate(responses_read, s, OURS_CODE, &why);
	ok(same(member(got, "messages"),
	       parsed(
		   "[{\"role\":\"system\",\"content\":\"You are a careful "
		   "analyst.\"},{\"role\":\"user\",\"content\":\"Add up the "
		   "qty column of both files and write totals.csv.\\n[file "
		   "/mnt/data/data.csv - uploaded as \\\"data.csv\\\", "
		   "text/csv, 1204 bytes]\\n[file /mnt/data/data_2.csv - "
		   "uploaded as \\\"data.csv\\\", text/csv, 988 bytes]\"}]")),
	    "the declared files are told of where the user speaks");
	json_object_put(got);
	free(s);
}

/* A request with this input and more members before it. */
static json_object *
ask(const char *input, const char *more, unsigned int ours, struct refusal *why)
{
	char s[16384];

	(void)snprintf(s, sizeof(s), "{\"model\":\"m\",%s%s\"input\":%s}",
	    quoted(more), more[0] != '\0' ? "," : "", quoted(input));
	return (translate(responses_read, s, ours, why));
}

/* ---- Items */

#define CALLS(list) \
	"{'role':'assistant','content':null,'tool_calls':[" list "]}"
#define CALL(id, name, args)                                         \
	"{'id':'" id "','type':'function','function':{'name':'" name \
	"','arguments':'" args "'}}"
#define FC(id)                                                    \
	"{'type':'function_call','id':'fc_1','call_id':'" id "'," \
	"'name':'f','arguments':'{}','status':'completed'}"
#define OUT(id, x) \
	"{'type':'function_call_output','call_id':'" id "','output':" x "}"
#define CI(id, code, outputs)                                                  \
	"{'type':'code_interpreter_call','id':'ci_gw_" id "','code':'" code    \
	"','container_id':'cntr_gw_1','status':'completed','outputs':" outputs \
	"}"
#define LOGS(x) "[{'type':'logs','logs':'" x "'}]"
#define MSG(x)                                                         \
	"{'type':'message','id':'msg_1','status':'completed','role':"  \
	"'assistant','content':[{'type':'output_text','text':'" x "'," \
	"'annotations':[],'logprobs':[]}]}"
#define RAN(id, x) \
	"{'role':'tool','tool_call_id':'ci_gw_" id "','content':'" x "'}"
#define ARGS1 "{\\\"code\\\":\\\"c\\\"}"

/* clang-format off */
static const struct { const char *name, *in, *out; } items[] = {
	{ "a string", "'Hi'", "[{'role':'user','content':'Hi'}]" },
	{ "easy messages", "[{'role':'user','content':'a'},"
	    "{'role':'assistant','content':'b'},{'role':'user','content':'c'}]",
	    "[{'role':'user','content':'a'},{'role':'assistant','content':'b'},"
	    "{'role':'user','content':'c'}]" },
	{ "parts", "[{'type':'message','role':'user','content':[{'type':"
	    "'input_text','text':'a'},{'type':'input_text','text':'b'}]}]",
	    "[{'role':'user','content':'a\\nb'}]" },
	{ "bare parts share one message", "[{'type':'input_text','text':'a'},"
	    "{'type':'input_text','text':'b'}]",
	    "[{'role':'user','content':'a\\nb'}]" },
	{ "an answer's texts and refusal", "[{'role':'user','content':'q'},"
	    "{'type':'message','role':'assistant','content':[{'type':"
	    "'output_text','text':'a'},{'type':'refusal','refusal':'b'}]},"
	    "{'role':'user','content':'c'}]",
	    "[{'role':'user','content':'q'},{'role':'assistant','content':"
	    "'ab'},{'role':'user','content':'c'}]" },
	{ "instructions at the head are the system's",
	    "[{'role':'developer','content':'d'},{'role':'system','content':"
	    "[{'type':'input_text','text':'s'}]},{'role':'user','content':"
	    "'q'}]", "[{'role':'system','content':'d\\n\\ns'},"
	    "{'role':'user','content':'q'}]" },
	{ "later ones say what they are",
	    "[{'role':'user','content':'q'},{'role':'developer','content':"
	    "'d'}]", "[{'role':'user','content':'q\\n[system] d'}]" },
	{ "neighbouring calls and the message before are one message",
	    "[{'role':'user','content':'q'}," MSG("a") "," FC("c1") ","
	    FC("c2") "," OUT("c2", "'y'") "," OUT("c1", "'x'") "]",
	    "[{'role':'user','content':'q'},{'role':'assistant','content':'a',"
	    "'tool_calls':[" CALL("c1", "f", "{}") "," CALL("c2", "f", "{}")
	    "]},{'role':'tool','tool_call_id':'c2','content':'y'},"
	    "{'role':'tool','tool_call_id':'c1','content':'x'}]" },
	{ "calls one after the other", "[{'role':'user','content':'q'},"
	    FC("c1") "," OUT("c1", "'x'") "," FC("c2") "," OUT("c2", "'y'") "]",
	    "[{'role':'user','content':'q'}," CALLS(CALL("c1", "f", "{}"))
	    ",{'role':'tool','tool_call_id':'c1','content':'x'},"
	    CALLS(CALL("c2", "f", "{}"))
	    ",{'role':'tool','tool_call_id':'c2','content':'y'}]" },
	{ "a result in parts", "[{'role':'user','content':'q'}," FC("c1") ","
	    OUT("c1", "[{'type':'input_text','text':'x'},{'type':'input_text',"
	    "'text':'y'}]") "]",
	    "[{'role':'user','content':'q'}," CALLS(CALL("c1", "f", "{}"))
	    ",{'role':'tool','tool_call_id':'c1','content':'x\\ny'}]" },
	{ "an image in a result follows it", "[{'role':'user','content':'q'},"
	    FC("c1") "," OUT("c1", "[{'type':'input_text','text':'x'},"
	    "{'type':'input_image','image_url':'https://x/y'}]")
	    "]", "[{'role':'user','content':'q'}," CALLS(CALL("c1", "f", "{}"))
	    ",{'role':'tool','tool_call_id':'c1','content':'x'},{'role':'user',"
	    "'content':[{'type':'text','text':'[result of c1]'},{'type':"
	    "'image_url','image_url':{'url':'https://x/y'}}]}]" },
	{ "a custom tool's call", "[{'role':'user','content':'q'},{'type':"
	    "'custom_tool_call','call_id':'c1','name':'f','input':'a b'},"
	    "{'type':'custom_tool_call_output','call_id':'c1','output':'x'}]",
	    "[{'role':'user','content':'q'}," CALLS(CALL("c1", "f",
	    "{\\\"input\\\":\\\"a b\\\"}"))
	    ",{'role':'tool','tool_call_id':'c1','content':'x'}]" },
	{ "reasoning is not sent to who cannot take it",
	    "[{'role':'user','content':'q'},{'type':'reasoning','id':'rs_1',"
	    "'summary':[],'content':[{'type':'reasoning_text','text':'hm'}]},"
	    MSG("a") "]", "[{'role':'user','content':'q'},"
	    "{'role':'assistant','content':'a'}]" },
	{ "another vendor's call is a line", "[{'role':'user','content':'q'},"
	    "{'type':'web_search_call','id':'ws_1','status':'completed'},"
	    MSG("a") "]", "[{'role':'user','content':'q'},{'role':'assistant',"
	    "'content':'\\n[web_search_call is not shown]\\na'}]" },
	{ "a run of ours", "[{'role':'user','content':'q'}," CI("1", "c",
	    LOGS("o")) "," MSG("a") "]", "[{'role':'user','content':'q'},"
	    CALLS(CALL("ci_gw_1", "code_execution", ARGS1)) ","
	    RAN("1", "stdout:\\no\\nexit code: 0")
	    ",{'role':'assistant','content':'a'}]" },
	{ "a run without outputs", "[{'role':'user','content':'q'},"
	    CI("1", "c", "null") "," MSG("a") "]",
	    "[{'role':'user','content':'q'},"
	    CALLS(CALL("ci_gw_1", "code_execution", ARGS1)) ","
	    RAN("1", "(result not available)")
	    ",{'role':'assistant','content':'a'}]" },
	{ "a run that failed", "[{'role':'user','content':'q'},"
	    "{'type':'code_interpreter_call','id':'ci_gw_1','code':'c',"
	    "'container_id':'cntr_gw_1','status':'failed','outputs':"
	    LOGS("sandbox unavailable") "}]",
	    "[{'role':'user','content':'q'},"
	    CALLS(CALL("ci_gw_1", "code_execution", ARGS1)) ","
	    RAN("1", "[tool error] sandbox unavailable") "]" },
	{ "two runs", "[{'role':'user','content':'q'}," CI("1", "c",
	    LOGS("o")) "," CI("2", "c", LOGS("p")) "]",
	    "[{'role':'user','content':'q'},"
	    CALLS(CALL("ci_gw_1", "code_execution", ARGS1)) ","
	    RAN("1", "stdout:\\no\\nexit code: 0") ","
	    CALLS(CALL("ci_gw_2", "code_execution", ARGS1)) ","
	    RAN("2", "stdout:\\np\\nexit code: 0") "]" },
	{ "a mixed turn: ours is answered first",
	    "[{'role':'user','content':'q'}," FC("c1") "," CI("1", "c",
	    LOGS("o")) "," MSG("") "," OUT("c1", "'x'") "]",
	    "[{'role':'user','content':'q'}," CALLS(CALL("c1", "f", "{}") ","
	    CALL("ci_gw_1", "code_execution", ARGS1)) ","
	    RAN("1", "stdout:\\no\\nexit code: 0")
	    ",{'role':'tool','tool_call_id':'c1','content':'x'}]" },
};
/* clang-format on */

static void
read_items(void)
{
	struct refusal why;
	json_object *o;
	size_t i;

	for (i = 0; i < NELEM(items); i++) {
		o = ask(items[i].in, "", OURS_CODE, &why);
		if (o == NULL)
			printf("# refused: %s\n", why.message);
		ok(same(member(o, "messages"), parsed(quoted(items[i].out))),
		    items[i].name);
		json_object_put(o);
	}
	o = ask("[{'role':'user','content':'q'}," CI("1", "c1", LOGS("o1")) "]",
	    "", 0, &why);
	ok(o != NULL &&
		strstr(json_object_to_json_string(o), "tool_calls") == NULL &&
		strstr(json_object_to_json_string(o), "c1") != NULL &&
		strstr(json_object_to_json_string(o), "o1") != NULL,
	    "without the functions a run is told as text");
	json_object_put(o);
}

/* ---- What is refused, and where */

#define Q "'q'"

/* clang-format off */
static const struct { const char *name, *in, *more, *where; } bad[] = {
	{ "an empty input", "[]", "", "input" },
	{ "an empty text", "''", "", "input" },
	{ "input of a wrong type", "7", "", "input" },
	{ "an item that is none", "[3]", "", "input[0]" },
	{ "nothing but an unknown item", "[{'type':'hologram'}]", "", "input" },
	{ "a message without content", "[{'role':'user'}]", "",
	    "input[0].content" },
	{ "a role that is none", "[{'role':'tool','content':'x'}]", "",
	    "input[0].content" },
	{ "a text that is a number", "[{'role':'user','content':[{'type':"
	    "'input_text','text':5}]}]", "", "input[0].content[0].text" },
	{ "a call without its id", "[{'role':'user','content':'q'},{'type':"
	    "'function_call','name':'f','arguments':'{}'}]", "",
	    "input[1].call_id" },
	{ "a call without its result", "[{'role':'user','content':'q'},"
	    FC("c1") "]", "", "input[1]" },
	{ "a result without its call", "[{'role':'user','content':'q'},"
	    OUT("c1", "'x'") "]", "", "input[1]" },
	{ "a result that is a number", "[{'role':'user','content':'q'},"
	    FC("c1") "," OUT("c1", "5") "]", "", "input[2].output" },
	{ "a run without an id", "[{'type':'code_interpreter_call'}]", "",
	    "input[0].id" },
	{ "outputs that are no list", "[{'type':'code_interpreter_call','id':"
	    "'ci_1','outputs':7}]", "", "input[0]" },
	{ "a file of no kind", "[{'type':'input_file'}]", "", "input[0]" },
	{ "a stored file without an id",
	    "[{'type':'input_file','file_id':7}]", "", "input[0].file_id" },
	{ "tools are no list", Q, "'tools':{}", "tools" },
	{ "a function without a name", Q, "'tools':[{'type':'function'}]",
	    "tools[0].name" },
	{ "a schema that is none", Q, "'tools':[{'type':'function','name':'f',"
	    "'parameters':7}]", "tools[0].parameters" },
	{ "two functions of one name", Q, "'tools':[{'type':'function','name':"
	    "'f'},{'type':'function','name':'f'}]", "tools[1]" },
	{ "a hosted tool", Q, "'tools':[{'type':'web_search'}]", "tools[0]" },
	{ "files that are no list", Q, "'tools':[{'type':'code_interpreter',"
	    "'container':{'type':'auto','file_ids':'x'}}]",
	    "tools[0].container.file_ids" },
	{ "a file id that is a number", Q, "'tools':[{'type':"
	    "'code_interpreter','container':{'type':'auto','file_ids':[5]}}]",
	    "tools[0].container.file_ids" },
	{ "a container of a wrong type", Q,
	    "'tools':[{'type':'code_interpreter','container':5}]",
	    "tools[0].container" },
	{ "a choice that is none", Q, "'tool_choice':'maybe'", "tool_choice" },
	{ "a choice of no tool", Q,
	    "'tool_choice':{'type':'function','name':'g'}", "tool_choice" },
	{ "a choice of a hosted tool", Q,
	    "'tool_choice':{'type':'file_search'}", "tool_choice" },
	{ "a list of tools without a mode", Q,
	    "'tool_choice':{'type':'allowed_tools','tools':[]}",
	    "tool_choice" },
	{ "background", Q, "'background':true", "background" },
	{ "a conversation", Q, "'conversation':'conv_1'", "conversation" },
	{ "a prompt", Q, "'prompt':{'id':'pmpt_1'}", "prompt" },
	{ "max_output_tokens of 0", Q, "'max_output_tokens':0",
	    "max_output_tokens" },
	{ "too many rounds", Q, "'max_tool_iterations':26",
	    "max_tool_iterations" },
	{ "temperature as text", Q, "'temperature':'hot'", "temperature" },
	{ "instructions of a wrong type", Q, "'instructions':7",
	    "instructions" },
	{ "metadata of a wrong type", Q, "'metadata':[]", "metadata" },
	{ "include of a wrong type", Q, "'include':'all'", "include" },
	{ "a format that is none", Q, "'text':{'format':{'type':'xml'}}",
	    "text.format" },
	{ "a format without a schema", Q,
	    "'text':{'format':{'type':'json_schema','name':'n'}}",
	    "text.format" },
	{ "parallel_tool_calls as text", Q, "'parallel_tool_calls':'no'",
	    "parallel_tool_calls" },
};
/* clang-format on */

static void
refusals(void)
{
	struct refusal why;
	json_object *o;
	size_t i;

	for (i = 0; i < NELEM(bad); i++) {
		o = ask(bad[i].in, bad[i].more, 0, &why);
		if (strncmp(bad[i].where, "tools[0].container", 18) == 0) {
			json_object_put(o);
			o = ask(bad[i].in, bad[i].more, OURS_CODE, &why);
		}
		ok(o == NULL && strcmp(why.param, bad[i].where) == 0 &&
			strncmp(why.message, bad[i].where,
			    strlen(bad[i].where)) == 0,
		    bad[i].name);
		if (o != NULL || strcmp(why.param, bad[i].where) != 0)
			printf("# %s: %s\n", why.param, why.message);
		json_object_put(o);
	}
	o = translate(responses_read, "{\"model\":\"m\"}", 0, &why);
	ok(o == NULL && why.kind == P_MISSING_PARAMETER &&
		strcmp(why.param, "input") == 0,
	    "input left out");
	o = ask(Q,
	    "'tools':[{'type':'code_interpreter','container':"
	    "'cntr_gw_3n8p5r1s6t2v9w4x8y1z'}]",
	    OURS_CODE, &why);
	ok(o != NULL, "whether a container is there is for others to find");
	json_object_put(o);
	o = ask(Q,
	    "'tools':[{'type':'code_interpreter','container':"
	    "'cntr_68af0d1e7c'}]",
	    OURS_CODE, &why);
	ok(o != NULL, "a provider's container counts as absent");
	json_object_put(o);
	/* A member that is not there has no value: above all not that of its
	 * last neighbour. */
	o = ask(Q,
	    "'tools':[{'type':'code_interpreter','container':{'type':'auto',"
	    "'network_policy':{'type':'disabled'}}}]",
	    OURS_CODE, &why);
	ok(same(member(o, "messages"),
	       parsed(quoted("[{'role':'user','content':'q'}]"))),
	    "a container that names no files has none");
	json_object_put(o);
	o = ask(Q,
	    "'tools':[{'type':'code_interpreter','container':{'file_ids':null,"
	    "'names':['a']}}]",
	    OURS_CODE, &why);
	ok(same(member(o, "messages"),
	       parsed(quoted("[{'role':'user','content':'q'}]"))),
	    "... nor has one whose list of them is null");
	json_object_put(o);
	o = ask("[{'type':'item_reference','id':'x'}]", "", 0, &why);
	ok(o == NULL && why.kind == P_ITEM &&
		strcmp(why.message, "Item with id 'x' not found.") == 0,
	    "an item that is not kept cannot be named");
	o = ask(Q, "'previous_response_id':'resp_gw_1'", 0, &why);
	ok(o == NULL && why.kind == P_RESPONSE,
	    "an answer that is not kept cannot be gone on from");
}

/* ---- Parameters and tools */

#define F "{'type':'function','name':'f'}"
#define G "{'type':'function','name':'g'}"
#define O "{'type':'code_interpreter','container':{'type':'auto'}}"
#define FN(n) "{'type':'function','function':{'name':'" n "'}}"

/* clang-format off */
static const struct { const char *name, *more, *key, *out; } params[] = {
	{ "numbers keep their digits", "'temperature':0.70", "temperature",
	    "0.70" },
	{ "top_p", "'top_p':0.1", "top_p", "0.1" },
	{ "the token limit", "'max_output_tokens':9", "max_tokens", "9" },
	{ "how hard to think", "'reasoning':{'effort':'low'}",
	    "reasoning_effort", "'low'" },
	{ "one call a message", "'parallel_tool_calls':false,'tools':[" F "]",
	    "parallel_tool_calls", "false" },
	{ "a function without a schema", "'tools':[" F "]", "tools",
	    "[" FN("f") "]" },
	{ "a custom tool is a function of one text", "'tools':[{'type':"
	    "'custom','name':'f','description':'d','format':{'type':'text'}}]",
	    "tools", "[{'type':'function','function':{'name':'f',"
	    "'description':'d','parameters':{'type':'object','properties':{"
	    "'input':{'type':'string'}},'required':['input']}}}]" },
	{ "a choice of any", "'tools':[" F "],'tool_choice':'required'",
	    "tool_choice", "'required'" },
	{ "a choice of none", "'tools':[" F "],'tool_choice':'none'",
	    "tool_choice", "'none'" },
	{ "a choice of one", "'tools':[" F "],'tool_choice':" F,
	    "tool_choice", FN("f") },
	{ "a choice of code execution", "'tools':[" O
	    "],'tool_choice':{'type':'code_interpreter'}", "tool_choice",
	    FN("code_execution") },
	{ "a list of what may be called", "'tools':[" F "," G
	    "],'tool_choice':{'type':'allowed_tools','mode':'required',"
	    "'tools':[" G "]}", "tools", "[" FN("g") "]" },
	{ "and how", "'tools':[" F "," G "],'tool_choice':{'type':"
	    "'allowed_tools','mode':'required','tools':[" G "]}",
	    "tool_choice", "'required'" },
	{ "a list without code execution", "'tools':[" F "," O
	    "],'tool_choice':{'type':'allowed_tools','mode':'auto',"
	    "'tools':[" F "]}", "tools", "[" FN("f") "]" },
	{ "an object as the answer", "'text':{'format':{'type':"
	    "'json_object'}}", "response_format", "{'type':'json_object'}" },
	{ "what has no place is left out", "'metadata':{'a':'b'},'store':false,"
	    "'truncation':'auto','service_tier':'auto','user':'u'", "metadata",
	    NULL },
};
/* clang-format on */

static void
parameters(void)
{
	struct refusal why;
	json_object *o, *v;
	size_t i;

	for (i = 0; i < NELEM(params); i++) {
		o = ask(Q, params[i].more,
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
}

/* Whether it is told depends on the server. */
static void
verbosity(void)
{
	struct refusal why;
	json_object *o, *v;

	for (server.verbosity = 0; server.verbosity < 2; server.verbosity++) {
		o = ask(Q, "'text':{'verbosity':'low'}", 0, &why);
		v = member(o, "verbosity");
		if (server.verbosity)
			ok(same(v, parsed("\"low\"")), "verbosity, if flagged");
		else
			ok(o != NULL && v == NULL, "verbosity, if not");
		json_object_put(o);
	}
	server.verbosity = 0;
}

/* A developer's instruction among the system's makes them the developer's. */
static void
developer(void)
{
	struct refusal why;
	json_object *o;

	server.developer_role = 1;
	o = ask("[{'role':'developer','content':'d'},{'role':'user','content':"
		"'q'}]",
	    "'instructions':'i'", 0, &why);
	ok(same(member(o, "messages"),
	       parsed(quoted("[{'role':'developer','content':'i\\n\\nd'},"
			     "{'role':'user','content':'q'}]"))),
	    "developer_role");
	json_object_put(o);
	server.developer_role = 0;
}

/* ---- Answers that this one goes on from */

static int
read_after(struct jspan root, struct talk *t, struct refusal *why)
{

	t->before = checked(quoted("[{'role':'user','content':[{'type':"
				   "'input_text','text':'a'},{'type':"
				   "'input_file','file_id':'file_1'}]}," CI(
				       "1", "c", LOGS("o")) "," MSG("b") "]"));
	return (responses_read(root, t, why));
}

static void
earlier(void)
{
	struct refusal why;
	json_object *o;

	o = translate(read_after,
	    quoted("{'model':'m','previous_response_id':'resp_gw_1','input':"
		   "'c'}"),
	    OURS_CODE, &why);
	if (o == NULL)
		printf("# refused: %s\n", why.message);
	o = member(o, "messages");
	json_object_array_del_idx(o, 0, 1); /* The file is run/'s to tell. */
	ok(same(o,
	       parsed(quoted(
		   "[" CALLS(CALL("ci_gw_1", "code_execution", ARGS1)) "," RAN(
		       "1", "stdout:\\no\\nexit code: 0") ",{'role':'assistant'"
							  ",'content':'b'},"
							  "{'role':'user','"
							  "content':'c'}]"))),
	    "what an earlier answer held comes before the input");
}

int
main(void)
{

	fixtures();
	read_items();
	refusals();
	parameters();
	verbosity();
	developer();
	earlier();
	return (done_testing());
}
