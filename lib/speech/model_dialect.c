#include "speech/messages.h"
#include "speech/model_dialect.h"

const struct model_dialect model_messages = {
    "/v1/messages",
    WIRE_MESSAGES,
    &dialect_anthropic,
    messages_read,
    messages_gather,
    messages_stream,
};

const struct model_dialect model_responses = {
    "/v1/responses",
    WIRE_RESPONSES,
    &dialect_openai,
    NULL,
    NULL,
    NULL,
};

const struct model_dialect model_chat = {
    "/v1/chat/completions",
    WIRE_CHAT,
    &dialect_openai,
    NULL,
    NULL,
    NULL,
};
