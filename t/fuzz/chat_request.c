/* Chat requests of any bytes, see request.h. */

#include "speech/chat.h"

#include "request.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{

	return (request_fuzz(chat_read, data, len, 1U << OUR_CODE));
}
