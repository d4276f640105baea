/* A table of languages from any bytes: one line of error or whole rows. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "jail/language.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Whatever was accepted is complete, and found by its own names. */
static void
look(const struct languages *L, const struct language *l)
{
	size_t i;

	if (l->name[0] == '\0' || l->file[0] == '\0' ||
	    strchr(l->file, '/') != NULL || l->packages[0] == '\0' ||
	    l->run[0] == NULL || l->run[0][0] != '/' || l->compile_s == 0 ||
	    languages_find(L, l->name) != l)
		abort();
	for (i = 0; l->aliases[i] != NULL; i++)
		if (languages_find(L, l->aliases[i]) != l)
			abort();
	for (i = 0; l->env[i] != NULL; i++)
		if (strchr(l->env[i], '=') == NULL)
			abort();
	if (l->compile[0] != NULL && l->compile[0][0] != '/')
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf err = BUF_INIT(8192);
	const struct language *l;
	struct languages *L;
	size_t i;

	L = languages_read((const char *)data, len, &err);
	if ((L == NULL) != (err.len > 0))
		abort();
	if (err.len > 0 && memchr(err.p, '\n', err.len) != NULL)
		abort();
	for (i = 0; L != NULL && (l = languages_get(L, i)) != NULL; i++)
		look(L, l);
	languages_free(L);
	buf_free(&err);
	return (0);
}
