#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "base/jget.h"
#include "base/jput.h"
#include "base/jset.h"

#include "tools/admin.h"
#include "tools/admin_walk.h"

/*
 * satchel-admin check executor: the four things that an operator would try of
 * code execution, over HTTP and as a caller.
 */

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ID_SIZE 64
#define PATH_SIZE 256
#define BODY_MAX 65536
#define BOUNDARY "satchel-check-7d20e4"
#define JSON "application/json"
#define TASK                                                         \
	"Run code, with the tool that you have for it, that reads "  \
	"check.txt in its working directory and writes its text in " \
	"upper case to made.txt there. Then say: done."
#define TASK_AWAY \
	"Run code, with the tool that you have for it, that prints 6*7."

/* With what was made, to be used and deleted. */
struct visit {
	struct walk w;
	const struct conf *conf;
	const char *model, *forward;
	char file[ID_SIZE], container[ID_SIZE], made[ID_SIZE];
};

static struct visit *
visit_of(struct walk *w)
{

	return ((struct visit *)w);
}

/* ---- The steps */

static int
upload(struct walk *w)
{
	static const char form[] =
	    "--" BOUNDARY "\r\nContent-Disposition: form-data; "
	    "name=\"purpose\"\r\n\r\nuser_data\r\n--" BOUNDARY
	    "\r\nContent-Disposition: form-data; name=\"file\"; "
	    "filename=\"check.txt\"\r\nContent-Type: text/plain\r\n\r\n"
	    "one, two, three\r\n--" BOUNDARY "--\r\n";

	return (walk_ask(w, "POST", "/v1/files",
		    "multipart/form-data; boundary=" BOUNDARY, form,
		    sizeof(form) - 1) ||
		    w->status != 200 ||
		    walk_copy(w->o, "id", visit_of(w)->file, ID_SIZE)
		? -1
		: 0);
}

/* Ask a model; who ran code must be ${ran}. */
static int
ask_model(struct walk *w, const char *path, struct buf *body,
    const char *header, const char *ran)
{
	int rc = -1;

	w->extra = header;
	if (buf_ok(body))
		rc = walk_ask(w, "POST", path, JSON, body->p, body->len);
	w->extra = NULL;
	return (rc || w->status != 200 || strcmp(w->ran, ran) != 0 ? -1 : 0);
}

/* Where the first run in the answer's output was. */
static int
find_run(struct walk *w)
{
	json_object *a, *e;
	const char *type;
	size_t i;

	if (w->o == NULL || jget_array(w->o, "output", &a) != JGET_OK)
		return (-1);
	for (i = 0; i < json_object_array_length(a); i++) {
		e = json_object_array_get_idx(a, i);
		if (json_object_is_type(e, json_type_object) &&
		    jget_str(e, "type", &type) == JGET_OK &&
		    strcmp(type, "code_interpreter_call") == 0)
			return (walk_copy(e, "container_id",
			    visit_of(w)->container, ID_SIZE));
	}
	w->note = "the model answered without running code: ask again, or "
		  "another one";
	return (-1);
}

/* What code wrote there. */
static int
find_made(struct walk *w)
{
	struct visit *v = visit_of(w);
	char path[PATH_SIZE];
	json_object *a, *e;
	const char *source;
	size_t i;

	(void)snprintf(path, sizeof(path), "/v1/containers/%s/files?limit=100",
	    v->container);
	if (walk_ask(w, "GET", path, NULL, NULL, 0) || w->status != 200 ||
	    jget_array(w->o, "data", &a) != JGET_OK)
		return (-1);
	for (i = 0; i < json_object_array_length(a); i++) {
		e = json_object_array_get_idx(a, i);
		if (jget_str(e, "source", &source) == JGET_OK &&
		    strcmp(source, "assistant") == 0)
			return (walk_copy(e, "id", v->made, ID_SIZE));
	}
	w->note = "the code wrote no file: ask again, or another model";
	return (-1);
}

static int
run_here(struct walk *w)
{
	struct visit *v = visit_of(w);
	struct buf b = BUF_INIT(BODY_MAX);
	int rc;

	buf_puts(&b, "{\"model\":");
	jput_str(&b, v->model);
	buf_puts(&b,
	    ",\"input\":\"" TASK "\",\"tools\":[{\"type\":"
	    "\"code_interpreter\",\"container\":{\"type\":\"auto\","
	    "\"file_ids\":[");
	jput_str(&b, v->file);
	buf_puts(&b, "]}}]}");
	rc = ask_model(
	    w, "/v1/responses", &b, "X-Code-Execution: local", "local");
	buf_free(&b);
	return (rc || find_run(w) || find_made(w) ? -1 : 0);
}

/* Does the provider that ${model} names speak Anthropic's protocol? */
static int
is_messages(const struct conf *c, const char *model)
{
	const size_t len = strcspn(model, ":");
	size_t i;

	for (i = 0; i < c->nproviders; i++)
		if (strlen(c->providers[i].name) == len &&
		    strncmp(c->providers[i].name, model, len) == 0)
			return (c->providers[i].wire == WIRE_MESSAGES);
	return (0);
}

static int
run_there(struct walk *w)
{
	struct visit *v = visit_of(w);
	struct buf b = BUF_INIT(BODY_MAX);
	int messages, rc;

	if (v->forward == NULL) {
		w->note = "not tried: --forward names no model";
		return (0);
	}
	messages = is_messages(v->conf, v->forward);
	buf_puts(&b, "{\"model\":");
	jput_str(&b, v->forward);
	buf_puts(&b,
	    messages ? ",\"max_tokens\":2048,\"tools\":[{\"type\":"
		       "\"code_execution_20250825\",\"name\":"
		       "\"code_execution\"}],\"messages\":[{\"role\":\"user\","
		       "\"content\":\"" TASK_AWAY "\"}]}"
		     : ",\"input\":\"" TASK_AWAY "\",\"tools\":[{\"type\":"
		       "\"code_interpreter\",\"container\":{\"type\":"
		       "\"auto\"}}]}");
	rc = ask_model(w, messages ? "/v1/messages" : "/v1/responses", &b,
	    "X-Code-Execution: provider", "provider");
	buf_free(&b);
	return (rc);
}

static int
fetch(struct walk *w)
{
	struct visit *v = visit_of(w);
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "/v1/containers/%s/files/%s/content",
	    v->container, v->made);
	return (walk_ask(w, "GET", path, NULL, NULL, 0) || w->status != 200 ||
		    w->answer.len == 0
		? -1
		: 0);
}

static int
drop(struct walk *w, const char *what, const char *id)
{
	char path[PATH_SIZE];

	if (*id == '\0')
		return (0);
	(void)snprintf(path, sizeof(path), "/v1/%s/%s", what, id);
	return (walk_ask(w, "DELETE", path, NULL, NULL, 0) || w->status != 200
		? -1
		: 0);
}

static int
clean_up(struct walk *w)
{
	struct visit *v = visit_of(w);
	int rc;

	rc = drop(w, "files", v->made);
	rc |= drop(w, "containers", v->container);
	return (drop(w, "files", v->file) || rc ? -1 : 0);
}

static const struct walk_step steps[] = {
    {"upload", "a file was stored", upload},
    {"local", "the model had code read it here and write another", run_here},
    {"forward", "another model's provider ran code", run_there},
    {"fetch", "what the code wrote came back", fetch},
    {"delete", "all of it is gone", clean_up},
};

/* What may be wrong, by what was answered. */
static const char *
remedy(const struct walk *w)
{

	if (w->status == 0)
		return ("nobody answers there: see --url, nginx and the "
			"workers");
	if (w->status == 401)
		return ("set SATCHEL_KEY to an API key: satchel-admin key "
			"create");
	if (walk_astray(w))
		return ("no such route there: --url ends where Satchel does, "
			"without /v1; nginx/ has the routes");
	if (w->status == 403)
		return ("see satchel-admin policy list");
	if (w->status == 200)
		return ("the code did not run where it was to: see "
			"native_code of the provider");
	return ("see satchel-admin check, and the log");
}

int
admin_check_executor(struct admin *a, int argc, char **argv)
{
	struct visit v = {.w = {.label = "executor",
			      .agent = "satchel-admin",
			      .answer = BUF_INIT(WALK_ANSWER_MAX)},
	    .conf = &a->conf};
	const struct admin_opt opts[] = {{"url", &v.w.url, NULL},
	    {"model", &v.model, NULL}, {"forward", &v.forward, NULL}};
	int rc;

	if (admin_options(argc, argv, opts, NELEM(opts), NULL, 0))
		return (ADMIN_USAGE);
	if (v.model == NULL)
		return (admin_usage("give --model, one that can call tools"));
	if (v.w.url == NULL && (v.w.url = a->conf.public_url) == NULL)
		return (admin_usage("give --url, or set server.public_url"));
	v.w.key = getenv("SATCHEL_KEY");
	if (v.w.key != NULL && *v.w.key == '\0')
		v.w.key = NULL;
	rc = walk_all(a, &v.w, steps, NELEM(steps), remedy);
	walk_free(&v.w);
	return (rc);
}
