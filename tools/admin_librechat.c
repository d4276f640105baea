#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/jget.h"
#include "base/jset.h"
#include "io/upstream.h"

#include "tools/admin.h"

/*
 * satchel-admin check librechat: what LibreChat does with a file and a program,
 * in its order, over HTTP and with the credential that it would send.
 */

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ANSWER_MAX (1 << 20)
#define NAME_MAX_BYTES 64
#define BOUNDARY "satchel-check-3f9a1c"
#define TEXT "one, two, three"
#define PLACE "check/été 1.txt"

struct walk {
	const char *url, *key;
	struct buf answer;
	int status;
	json_object *o; /* Of the last answer, or NULL. */

	/* What was made, to be used and deleted. */
	char session[NAME_MAX_BYTES], file[NAME_MAX_BYTES];
	char out_session[NAME_MAX_BYTES], out_file[NAME_MAX_BYTES];
};

static int
take_head(void *cookie, int status, const struct upstream_head *h)
{
	struct walk *w = cookie;

	(void)h;
	w->status = status;
	return (0);
}

static int
take_body(void *cookie, const void *p, size_t len)
{
	struct walk *w = cookie;

	return (buf_put(&w->answer, p, len));
}

/* Ask; the answer is in ${w}.  Return 0, or -1 if there was none. */
static int
ask(struct walk *w, const char *method, const char *path, const char *type,
    const char *body, size_t len)
{
	struct buf auth = BUF_INIT(16384), kind = BUF_INIT(256);
	const char *headers[4] = {"User-Agent: LibreChat/1.0"};
	struct upstream_call c = {.label = "librechat",
	    .method = method,
	    .base = w->url,
	    .path = path,
	    .headers = headers,
	    .body = body,
	    .len = len,
	    .gone_fd = -1,
	    .max = ANSWER_MAX,
	    .on_head = take_head,
	    .on_body = take_body,
	    .cookie = w};
	size_t n = 1, at;
	int rc;

	if (w->key != NULL) {
		(void)buf_printf(&auth, "Authorization: Bearer %s", w->key);
		headers[n++] = auth.p;
	}
	if (type != NULL) {
		(void)buf_printf(&kind, "Content-Type: %s", type);
		headers[n++] = kind.p;
	}
	buf_drop(&w->answer, w->answer.len);
	json_object_put(w->o);
	w->o = NULL;
	w->status = 0;
	rc = buf_ok(&auth) && upstream_run(&c) == UPSTREAM_OK ? 0 : -1;
	if (rc == 0 && w->answer.len > 0)
		(void)jget_parse(w->answer.p, w->answer.len, &w->o, &at);
	buf_free(&auth);
	buf_free(&kind);
	return (rc);
}

/* Copy the text ${key} of ${o}, which must be there. */
static int
copy(json_object *o, const char *key, char out[static NAME_MAX_BYTES])
{
	const char *s;

	if (jget_str(o, key, &s) != JGET_OK || strlen(s) >= NAME_MAX_BYTES)
		return (-1);
	(void)snprintf(out, NAME_MAX_BYTES, "%s", s);
	return (0);
}

/* The first of the list ${key} of the answer that is not inherited, or NULL. */
static json_object *
first_of(const struct walk *w, const char *key)
{
	json_object *a, *e;
	int old;

	if (w->o == NULL || jget_array(w->o, key, &a) != JGET_OK)
		return (NULL);
	for (size_t i = 0; i < json_object_array_length(a); i++) {
		e = json_object_array_get_idx(a, i);
		if (json_object_is_type(e, json_type_object) &&
		    (jget_bool(e, "inherited", &old) != JGET_OK || !old))
			return (e);
	}
	return (NULL);
}

/* --- the steps, each 0 if it went well --- */

static int
upload(struct walk *w)
{
	static const char form[] =
	    "--" BOUNDARY "\r\nContent-Disposition: form-data; "
	    "name=\"kind\"\r\n\r\nuser\r\n--" BOUNDARY
	    "\r\nContent-Disposition: form-data; name=\"file\"; "
	    "filename=\"" PLACE "\"\r\nContent-Type: text/plain\r\n\r\n" TEXT
	    "\r\n--" BOUNDARY "--\r\n";
	json_object *f;

	if (ask(w, "POST", "/upload", "multipart/form-data; boundary=" BOUNDARY,
		form, sizeof(form) - 1) ||
	    w->status != 200 || (f = first_of(w, "files")) == NULL)
		return (-1);
	return (copy(w->o, "storage_session_id", w->session) ||
		    copy(f, "fileId", w->file)
		? -1
		: 0);
}

/* What a run is asked to do with the file. */
static json_object *
program(const struct walk *w)
{
	json_object *o, *a, *f;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "lang", jstr("bash")) ||
	    jset(o, "code",
		jstr("cat '" PLACE "' && tr a-z A-Z <'" PLACE "' >made.txt")) ||
	    jset(o, "files", a = json_object_new_array()) ||
	    jadd(a, f = json_object_new_object()) ||
	    jset(f, "id", jstr(w->file)) || jset(f, "name", jstr(PLACE)) ||
	    jset(f, "storage_session_id", jstr(w->session)) ||
	    jset(f, "kind", jstr("user"))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static int
execute(struct walk *w)
{
	json_object *o = program(w), *f;
	const char *s, *out;
	int rc = -1;

	if (o == NULL || (s = json_object_to_json_string(o)) == NULL ||
	    ask(w, "POST", "/exec", "application/json", s, strlen(s)) ||
	    w->status != 200 || w->o == NULL ||
	    jget_str(w->o, "stdout", &out) != JGET_OK ||
	    strcmp(out, TEXT) != 0 || (f = first_of(w, "files")) == NULL ||
	    copy(f, "id", w->out_file) ||
	    copy(f, "storage_session_id", w->out_session))
		goto done;
	rc = 0;

done:
	json_object_put(o);
	return (rc);
}

static int
download(struct walk *w)
{
	static const char want[] = "ONE, TWO, THREE";
	char path[256];

	(void)snprintf(path, sizeof(path), "/download/%s/%s?kind=user",
	    w->out_session, w->out_file);
	return (ask(w, "GET", path, NULL, NULL, 0) || w->status != 200 ||
		    w->answer.len != strlen(want) ||
		    memcmp(w->answer.p, want, strlen(want)) != 0
		? -1
		: 0);
}

static int
remove_one(struct walk *w, const char *session, const char *file)
{
	char path[256];

	if (*file == '\0')
		return (0);
	(void)snprintf(path, sizeof(path), "/sessions/%s/objects/%s?kind=user",
	    session, file);
	return (
	    ask(w, "DELETE", path, NULL, NULL, 0) || w->status != 200 ? -1 : 0);
}

static int
clean_up(struct walk *w)
{
	int rc = remove_one(w, w->session, w->file);

	return (remove_one(w, w->out_session, w->out_file) || rc ? -1 : 0);
}

static const struct step {
	const char *name, *did;
	int (*run)(struct walk *);
} steps[] = {
    {"upload", "a file below a directory, with accents in its name", upload},
    {"run", "bash read it and wrote another", execute},
    {"download", "the other one came back", download},
    {"delete", "both are gone", clean_up},
};

/* What may be wrong, by what was answered. */
static const char *
remedy(const struct walk *w)
{

	if (w->status == 0)
		return ("nobody answers there: see --url, nginx and the "
			"workers");
	if (w->status == 401)
		return (w->key != NULL
			? "the credential in SATCHEL_KEY is not accepted; the "
			  "log says why"
			: "set SATCHEL_KEY, or librechat.trusted_cidrs");
	if (w->status == 404 && w->o == NULL)
		return ("the web server knows no such route: nginx/ has them");
	if (w->status == 503)
		return ("see satchel-admin check");
	return ("see the log");
}

static int
show(const struct admin *a, const struct step *s, const struct walk *w,
    int failed, json_object *list)
{
	json_object *o;

	if (!a->json) {
		if (!failed)
			printf("ok    %-9s %s\n", s->name, s->did);
		else
			printf("FAIL  %-9s status %d: %.300s -> %s\n", s->name,
			    w->status, w->answer.p != NULL ? w->answer.p : "",
			    remedy(w));
		return (0);
	}
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "step", jstr(s->name)) || jset(o, "ok", jbool(!failed)) ||
	    jset(o, "status", jint(w->status))) {
		json_object_put(o);
		return (-1);
	}
	return (jadd(list, o));
}

/* Walk until a step fails, and clean up in any case. */
static int
walk_all(struct admin *a, struct walk *w)
{
	json_object *list = json_object_new_array();
	int failed = 0, bad;

	for (size_t i = 0; i < NELEM(steps); i++) {
		if (failed && i + 1 < NELEM(steps))
			continue;
		bad = steps[i].run(w) != 0;
		if (!failed || bad)
			failed |= show(a, &steps[i], w, bad, list) || bad;
	}
	if (a->json && list != NULL)
		printf("%s\n", json_object_to_json_string(list));
	json_object_put(list);
	return (failed ? ADMIN_NO : ADMIN_OK);
}

int
admin_check_librechat(struct admin *a, int argc, char **argv)
{
	struct buf url = BUF_INIT(4096);
	struct walk w = {.answer = BUF_INIT(ANSWER_MAX)};
	const char *given = NULL;
	const struct admin_opt opts[] = {{"url", &given, NULL}};
	int rc;

	if (admin_options(argc, argv, opts, NELEM(opts), NULL, 0))
		return (ADMIN_USAGE);
	if (given == NULL && a->conf.public_url == NULL)
		return (admin_usage(
		    "give --url, what LIBRECHAT_CODE_BASEURL is to be, or set "
		    "server.public_url"));
	if (given != NULL)
		(void)buf_puts(&url, given);
	else
		(void)buf_printf(&url, "%s/v1", a->conf.public_url);
	w.url = url.p;
	w.key = getenv("SATCHEL_KEY");
	if (w.key != NULL && *w.key == '\0')
		w.key = NULL;
	rc = walk_all(a, &w);
	json_object_put(w.o);
	buf_free(&w.answer);
	buf_free(&url);
	return (rc);
}
