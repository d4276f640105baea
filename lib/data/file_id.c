#include <stdio.h>
#include <string.h>

#include "base/id.h"

#include "data/file_sql.h"

#include "data/file.h"

#define HEX "0123456789abcdef"
#define TIME_DIGITS 12

/* Is ${s} exactly FILE_IDLEN lower-case hex digits? */
static int
is_ours(const char *s)
{

	return (strspn(s, HEX) == FILE_IDLEN && s[FILE_IDLEN] == '\0');
}

int
file_id_parse(const char *s, char id[static FILE_IDMAX + 1])
{
	static const char *const prefixes[] = {"file-", "file_", "cfile_"};
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz"
				      "0123456789_-";
	size_t i, len = strlen(s);

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(s, prefixes[i], strlen(prefixes[i])) == 0 &&
		    is_ours(s + strlen(prefixes[i]))) {
			memcpy(id, s + strlen(prefixes[i]), FILE_IDLEN + 1);
			return (0);
		}
	/* Our digits without a prefix are not a spelling of the id. */
	if (len < 1 || len > FILE_IDMAX || strspn(s, allowed) != len ||
	    is_ours(s))
		return (-1);
	memcpy(id, s, len + 1);
	return (0);
}

int
file_id_make(uint64_t ms, char id[static FILE_IDLEN + 1])
{

	if (snprintf(id, FILE_IDLEN + 1, "%012llx", (unsigned long long)ms) !=
	    TIME_DIGITS)
		return (-1);
	return (id_hex(id + TIME_DIGITS, FILE_IDLEN - TIME_DIGITS));
}

const char *
file_id_bare(const char *s, const char *prefix)
{

	if (strncmp(s, prefix, strlen(prefix)) == 0)
		s += strlen(prefix);
	return (is_ours(s) ? s : NULL);
}

int
file_id_time(const char *id, uint64_t *ms)
{
	uint64_t n = 0;
	size_t i;

	if (!is_ours(id))
		return (-1);
	for (i = 0; i < TIME_DIGITS; i++)
		n = n * 16 + (uint64_t)(strchr(HEX, id[i]) - HEX);
	*ms = n;
	return (0);
}
