#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jspan.h"
#include "base/num.h"
#include "base/utf8.h"

#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/wire.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define MESSAGE_MAX 500
#define DETAILS_MAX 65536
#define DEPTH_MAX 32
#define ARENA_MAX 262144

/*
 * What an upstream's status is to the caller, and whether its words are his: a
 * bad credential or a server in trouble is not his doing.  0 is the rest.
 */
/* clang-format off */
static const struct row {
	int status;
	enum problem kind;
	int words;
	const char *otherwise;
} rows[] = {
	{ 400, P_BAD_REQUEST, 1, "The model provider refused the request." },
	{ 422, P_BAD_REQUEST, 1, "The model provider refused the request." },
	{ 404, P_MODEL, 1, "The model provider knows no such model or path." },
	{ 413, P_BODY_TOO_LARGE, 1,
	    "The request is too large for the model provider." },
	{ 429, P_RATE, 0,
	    "The model provider takes no more requests right now." },
	{ 401, P_UPSTREAM, 0,
	    "The model provider did not accept this gateway's credential." },
	{ 402, P_UPSTREAM, 0,
	    "The model provider did not accept this gateway's account." },
	{ 403, P_UPSTREAM, 0,
	    "The model provider did not accept this gateway's credential." },
	{ 0, P_UPSTREAM, 0, "The model provider answered with an error." },
};

/* What a caller has no business to see; the provider's host joins it. */
static const char *const private[] = {
	"<html", "<!doctype", "localhost", "127.0.0.1", "[::1]", "192.168.",
	"://10.", "://172.", ".internal", ".local:", ".local/",
};
/* clang-format on */

static const struct row *
row_of(int status)
{
	const struct row *r;

	for (r = rows; r->status != 0 && r->status != status; r++)
		continue;
	return (r);
}

/* Does ${s} hold the host of ${base}? */
static int
names_host(const char *s, const char *base)
{
	char host[256];
	const char *p = strstr(base, "://");
	size_t len;

	p = p != NULL ? p + 3 : base;
	len = strcspn(p, "/:?#");
	if (len == 0 || len >= sizeof(host))
		return (0);
	memcpy(host, p, len);
	host[len] = '\0';
	return (strcasestr(s, host) != NULL);
}

static int
is_private(const char *s, const struct conf_provider *p)
{
	size_t i;

	for (i = 0; i < NELEM(private); i++)
		if (strcasestr(s, private[i]) != NULL)
			return (1);
	return (names_host(s, p->base_url) ||
	    (p->api_key != NULL && p->api_key[0] != '\0' &&
		strstr(s, p->api_key) != NULL));
}

/* "body.messages.0", of a path that is a list. */
static void
put_path(struct arena *mem, struct buf *b, struct jspan path)
{
	const size_t before = b->len;
	struct jspan_iter it;
	struct jspan v;
	struct text x;

	if (!pick_is(path, '[') || jspan_iter(&it, path))
		return;
	while (jspan_next(&it, NULL, &v)) {
		if (pick_text(mem, v, &x))
			x = (struct text){v.p, v.len};
		if (b->len > before)
			buf_puts(b, ".");
		buf_put(b, x.p, x.len);
	}
	if (b->len > before)
		buf_puts(b, ": ");
}

/* The words of FastAPI's list of what is wrong with a request, each entry with
 * its place. */
static int
join_details(struct arena *mem, struct jspan list, struct text *words)
{
	struct buf b = BUF_INIT(DETAILS_MAX);
	struct jspan_iter it;
	struct jspan v;
	struct text x;

	for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);) {
		if (pick_text(mem, pick_member(v, "msg"), &x))
			continue;
		if (b.len > 0)
			buf_puts(&b, "; ");
		put_path(mem, &b, pick_member(v, "loc"));
		buf_put(&b, x.p, x.len);
	}
	words->p = b.len > 0 ? arena_strndup(mem, b.p, b.len) : NULL;
	words->len = b.len;
	buf_free(&b);
	return (words->p != NULL ? 0 : -1);
}

/* The upstream's message in whichever shape it has one; NULL if none. */
static char *
message_in(struct arena *mem, struct jspan root)
{
	struct jspan error, v;
	struct text x;
	char *s, *p;

	if (jspan_get(root, "error", &error) == 0)
		error = root;
	v = error;
	if (pick_is(error, '{') && jspan_get(error, "message", &v) == 0 &&
	    jspan_get(error, "detail", &v) == 0)
		return (NULL);
	if ((pick_is(v, '[') ? join_details(mem, v, &x)
			     : pick_text(mem, v, &x)) ||
	    x.len == 0 || memchr(x.p, '\0', x.len) != NULL ||
	    (s = arena_strndup(mem, x.p, x.len)) == NULL)
		return (NULL);
	for (p = s; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = ' ';
	return (s);
}

/* A short word of the error object, as OpenAI's code and param are. */
static void
word_in(struct arena *mem, struct jspan root, const char *key, char *out,
    size_t size)
{
	struct jspan error, v;
	const char *s;

	if (jspan_get(root, "error", &error) == 0 ||
	    jspan_get(error, key, &v) == 0 || (s = pick_str(mem, v)) == NULL ||
	    strcasecmp(s, "none") == 0 || strcasecmp(s, "null") == 0 ||
	    strlen(s) >= size ||
	    strspn(s,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_.-[]") != strlen(s))
		return;
	memcpy(out, s, strlen(s) + 1);
}

/* Nobody can pay for the caller but the operator. */
static int
is_billing(const char *code)
{

	return (strcmp(code, "insufficient_quota") == 0 ||
	    strncmp(code, "billing_", 8) == 0);
}

int
wire_seconds(const char *s)
{
	uint64_t n;

	return (num_u64(s, 1, 86400, &n) ? 0 : (int)n);
}

static void
read_words(struct arena *mem, struct jspan root, const struct row *r,
    const struct conf_provider *p, struct refusal *why)
{
	char *s;

	word_in(mem, root, "code", why->code, sizeof(why->code));
	if (is_billing(why->code)) {
		(void)refuse(
		    why, P_UPSTREAM, NULL, "%s", row_of(402)->otherwise);
		return;
	}
	if (!r->words)
		why->code[0] = '\0';
	if (!r->words || (s = message_in(mem, root)) == NULL ||
	    strcasecmp(s, "none") == 0 || strcasecmp(s, "null") == 0 ||
	    is_private(s, p))
		return;
	s[utf8_cut(s, strlen(s), MESSAGE_MAX)] = '\0';
	memcpy(why->message, s, strlen(s) + 1);
	word_in(mem, root, "param", why->param, sizeof(why->param));
}

int
wire_refuse(const struct conf_provider *p, int status, const char *retry_after,
    const char *text, size_t len, struct refusal *why)
{
	const struct row *r = row_of(status);
	struct jspan_info info;
	struct arena *mem;

	(void)refuse(why, r->kind, NULL, "%s", r->otherwise);
	if (len > 0 && (mem = arena_new(ARENA_MAX)) != NULL) {
		if (jspan_check(text, len, DEPTH_MAX, &info) == JSPAN_OK)
			read_words(mem, info.root, r, p, why);
		arena_free(mem);
	}
	if (why->kind == P_RATE)
		why->retry_after = wire_seconds(retry_after);
	return (-1);
}
