#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/hash.h"
#include "base/utf8.h"

#include "data/file.h"

#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/document_kind.h"
#include "run/see.h"
#include "run/show.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define HEAD_MAX 4096
#define MIME_MAX 128

/* What a model's provider is told of a file that it cannot be shown. */
static const char *const missing[] = {
    [DOCUMENT_EMPTY] = ": there is no text in it",
    [DOCUMENT_UNKNOWN] = ": its content cannot be shown to this model",
    [DOCUMENT_ABSENT] = ": its content cannot be shown to this model",
    [DOCUMENT_LOCKED] = ": it is protected by a password",
    [DOCUMENT_FAILED] = ": its content could not be read",
};

void
show_file(const struct run_env *env, const struct file *f, struct document *d)
{

	*d = (struct document){
	    .name = f->name, .mime = f->mime, .bytes = f->bytes, .key = f->key};
	if (f->sha256 != NULL && strlen(f->sha256) < sizeof(d->sha256))
		memcpy(d->sha256, f->sha256, strlen(f->sha256) + 1);
	document_look(env, d);
}

/* The types that every vendor's models with eyes take. */
static const char *const images[] = {
    "image/png", "image/jpeg", "image/gif", "image/webp"};

static const char *
image_type(const struct document *d)
{
	size_t i;

	for (i = 0; i < NELEM(images); i++)
		if (document_is_type(d->type, images[i]))
			return (images[i]);
	return (NULL);
}

int
show_is_image(const struct document *d)
{

	return (image_type(d) != NULL);
}

int
show_is_pdf(const struct document *d)
{

	return (document_is_type(d->type, "application/pdf"));
}

int
show_can(const struct conf_provider *p, int ability)
{

	if (p->wire == WIRE_CHAT)
		return (ability == ABILITY_TRUE && !p->no_arrays);
	return (ability != ABILITY_FALSE);
}

static enum run_rc
no_memory(struct refusal *why)
{

	(void)refuse(why, P_SERVER, NULL, "out of memory");
	return (RUN_REFUSED);
}

enum run_rc
show_media(const struct run_env *env, const struct media *m, const char *where,
    struct document *d, struct refusal *why)
{
	unsigned char *bytes = arena_alloc(env->mem, m->data.len + 1);
	size_t n;

	if (bytes == NULL)
		return (no_memory(why));
	if (base64_decode(m->data.p, m->data.len, bytes, &n)) {
		(void)refuse(why, P_BAD_REQUEST, where, "%s: is not base64",
		    where != NULL ? where : "data");
		return (RUN_REFUSED);
	}
	*d = (struct document){.name = m->name != NULL ? m->name
		: m->image                             ? "image"
						       : "document",
	    .mime = m->mime != NULL ? m->mime : "application/octet-stream",
	    .bytes = n,
	    .p = bytes};
	if (hash_sha256(bytes, n, d->sha256))
		return (no_memory(why));
	document_look(env, d);
	return (RUN_OK);
}

enum run_rc
show_refuse(const struct document *d, const char *where, struct refusal *why)
{

	(void)refuse(why, P_UNREADABLE, where,
	    "%s: the file \"%.200s\" cannot be shown to this model, and "
	    "nothing here reads such files. Ask a model that takes them, or "
	    "send its text.",
	    where != NULL ? where : "messages", d->name);
	return (RUN_REFUSED);
}

static enum run_rc
show_bytes(const struct run_env *env, const struct document *d, struct shown *s,
    struct refusal *why)
{
	size_t len = BASE64_SIZE((size_t)d->bytes);
	const unsigned char *p;
	char *data;

	if ((data = arena_alloc(env->mem, len)) == NULL)
		return (no_memory(why));
	if ((p = document_bytes(env, d)) == NULL) {
		(void)refuse(why, P_CONTENT_MISSING, NULL,
		    "The content of the file \"%.200s\" cannot be had.",
		    d->name);
		return (RUN_REFUSED);
	}
	base64_encode(p, (size_t)d->bytes, data);
	s->data = (struct text){data, len - 1};
	return (RUN_OK);
}

/* The line that names it; one line of clean text, whatever it is called. */
static int
write_head(const struct run_env *env, const struct document *d,
    const char *more, struct shown *s)
{
	struct buf b = BUF_INIT(HEAD_MAX), clean = BUF_INIT(4 * HEAD_MAX);
	size_t i, n = strcspn(s->mime, "; ");
	const int mime_len = n < MIME_MAX ? (int)n : MIME_MAX;
	int rc = -1;

	buf_printf(&b, "[file \"%.512s\", %.*s, %" PRIu64 " bytes%s]", d->name,
	    mime_len, s->mime, d->bytes, more);
	for (i = 0; i < b.len; i++)
		if ((unsigned char)b.p[i] < 0x20)
			b.p[i] = ' ';
	if (buf_ok(&b) && utf8_scrub(&clean, b.p, b.len) == 0 &&
	    (s->head.p = arena_strndup(env->mem, clean.p, clean.len)) != NULL) {
		s->head.len = clean.len;
		rc = 0;
	}
	buf_free(&b);
	buf_free(&clean);
	return (rc);
}

/* What it says, by whatever means there are. */
static enum document_rc
read_any(const struct run_env *env, const struct document *d, struct shown *s,
    struct refusal *why)
{
	enum document_rc rc = DOCUMENT_UNKNOWN;

	if (image_type(d) != NULL && d->bytes <= env->conf->documents_max_bytes)
		rc = see_image(env, d, image_type(d), &s->said);
	else if (show_is_pdf(d) && d->bytes <= env->conf->documents_max_bytes)
		rc = see_pages(env, d, &s->said, why);
	if (rc == DOCUMENT_OK || rc == DOCUMENT_GONE || rc == DOCUMENT_REFUSED)
		return (rc);
	return (document_read(env, d, &s->said, why));
}

enum run_rc
show_document(const struct run_env *env, const struct conf_provider *p,
    const struct document *d, struct shown *s, struct refusal *why)
{
	enum document_rc rc;

	*s = (struct shown){.mime = d->type, .plain = d->text};
	if (image_type(d) != NULL && show_can(p, p->vision)) {
		s->as = SHOWN_IMAGE;
		s->mime = image_type(d);
		return (show_bytes(env, d, s, why));
	}
	if (show_is_pdf(d) && show_can(p, p->pdf)) {
		s->as = SHOWN_PDF;
		s->mime = "application/pdf";
		return (show_bytes(env, d, s, why));
	}
	rc = read_any(env, d, s, why);
	if (rc == DOCUMENT_GONE)
		return (RUN_GONE);
	if (rc == DOCUMENT_REFUSED)
		return (RUN_REFUSED);
	if (rc != DOCUMENT_OK)
		s->said = (struct text){"", 0};
	s->absent = rc == DOCUMENT_ABSENT;
	return (write_head(env, d, rc == DOCUMENT_OK ? "" : missing[rc], s)
		? no_memory(why)
		: RUN_OK);
}
