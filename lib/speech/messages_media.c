#include <string.h>

#include "speech/foreign.h"
#include "speech/media.h"
#include "speech/messages.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* A block being read. */
struct block {
	struct jspan v, source;
	int image, newest;
	const char *title;
};

static int
say(struct reader *rd, struct text x)
{
	struct part *p;

	if (x.len == 0)
		return (0);
	if ((p = talk_add(rd->talk, TALK_USER, PART_TEXT)) == NULL)
		return (reader_no_memory(rd));
	p->text = x;
	return (0);
}

/* A new part with media; NULL after refusing. */
static struct part *
add(struct reader *rd, const struct block *k, const char *id)
{
	struct part *p = talk_media(rd->talk, TALK_USER, id);

	if (p == NULL || (p->where = reader_where(rd)) == NULL) {
		(void)reader_no_memory(rd);
		return (NULL);
	}
	p->newest = k->newest;
	p->media->image = k->image;
	p->media->name = k->title;
	return (p);
}

static int
source_file(struct reader *rd, const struct block *k)
{
	const char *id;

	if (reader_get_str(rd, k->source, "file_id", &id))
		return (-1);
	return (add(rd, k, id) != NULL ? 0 : -1);
}

static int
source_base64(struct reader *rd, const struct block *k)
{
	struct part *p;

	if ((p = add(rd, k, NULL)) == NULL ||
	    reader_get_str(rd, k->source, "media_type", &p->media->mime))
		return (-1);
	return (reader_get_text(rd, k->source, "data", &p->media->data));
}

static int
source_url(struct reader *rd, const struct block *k)
{
	struct text url;
	struct part *p;

	if (reader_get_text(rd, k->source, "url", &url) ||
	    (p = add(rd, k, NULL)) == NULL)
		return (-1);
	switch (media_url(rd->talk->mem, url, p->media)) {
	case 0:
		return (0);
	case 1:
		return (reader_refuse(
		    rd, "url must be an address of http or https"));
	default:
		return (reader_no_memory(rd));
	}
}

/* A document that is text already, under a line with its title. */
static int
source_text(struct reader *rd, const struct block *k)
{
	struct text x;

	if (k->title != NULL &&
	    say(rd, (struct text){k->title, strlen(k->title)}))
		return (-1);
	if (reader_get_text(rd, k->source, "data", &x))
		return (-1);
	return (say(rd, x));
}

/* In place of what cannot be shown: the text that it holds. */
static int
say_foreign(struct reader *rd, struct jspan v)
{
	const char *type;
	struct text x;

	if (reader_get_str(rd, v, "type", &type))
		return (-1);
	return (foreign_line(rd->talk, type, v, &x) ? reader_no_memory(rd)
						    : say(rd, x));
}

static int
read_inner(struct reader *rd, struct jspan v, const struct block *k)
{
	struct jspan type;
	struct text x;

	if (reader_member(v, "type", &type) && jspan_is(type, "image"))
		return (messages_read_media(rd, v, k->newest));
	if (!reader_member(v, "type", &type) || !jspan_is(type, "text"))
		return (say_foreign(rd, v));
	if (reader_get_text(rd, v, "text", &x))
		return (-1);
	return (say(rd, x));
}

/* A document that is made of blocks, or a string. */
static int
source_content(struct reader *rd, const struct block *k)
{
	size_t mark = reader_in(rd, "content"), i = 0, inner;
	struct jspan content, v;
	struct jspan_iter it;
	struct text x;

	if (k->title != NULL &&
	    say(rd, (struct text){k->title, strlen(k->title)}))
		return (-1);
	if (!reader_member(k->source, "content", &content))
		return (reader_refuse(rd, "is required"));
	if (pick_is(content, '"')) {
		if (reader_text(rd, content, &x) || say(rd, x))
			return (-1);
	} else if (jspan_iter(&it, content) || it.object)
		return (reader_refuse(rd, "must be a string or a list"));
	else
		while (jspan_next(&it, NULL, &v)) {
			inner = reader_at(rd, i++);
			if (read_inner(rd, v, k))
				return (-1);
			reader_out(rd, inner);
		}
	reader_out(rd, mark);
	return (0);
}

/* clang-format off */
static const struct {
	const char *type;
	int image; /* An image may have it too. */
	int (*read)(struct reader *, const struct block *);
} sources[] = {
	{ "file", 1, source_file },
	{ "base64", 1, source_base64 },
	{ "url", 1, source_url },
	{ "text", 0, source_text },
	{ "content", 0, source_content },
};
/* clang-format on */

static int
read_source(struct reader *rd, const struct block *k)
{
	const char *type;
	size_t i;

	if (reader_get_str(rd, k->source, "type", &type))
		return (-1);
	for (i = 0; i < NELEM(sources); i++)
		if (strcmp(sources[i].type, type) == 0 &&
		    (sources[i].image || !k->image))
			return (sources[i].read(rd, k));
	if (!k->newest) /* An older turn never ends the conversation. */
		return (say_foreign(rd, k->v));
	return (reader_refuse(
	    rd, "a source of type %.80s cannot stand here", type));
}

int
messages_read_media(struct reader *rd, struct jspan v, int newest)
{
	size_t mark = reader_in(rd, "source");
	struct block k = {.v = v, .newest = newest};
	struct jspan m;

	if (!reader_member(v, "source", &k.source) || !pick_is(k.source, '{') ||
	    !reader_member(v, "type", &m))
		return (reader_refuse(rd, "must be an object with a type"));
	k.image = jspan_is(m, "image");
	if (!k.image && reader_member(v, "title", &m) &&
	    reader_get_str(rd, v, "title", &k.title))
		return (-1);
	if (read_source(rd, &k))
		return (-1);
	reader_out(rd, mark);
	return (0);
}

int
messages_read_upload(struct reader *rd, struct jspan v, int newest)
{
	struct part *p = talk_add(rd->talk, TALK_USER, PART_FILE);

	if (p == NULL || (p->where = reader_where(rd)) == NULL)
		return (reader_no_memory(rd));
	p->newest = newest;
	return (reader_get_str(rd, v, "file_id", &p->id));
}
