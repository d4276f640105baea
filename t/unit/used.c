/*
 * The tokens of an answer that is passed on, in each wire's words, a stream or
 * not: the same wherever it is cut.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf.h"
#include "speech/used.h"
#include "speech/wire.h"

#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* clang-format off */
#define CHAT \
	"\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20," \
	"\"prompt_tokens_details\":{\"cached_tokens\":64}," \
	"\"completion_tokens_details\":{\"reasoning_tokens\":7}}"
#define RESPONSES \
	"\"usage\":{\"input_tokens\":100,\"output_tokens\":20," \
	"\"input_tokens_details\":{\"cached_tokens\":64}," \
	"\"output_tokens_details\":{\"reasoning_tokens\":7}}"

/* Input without the cached ones, output, cached, reasoning; "" unknown. */
static const struct {
	const char *name;
	enum conf_wire wire;
	int stream;
	const char *in, *out;
} rows[] = {
	{ "chat", WIRE_CHAT, 0, "{\"choices\":[{\"message\":{\"content\":"
	    "\"\\\"usage\\\":{}\"}}]," CHAT "}", "36 20 64 7" },
	{ "chat, before its choices", WIRE_CHAT, 0,
	    "{" CHAT ",\"choices\":[]}", "36 20 64 7" },
	{ "chat that does not say", WIRE_CHAT, 0,
	    "{\"choices\":[],\"usage\":null}", "" },
	{ "chat with half of it", WIRE_CHAT, 0,
	    "{\"usage\":{\"prompt_tokens\":3}}", "" },
	{ "chat with numbers that are none", WIRE_CHAT, 0,
	    "{\"usage\":{\"prompt_tokens\":-3,\"completion_tokens\":1}}", "" },
	{ "chat that is no JSON", WIRE_CHAT, 0,
	    "{" CHAT ",,}", "36 20 64 7" },
	{ "a member that is no JSON", WIRE_CHAT, 0, "{\"usage\":{\"prompt_"
	    "tokens\":3,\"completion_tokens\":1,,}}", "" },
	{ "chat stream", WIRE_CHAT, 1,
	    "data: {\"choices\":[{\"delta\":{\"content\":\"usage\"}}],"
	    "\"usage\":null}\n\n: ping\n\ndata: {\"choices\":[]," CHAT "}\n\n"
	    "data: [DONE]\n\n", "36 20 64 7" },
	{ "chat stream that does not say", WIRE_CHAT, 1,
	    "data: {\"choices\":[{\"delta\":{}}]}\n\ndata: [DONE]\n\n", "" },
	{ "chat stream whose last event lacks its end", WIRE_CHAT, 1,
	    "data: {" CHAT "}\n", "36 20 64 7" },
	{ "messages", WIRE_MESSAGES, 0, "{\"content\":[],\"usage\":{"
	    "\"input_tokens\":10,\"cache_creation_input_tokens\":5,"
	    "\"cache_read_input_tokens\":64,\"output_tokens\":20,"
	    "\"server_tool_use\":null}}", "15 20 64 0" },
	{ "messages stream", WIRE_MESSAGES, 1,
	    "event: message_start\r\ndata: {\"type\":\"message_start\","
	    "\"message\":{\"usage\":{\"input_tokens\":36,"
	    "\"cache_read_input_tokens\":64,\"output_tokens\":1}}}\r\n\r\n"
	    "event: message_delta\r\ndata: {\"type\":\"message_delta\","
	    "\"delta\":{},\"usage\":{\"output_tokens\":20,"
	    "\"output_tokens_details\":{\"thinking_tokens\":7}}}\r\n\r\n",
	    "36 20 64 7" },
	{ "messages stream that breaks off", WIRE_MESSAGES, 1,
	    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{"
	    "\"input_tokens\":36,\"output_tokens\":1}}}\n\ndata: {\"ty",
	    "36 1 0 0" },
	{ "responses", WIRE_RESPONSES, 0, "{\"output\":[]," RESPONSES "}",
	    "36 20 64 7" },
	{ "responses stream", WIRE_RESPONSES, 1,
	    "data: {\"type\":\"response.created\",\"response\":{\"usage\":"
	    "null}}\n\ndata: {\"type\":\"response.completed\",\"response\":{"
	    RESPONSES "}}\n\n", "36 20 64 7" },
};
/* clang-format on */

/* What is noticed of ${s} in two pieces, as text. */
static void
notice(char *line, size_t size, enum conf_wire wire, int stream, const char *s,
    size_t cut)
{
	struct used *U = used_new(wire_of(wire), stream);
	struct usage u = {0};

	used_see(U, s, cut);
	used_see(U, s + cut, strlen(s) - cut);
	used_end(U, &u);
	used_free(U);
	line[0] = '\0';
	if (u.known)
		(void)snprintf(line, size, "%d %d %d %d", (int)u.input,
		    (int)u.output, (int)u.cached, (int)u.reasoning);
}

/* A member, and an event, larger than what is kept of either. */
static void
test_bounds(void)
{
	struct buf b = BUF_INIT(1 << 25);
	char line[64];
	size_t i;

	buf_puts(&b,
	    "{\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1,"
	    "\"x\":\"");
	for (i = 0; i < 65536 / 16; i++)
		buf_puts(&b, "0123456789abcdef");
	buf_puts(&b, "\"}}");
	buf_put(&b, "", 1);
	notice(line, sizeof(line), WIRE_CHAT, 0, b.p, 0);
	ok(line[0] == '\0', "a member without end is not kept");
	b.len = 0;
	buf_puts(&b, "data: ");
	for (i = 0; i < (9U << 20) / 16; i++)
		buf_puts(&b, "0123456789abcdef");
	buf_puts(&b, "\n\ndata: {" CHAT "}\n\n");
	buf_put(&b, "", 1);
	notice(line, sizeof(line), WIRE_CHAT, 1, b.p, 0);
	ok(line[0] == '\0', "nor an event without end");
	buf_free(&b);
}

int
main(void)
{
	char line[64];
	size_t i, cut;
	int good;

	for (i = 0; i < NELEM(rows); i++) {
		for (good = 1, cut = 0; good && cut <= strlen(rows[i].in);
		     cut++) {
			notice(line, sizeof(line), rows[i].wire, rows[i].stream,
			    rows[i].in, cut);
			good = strcmp(line, rows[i].out) == 0;
		}
		ok(good, rows[i].name);
		if (!good)
			printf("# cut at %zu: <%s>\n", cut - 1, line);
	}
	test_bounds();
	return (done_testing());
}
