#include "speech/chat.h"
#include "speech/messages.h"
#include "speech/model_dialect.h"
#include "speech/responses.h"

const struct model_dialect model_messages = {
    WIRE_MESSAGES,
    &dialect_anthropic,
    messages_read,
    messages_gather,
    messages_stream,
};

const struct model_dialect model_responses = {
    WIRE_RESPONSES,
    &dialect_openai,
    responses_read,
    responses_gather,
    responses_stream,
};

const struct model_dialect model_chat = {
    WIRE_CHAT,
    &dialect_openai,
    chat_read,
    chat_gather,
    chat_stream,
};
