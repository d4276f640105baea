#include <stdlib.h>
#include <string.h>

#include <printbuf.h>

#include "base/jraw.h"

struct raw {
	size_t len;
	char text[];
};

static int
write_raw(json_object *o, struct printbuf *b, int level, int flags)
{
	const struct raw *raw = json_object_get_userdata(o);

	(void)level;
	(void)flags;
	return (printbuf_memappend(b, raw->text, (int)raw->len));
}

static void
free_raw(json_object *o, void *raw)
{

	(void)o;
	free(raw);
}

json_object *
jraw(const char *text, size_t len)
{
	struct raw *raw;
	json_object *o;

	if ((raw = malloc(sizeof(*raw) + len)) == NULL)
		return (NULL);
	if ((o = json_object_new_object()) == NULL) {
		free(raw);
		return (NULL);
	}
	raw->len = len;
	memcpy(raw->text, text, len);
	json_object_set_serializer(o, write_raw, raw, free_raw);
	return (o);
}
