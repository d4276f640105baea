/* Lists of texts from any bytes: the words, or nothing; and back again. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jail/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf text = BUF_INIT(len + 1), again = BUF_INIT(2 * len + 64);
	size_t n, i;
	char **w;

	if (memchr(data, '\0', len) != NULL)
		return (0);
	(void)buf_put(&text, data, len);
	w = words_read(text.p, 100, &n);
	if (w != NULL) {
		for (i = 0; i < n; i++)
			(void)words_put(&again, w[i], strlen(w[i]));
		if (n > 100 || w[n] != NULL || !buf_ok(&again) ||
		    again.len != text.len ||
		    (text.len > 0 && memcmp(again.p, text.p, text.len) != 0))
			abort();
	}
	free(w);
	buf_free(&text);
	buf_free(&again);
	return (0);
}
