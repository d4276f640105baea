#include "base/clock.h"
#include "base/conf.h"
#include "base/jset.h"
#include "data/file.h"
#include "speech/dialect.h"

/* RFC 3339, or null for 0. */
static int
set_time(json_object *o, const char *key, uint64_t ms)
{
	char s[CLOCK_RFC3339_SIZE];

	if (ms == 0)
		return (jnull(o, key));
	clock_rfc3339(ms, s);
	return (jset(o, key, jstr(s)));
}

static json_object *
ant_file(const struct conf *c, const struct file *f)
{
	char id[FILE_PRINTMAX];
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jstr(file_id_print(f->id, id))) ||
	    jset(o, "type", jstr("file")) ||
	    jset(o, "filename", jstr(f->name)) ||
	    jset(o, "mime_type", jstr(f->mime)) ||
	    jset(o, "size_bytes", jint(f->bytes)) ||
	    set_time(o, "created_at", f->created) ||
	    set_time(o, "expires_at", f->expires) ||
	    jset(o, "downloadable", jbool(file_is_downloadable(c, f)))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
ant_deleted(const char *id)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL || jset(o, "id", jstr(id)) ||
	    jset(o, "type", jstr("file_deleted"))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/*
 * One envelope for both generations of the vendor's clients: older ones read
 * has_more and last_id, newer ones only next_page.
 */
static json_object *
ant_list_end(const struct list_end *e)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "has_more", jbool(e->has_more)) ||
	    jtext(o, "first_id", e->first_id) ||
	    jtext(o, "last_id", e->last_id) ||
	    jtext(o, "next_page", e->next_page)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* The code by which the vendor's clients pick a class of exception; and what is
 * not supported, without which they send whole histories by themselves. */
static int
set_details(json_object *e, const struct problem_row *row)
{
	json_object *d, *list;

	if (row->anthropic_code == NULL)
		return (0);
	if (jset(e, "details", d = json_object_new_object()) ||
	    jset(d, "error_code", jstr(row->anthropic_code)))
		return (-1);
	if (row->kind != P_THREAD)
		return (0);
	if (jset(d, "unsupported", list = json_object_new_array()))
		return (-1);
	return (jadd(list, jstr("thread")));
}

static json_object *
ant_error(const struct problem_row *row, const char *message, const char *param,
    const char *request_id)
{
	json_object *o, *e;

	(void)param; /* This vendor's errors name no field. */
	if ((o = json_object_new_object()) == NULL)
		return (NULL);
	if (jset(o, "type", jstr("error")) ||
	    jset(o, "error", e = json_object_new_object()) ||
	    jset(e, "type", jstr(row->anthropic_type)) ||
	    jset(e, "message", jstr(message)) || set_details(e, row) ||
	    jset(o, "request_id", jstr(request_id))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

const struct dialect dialect_anthropic = {
    .name = "anthropic",
    .file = ant_file,
    .deleted = ant_deleted,
    .list_begin = "{\"data\":[",
    .list_end = ant_list_end,
    .error = ant_error,
    .page_default = 20,
    .page_max = 1000,
};
