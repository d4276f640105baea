/* Messages requests of any bytes, see request.h. */

#include "speech/messages.h"

#include "request.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{

	return (request_fuzz(
	    messages_read, data, len, 1U << OUR_BASH | 1U << OUR_EDITOR));
}
