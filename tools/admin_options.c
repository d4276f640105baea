#include <string.h>

#include "tools/admin.h"

/* The option of ${opts} that ${word} names, or NULL. */
static const struct admin_opt *
find(const char *word, const struct admin_opt *opts, size_t nopts)
{
	size_t i;

	for (i = 0; i < nopts; i++)
		if (strcmp(word + 2, opts[i].name) == 0)
			return (&opts[i]);
	return (NULL);
}

/* Take ${o}, whose value would be ${value}.  Return the words used, or -1. */
static int
take(const struct admin_opt *o, const char *value)
{

	if (o->flag != NULL) {
		*o->flag = 1;
		return (1);
	}
	if (*o->value != NULL)
		return (admin_usage("--%s is given twice", o->name), -1);
	if (value == NULL)
		return (admin_usage("--%s needs a value", o->name), -1);
	*o->value = value;
	return (2);
}

int
admin_options(int argc, char **argv, const struct admin_opt *opts, size_t nopts,
    const char **words, size_t nwords)
{
	const struct admin_opt *o;
	size_t n = 0;
	int i, used;

	for (i = 0; i < argc; i += used) {
		used = 1;
		if (strncmp(argv[i], "--", 2) != 0) {
			if (n == nwords)
				return (admin_usage(
					    "one word too many: %s", argv[i]),
				    -1);
			words[n++] = argv[i];
			continue;
		}
		if ((o = find(argv[i], opts, nopts)) == NULL)
			return (admin_usage("unknown option %s", argv[i]), -1);
		used = take(o, i + 1 < argc ? argv[i + 1] : NULL);
		if (used == -1)
			return (-1);
	}
	if (n < nwords)
		return (admin_usage("%zu word(s) missing", nwords - n), -1);
	return (0);
}
