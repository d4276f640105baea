#include <string.h>

#include "speech/held.h"
#include "speech/pick.h"
#include "speech/reader.h"

#define DEPTH_MAX 64

static const char output[] = "code_execution_output";
static const char citation[] = "container_file_citation";

int
held_may(const char *p, size_t len)
{

	return (memmem(p, len, output, sizeof(output) - 1) != NULL ||
	    memmem(p, len, citation, sizeof(citation) - 1) != NULL);
}

static int
is_output(struct jspan type)
{
	const size_t len = sizeof(output) - 1;

	return (pick_is(type, '"') && type.len >= len + 2 &&
	    memcmp(type.p + type.len - 1 - len, output, len) == 0);
}

/* If ${o} names a file, fill in ${h}. */
static int
names(struct jspan o, struct held *h)
{
	struct jspan type;

	if (!reader_member(o, "type", &type) ||
	    !reader_member(o, "file_id", &h->id) || !pick_is(h->id, '"'))
		return (0);
	h->name = h->container = (struct jspan){"null", 4};
	if (is_output(type))
		return (1);
	if (!jspan_is(type, citation))
		return (0);
	(void)reader_member(o, "filename", &h->name);
	(void)reader_member(o, "container_id", &h->container);
	return (pick_is(h->container, '"'));
}

static int
look(struct jspan v, int depth, held_fn *fn, void *cookie)
{
	struct jspan_iter it;
	struct jspan x;
	struct held h;
	int rc = 0;

	if (depth == DEPTH_MAX || jspan_iter(&it, v))
		return (0);
	if (it.object && names(v, &h))
		return (fn(cookie, &h));
	while (rc == 0 && jspan_next(&it, NULL, &x))
		rc = look(x, depth + 1, fn, cookie);
	return (rc);
}

int
held_each(struct jspan root, held_fn *fn, void *cookie)
{

	return (look(root, 0, fn, cookie));
}
