#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "data/file.h"
#include "speech/dialect.h"

#define BETA "files-api-"

/* Does the comma list ${s} hold a value that begins with BETA? */
static int
lists_beta(const char *s)
{

	for (; *s != '\0'; s += strcspn(s, ",")) {
		s += strspn(s, ", \t");
		if (strncmp(s, BETA, strlen(BETA)) == 0)
			return (1);
	}
	return (0);
}

const struct dialect *
dialect_choose(const char *version, const char *beta)
{

	if (version != NULL && *version != '\0')
		return (&dialect_anthropic);
	if (beta != NULL && lists_beta(beta))
		return (&dialect_anthropic);
	return (&dialect_openai);
}

const char *
file_id_print(const char *id, char out[static FILE_PRINTMAX])
{
	int ours;

	ours = strlen(id) == FILE_IDLEN &&
	    strspn(id, "0123456789abcdef") == FILE_IDLEN;
	(void)snprintf(out, FILE_PRINTMAX, "%s%s", ours ? "file-" : "", id);
	return (out);
}

int
file_is_downloadable(const struct conf *c, const struct file *f)
{

	return (f->origin != FILE_UPLOAD || c->files_uploads_downloadable);
}
