/* What is seen of a model request before it is known who answers it. */
#include "speech/peek.h"
#include "speech/refusal.h"
#include "speech/stored.h"

#include "fixture.h"
#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ID "0123456789abcdef0123456789abcdef"

/* clang-format off */
static const struct {
	const char *name, *in;
	const char *where; /* NULL: no file is named. */
	const char *id;
} files[] = {
	{ "a block's file", "{\"messages\":[{\"content\":[{},{\"file_id\":"
	    "\"file-" ID "\"}]}]}", "messages[0].content[1].file_id", ID },
	{ "a source's file, other spelling", "{\"source\":{\"file_id\":"
	    "\"file_" ID "\"}}", "source.file_id", ID },
	{ "a citation's file", "{\"file_id\":\"cfile_" ID "\"}",
	    "file_id", ID },
	{ "a container's files", "{\"tools\":[{\"container\":{\"file_ids\":["
	    "5,\"file-" ID "\"]}}]}", "tools[0].container.file_ids[1]", ID },
	{ "a provider's own file", "{\"file_id\":\"file-abc123\"}",
	    "file_id", "file-abc123" },
	{ "a provider's own, as long", "{\"file_id\":\"file-"
	    "0123456789ABCDEF0123456789ABCDEF\"}", "file_id",
	    "file-0123456789ABCDEF0123456789ABCDEF" },
	{ "our digits without a prefix", "{\"file_id\":\"" ID "\"}",
	    "file_id", "" },
	{ "what is no id", "{\"file_id\":\"a b\"}", "file_id", "" },
	{ "the empty text", "{\"file_id\":\"\"}", "file_id", "" },
	{ "no text", "{\"file_id\":5}", NULL, NULL },
	{ "an escaped key", "{\"file\\u005fid\":\"file-abc\"}",
	    "file\\u005fid", "file-abc" },
	{ "a call's input", "{\"messages\":[{\"type\":\"tool_use\",\"input\":"
	    "{\"file_id\":\"x\"}}]}", NULL, NULL },
	{ "the request's input, whatever its type", "{\"type\":\"tool_use\","
	    "\"input\":[{\"file_id\":\"x\"}]}", "input[0].file_id", "x" },
	{ "an id in a text", "{\"content\":\"file-" ID "\"}", NULL, NULL },
	{ "no file at all", "{\"content\":\"x\"}", NULL, NULL },
};
/* clang-format on */

static int
take(void *cookie, const struct stored *s)
{

	*(struct stored *)cookie = *s;
	return (1);
}

static void
stored_files(void)
{
	struct stored s;
	size_t i;
	int found;

	for (i = 0; i < NELEM(files); i++) {
		found = stored_each(checked(files[i].in), 0, take, &s);
		ok(found == (files[i].where != NULL) &&
			(!found ||
			    (strcmp(s.where, files[i].where) == 0 &&
				strcmp(s.id, files[i].id) == 0)),
		    files[i].name);
	}
}

static int
peek(struct arena *mem, const char *s, struct peek *p, struct refusal *why)
{

	return (peek_read(mem, checked(s), p, why));
}

int
main(void)
{
	struct arena *mem = arena_new(1 << 20);
	struct refusal why;
	struct peek p;

	stored_files();
	ok(peek(mem, "{\"model\":\"a:b\",\"stream\":true}", &p, &why) == 0 &&
		strcmp(p.model, "a:b") == 0 && p.stream &&
		p.declared == DECLARED_NONE && p.model_at.len == 5,
	    "model and stream");
	ok(peek(mem, "{\"stream\":false}", &p, &why) == -1 &&
		why.kind == P_MISSING_PARAMETER &&
		strcmp(why.param, "model") == 0,
	    "no model");
	ok(peek(mem, "{\"model\":5}", &p, &why) == -1 &&
		strcmp(why.param, "model") == 0,
	    "a model that is a number");
	ok(peek(mem, "{\"model\":\"\"}", &p, &why) == -1, "an empty model");
	ok(peek(mem, "{\"model\":\"m\",\"stream\":1}", &p, &why) == -1 &&
		strcmp(why.param, "stream") == 0,
	    "stream that is a number");
	ok(peek(mem,
	       "{\"model\":\"m\",\"tools\":[{\"type\":\"function\",\"name\":"
	       "\"code_execution\"},{\"name\":\"x\"}]}",
	       &p, &why) == 0 &&
		p.declared == DECLARED_NONE,
	    "a caller's function declares nothing, whatever its name");
	ok(peek(mem,
	       "{\"model\":\"m\",\"tools\":[{\"type\":"
	       "\"satchel_code_execution\",\"emit\":\"native\"},{\"type\":"
	       "\"code_execution_20250825\"},{\"type\":\"code_interpreter\"}]"
	       "}",
	       &p, &why) == 0 &&
		p.declared == DECLARED_DATED &&
		strcmp(p.type, "code_execution_20250825") == 0 && p.native &&
		p.kinds ==
		    (1U << DECLARED_EXPLICIT | 1U << DECLARED_DATED |
			1U << DECLARED_OPENAI),
	    "of several declarations the first but E gives the words");
	arena_free(mem);
	return (done_testing());
}
