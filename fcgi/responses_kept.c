#include <string.h>

#include "base/arena.h"
#include "base/jget.h"
#include "base/jset.h"
#include "data/response.h"
#include "speech/dialect.h"

#include "fcgi/containers.h"
#include "fcgi/items.h"
#include "fcgi/page_ask.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define PAGE_DEFAULT 20
#define PAGE_MAX 100
#define MEM_MAX (32UL << 20)

static int
none(struct req *r)
{

	return (reply_problem(r, P_NOT_FOUND, "id",
	    "Response with id '%s' not found.", r->arg[0]));
}

/* The answer that the path names.  Return 0, or -1 after answering. */
static int
find(struct req *r, struct arena *mem, struct stored_response *s)
{
	const char *id = response_id_bare(r->arg[0]);
	enum data_rc rc = DATA_NONE;

	if (id != NULL)
		rc = response_find(
		    r->srv->db, mem, &r->caller.owner, id, r->caller.now, s);
	if (rc == DATA_OK)
		return (0);
	(void)(rc == DATA_NONE ? none(r) : reply_data(r, rc));
	return (-1);
}

/*
 * GET /v1/responses/{id}
 *
 * 200: the answer as it was given.
 * 400: as a stream it is not to be had again.
 * 404: none of the caller's, not kept, or expired.
 */
int
responses_get(struct req *r)
{
	const char *stream = query_get(r->query, "stream", 0);
	struct stored_response s;
	struct arena *mem;
	int rc = 0;

	if (stream != NULL && strcmp(stream, "true") == 0)
		return (reply_problem(r, P_BAD_REQUEST, "stream",
		    "stream: a kept response cannot be streamed again"));
	if ((mem = arena_new(MEM_MAX)) == NULL)
		return (-1);
	if (find(r, mem, &s) == 0)
		rc = reply_text(r, 200, s.body, s.body_len);
	arena_free(mem);
	return (rc);
}

/*
 * DELETE /v1/responses/{id}
 *
 * 200: it is forgotten; what went on from it stands for itself.
 */
int
responses_delete(struct req *r)
{
	const char *id = response_id_bare(r->arg[0]);
	json_object *o;
	enum data_rc rc = DATA_NONE;

	if (id != NULL)
		rc = response_drop(
		    r->srv->db, &r->caller.owner, id, r->caller.now);
	if (rc != DATA_OK)
		return (rc == DATA_NONE ? none(r) : reply_data(r, rc));
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jstr(r->arg[0])) ||
	    jset(o, "object", jstr("response")) ||
	    jset(o, "deleted", jbool(1))) {
		json_object_put(o);
		o = NULL;
	}
	return (reply_json(r, 200, o));
}

/* ---- Its input */

static const char *
id_of(json_object *item)
{
	const char *id;

	return (json_object_is_type(item, json_type_object) &&
		    jget_str(item, "id", &id) == JGET_OK
		? id
		: "");
}

/* The items of ${all} that ${ask} wants, newest first unless it says. */
static json_object *
page(json_object *all, const struct page_ask *ask)
{
	const size_t n = json_object_array_length(all);
	json_object *a, *item, *first = NULL, *last = NULL;
	int begun = ask->after == NULL;
	size_t i, taken = 0;

	if ((a = json_object_new_array()) == NULL)
		return (NULL);
	for (i = 0; i < n && taken < ask->limit + 1; i++) {
		item = json_object_array_get_idx(
		    all, ask->ascending ? i : n - 1 - i);
		if (begun && taken++ < ask->limit) {
			first = first != NULL ? first : item;
			last = item;
			if (jadd(a, json_object_get(item))) {
				json_object_put(a);
				return (NULL);
			}
		}
		begun |= !begun && strcmp(ask->after, id_of(item)) == 0;
	}
	return (containers_page(a, first != NULL ? id_of(first) : NULL,
	    last != NULL ? id_of(last) : NULL, taken > ask->limit));
}

/*
 * GET /v1/responses/{id}/input_items
 *
 * 200: a page of what it answered, what it went on from included.
 */
int
responses_items(struct req *r)
{
	struct stored_response s;
	struct page_ask ask;
	struct arena *mem;
	json_object *all = NULL;
	size_t i, at;
	int rc = 0;

	if (page_ask_read(r, PAGE_DEFAULT, PAGE_MAX, &ask))
		return (0);
	if ((mem = arena_new(MEM_MAX)) == NULL)
		return (-1);
	if (find(r, mem, &s) == 0) {
		rc = jget_parse(s.input, s.input_len, &all, &at) !=
		    JGET_PARSE_OK;
		for (i = 0; rc == 0 && i < json_object_array_length(all); i++)
			rc = items_spell_out(
			    json_object_array_get_idx(all, i), s.id, i);
		rc = rc ? -1 : reply_json(r, 200, page(all, &ask));
	}
	json_object_put(all);
	arena_free(mem);
	return (rc);
}
