#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf.h"
#include "base/jset.h"
#include "base/utf8.h"

#include "fcgi/lc.h"
#include "fcgi/lc_exec.h"
#include "fcgi/lc_refs.h"
#include "fcgi/req.h"

#define TEXT_MAX (1 << 20)
#define MIB 1048576

/* What an exec_skip is called in an answer. */
static const char *const reasons[EXEC_SKIPS] = {
    [EXEC_SKIP_COUNT] = "max_output_files",
    [EXEC_SKIP_SIZE] = "max_file_size",
    [EXEC_SKIP_DEPTH] = "max_path_depth",
    [EXEC_SKIP_NAME] = "invalid_path",
};

int
lc_put_text(json_object *o, const char *key, const char *p, size_t len)
{
	struct buf b = BUF_INIT(TEXT_MAX);
	int rc = -1;

	(void)utf8_scrub(&b, p, len);
	if (buf_ok(&b))
		rc = jset(o, key,
		    json_object_new_string_len(
			b.p != NULL ? b.p : "", (int)b.len));
	buf_free(&b);
	return (rc);
}

void
lc_cause(const struct exec *x, char *s, size_t size)
{
	const struct sandbox_ran *ran = &x->ran;

	*s = '\0';
	switch (ran->end) {
	case SANDBOX_TIMEOUT:
	case SANDBOX_CPU:
		(void)snprintf(s, size, "Time limit exceeded (%" PRIu64 " s)\n",
		    x->program.timeout_s);
		return;
	case SANDBOX_MEMORY:
		(void)snprintf(s, size, "Out of memory (%" PRIu64 " MiB)\n",
		    x->env->conf->sandbox_session_memory / MIB);
		return;
	case SANDBOX_SIGNAL:
		(void)snprintf(s, size, "Killed by signal %d\n", ran->signal);
		return;
	case SANDBOX_FILES:
	case SANDBOX_PROCESSES:
	case SANDBOX_UNSTARTED:
		(void)snprintf(s, size, "%s\n",
		    ran->note != NULL ? ran->note
				      : "The program could not be started");
		return;
	case SANDBOX_EXIT:
	case SANDBOX_ASKED: /* A round of a program that calls tools. */
		break;
	}
	if (ran->res.return_code != 0 && ran->res.outlen == 0 &&
	    ran->res.errlen == 0)
		(void)snprintf(s, size, "Process exited with code %d\n",
		    ran->res.return_code);
}

/* The owner key of ${o}, as the client named it. */
static int
put_owner(json_object *e, const struct lc_owner *o)
{

	if (o->kind == LC_ENTITY)
		return (0);
	return (jset(e, "kind", jstr(lc_kind_name(o->kind))) ||
	    jset(e, "resource_id", jstr(o->resource)) ||
	    (*o->version != '\0' &&
		jset(e, "version",
		    json_object_new_double_s(
			strtod(o->version, NULL), o->version))));
}

static int
put_ids(json_object *e, const char *id, const char *place, const char *session)
{

	return (jset(e, "id", jstr(id)) || jset(e, "name", jstr(place)) ||
	    jset(e, "storage_session_id", jstr(session)) ||
	    jset(e, "session_id", jstr(session)));
}

static json_object *
output_json(const struct exec *x, const struct exec_output *out,
    const struct lc_owner *u)
{
	const struct exec_input *from = out->from;
	json_object *e, *m;

	if ((e = json_object_new_object()) == NULL ||
	    put_ids(e, out->made->object, out->place, x->session) ||
	    put_owner(e, u))
		goto err1;
	if (from != NULL &&
	    (jset(e, "modified_from", m = json_object_new_object()) ||
		jset(m, "id", jstr(from->o.object)) ||
		jset(m, "storage_session_id", jstr(from->o.session))))
		goto err1;
	return (e);

err1:
	json_object_put(e);
	return (NULL);
}

static json_object *
input_json(const struct exec_input *in)
{
	json_object *e;

	if ((e = json_object_new_object()) == NULL ||
	    put_ids(e, in->o.object, in->place, in->o.session) ||
	    put_owner(e, &in->o.owner) || jset(e, "inherited", jbool(1))) {
		json_object_put(e);
		return (NULL);
	}
	return (e);
}

static int
by_place(const void *a, const void *b)
{
	const struct exec_input *const *x = a, *const *y = b;

	return (strcmp((*x)->place, (*y)->place));
}

/* Inputs that are as they were fill what the outputs leave of the list. */
static int
put_inherited(struct req *r, const struct exec *x, json_object *a)
{
	const struct exec_input *in[LC_REFS_MAX];
	const struct conf *c = r->srv->conf;
	size_t n = 0, i;

	if (!c->lc_echo)
		return (0);
	for (i = 0; i < x->ninputs && n < LC_REFS_MAX; i++)
		if (!x->input[i].changed && !x->input[i].deleted)
			in[n++] = &x->input[i];
	qsort(in, n, sizeof(in[0]), by_place);
	for (i = 0;
	     i < n && json_object_array_length(a) < c->lc_output_max_files; i++)
		if (jadd(a, input_json(in[i])))
			return (-1);
	return (0);
}

static int
put_deleted(const struct exec *x, json_object *o)
{
	json_object *a = NULL;

	for (size_t i = 0; i < x->ninputs; i++) {
		if (!x->input[i].deleted)
			continue;
		if (a == NULL &&
		    jset(o, "deleted_files", a = json_object_new_array()))
			return (-1);
		if (jadd(a, jstr(x->input[i].place)))
			return (-1);
	}
	return (0);
}

/* As the newer client checks it to the letter. */
static int
put_delivery(const struct exec *x, json_object *o)
{
	const size_t good = x->attempted - x->failed;
	json_object *d;

	if (x->failed == 0)
		return (0);
	return (jset(o, "artifact_delivery", d = json_object_new_object()) ||
	    jset(d, "code", jstr("artifact_delivery_failed")) ||
	    jset(d, "status", jstr(good > 0 ? "partial" : "failed")) ||
	    jset(d, "attempted", jint(x->attempted)) ||
	    jset(d, "delivered", jint(good)) ||
	    jset(d, "failed", jint(x->failed)));
}

static int
put_truncation(const struct exec *x, json_object *o)
{
	json_object *t, *m, *a;

	if (x->nskipped == 0)
		return (0);
	if (jset(o, "artifact_truncation", t = json_object_new_object()) ||
	    jset(t, "reasons", m = json_object_new_object()))
		return (-1);
	for (size_t i = 0; i < EXEC_SKIPS; i++)
		if (x->skipped[i] > 0 &&
		    jset(m, reasons[i], jint(x->skipped[i])))
			return (-1);
	if (jset(t, "skipped_count", jint(x->nskipped)) ||
	    jset(t, "skipped", a = json_object_new_array()))
		return (-1);
	for (size_t i = 0; i < x->nskipped && i < EXEC_SKIPPED_MAX; i++)
		if (jadd(a, jstr(x->skipped_path[i])))
			return (-1);
	return (0);
}

int
lc_put_outcome(struct req *r, const struct exec *x, json_object *o)
{
	struct lc_owner u;
	json_object *a;

	lc_owner_user(r, &u);
	if (jset(o, "files", a = json_object_new_array()))
		return (-1);
	for (size_t i = 0; i < x->noutputs; i++)
		if (x->output[i].made != NULL &&
		    jadd(a, output_json(x, &x->output[i], &u)))
			return (-1);
	return (put_inherited(r, x, a) || put_deleted(x, o) ||
		    put_delivery(x, o) || put_truncation(x, o)
		? -1
		: 0);
}
