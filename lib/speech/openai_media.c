#include "base/buf.h"

#include "speech/media.h"
#include "speech/openai_read.h"
#include "speech/pick.h"
#include "speech/talk.h"

#define RESULT_MAX (64U << 20)

int
openai_stored(
    struct reader *rd, struct jspan v, const char *key, int image, int newest)
{
	struct part *p;
	const char *id;
	size_t mark;

	if (reader_get_str(rd, v, key, &id))
		return (-1);
	mark = reader_in(rd, key);
	if ((p = talk_media(rd->talk, TALK_USER, id)) == NULL ||
	    (p->where = reader_where(rd)) == NULL)
		return (reader_no_memory(rd));
	reader_out(rd, mark);
	p->media->image = image;
	p->newest = newest;
	return (0);
}

/* A part whose bytes, or whose address, ${set} takes from ${x}. */
static int
add(struct reader *rd, struct text x, struct media more, int newest,
    int (*set)(struct arena *, struct text, struct media *))
{
	struct part *p = talk_media(rd->talk, TALK_USER, NULL);

	if (p == NULL || (p->where = reader_where(rd)) == NULL)
		return (reader_no_memory(rd));
	p->newest = newest;
	*p->media = more;
	switch (set(rd->talk->mem, x, p->media)) {
	case 0:
		return (0);
	case 1:
		return (reader_refuse(rd,
		    "must be a data URL in base64, or an address of http or "
		    "https"));
	default:
		return (reader_no_memory(rd));
	}
}

int
openai_file(struct reader *rd, struct jspan v, int newest)
{
	struct media more = {0};
	struct jspan m;
	struct text x;

	if (reader_member(v, "file_id", &m))
		return (openai_stored(rd, v, "file_id", 0, newest));
	if (reader_member(v, "filename", &m) &&
	    reader_get_str(rd, v, "filename", &more.name))
		return (-1);
	if (reader_member(v, "file_data", &m)) {
		if (reader_get_text(rd, v, "file_data", &x))
			return (-1);
		return (add(rd, x, more, newest, media_file_data));
	}
	if (!reader_member(v, "file_url", &m))
		return (reader_refuse(
		    rd, "must have one of file_id, file_data and file_url"));
	if (reader_get_text(rd, v, "file_url", &x))
		return (-1);
	return (add(rd, x, more, newest, media_url));
}

int
openai_image(struct reader *rd, struct text url, const char *detail, int newest)
{
	const struct media more = {.image = 1, .detail = detail};

	return (add(rd, url, more, newest, media_url));
}

static int
is_text(struct jspan part)
{
	struct jspan type;

	return (reader_member(part, "type", &type) &&
	    (jspan_is(type, "text") || jspan_is(type, "input_text") ||
		jspan_is(type, "output_text")));
}

/* Add what is no text, and mark it as a result's. */
static int
show(struct reader *rd, struct part *result, struct jspan part,
    int (*read)(void *, struct jspan), void *cookie)
{
	struct part **end = rd->talk->last->end, *p;

	if (read(cookie, part))
		return (-1);
	for (p = *end; p != NULL; p = p->next)
		p->result = result;
	return (0);
}

int
openai_result(struct reader *rd, struct part *p, struct jspan list,
    const char *join, int (*read)(void *, struct jspan), void *cookie)
{
	struct buf b = BUF_INIT(RESULT_MAX);
	struct jspan_iter it;
	struct jspan part;
	struct text x;
	size_t i = 0, mark;
	int rc = 0, noted = 0;

	if (jspan_iter(&it, list) || it.object)
		return (reader_refuse(rd, "must be a string or a list"));
	while (rc == 0 && jspan_next(&it, NULL, &part)) {
		mark = reader_at(rd, i++);
		if (is_text(part)) {
			rc = reader_get_text(rd, part, "text", &x);
			if (rc == 0 && b.len > 0)
				buf_puts(&b, join);
			if (rc == 0)
				buf_put(&b, x.p, x.len);
		} else {
			if (!noted)
				rc = openai_note(
				    rd, TALK_USER, "[result of %.80s]", p->id);
			noted = 1;
			rc = rc ? rc : show(rd, p, part, read, cookie);
		}
		if (rc == 0)
			reader_out(rd, mark);
	}
	if (rc == 0 && talk_text(rd->talk, b.p, b.len, &p->text))
		rc = reader_no_memory(rd);
	buf_free(&b);
	return (rc);
}
