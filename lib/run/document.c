#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/charset.h"
#include "base/conf.h"
#include "base/jput.h"
#include "base/log.h"
#include "base/utf8.h"

#include "data/caller.h"
#include "data/document.h"
#include "io/blob.h"
#include "io/sandbox_client.h"
#include "speech/refusal.h"

#include "run/document.h"
#include "run/document_kind.h"
#include "run/document_way.h"
#include "run/room.h"

#define REST UINT64_MAX /* Nobody knows how much is left out. */
#define PAGE_MAX (8U << 20)

/* ---- Bytes */

/* A document being read from its beginning to its end. */
struct source {
	int fd; /* -1: it lies in memory. */
	const unsigned char *p;
	uint64_t len;
};

static int
source_open(
    const struct run_env *env, const struct document *d, struct source *s)
{
	*s = (struct source){-1, d->p, d->bytes};
	if (d->key == NULL)
		return (0);
	return (
	    blob_open(env->store, d->key, &s->len, &s->fd) == BLOB_OK ? 0 : -1);
}

static void
source_close(struct source *s)
{

	if (s->fd != -1)
		(void)close(s->fd);
}

static ssize_t
source_read(void *cookie, uint64_t off, void *buf, size_t len)
{
	const struct source *s = cookie;
	ssize_t n;

	if (s->fd == -1) {
		if (len > s->len - off)
			len = (size_t)(s->len - off);
		memcpy(buf, s->p + off, len);
		return ((ssize_t)len);
	}
	while ((n = pread(s->fd, buf, len, (off_t)off)) == -1)
		if (errno != EINTR)
			break;
	return (n);
}

/* Read ${len} bytes from ${off} into ${out}.  Return 0 or -1. */
static int
source_part(struct source *s, uint64_t off, void *out, size_t len)
{
	size_t at;
	ssize_t n;

	for (at = 0; at < len; at += (size_t)n)
		if ((n = source_read(
			 s, off + at, (char *)out + at, len - at)) <= 0)
			return (-1);
	return (0);
}

/* What a document begins with; p NULL if that cannot be had. */
struct head {
	char *p; /* For free(). */
	size_t len;
};

/* Its first ${most} bytes, or all. */
static struct head
source_head(const struct run_env *env, const struct document *d, size_t most)
{
	struct head h = {NULL, 0};
	struct source s;

	if (source_open(env, d, &s))
		return (h);
	h.len = s.len < most ? (size_t)s.len : most;
	if ((h.p = malloc(h.len + 1)) != NULL &&
	    source_part(&s, 0, h.p, h.len)) {
		free(h.p);
		h.p = NULL;
	}
	source_close(&s);
	return (h);
}

const unsigned char *
document_bytes(const struct run_env *env, const struct document *d)
{
	unsigned char *out = NULL;
	struct source s;

	if (d->key == NULL)
		return (d->p);
	if (source_open(env, d, &s))
		return (NULL);
	if ((out = arena_alloc(env->mem, (size_t)s.len + 1)) != NULL &&
	    (s.len != d->bytes || source_part(&s, 0, out, (size_t)s.len)))
		out = NULL;
	source_close(&s);
	return (out);
}

void
document_look(const struct run_env *env, struct document *d)
{
	struct document_facts f = {
	    .name = d->name, .mime = d->mime, .head = ""};
	struct head head = source_head(env, d, DOCUMENT_HEAD);
	char *tail = NULL;
	struct document_kind k;
	struct source s;

	if (head.p != NULL) {
		f.head = head.p;
		f.head_len = head.len;
		f.whole = head.len == d->bytes;
	}
	if (!f.whole && document_is_zip(f.head, f.head_len) &&
	    (tail = malloc(DOCUMENT_HEAD)) != NULL &&
	    source_open(env, d, &s) == 0) {
		if (source_part(
			&s, s.len - DOCUMENT_HEAD, tail, DOCUMENT_HEAD) == 0) {
			f.tail = tail;
			f.tail_len = DOCUMENT_HEAD;
		}
		source_close(&s);
	}
	k = document_kind(&f);
	d->type = k.type;
	d->text = k.text;
	free(head.p);
	free(tail);
}

/* ---- Text */

/* Set ${said} to a clean copy of ${p}, of which ${left} bytes are left out. */
static enum document_rc
take_text(const struct run_env *env, const char *p, size_t len, uint64_t left,
    struct text *said)
{
	struct buf b = BUF_INIT(4 * len + 256);
	enum document_rc rc = DOCUMENT_FAILED;
	size_t i;

	if (utf8_scrub(&b, p, len) == 0) {
		for (i = 0; i < b.len && strchr(" \t\r\n\f", b.p[i]); i++)
			continue;
		if (i == b.len && left == 0)
			rc = DOCUMENT_EMPTY;
		if (left == REST)
			buf_puts(&b, "\n[... the rest is left out]");
		else if (left > 0)
			buf_printf(
			    &b, "\n[... %" PRIu64 " bytes left out]", left);
		said->len = b.len;
		if (rc != DOCUMENT_EMPTY && buf_ok(&b) &&
		    (said->p = arena_strndup(env->mem, b.p, b.len)) != NULL)
			rc = DOCUMENT_OK;
	}
	buf_free(&b);
	return (rc);
}

/* The bytes are the text: at most this many for a byte that is given. */
#define WIDEST 4

static enum document_rc
read_plain(
    const struct run_env *env, const struct document *d, struct text *said)
{
	const size_t most = (size_t)env->conf->documents_max_text;
	struct head raw = source_head(env, d, WIDEST * most);
	struct buf b = BUF_INIT(WIDEST * most);
	char charset[CHARSET_SIZE];
	enum document_rc rc = DOCUMENT_FAILED;
	size_t used;

	if (raw.p != NULL) {
		(void)charset_of(
		    d->mime, raw.p, raw.len, raw.len == d->bytes, charset);
		if (charset_put(&b, charset, raw.p, raw.len, most, &used) == 0)
			rc = take_text(env, b.p, b.len,
			    d->bytes > used ? d->bytes - used : 0, said);
	}
	free(raw.p);
	buf_free(&b);
	return (rc);
}

/* ---- In the sandbox */

/* A session in which one document is read. */
struct desk {
	const struct run_env *env;
	struct room room;
};

static enum document_rc
failed(enum sandbox_rc rc)
{

	return (rc == SANDBOX_GONE ? DOCUMENT_GONE : DOCUMENT_FAILED);
}

/* What a reader's exit code says. */
static enum document_rc
judge(const struct document_way *w, const struct sandbox_result *res)
{

	switch (res->return_code) {
	case 0:
		return (DOCUMENT_OK);
	case DOCUMENT_EXIT_LOCKED:
		return (DOCUMENT_LOCKED);
	case DOCUMENT_EXIT_UNKNOWN:
		return (DOCUMENT_UNKNOWN);
	case DOCUMENT_EXIT_ABSENT:
		log_err("document: a converter of %s is missing: %.200s",
		    w->mime, res->err);
		return (DOCUMENT_ABSENT);
	default:
		return (DOCUMENT_FAILED);
	}
}

/* Run the ${command} of the way on what lies in the session. */
static enum document_rc
desk_run(struct desk *k, const struct document_way *w, const char *command,
    struct sandbox_result *res)
{
	const struct conf *c = k->env->conf;
	struct buf b = BUF_INIT(2 * DOCUMENT_COMMAND_MAX);
	enum sandbox_rc rc = SANDBOX_BAD;

	buf_puts(&b, "{\"command\":");
	jput_str(&b, command);
	if (buf_puts(&b, "}") == 0)
		rc =
		    sandbox_exec(&k->room.sandbox, k->env->mem, k->room.session,
			"bash_code_execution", (struct jspan){b.p, b.len},
			c->documents_timeout_s, SIZE_MAX, res);
	buf_free(&b);
	if (rc != SANDBOX_OK)
		return (failed(rc));
	return (judge(w, res));
}

static enum document_rc
desk_put(struct desk *k, const struct document *d, const struct document_way *w)
{
	char name[32];
	struct source s;
	enum sandbox_rc rc;

	(void)snprintf(name, sizeof(name), "in%s%s",
	    w->ending[0] != '\0' ? "." : "", w->ending);
	if (source_open(k->env, d, &s))
		return (DOCUMENT_FAILED);
	rc = sandbox_put(
	    &k->room.sandbox, k->room.session, name, source_read, &s, s.len);
	source_close(&s);
	return (rc == SANDBOX_OK ? DOCUMENT_OK : failed(rc));
}

/* Begin, and run ${w} on ${d}; desk_close() must follow. */
static enum document_rc
desk_open(struct desk *k, const struct run_env *env, const struct document *d,
    const struct document_way *w, const char *command,
    struct sandbox_result *res, struct refusal *why)
{
	enum document_rc rc;

	k->env = env;
	room_init(&k->room, env, 0);
	k->room.reads = 1;
	if (env->conf->sandbox_url == NULL)
		return (DOCUMENT_ABSENT);
	switch (room_open(&k->room, why)) {
	case RUN_OK:
		break;
	case RUN_GONE:
		return (DOCUMENT_GONE);
	case RUN_REFUSED:
		return (DOCUMENT_REFUSED);
	}
	if ((rc = desk_put(k, d, w)) != DOCUMENT_OK)
		return (rc);
	return (desk_run(k, w, command, res));
}

static void
desk_close(struct desk *k)
{

	room_close(&k->room, 1);
}

static enum document_rc
read_converted(const struct run_env *env, const struct document *d,
    const struct document_way *w, const char *command, struct text *said,
    struct refusal *why)
{
	const size_t most = (size_t)env->conf->documents_max_text;
	struct sandbox_result res;
	enum document_rc rc;
	struct desk k;

	rc = desk_open(&k, env, d, w, command, &res, why);
	if (rc == DOCUMENT_OK)
		rc =
		    take_text(env, res.out, utf8_cut(res.out, res.outlen, most),
			res.outlen > most || res.truncated ? REST : 0, said);
	desk_close(&k);
	return (rc);
}

/* ---- Pages as images */

static int
take_bytes(void *cookie, const void *p, size_t len)
{

	return (buf_put(cookie, p, len));
}

/* Give the page that lies in the session under ${name} to ${fn}. */
static enum document_rc
page(struct desk *k, const char *name, document_fn *fn, void *cookie)
{
	struct buf b = BUF_INIT(PAGE_MAX);
	struct document d = {.name = name, .mime = "image/png"};
	enum document_rc rc;
	enum sandbox_rc src;

	src = sandbox_get(
	    &k->room.sandbox, k->room.session, name, PAGE_MAX, take_bytes, &b);
	if (src != SANDBOX_OK)
		rc = failed(src);
	else if (b.len == 0 || hash_sha256(b.p, b.len, d.sha256))
		rc = DOCUMENT_FAILED;
	else {
		d.p = (const unsigned char *)b.p;
		d.bytes = b.len;
		rc = fn(cookie, &d);
	}
	buf_free(&b);
	return (rc);
}

enum document_rc
document_pages(const struct run_env *env, const struct document *d,
    document_fn *fn, void *cookie, struct refusal *why)
{
	struct sandbox_result res;
	enum document_rc rc;
	struct desk k;
	char *names, *name;

	rc = desk_open(&k, env, d, &document_way_pages,
	    document_way_pages.command, &res, why);
	if (rc == DOCUMENT_OK) {
		names = arena_strndup(env->mem, res.out, res.outlen);
		rc = names == NULL ? DOCUMENT_FAILED : DOCUMENT_EMPTY;
		while (names != NULL && (name = strsep(&names, "\n")) != NULL)
			if (*name != '\0' &&
			    (rc = page(&k, name, fn, cookie)) != DOCUMENT_OK)
				break;
	}
	desk_close(&k);
	return (rc);
}

/* ---- What was read before */

/* The text of ${d} that the shell ${command} prints. */
static enum document_rc
read_kept(const struct run_env *env, const struct document *d,
    const struct document_way *w, const struct buf *command, struct text *said,
    struct refusal *why)
{
	struct document_key key = {.workspace = env->caller->owner.workspace};
	enum document_rc rc;

	memcpy(key.sha256, d->sha256, sizeof(key.sha256));
	if (hash_sha256(command->p, command->len, key.way))
		return (DOCUMENT_FAILED);
	if (document_find(env->db, env->mem, &key, &said->p) == DATA_OK) {
		said->len = strlen(said->p);
		return (said->len > 0 ? DOCUMENT_OK : DOCUMENT_EMPTY);
	}
	rc = read_converted(env, d, w, command->p, said, why);
	if (rc == DOCUMENT_OK || rc == DOCUMENT_EMPTY)
		(void)document_keep(env->db, &key,
		    rc == DOCUMENT_OK ? said->p : "", env->caller->now);
	return (rc);
}

/* Read it by a program; how much of that counts is part of the command. */
static enum document_rc
read_by(const struct run_env *env, const struct document *d,
    const struct document_way *w, struct text *said, struct refusal *why)
{
	const size_t most = (size_t)env->conf->documents_max_text;
	struct buf b = BUF_INIT(DOCUMENT_COMMAND_MAX);
	struct head head;
	enum document_rc rc = DOCUMENT_FAILED;
	char charset[CHARSET_SIZE] = "";

	if (w->charset) {
		head = source_head(env, d, most);
		if (head.p != NULL)
			(void)charset_of(d->mime, head.p, head.len,
			    head.len == d->bytes, charset);
		free(head.p);
	}
	if (document_way_put(&b, w, charset, most) == 0 &&
	    buf_printf(&b, "\n# %zu\n", most) == 0)
		rc = read_kept(env, d, w, &b, said, why);
	buf_free(&b);
	return (rc);
}

enum document_rc
document_read(const struct run_env *env, const struct document *d,
    struct text *said, struct refusal *why)
{
	struct document_way w;

	if (d->bytes == 0)
		return (DOCUMENT_EMPTY);
	if (document_way(env->conf, d, &w))
		return (DOCUMENT_UNKNOWN);
	if (w.command == NULL && w.reader == NULL)
		return (read_plain(env, d, said));
	if (!env->conf->documents_ocr && strncmp(w.mime, "image/", 6) == 0)
		return (DOCUMENT_ABSENT);
	if (d->bytes > env->conf->documents_max_bytes)
		return (DOCUMENT_FAILED);
	return (read_by(env, d, &w, said, why));
}
