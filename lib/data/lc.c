#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/id.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"
#include "data/file_sql.h"
#include "data/lc_sql.h"

#include "data/lc.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define TOUCH_MS 3600000 /* At most one write an hour. */

static const char *const kinds[LC_KINDS] = {
    [LC_USER] = "user",
    [LC_AGENT] = "agent",
    [LC_SKILL] = "skill",
    [LC_ENTITY] = "entity",
};

int
lc_id(char id[static LC_IDLEN + 1])
{

	return (id_base62(id, LC_IDLEN));
}

int
lc_id_ok(const char *s)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz0123456789_-";

	return (strspn(s, allowed) == LC_IDLEN && s[LC_IDLEN] == '\0');
}

const char *
lc_kind_name(enum lc_kind kind)
{

	return (kinds[kind]);
}

/* Find the kind ${s} among the first ${n}. */
static int
find_kind(const char *s, size_t n, enum lc_kind *kind)
{

	for (size_t i = 0; i < n; i++) {
		if (strcmp(s, kinds[i]) == 0) {
			*kind = (enum lc_kind)i;
			return (0);
		}
	}
	return (-1);
}

int
lc_kind_parse(const char *s, enum lc_kind *kind)
{

	return (find_kind(s, LC_ENTITY, kind));
}

int
lc_owner_same(const struct lc_owner *a, const struct lc_owner *b)
{

	return (a->kind == b->kind && a->workspace == b->workspace &&
	    a->names == b->names && a->user == b->user &&
	    strcmp(a->version, b->version) == 0 &&
	    /* A user is his row, whatever he was called by. */
	    (a->kind == LC_USER || strcmp(a->resource, b->resource) == 0));
}

/* Read LC_SESSION_COLS. */
static int
session_row(char *const *cols, struct lc_owner *owner, uint64_t *used)
{

	owner->resource = cols[4];
	owner->version = cols[5];
	if (num_u64(cols[0], 1, UINT64_MAX, &owner->workspace) ||
	    num_u64(cols[1], 0, UINT64_MAX, &owner->names) ||
	    num_u64(cols[2], 0, UINT64_MAX, &owner->user) ||
	    find_kind(cols[3], LC_KINDS, &owner->kind) ||
	    num_u64(cols[6], 0, UINT64_MAX, used)) {
		log_err("lc: bad row of a storage session");
		return (-1);
	}
	return (0);
}

/* Read LC_OBJECT_COLS. */
static int
object_row(char *const *cols, struct lc_object *o)
{

	o->session = cols[2];
	o->object = cols[3];
	o->place = cols[4];
	o->read_only = strcmp(cols[5], "0") != 0;
	return (num_u64(cols[0], 1, UINT64_MAX, &o->of.workspace) ||
		    num_u64(cols[1], 1, UINT64_MAX, &o->of.user)
		? -1
		: 0);
}

enum data_rc
lc_find(struct db *db, struct arena *mem, const char *session,
    const char *object, uint64_t now, struct lc_object *o)
{
	/* clang-format off */
	static const char sql[] =
	    "SELECT " LC_SESSION_COLS ", " LC_OBJECT_COLS ", " FILE_FOUND("f.")
	    "  FROM storage_object o"
	    "  JOIN storage_session s ON s.session = o.session"
	    "  JOIN file f ON f.lc_session = o.session"
	    "             AND f.lc_object = o.object"
	    " WHERE o.session = ? AND o.object = ?";
	/* clang-format on */
	const struct db_arg args[] = {DB_STR(session), DB_STR(object)};
	char *cols[LC_SESSION_NCOLS + LC_OBJECT_NCOLS + FILE_NFOUND];
	enum db_rc dbrc;
	enum data_rc rc;

	dbrc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (dbrc != DB_OK)
		return (data_rc_of(dbrc));
	memset(o, 0, sizeof(*o));
	if (session_row(cols, &o->owner, &o->used) ||
	    object_row(cols + LC_SESSION_NCOLS, o))
		return (DATA_FAIL);
	rc = file_found(
	    cols + LC_SESSION_NCOLS + LC_OBJECT_NCOLS, now, &o->file);
	return (rc == DATA_EXPIRED ? DATA_NONE : rc);
}

enum data_rc
lc_session_find(struct db *db, struct arena *mem, const char *session,
    struct lc_owner *owner, uint64_t *used)
{
	static const char sql[] = "SELECT " LC_SESSION_COLS
				  "  FROM storage_session s WHERE session = ?";
	const struct db_arg args[] = {DB_STR(session)};
	char *cols[LC_SESSION_NCOLS];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc == DB_OK && session_row(cols, owner, used))
		return (DATA_FAIL);
	return (data_rc_of(rc));
}

/* A list being read. */
struct list {
	struct arena *mem;
	struct lc_object *o;
	size_t n;
};

static int
list_row(void *cookie, char *const *cols)
{
	struct list *l = cookie;
	struct lc_object *o;
	char *kept[LC_OBJECT_NCOLS + FILE_NCOLS];

	for (size_t i = 0; i < NELEM(kept); i++) {
		kept[i] = NULL;
		if (cols[i] != NULL &&
		    (kept[i] = arena_strndup(
			 l->mem, cols[i], strlen(cols[i]))) == NULL)
			return (-1);
	}
	o = &l->o[l->n++];
	return (
	    object_row(kept, o) || file_row(kept + LC_OBJECT_NCOLS, &o->file)
		? -1
		: 0);
}

enum data_rc
lc_list_objects(struct db *db, struct arena *mem, const char *session,
    uint64_t now, struct lc_object **o, size_t *n)
{
	/* clang-format off */
	static const char sql[] =
	    "SELECT " LC_OBJECT_COLS ", " FILE_COLS("f.")
	    "  FROM storage_object o"
	    "  JOIN file f ON f.lc_session = o.session"
	    "             AND f.lc_object = o.object"
	    " WHERE o.session = ? AND " FILE_LIVE("f.", "?")
	    " ORDER BY o.place, o.object LIMIT ?";
	/* clang-format on */
	const struct db_arg args[] = {
	    DB_STR(session), DB_U64(now), DB_U64(LC_SESSION_MAX)};
	struct list l = {.mem = mem};
	enum db_rc rc;

	if ((l.o = arena_alloc(mem, LC_SESSION_MAX * sizeof(*l.o))) == NULL)
		return (DATA_FAIL);
	rc = db_rows(db, sql, args, NELEM(args), LC_OBJECT_NCOLS + FILE_NCOLS,
	    list_row, &l);
	*o = l.o;
	*n = l.n;
	return (data_rc_of(rc));
}

uint64_t
lc_touch(struct db *db, const char *session, uint64_t now, uint64_t used,
    uint64_t retention_s)
{
	static const char mark[] = "UPDATE storage_session SET last_used = ?"
				   " WHERE session = ? AND last_used < ?";
	static const char live_on[] =
	    "UPDATE file SET last_used = ?,"
	    " sweep_at = LEAST(?, COALESCE(expires, ?))"
	    " WHERE lc_session = ? AND last_used IS NOT NULL"
	    "   AND " FILE_LIVE("", "?");
	const uint64_t until = now + retention_s * 1000;
	const struct db_arg one[] = {DB_U64(now), DB_STR(session), DB_U64(now)};
	const struct db_arg all[] = {DB_U64(now), DB_U64(until), DB_U64(until),
	    DB_STR(session), DB_U64(now)};

	if (used + TOUCH_MS > now)
		return (used);
	/* The files first: if nobody notes the touch it is made again. */
	if (db_exec(db, live_on, all, NELEM(all), NULL, NULL) != DB_OK ||
	    db_exec(db, mark, one, NELEM(one), NULL, NULL) != DB_OK)
		return (used);
	return (now);
}
