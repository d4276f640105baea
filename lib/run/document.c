#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/jput.h"
#include "base/log.h"
#include "base/utf8.h"

#include "data/caller.h"
#include "data/document.h"
#include "io/blob.h"
#include "io/sandbox_client.h"

#include "run/document.h"
#include "run/document_way.h"

#define COMMAND_MAX 8192
#define NOT_FOUND 127 /* A shell's exit code for no such program. */
#define PAGE_MAX (8U << 20)
#define SPARE_S 60 /* That a session outlives its command. */

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

/* Read the first ${len} bytes into ${out}.  Return 0 or -1. */
static int
source_all(struct source *s, unsigned char *out, size_t len)
{
	size_t at;
	ssize_t n;

	for (at = 0; at < len; at += (size_t)n)
		if ((n = source_read(s, at, out + at, len - at)) <= 0)
			return (-1);
	return (0);
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
	    (s.len != d->bytes || source_all(&s, out, (size_t)s.len)))
		out = NULL;
	source_close(&s);
	return (out);
}

/* ---- Text */

/* Set ${said} to a clean copy of ${p}, cut to what a model is given. */
static enum document_rc
take_text(const struct run_env *env, const char *p, size_t len, uint64_t whole,
    struct text *said)
{
	size_t most = (size_t)env->conf->documents_max_text, i;
	struct buf b = BUF_INIT(4 * most + 256);
	enum document_rc rc = DOCUMENT_FAILED;

	len = utf8_cut(p, len, most);
	if (utf8_scrub(&b, p, len) == 0) {
		if (whole > len)
			buf_printf(&b, "\n[... %" PRIu64 " bytes left out]",
			    whole - len);
		for (i = 0; i < b.len && strchr(" \t\r\n\f", b.p[i]); i++)
			continue;
		said->len = b.len;
		if (i == b.len)
			rc = DOCUMENT_EMPTY;
		else if ((said->p = arena_strndup(env->mem, b.p, b.len)) !=
		    NULL)
			rc = DOCUMENT_OK;
	}
	buf_free(&b);
	return (rc);
}

/* The bytes are the text. */
static enum document_rc
read_plain(
    const struct run_env *env, const struct document *d, struct text *said)
{
	size_t most = (size_t)env->conf->documents_max_text;
	size_t len = d->bytes < most ? (size_t)d->bytes : most;
	unsigned char *p = arena_alloc(env->mem, len + 1);
	struct source s;
	int bad;

	if (p == NULL || source_open(env, d, &s))
		return (DOCUMENT_FAILED);
	bad = s.len < len || source_all(&s, p, len);
	source_close(&s);
	return (bad ? DOCUMENT_FAILED
		    : take_text(env, (const char *)p, len, d->bytes, said));
}

/* ---- In the sandbox */

/* A session in which one document is read. */
struct desk {
	const struct run_env *env;
	struct sandbox sandbox;
	char session[SANDBOX_IDMAX + 1];
};

static enum document_rc
failed(enum sandbox_rc rc)
{

	return (rc == SANDBOX_GONE ? DOCUMENT_GONE : DOCUMENT_FAILED);
}

/* Run the way's command on what lies in the session. */
static enum document_rc
desk_run(
    struct desk *k, const struct document_way *w, struct sandbox_result *res)
{
	const struct conf *c = k->env->conf;
	struct buf b = BUF_INIT(COMMAND_MAX);
	enum sandbox_rc rc = SANDBOX_BAD;

	buf_puts(&b, "{\"command\":");
	jput_str(&b, w->command);
	if (buf_puts(&b, "}") == 0)
		rc = sandbox_exec(&k->sandbox, k->env->mem, k->session,
		    "bash_code_execution", (struct jspan){b.p, b.len},
		    c->documents_timeout_s, (size_t)c->documents_max_text + 1,
		    res);
	buf_free(&b);
	if (rc != SANDBOX_OK)
		return (failed(rc));
	if (res->return_code == NOT_FOUND)
		log_err("document: a converter of %s is missing: %.200s",
		    w->mime, res->err);
	/* Anything else: the document is broken. */
	return (res->return_code == 0 ? DOCUMENT_OK : DOCUMENT_FAILED);
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
	rc = sandbox_put(&k->sandbox, k->session, name, source_read, &s, s.len);
	source_close(&s);
	return (rc == SANDBOX_OK ? DOCUMENT_OK : failed(rc));
}

/* Begin, and run ${w} on ${d}; desk_close() must follow. */
static enum document_rc
desk_open(struct desk *k, const struct run_env *env, const struct document *d,
    const struct document_way *w, struct sandbox_result *res)
{
	const struct conf *c = env->conf;
	uint64_t life = c->documents_timeout_s + SPARE_S;
	enum document_rc rc;
	enum sandbox_rc src;

	*k = (struct desk){.env = env,
	    .sandbox = {.url = c->sandbox_url,
		.token = c->sandbox_token,
		.gone_fd = env->gone_fd,
		.on_wait = env->on_wait,
		.wait_cookie = env->wait_cookie}};
	if (c->sandbox_url == NULL)
		return (DOCUMENT_UNKNOWN);
	src = sandbox_create(&k->sandbox, life, life, k->session);
	if (src != SANDBOX_OK) {
		k->session[0] = '\0';
		return (failed(src));
	}
	if ((rc = desk_put(k, d, w)) != DOCUMENT_OK)
		return (rc);
	return (desk_run(k, w, res));
}

static void
desk_close(struct desk *k)
{

	if (k->session[0] != '\0')
		(void)sandbox_destroy(&k->sandbox, k->session);
}

static enum document_rc
read_converted(const struct run_env *env, const struct document *d,
    const struct document_way *w, struct text *said)
{
	struct sandbox_result res;
	enum document_rc rc;
	struct desk k;

	if ((rc = desk_open(&k, env, d, w, &res)) == DOCUMENT_OK)
		rc = take_text(env, res.out, res.outlen, res.outlen, said);
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
	    &k->sandbox, k->session, name, PAGE_MAX, take_bytes, &b);
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
    document_fn *fn, void *cookie)
{
	struct sandbox_result res;
	enum document_rc rc;
	struct desk k;
	char *names, *name;

	rc = desk_open(&k, env, d, &document_way_pages, &res);
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

static int
key_of(const struct run_env *env, const struct document *d,
    const struct document_way *w, struct document_key *key)
{
	char way[COMMAND_MAX];
	int n;

	key->workspace = env->caller->owner.workspace;
	memcpy(key->sha256, d->sha256, sizeof(key->sha256));
	n = snprintf(way, sizeof(way), "1 %" PRIu64 " %s",
	    env->conf->documents_max_text, w->command);
	return (n < 0 || (size_t)n >= sizeof(way) ||
	    hash_sha256(way, (size_t)n, key->way));
}

static enum document_rc
read_kept(const struct run_env *env, const struct document *d,
    const struct document_way *w, struct text *said)
{
	struct document_key key;
	enum document_rc rc;

	if (key_of(env, d, w, &key))
		return (DOCUMENT_FAILED);
	if (document_find(env->db, env->mem, &key, &said->p) == DATA_OK) {
		said->len = strlen(said->p);
		return (said->len > 0 ? DOCUMENT_OK : DOCUMENT_EMPTY);
	}
	rc = read_converted(env, d, w, said);
	if (rc == DOCUMENT_OK || rc == DOCUMENT_EMPTY)
		(void)document_keep(env->db, &key,
		    rc == DOCUMENT_OK ? said->p : "", env->caller->now);
	return (rc);
}

enum document_rc
document_read(
    const struct run_env *env, const struct document *d, struct text *said)
{
	struct document_way w;

	if (document_way(env->conf, d->mime, d->name, &w))
		return (DOCUMENT_UNKNOWN);
	if (w.command == NULL)
		return (read_plain(env, d, said));
	if (!env->conf->documents_ocr && strncmp(w.mime, "image/", 6) == 0)
		return (DOCUMENT_UNKNOWN);
	if (d->bytes > env->conf->documents_max_bytes)
		return (DOCUMENT_FAILED);
	return (read_kept(env, d, &w, said));
}
