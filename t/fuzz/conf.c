/* Settings from any bytes: one line of error or a whole struct. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf_row.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
look(void *cookie, const char *name, const char *value, const char *source,
    const char *help)
{
	size_t *n = cookie;

	*n += strlen(name) + strlen(value) + strlen(source) + strlen(help);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf err = BUF_INIT(8192);
	struct conf c;
	size_t n = 0;

	if (conf_load_text("f", (const char *)data, len, &c, &err) == 0) {
		if (err.len != 0)
			abort();
		conf_each(&c, look, &n);
		if (n == 0 || c.files_root == NULL)
			abort();
		conf_free(&c);
	} else if (err.len == 0 || memchr(err.p, '\n', err.len) != NULL) {
		abort();
	}
	buf_free(&err);
	return (0);
}
