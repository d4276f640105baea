#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/log.h"
#include "base/path.h"
#include "base/utf8.h"

#include "data/file.h"
#include "data/file_held.h"
#include "http/mediatype.h"
#include "speech/pick.h"
#include "speech/reader.h"

#include "run/ask.h"
#include "run/hold.h"
#include "run/hold_copy.h"

#define FIRST_MS 5000 /* A reply has passed; its file has a name until then. */
#define ANSWER_MAX 65536
#define DEPTH 32

static int
see_head(void *cookie, int status, const struct upstream_head *head)
{

	(void)cookie;
	(void)head;
	return (status == 200 ? 0 : -1);
}

static int
see_body(void *cookie, const void *p, size_t len)
{

	return (buf_put(cookie, p, len));
}

/* Ask ${p} what it calls ${h}.  Return 0 with its answer in ${b}, or -1. */
static int
ask(const struct conf_provider *p, const struct file_held *h, struct buf *b)
{
	struct upstream_call call = {.label = p->name,
	    .method = "GET",
	    .gone_fd = -1,
	    .first_ms = FIRST_MS,
	    .total_ms = FIRST_MS,
	    .max = ANSWER_MAX,
	    .on_head = see_head,
	    .on_body = see_body,
	    .cookie = b};
	enum upstream_rc rc = UPSTREAM_FAIL;
	char path[HOLD_PATH_SIZE];
	struct ask_head head;

	if (hold_path(h, "", path))
		return (-1);
	if (ask_head_new(&head, p) == 0 && hold_head(&head, h) == 0) {
		call.base = head.base;
		call.path = path;
		call.headers = (const char *const *)head.header;
		rc = upstream_run(&call);
	}
	ask_head_free(&head);
	return (rc == UPSTREAM_OK ? 0 : -1);
}

/* The string ${key} of ${o}; "" if there is none that can be shown. */
static struct text
get(struct arena *mem, struct jspan o, const char *key)
{
	struct text x = {"", 0};
	struct jspan v;

	if (!reader_member(o, key, &v) || pick_text(mem, v, &x) ||
	    memchr(x.p, '\0', x.len) != NULL || !utf8_valid(x.p, x.len))
		return ((struct text){"", 0});
	return (x);
}

void
hold_name(const struct run_env *env, const struct conf_provider *p,
    const struct file_held *h, uint64_t row)
{
	struct buf b = BUF_INIT(ANSWER_MAX);
	char name[PATH_NAME_SIZE], mime[MEDIATYPE_SIZE];
	struct jspan_info info;
	struct text said, type;
	const char *s;

	if (ask(p, h, &b) == 0 &&
	    jspan_check(b.p, b.len, DEPTH, &info) == JSPAN_OK) {
		said = get(env->mem, info.root,
		    h->container != NULL ? "path" : "filename");
		type = get(env->mem, info.root, "mime_type");
		s = arena_strndup(env->mem, said.p, said.len);
		if (said.len > 0 && s != NULL) {
			path_name(s, name);
			mediatype_choose(type.p, type.len, name, mime);
			file_held_name(env->db, row, name, mime);
			buf_free(&b);
			return;
		}
	}
	buf_free(&b);
	log_warn(
	    "hold: the provider does not tell the name of its file %s", h->id);
}
