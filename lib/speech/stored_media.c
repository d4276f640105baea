#include <string.h>

#include "speech/pick.h"
#include "speech/stored.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/*
 * By the type of the part: in which member the rest is, of which type that must
 * be, what holds the bytes or their address, and what is beside that.  NULL:
 * none.
 */
/* clang-format off */
static const struct {
	const char *type, *in, *in_type, *data, *mime, *name;
	enum stored_form form;
} rows[] = {
	{ "image", "source", "base64", "data", "media_type", NULL,
	    STORED_IMAGE },
	{ "image", "source", "url", "url", NULL, NULL, STORED_IMAGE },
	{ "document", "source", "base64", "data", "media_type", NULL,
	    STORED_DOCUMENT },
	{ "document", "source", "url", "url", NULL, NULL, STORED_DOCUMENT },
	{ "input_image", NULL, NULL, "image_url", NULL, NULL,
	    STORED_INPUT_IMAGE },
	{ "input_file", NULL, NULL, "file_data", NULL, "filename",
	    STORED_INPUT_FILE },
	{ "input_file", NULL, NULL, "file_url", NULL, "filename",
	    STORED_INPUT_FILE },
	{ "image_url", "image_url", NULL, "url", NULL, NULL,
	    STORED_CHAT_IMAGE },
	{ "image_url", NULL, NULL, "image_url", NULL, NULL,
	    STORED_CHAT_IMAGE },
	{ "file", "file", NULL, "file_data", NULL, "filename",
	    STORED_CHAT_FILE },
};
/* clang-format on */

/* The string ${key} of ${o}; p NULL if there is none. */
static struct jspan
string(struct jspan o, const char *key)
{
	static const struct jspan none = {NULL, 0};
	struct jspan v;

	if (key == NULL || jspan_get(o, key, &v) == 0 || !pick_is(v, '"'))
		return (none);
	return (v);
}

static int
is_type(struct jspan o, const char *type)
{
	struct jspan v = string(o, "type");

	return (v.p != NULL && jspan_is(v, type));
}

int
stored_media(struct jspan v, struct stored *s)
{
	struct jspan in, data;
	size_t i;

	if (!pick_is(v, '{') || string(v, "type").p == NULL)
		return (0);
	for (i = 0; i < NELEM(rows); i++) {
		in = v;
		if (!is_type(v, rows[i].type) ||
		    (rows[i].in != NULL &&
			(jspan_get(v, rows[i].in, &in) == 0 ||
			    !pick_is(in, '{'))) ||
		    (rows[i].in_type != NULL && !is_type(in, rows[i].in_type)))
			continue;
		if ((data = string(in, rows[i].data)).p == NULL)
			continue;
		s->form = rows[i].form;
		s->block = v;
		s->source = in;
		s->data = s->member = data;
		s->mime = string(in, rows[i].mime);
		s->name = string(in, rows[i].name);
		s->bare =
		    strcmp(rows[i].data, "file_data") == 0 || s->mime.p != NULL;
		if (s->form == STORED_DOCUMENT)
			s->name = string(v, "title");
		return (1);
	}
	return (0);
}

int
stored_is_image(const struct stored *s)
{

	return (s->form == STORED_IMAGE || s->form == STORED_INPUT_IMAGE ||
	    s->form == STORED_CHAT_IMAGE);
}
