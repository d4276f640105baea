#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/jget.h"
#include "base/jset.h"

#include "tools/admin.h"
#include "tools/admin_walk.h"

/*
 * satchel-admin check librechat: what LibreChat does with a file and a program,
 * in its order, over HTTP and with the credential that it would send.
 */

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define NAME_MAX_BYTES 64
#define BOUNDARY "satchel-check-3f9a1c"
#define TEXT "one, two, three"
#define PLACE "check/été 1.txt"

/* With what was made, to be used and deleted. */
struct visit {
	struct walk w;
	char session[NAME_MAX_BYTES], file[NAME_MAX_BYTES];
	char out_session[NAME_MAX_BYTES], out_file[NAME_MAX_BYTES];
};

static struct visit *
visit_of(struct walk *w)
{

	return ((struct visit *)w);
}

static int
copy(json_object *o, const char *key, char out[static NAME_MAX_BYTES])
{

	return (walk_copy(o, key, out, NAME_MAX_BYTES));
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

	if (walk_ask(w, "POST", "/upload",
		"multipart/form-data; boundary=" BOUNDARY, form,
		sizeof(form) - 1) ||
	    w->status != 200 || (f = first_of(w, "files")) == NULL)
		return (-1);
	return (copy(w->o, "storage_session_id", visit_of(w)->session) ||
		    copy(f, "fileId", visit_of(w)->file)
		? -1
		: 0);
}

/* What a run is asked to do with the file. */
static json_object *
program(struct walk *w)
{
	json_object *o, *a, *f;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "lang", jstr("bash")) ||
	    jset(o, "code",
		jstr("cat '" PLACE "' && tr a-z A-Z <'" PLACE "' >made.txt")) ||
	    jset(o, "files", a = json_object_new_array()) ||
	    jadd(a, f = json_object_new_object()) ||
	    jset(f, "id", jstr(visit_of(w)->file)) ||
	    jset(f, "name", jstr(PLACE)) ||
	    jset(f, "storage_session_id", jstr(visit_of(w)->session)) ||
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
	    walk_ask(w, "POST", "/exec", "application/json", s, strlen(s)) ||
	    w->status != 200 || w->o == NULL ||
	    jget_str(w->o, "stdout", &out) != JGET_OK ||
	    strcmp(out, TEXT) != 0 || (f = first_of(w, "files")) == NULL ||
	    copy(f, "id", visit_of(w)->out_file) ||
	    copy(f, "storage_session_id", visit_of(w)->out_session))
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
	    visit_of(w)->out_session, visit_of(w)->out_file);
	return (walk_ask(w, "GET", path, NULL, NULL, 0) || w->status != 200 ||
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
	return (walk_ask(w, "DELETE", path, NULL, NULL, 0) || w->status != 200
		? -1
		: 0);
}

static int
clean_up(struct walk *w)
{
	int rc = remove_one(w, visit_of(w)->session, visit_of(w)->file);

	return (
	    remove_one(w, visit_of(w)->out_session, visit_of(w)->out_file) || rc
		? -1
		: 0);
}

static const struct walk_step steps[] = {
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
	if (walk_astray(w))
		return (
		    "no such route there: --url ends where Satchel does, or "
		    "in /v1 or /api/v1 below that; nginx/ has the routes");
	if (w->status == 503)
		return ("see satchel-admin check");
	return ("see the log");
}

int
admin_check_librechat(struct admin *a, int argc, char **argv)
{
	struct buf url = BUF_INIT(4096);
	struct visit v = {.w = {.label = "librechat",
			      .agent = "LibreChat/1.0",
			      .answer = BUF_INIT(WALK_ANSWER_MAX)}};
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
	v.w.url = url.p;
	v.w.key = getenv("SATCHEL_KEY");
	if (v.w.key != NULL && *v.w.key == '\0')
		v.w.key = NULL;
	rc = walk_all(a, &v.w, steps, NELEM(steps), remedy);
	walk_free(&v.w);
	buf_free(&url);
	return (rc);
}
