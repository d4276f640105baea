#include <string.h>

#include "base/conf.h"
#include "base/jset.h"
#include "data/file.h"
#include "speech/dialect.h"

/* Epoch seconds, or nothing: the vendor's type has no null here. */
static int
set_expiry(json_object *o, const char *key, uint64_t ms)
{

	return (ms == 0 ? 0 : jset(o, key, jint(ms / 1000)));
}

/*
 * Clients that read the vendor's list of purposes strictly do not know ours, so
 * a setting may print another word for it.
 */
static const char *
purpose(const struct conf *c, const struct file *f)
{

	if (strcmp(f->purpose, "code_execution_output") == 0)
		return (c->files_openai_output_purpose);
	return (f->purpose);
}

static json_object *
oai_file(const struct conf *c, const struct file *f)
{
	char id[FILE_PRINTMAX];
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jstr(file_id_print(f->id, id))) ||
	    jset(o, "object", jstr("file")) ||
	    jset(o, "bytes", jint(f->bytes)) ||
	    jset(o, "created_at", jint(f->created / 1000)) ||
	    set_expiry(o, "expires_at", f->expires) ||
	    jset(o, "filename", jstr(f->name)) ||
	    jset(o, "purpose", jstr(purpose(c, f))) ||
	    jset(o, "status", jstr("processed"))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
oai_deleted(const char *id)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL || jset(o, "id", jstr(id)) ||
	    jset(o, "object", jstr("file")) || jset(o, "deleted", jbool(1))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
oai_list_end(const struct list_end *e)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "has_more", jbool(e->has_more)) ||
	    jtext(o, "first_id", e->first_id) ||
	    jtext(o, "last_id", e->last_id)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
oai_error(const struct problem_row *row, const char *message, const char *param,
    const char *request_id)
{
	json_object *o, *e;

	(void)request_id; /* This vendor tells it in a header only. */
	if ((o = json_object_new_object()) == NULL)
		return (NULL);
	if (jset(o, "error", e = json_object_new_object()) ||
	    jset(e, "message", jstr(message)) ||
	    jset(e, "type", jstr(row->openai_type)) ||
	    jtext(e, "param", param) || jtext(e, "code", row->openai_code)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

const struct dialect dialect_openai = {
    .name = "openai",
    .file = oai_file,
    .deleted = oai_deleted,
    .list_begin = "{\"object\":\"list\",\"data\":[",
    .list_end = oai_list_end,
    .error = oai_error,
    .page_default = 10000,
    .page_max = 10000,
};
