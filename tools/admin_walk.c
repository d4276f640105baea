#include <stdio.h>
#include <string.h>

#include "base/jget.h"
#include "base/jset.h"
#include "io/upstream.h"

#include "tools/admin.h"
#include "tools/admin_walk.h"

static int
take_head(void *cookie, int status, const struct upstream_head *h)
{
	const char *ran = upstream_header(h, "x-code-execution-ran");
	struct walk *w = cookie;

	w->status = status;
	(void)snprintf(w->ran, sizeof(w->ran), "%s", ran != NULL ? ran : "");
	return (0);
}

static int
take_body(void *cookie, const void *p, size_t len)
{
	struct walk *w = cookie;

	return (buf_put(&w->answer, p, len));
}

int
walk_ask(struct walk *w, const char *method, const char *path, const char *type,
    const char *body, size_t len)
{
	struct buf agent = BUF_INIT(256), kind = BUF_INIT(256);
	struct buf auth = BUF_INIT(16384);
	const char *headers[5];
	struct upstream_call c = {.label = w->label,
	    .method = method,
	    .base = w->url,
	    .path = path,
	    .headers = headers,
	    .body = body,
	    .len = len,
	    .gone_fd = -1,
	    .max = WALK_ANSWER_MAX,
	    .on_head = take_head,
	    .on_body = take_body,
	    .cookie = w};
	size_t n = 0, at;
	int rc;

	buf_printf(&agent, "User-Agent: %s", w->agent);
	headers[n++] = agent.p;
	if (w->key != NULL) {
		buf_printf(&auth, "Authorization: Bearer %s", w->key);
		headers[n++] = auth.p;
	}
	if (type != NULL) {
		buf_printf(&kind, "Content-Type: %s", type);
		headers[n++] = kind.p;
	}
	if (w->extra != NULL)
		headers[n++] = w->extra;
	headers[n] = NULL;
	buf_drop(&w->answer, w->answer.len);
	json_object_put(w->o);
	w->o = NULL;
	w->status = 0;
	w->note = NULL;
	rc = buf_ok(&agent) && buf_ok(&auth) && buf_ok(&kind) &&
		upstream_run(&c) == UPSTREAM_OK
	    ? 0
	    : -1;
	if (rc == 0 && w->answer.len > 0)
		(void)jget_parse(w->answer.p, w->answer.len, &w->o, &at);
	buf_free(&agent);
	buf_free(&auth);
	buf_free(&kind);
	return (rc);
}

int
walk_astray(const struct walk *w)
{
	json_object *error;
	const char *code;

	if (w->status != 404)
		return (0);
	if (w->o == NULL) /* Another server's page. */
		return (1);
	return (jget_object(w->o, "error", &error) == JGET_OK &&
	    jget_str(error, "code", &code) == JGET_OK &&
	    strcmp(code, "unknown_url") == 0);
}

int
walk_copy(json_object *o, const char *key, char *out, size_t size)
{
	const char *s;

	if (jget_str(o, key, &s) != JGET_OK || strlen(s) >= size)
		return (-1);
	(void)snprintf(out, size, "%s", s);
	return (0);
}

static int
show(const struct admin *a, const struct walk_step *s, const struct walk *w,
    int failed, const char *remedy, json_object *list)
{
	json_object *o;

	if (!a->json) {
		if (!failed)
			printf("ok    %-9s %s\n", s->name,
			    w->note != NULL ? w->note : s->did);
		else
			printf("FAIL  %-9s status %d: %.300s -> %s\n", s->name,
			    w->status, w->answer.p != NULL ? w->answer.p : "",
			    w->note != NULL ? w->note : remedy);
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

int
walk_all(const struct admin *a, struct walk *w, const struct walk_step *steps,
    size_t n, const char *(*remedy)(const struct walk *))
{
	json_object *list = json_object_new_array();
	int failed = 0, bad;

	for (size_t i = 0; i < n; i++) {
		if (failed && i + 1 < n)
			continue;
		w->note = NULL;
		bad = steps[i].run(w) != 0;
		if (!failed || bad)
			failed |= show(a, &steps[i], w, bad,
				      bad ? remedy(w) : "", list) ||
			    bad;
	}
	if (a->json && list != NULL)
		printf("%s\n", json_object_to_json_string(list));
	json_object_put(list);
	return (failed ? ADMIN_NO : ADMIN_OK);
}

void
walk_free(struct walk *w)
{

	json_object_put(w->o);
	w->o = NULL;
	buf_free(&w->answer);
}
