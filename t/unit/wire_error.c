/*
 * Errors inside answers of status 200, in the forms that model servers and the
 * proxies before them give them, and the status that each names.
 */
#include "speech/wire_error.h"

#include "fixture.h"
#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* clang-format off */
static const struct {
	const char *name, *text;
	int status; /* 0: it is no error. */
} rows[] = {
	{ "OpenRouter, amid a stream", "{\"id\":\"g\",\"object\":"
	    "\"chat.completion.chunk\",\"error\":{\"code\":502,\"message\":"
	    "\"gone\"},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},"
	    "\"finish_reason\":\"error\"}]}", 502 },
	{ "OpenRouter, in the choice", "{\"choices\":[{\"message\":{"
	    "\"content\":\"Hal\"},\"finish_reason\":\"error\","
	    "\"error\":{\"code\":429,"
	    "\"message\":\"slow\"}}]}", 429 },
	{ "OpenRouter, out of credit", "{\"error\":{\"code\":402,\"message\":"
	    "\"Insufficient credits\"}}", 402 },
	{ "vLLM", "{\"error\":{\"message\":\"maximum context length\",\"type\":"
	    "\"BadRequestError\",\"param\":null,\"code\":400}}", 400 },
	{ "an older vLLM, SGLang", "{\"object\":\"error\",\"message\":\"no\","
	    "\"type\":\"BadRequestError\",\"param\":null,\"code\":400}", 400 },
	{ "vLLM, a type only", "{\"error\":{\"message\":\"no\",\"type\":"
	    "\"NotFoundError\",\"code\":null}}", 404 },
	{ "vLLM and SGLang, aborted", "{\"choices\":[{\"index\":0,\"delta\":{},"
	    "\"finish_reason\":\"abort\"}]}", 502 },
	{ "llama.cpp", "{\"error\":{\"code\":400,\"message\":\"exceeds the "
	    "available context size\",\"type\":\"exceed_context_size_error\"}}",
	    400 },
	{ "llama.cpp, without the envelope", "{\"type\":\"error\",\"code\":500,"
	    "\"message\":\"no slot\"}", 500 },
	{ "Ollama, a text", "{\"error\":\"model requires more memory\"}", 502 },
	{ "Ollama", "{\"error\":{\"message\":\"no\",\"type\":\"api_error\","
	    "\"param\":null,\"code\":null}}", 502 },
	{ "Azure, a status as a string", "{\"error\":{\"code\":\"429\","
	    "\"message\":\"slow\"}}", 429 },
	{ "Azure, its filter", "{\"error\":{\"code\":\"content_filter\","
	    "\"message\":\"no\",\"status\":400}}", 400 },
	{ "Anthropic", "{\"type\":\"error\",\"error\":{\"type\":"
	    "\"overloaded_error\",\"message\":\"Overloaded\"}}", 502 },
	{ "Anthropic, too many", "{\"type\":\"error\",\"error\":{\"type\":"
	    "\"rate_limit_error\",\"message\":\"slow\"}}", 429 },
	{ "Anthropic, a bad request", "{\"type\":\"error\",\"error\":{\"type\":"
	    "\"invalid_request_error\",\"message\":\"no\"}}", 400 },
	{ "Responses, an event", "{\"type\":\"error\",\"code\":"
	    "\"rate_limit_exceeded\",\"message\":\"slow\",\"param\":null}",
	    429 },
	{ "Responses, failed", "{\"type\":\"response.failed\",\"response\":{"
	    "\"status\":\"failed\",\"error\":{\"code\":\"server_error\","
	    "\"message\":\"x\"}}}", 502 },
	{ "Responses, failed and whole", "{\"object\":\"response\",\"status\":"
	    "\"failed\",\"output\":[],\"error\":{\"code\":\"invalid_prompt\","
	    "\"message\":\"x\"}}", 400 },
	{ "Responses, failed without a word", "{\"status\":\"failed\","
	    "\"output\":[],\"error\":null}", 502 },
	{ "Responses, cancelled", "{\"type\":\"response.completed\","
	    "\"response\":{\"status\":\"cancelled\"}}", 502 },
	{ "a code that is no status", "{\"error\":{\"code\":1301}}", 502 },
	{ "a code past any", "{\"error\":{\"code\":4000000000}}", 502 },
	{ "a network's failure", "{\"choices\":[{\"finish_reason\":"
	    "\"network_error\",\"message\":{\"content\":\"\"}}]}", 502 },
	{ "DeepSeek, interrupted", "{\"choices\":[{\"finish_reason\":"
	    "\"insufficient_system_resource\"}]}", 502 },

	{ "null beside an answer", "{\"error\":null,\"choices\":[{\"index\":0,"
	    "\"finish_reason\":\"stop\"}]}", 0 },
	{ "an empty object", "{\"error\":{},\"choices\":[]}", 0 },
	{ "an empty text", "{\"error\":\"\"}", 0 },
	{ "a second choice that failed", "{\"choices\":[{\"index\":0,"
	    "\"finish_reason\":\"stop\"},{\"index\":1,\"finish_reason\":"
	    "\"error\"}]}", 0 },
	{ "an incomplete response", "{\"status\":\"incomplete\","
	    "\"error\":null}", 0 },
	{ "an event of a response that is under way", "{\"type\":"
	    "\"response.created\",\"response\":{\"status\":\"in_progress\","
	    "\"error\":null}}", 0 },
	{ "no object", "[\"error\"]", 0 },
};
/* clang-format on */

int
main(void)
{
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		struct wire_error e = {0};

		ok((wire_error(checked(rows[i].text), 0, &e) ? e.status : 0) ==
			rows[i].status,
		    rows[i].name);
	}
	return (done_testing());
}
