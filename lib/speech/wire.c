#include "speech/wire.h"
#include "speech/wire_chat.h"

/* clang-format off */
static const struct wire wires[] = {
	[WIRE_CHAT] = { WIRE_CHAT, "openai-chat", "/chat/completions",
	    "Authorization", "Bearer ", NULL, "choices",
	    wire_chat_write, wire_chat_read, NULL },
	[WIRE_RESPONSES] = { WIRE_RESPONSES, "openai-responses", "/responses",
	    "Authorization", "Bearer ", NULL, "output", NULL, NULL,
	    NULL },
	[WIRE_MESSAGES] = { WIRE_MESSAGES, "anthropic-messages", "/messages",
	    "x-api-key", "", "anthropic-version: 2023-06-01", "content",
	    NULL, NULL, NULL },
};
/* clang-format on */

const struct wire *
wire_of(enum conf_wire kind)
{

	return (&wires[kind]);
}
