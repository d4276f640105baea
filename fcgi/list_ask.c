#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/num.h"
#include "data/file.h"
#include "http/query.h"
#include "speech/dialect.h"
#include "speech/page.h"

#include "fcgi/file_fields.h"
#include "fcgi/list_ask.h"
#include "fcgi/req.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* The words for a cursor; more than one of them in a request is refused. */
enum cursor { AFTER, AFTER_ID, BEFORE_ID, PAGE, CURSORS };
static const char *const cursor_name[CURSORS] = {
    "after", "after_id", "before_id", "page"};

/*
 * Set ${value} to the parameter ${name}, NULL if it is absent or empty.
 * Return -1 after answering if it is there twice.
 */
static int
take(struct req *r, const char *name, const char **value)
{

	*value = query_get(r->query, name, 0);
	if (query_count(r->query, name) > 1) {
		(void)reply_problem(r, P_INVALID_VALUE, name,
		    "The parameter %s is given more than once", name);
		return (-1);
	}
	if (*value != NULL && **value == '\0')
		*value = NULL;
	return (0);
}

static int
take_limit(struct req *r, struct list_ask *ask)
{
	const struct dialect *d = r->dialect;
	const char *s;
	uint64_t n, most = d->page_max;
	int below;

	if (take(r, "limit", &s))
		return (-1);
	n = d->page_default;
	if (s != NULL) {
		below = *s == '-';
		if (num_u64(s + below, 0, UINT64_MAX, &n)) {
			(void)reply_problem(r, P_INVALID_TYPE, "limit",
			    "limit must be a whole number between 1 and %u",
			    d->page_max);
			return (-1);
		}
		if (below || n == 0 || n > most) {
			(void)reply_problem(r,
			    below || n == 0 ? P_BELOW_MIN : P_ABOVE_MAX,
			    "limit", "limit must be between 1 and %u",
			    d->page_max);
			return (-1);
		}
	}
	if (n > r->srv->conf->files_page_max)
		n = r->srv->conf->files_page_max;
	ask->limit = (size_t)n;
	return (0);
}

static int
take_order(struct req *r, struct list_ask *ask)
{
	const char *s;

	if (take(r, "order", &s))
		return (-1);
	if (s == NULL || strcmp(s, "desc") == 0)
		return (0);
	if (strcmp(s, "asc") == 0) {
		ask->ascending = 1;
		return (0);
	}
	(void)reply_problem(
	    r, P_INVALID_VALUE, "order", "order must be asc or desc");
	return (-1);
}

static int
take_filters(struct req *r, struct list_ask *ask)
{
	const char *scope;

	if (take(r, "purpose", &ask->purpose) || take(r, "scope_id", &scope))
		return (-1);
	/* Produced files answer to the vendor's word for them and to ours. */
	if (ask->purpose != NULL &&
	    strcmp(ask->purpose, "assistants_output") == 0)
		ask->purpose = "code_execution_output";
	/* Nothing here belongs to a session of the vendor's, nor is anything of
	 * a purpose that no upload may have. */
	ask->nothing = scope != NULL ||
	    (ask->purpose != NULL && !field_is_purpose(ask->purpose));
	return (0);
}

/* A cursor that is an id: a place, whatever became of the file. */
static int
place_of_id(struct req *r, struct list_ask *ask, const char *s)
{
	char id[FILE_IDMAX + 1];
	enum data_rc rc = DATA_NONE;

	if (file_id_parse(s, id) == 0)
		rc = file_position(r->srv->db, &r->caller.owner, id, &ask->pos);
	if (rc == DATA_OK) {
		ask->from_pos = 1;
		return (0);
	}
	if (rc != DATA_NONE)
		(void)reply_data(r, rc);
	else
		(void)reply_problem(r,
		    r->dialect == &dialect_anthropic ? P_BAD_REQUEST
						     : P_NOT_FOUND,
		    "after", "No such cursor");
	return (-1);
}

static int
place_of_token(struct req *r, struct list_ask *ask, const char *s)
{
	int ascending;

	if (page_read(s, &ask->pos, &ascending)) {
		(void)reply_problem(r, P_INVALID_VALUE, "page",
		    "page is not a token from next_page");
		return (-1);
	}
	if (ascending != ask->ascending) {
		(void)reply_problem(r, P_INVALID_VALUE, "order",
		    "order differs from that of the page before");
		return (-1);
	}
	ask->from_pos = 1;
	return (0);
}

static int
take_cursor(struct req *r, struct list_ask *ask)
{
	const char *s[CURSORS] = {NULL};
	size_t given = 0;

	for (size_t i = 0; i < CURSORS; i++) {
		if (take(r, cursor_name[i], &s[i]))
			return (-1);
		given += s[i] != NULL;
	}
	if (given > 1) {
		(void)reply_problem(r, P_INVALID_VALUE, "after",
		    "Only one of after, after_id, before_id and page can be "
		    "given");
		return (-1);
	}
	if (s[AFTER] != NULL || s[AFTER_ID] != NULL)
		return (place_of_id(
		    r, ask, s[AFTER] != NULL ? s[AFTER] : s[AFTER_ID]));
	/* The other two mean nothing to OpenAI's clients. */
	if (r->dialect != &dialect_anthropic)
		return (0);
	if (s[PAGE] != NULL)
		return (place_of_token(r, ask, s[PAGE]));
	if (s[BEFORE_ID] == NULL)
		return (0);
	ask->backward = 1;
	return (place_of_id(r, ask, s[BEFORE_ID]));
}

/* Add ${id} to ${ask} unless it is there; 1 if there is no room for it. */
static int
add_id(struct list_ask *ask, const char *id)
{

	for (size_t i = 0; i < ask->nids; i++) {
		if (strcmp(ask->ids[i], id) == 0)
			return (0);
	}
	if (ask->nids == LIST_IDS_MAX)
		return (1);
	ask->ids[ask->nids++] = id;
	return (0);
}

/* ids[] is a look-up, not a walk: it goes with none of these. */
static int
lone_ids(struct req *r)
{
	static const char *const not_with[] = {
	    "limit", "after", "after_id", "before_id", "page"};

	for (size_t i = 0; i < NELEM(not_with); i++) {
		if (query_count(r->query, not_with[i]) == 0)
			continue;
		(void)reply_problem(r, P_INVALID_VALUE, "ids",
		    "ids cannot be given together with %s", not_with[i]);
		return (0);
	}
	return (1);
}

static int
take_ids(struct req *r, struct list_ask *ask)
{
	static const char *const names[] = {"ids[]", "ids"};
	const char *s;
	size_t i, j, all = 0;

	for (i = 0; i < NELEM(names); i++)
		all += query_count(r->query, names[i]);
	if (all == 0)
		return (0);
	if (!lone_ids(r))
		return (-1);
	if ((ask->ids = arena_alloc(
		 r->mem, LIST_IDS_MAX * sizeof(*ask->ids))) == NULL) {
		(void)reply_problem(
		    r, P_SERVER, NULL, "The server ran out of memory");
		return (-1);
	}
	for (i = 0; i < NELEM(names); i++) {
		for (j = 0; (s = query_get(r->query, names[i], j)) != NULL;
		     j++) {
			if (!add_id(ask, s))
				continue;
			(void)reply_problem(r, P_INVALID_VALUE, "ids",
			    "At most %d different ids can be given",
			    LIST_IDS_MAX);
			return (-1);
		}
	}
	return (0);
}

int
list_ask_read(struct req *r, struct list_ask *ask)
{

	memset(ask, 0, sizeof(*ask));
	if (take_order(r, ask) || take_filters(r, ask))
		return (-1);
	if (r->dialect == &dialect_anthropic && take_ids(r, ask))
		return (-1);
	if (ask->ids != NULL)
		return (0);
	if (take_limit(r, ask) || take_cursor(r, ask))
		return (-1);
	return (0);
}
