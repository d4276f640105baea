#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "speech/pick.h"
#include "speech/stored.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define DEPTH_MAX 128
#define HEX "0123456789abcdef"

/* A value on the way down, and under which key it lies. */
struct level {
	struct jspan v, key;
};

/* A walk through a request. */
struct walk {
	struct level level[DEPTH_MAX + 1];
	int depth;
	int media;
	struct stored s;
	stored_fn *fn;
	void *cookie;
};

/* Read the string ${v} as the id of a file. */
static void
read_id(struct jspan v, struct stored *st)
{
	char s[FILE_IDMAX + 1];

	st->id[0] = '\0';
	st->ours = 0;
	if (v.len - 2 >= sizeof(s) || memchr(v.p, '\\', v.len) != NULL)
		return; /* No id has that form. */
	memcpy(s, v.p + 1, v.len - 2);
	s[v.len - 2] = '\0';
	if (file_id_parse(s, st->id))
		st->id[0] = '\0';
	else
		st->ours = strcmp(s, st->id) != 0;
}

/* Most requests hold no file: one look at their bytes tells.  A key may be
 * spelled by escapes. */
static int
may_hold(struct jspan root, int media)
{
	static const char *const words[] = {
	    "file_id", "\\u00", "_url", "file_data", "source"};
	size_t i;

	for (i = 0; i < (media ? NELEM(words) : 2U); i++)
		if (memmem(root.p, root.len, words[i], strlen(words[i])))
			return (1);
	return (0);
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

static int
has_type(struct jspan o, const char *type)
{
	struct jspan v;

	return (jspan_get(o, "type", &v) > 0 && jspan_is(v, type));
}

/* Does the type of ${o}, a plain word, end so? */
static int
type_ends(struct jspan o, const char *end)
{
	const size_t len = strlen(end);
	struct jspan v;

	return (jspan_get(o, "type", &v) > 0 && pick_is(v, '"') &&
	    v.len >= len + 2 && memcmp(v.p + v.len - 1 - len, end, len) == 0);
}

/* Is the member ${key} of ${o} the caller's own affair, whatever is in it? */
static int
is_callers(struct jspan o, struct jspan key)
{
	static const char *const keys[] = {"input_schema", "output_schema",
	    "input_examples", "parameters", "schema", "metadata", "arguments"};
	size_t i;

	for (i = 0; i < NELEM(keys); i++)
		if (jspan_is(key, keys[i]))
			return (1);
	return (jspan_is(key, "input") && type_ends(o, "tool_use"));
}

/* The form of a name in the object at the walk's end. */
static void
find_form(struct walk *w)
{
	/* clang-format off */
	static const struct {
		const char *own, *key, *outer; /* NULL: whatever. */
		enum stored_form form;
	} rows[] = {
		{ "file", "source", "image", STORED_IMAGE },
		{ "file", "source", "document", STORED_DOCUMENT },
		{ "container_upload", NULL, NULL, STORED_UPLOAD },
		{ "input_image", NULL, NULL, STORED_INPUT_IMAGE },
		{ "input_file", NULL, NULL, STORED_INPUT_FILE },
		{ NULL, "file", "file", STORED_CHAT_FILE },
		{ "container_file_citation", NULL, NULL, STORED_CITED },
		{ "file_citation", NULL, NULL, STORED_CITED },
		{ "file_path", NULL, NULL, STORED_CITED },
	};
	/* clang-format on */
	const struct level *own = &w->level[w->depth];
	const struct level *outer = w->depth > 0 ? own - 1 : own;
	struct jspan v;
	size_t i;

	w->s.form = STORED_OTHER;
	w->s.block = w->s.source = own->v;
	w->s.named = jspan_get(own->v, "filename", &v) > 0;
	for (i = 0; i < NELEM(rows); i++) {
		if (rows[i].own != NULL && !has_type(own->v, rows[i].own))
			continue;
		if (rows[i].key != NULL &&
		    (outer == own || !jspan_is(own->key, rows[i].key) ||
			!has_type(outer->v, rows[i].outer)))
			continue;
		w->s.form = rows[i].form;
		if (rows[i].key != NULL || rows[i].form == STORED_CITED)
			w->s.block = outer->v;
		return;
	}
	if (type_ends(own->v, "code_execution_output") &&
	    pick_is(outer->v, '[')) {
		w->s.form = STORED_MADE;
		w->s.block = outer->v;
	}
}

/* Does a call's result hold what is at the walk's end? */
static int
in_result(const struct walk *w)
{
	struct jspan v;
	int i;

	for (i = 0; i <= w->depth; i++) {
		v = w->level[i].v;
		if (pick_is(v, '{') &&
		    (type_ends(v, "_result") || type_ends(v, "_output") ||
			(jspan_get(v, "role", &v) > 0 && jspan_is(v, "tool"))))
			return (1);
	}
	return (0);
}

/* Give what is at the walk's end to the callback. */
static int
give(struct walk *w)
{

	w->s.result = in_result(w);
	return (w->fn(w->cookie, &w->s));
}

/* Look at the members of the value at the walk's end. */
static int
look(struct walk *w, int named, size_t len)
{
	struct level *l = &w->level[w->depth];
	struct jspan_iter it;
	struct jspan key = {0}, x;
	size_t i, n;
	int below = 0, rc = 0;

	if (w->media && stored_media(l->v, &w->s))
		return (give(w));
	if (w->depth == DEPTH_MAX || jspan_iter(&it, l->v))
		return (0);
	for (i = 0; rc == 0 && jspan_next(&it, &key, &x); i++) {
		if (it.object) {
			n = step(&w->s, len, "%s%.*s", len > 0 ? "." : "",
			    (int)(key.len < 66 ? key.len - 2 : 64), key.p + 1);
			below = jspan_is(key, "file_ids");
		} else {
			n = step(&w->s, len, "[%zu]", i);
			below = named;
		}
		if (it.object && w->depth > 0 && is_callers(l->v, key))
			continue;
		if (pick_is(x, '"') &&
		    (it.object ? jspan_is(key, "file_id") : named)) {
			read_id(x, &w->s);
			find_form(w);
			if (!it.object) /* "file_ids" */
				w->s.form = STORED_OTHER;
			w->s.member = it.object
			    ? (struct jspan){key.p,
				  (size_t)(x.p + x.len - key.p)}
			    : x;
			w->s.data = (struct jspan){NULL, 0};
			rc = give(w);
			continue;
		}
		l[1] = (struct level){x, it.object ? key : (struct jspan){0}};
		w->depth++;
		rc = look(w, below, n);
		w->depth--;
	}
	return (rc);
}

int
stored_each(struct jspan root, int media, stored_fn *fn, void *cookie)
{
	struct walk w = {
	    .level[0].v = root, .media = media, .fn = fn, .cookie = cookie};

	return (may_hold(root, media) ? look(&w, 0, 0) : 0);
}

int
stored_fits(const struct stored *s, int image)
{

	switch (s->form) {
	case STORED_IMAGE:
	case STORED_INPUT_IMAGE:
		return (image);
	case STORED_DOCUMENT:
	case STORED_INPUT_FILE:
	case STORED_CHAT_FILE:
		return (!image);
	default:
		return (1);
	}
}
