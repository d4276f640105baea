#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "speech/pick.h"
#include "speech/stored.h"

#define DEPTH_MAX 128
#define HEX "0123456789abcdef"

/* Is the string ${v} an id of ours?  Then write it. */
static int
is_ours(struct jspan v, char id[static FILE_IDMAX + 1])
{
	static const char *const prefixes[] = {"file-", "file_", "cfile_"};
	char s[64];
	size_t i, n;

	if (!pick_is(v, '"') || v.len - 2 >= sizeof(s))
		return (0);
	memcpy(s, v.p + 1, v.len - 2);
	s[v.len - 2] = '\0';
	for (i = 0; i < 3; i++) {
		n = strlen(prefixes[i]);
		if (strncmp(s, prefixes[i], n) == 0 &&
		    strlen(s) == n + FILE_IDLEN &&
		    strspn(s + n, HEX) == FILE_IDLEN)
			return (file_id_parse(s, id) == 0);
	}
	return (0);
}

/* Most requests name no file: one look at their bytes tells. */
static int
may_hold(struct jspan root)
{

	return (memmem(root.p, root.len, "\"file-", 6) != NULL ||
	    memmem(root.p, root.len, "\"file_", 6) != NULL ||
	    memmem(root.p, root.len, "\"cfile_", 7) != NULL);
}

static size_t step(struct stored *, size_t, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/* Write a step of the position after its first ${len} bytes. */
static size_t
step(struct stored *s, size_t len, const char *fmt, ...)
{
	size_t room = sizeof(s->where) - len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->where + len, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		return (len);
	return (len + ((size_t)n < room ? (size_t)n : room - 1));
}

/* Does this value, found under that key, name a file? */
static int
look(struct jspan v, int named, struct stored *s, size_t len, int depth)
{
	struct jspan_iter it;
	struct jspan key, x;
	size_t i, n;
	int file;

	if (named && is_ours(v, s->id))
		return (1);
	if (depth == DEPTH_MAX || jspan_iter(&it, v))
		return (0);
	for (i = 0; jspan_next(&it, &key, &x); i++) {
		if (it.object) {
			n = step(s, len, "%s%.*s", len > 0 ? "." : "",
			    (int)(key.len < 66 ? key.len - 2 : 64), key.p + 1);
			file = jspan_is(key, "file_id") ||
			    jspan_is(key, "file_ids");
		} else {
			n = step(s, len, "[%zu]", i);
			file = named;
		}
		if (look(x, file, s, n, depth + 1))
			return (1);
	}
	return (0);
}

int
stored_find(struct jspan root, struct stored *s)
{

	s->where[0] = '\0';
	return (may_hold(root) && look(root, 0, s, 0, 0));
}
