#include "speech/wire.h"
#include "speech/wire_chat.h"
#include "speech/wire_messages.h"
#include "speech/wire_responses.h"

/* clang-format off */
static const struct wire wires[] = {
	[WIRE_CHAT] = { WIRE_CHAT, "openai-chat", "/chat/completions",
	    "Authorization", "Bearer ", NULL, "choices",
	    wire_chat_write, wire_chat_read, wire_chat_usage,
	    wire_chat_stream },
	[WIRE_RESPONSES] = { WIRE_RESPONSES, "openai-responses", "/responses",
	    "Authorization", "Bearer ", NULL, "output",
	    wire_responses_write, wire_responses_read,
	    wire_responses_usage, wire_responses_stream },
	[WIRE_MESSAGES] = { WIRE_MESSAGES, "anthropic-messages", "/messages",
	    "x-api-key", "", "anthropic-version: 2023-06-01", "content",
	    wire_messages_write, wire_messages_read,
	    wire_messages_usage, wire_messages_stream },
};
/* clang-format on */

const struct wire *
wire_of(enum conf_wire kind)
{

	return (&wires[kind]);
}
