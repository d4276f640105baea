/*
 * What is in histories and is not understood: every type of block, part and
 * item of both vendors' newest SDKs that this program has no words for becomes
 * a line of text, and none ends a conversation.
 */
#include "speech/chat.h"
#include "speech/messages.h"
#include "speech/responses.h"

#include "tap.h"
#include "translate.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Where a block of some type can stand. */
struct place {
	const char *name;
	int (*read)(struct jspan, struct talk *, struct refusal *);
	const char *before, *after; /* Of the block. */
	const char *const *types;
};

/* clang-format off */
static const char *const blocks[] = {
	"web_search_tool_result", "web_fetch_tool_result",
	"tool_search_tool_result", "advisor_tool_result", "mcp_tool_use",
	"mcp_tool_result", "mcp_tool_listing", "compaction", "fallback",
	"tool_addition", "tool_removal", "browser_state", "tool_reference",
	"hologram", NULL
};

static const char *const items[] = {
	"file_search_call", "computer_call", "computer_call_output",
	"web_search_call", "tool_search_call", "tool_search_output",
	"additional_tools", "configuration_update", "compaction",
	"compaction_trigger", "image_generation_call", "local_shell_call",
	"local_shell_call_output", "shell_call", "shell_call_output",
	"apply_patch_call", "apply_patch_call_output", "mcp_list_tools",
	"mcp_approval_request", "mcp_approval_response", "mcp_call", "program",
	"program_output", "agent_message", "hologram", NULL
};

static const char *const parts[] = {
	"input_audio", "hologram", "video", "audio", NULL
};

#define M "{'model':'m','max_tokens':9,'messages':[{'role':'user'," \
	"'content':'q'},"
#define R "{'model':'m','input':[{'role':'user','content':'q'},"
#define C "{'model':'m','messages':[{'role':'user','content':'q'},"
#define AND "{'role':'user','content':'And?'}]}"
#define USE "{'role':'assistant','content':[{'type':'tool_use','id':'c'," \
	"'name':'f','input':{}}]},"

static const struct place places[] = {
	{ "an assistant's block", messages_read,
	    M "{'role':'assistant','content':[", "]}," AND, blocks },
	{ "a user's block", messages_read, M "{'role':'user','content':[",
	    "]}," AND, blocks },
	{ "a block in a result", messages_read, M USE "{'role':'user',"
	    "'content':[{'type':'tool_result','tool_use_id':'c','content':[",
	    "]}]}," AND, blocks },
	{ "a block in a document", messages_read, M "{'role':'user','content':"
	    "[{'type':'document','source':{'type':'content','content':[",
	    "]}}]}," AND, blocks },
	{ "a block in a search result", messages_read, M "{'role':'user',"
	    "'content':[{'type':'search_result','title':'T','source':'S',"
	    "'content':[", "]}]}," AND, blocks },
	{ "a block of instructions", messages_read, M "{'role':'system',"
	    "'content':[", "]}," AND, blocks },
	{ "an item", responses_read, R, "," AND, items },
	{ "a user's part", responses_read, R "{'role':'user','content':[",
	    "]}," AND, parts },
	{ "an assistant's part", responses_read, R "{'role':'assistant',"
	    "'content':[", "]}," AND, parts },
	{ "a part of instructions", responses_read, R "{'role':'developer',"
	    "'content':[", "]}," AND, parts },
	{ "a part of an output", responses_read, R "{'type':'function_call',"
	    "'call_id':'c','name':'f','arguments':'{}'},{'type':"
	    "'function_call_output','call_id':'c','output':[", "]}," AND,
	    parts },
	{ "a user's part", chat_read, C "{'role':'user','content':[", "]}," AND,
	    parts },
	{ "an assistant's part", chat_read, C "{'role':'assistant','content':[",
	    "]}," AND, parts },
	{ "a part of a tool's message", chat_read, C "{'role':'assistant',"
	    "'content':null,'tool_calls':[{'id':'c','type':'function',"
	    "'function':{'name':'f','arguments':'{}'}}]},{'role':'tool',"
	    "'tool_call_id':'c','content':[", "]}," AND, parts },
};

/* What such a block may hold: the words, and what is for no reader. */
static const char *const inner[] = {
	"'text':'seen'", "'content':'seen'",
	"'content':[{'type':'x','title':'seen','encrypted_content':'hidden'}]",
	"'action':{'type':'search','query':'seen'},'result':'hidden'",
	"'action':{'type':'exec','command':['seen','-x']}",
	"'output':[{'stdout':'seen','outcome':{'type':'exit'}}]",
	"'name':'seen','arguments':'{}','data':'hidden'",
	"'encrypted_content':'hidden','error':{'message':'seen'}",
	"'tools':[{'name':'seen'}],'image_url':'hidden'",
	"'input':'data:image/png;base64,hidden','text':'seen'",
};
/* clang-format on */

/* All that a model is asked, as one text; NULL after a refusal. */
static const char *
asked(
    const struct place *p, const char *type, const char *more, json_object **o)
{
	struct refusal why;
	char s[4096], from[4096];

	(void)snprintf(s, sizeof(s), "%s{'type':'%s'%s%s}%s", p->before, type,
	    more[0] != '\0' ? "," : "", more, p->after);
	(void)snprintf(from, sizeof(from), "%s", quoted(s));
	*o = translate(p->read, from, 0, &why);
	if (*o == NULL)
		printf("# %s: %s: %s\n", type, why.param, why.message);
	return (*o != NULL ? json_object_to_json_string(
				 json_object_object_get(*o, "messages"))
			   : NULL);
}

static int
one(const struct place *p, const char *type, const char *more, int told)
{
	json_object *o;
	const char *s = asked(p, type, more, &o);
	int good = s != NULL && strstr(s, "And?") != NULL &&
	    strstr(s, "hidden") == NULL && (!told || strstr(s, "seen") != NULL);

	if (s != NULL && !good)
		printf("# %s {%s}: %s\n", type, more, s);
	json_object_put(o);
	return (good);
}

int
main(void)
{
	const struct place *p;
	json_object *o;
	const char *s;
	size_t i, k;
	int good;

	for (p = places; p < places + NELEM(places); p++) {
		good = 1;
		for (i = 0; p->types[i] != NULL; i++) {
			good &= one(p, p->types[i], "", 0);
			for (k = 0; k < NELEM(inner); k++)
				good &= one(p, p->types[i], inner[k], 1);
		}
		ok(good, p->name);
	}
	s = asked(&places[6], "compaction_trigger", "", &o);
	ok(s != NULL && strstr(s, "compaction") == NULL,
	    "one without a text is left out");
	json_object_put(o);
	s = asked(&places[6], "computer_call", "", &o);
	ok(s != NULL && strstr(s, "[computer_call is not shown]") != NULL,
	    "but a call is named");
	json_object_put(o);
	s = asked(&places[2], "search_result",
	    "'source':'http://x','title':'S','content':[{'type':'text',"
	    "'text':'found'}]",
	    &o);
	ok(s != NULL && strstr(s, "S\\nhttp:\\/\\/x\\nfound") != NULL,
	    "a search result in a result is its text");
	json_object_put(o);
	return (done_testing());
}
