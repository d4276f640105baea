#include <string.h>

#include "base/arena.h"
#include "base/log.h"

#include "data/db_rc.h"
#include "data/file_sql.h"

#include "data/file.h"

/*
 * One page, by position.  The condition is spelled out, because neither server
 * makes a range of (created, pid) < (?, ?), and the index is named, because
 * with one owner holding most of the table the optimizer reads all of his rows.
 */
/* clang-format off */
#define PAGE(index, purpose, cmp, dir)					\
	"SELECT " FILE_COLS("") "  FROM file FORCE INDEX (" index ")"	\
	" WHERE workspace_id = ? AND user_id = ?" purpose		\
	"   AND " FILE_LIVE("", "?")					\
	"   AND (created " cmp " ? OR (created = ? AND pid " cmp " ?))"	\
	" ORDER BY created " dir ", pid " dir " LIMIT ?"
/* clang-format on */

static const char *const pages[2][2] = {
    {PAGE("file_list", "", "<", "DESC"), PAGE("file_list", "", ">", "ASC")},
    {PAGE("file_list_purpose", " AND purpose = ?", "<", "DESC"),
	PAGE("file_list_purpose", " AND purpose = ?", ">", "ASC")},
};

/* The page being filled in. */
struct page {
	struct arena *mem;
	struct file *f;
	size_t n, max;
};

/* Move the string at ${s} to ${p}, and ${p} past it. */
static void
move(const char **s, char **p)
{
	size_t len;

	if (*s == NULL)
		return;
	len = strlen(*s) + 1;
	memcpy(*p, *s, len);
	*s = *p;
	*p += len;
}

/* Give ${f} strings of its own in ${mem}. */
static int
keep(struct arena *mem, struct file *f)
{
	const char **all[] = {
	    &f->id, &f->name, &f->mime, &f->purpose, &f->key, &f->sha256};
	size_t i, size = 1;
	char *p;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (*all[i] != NULL)
			size += strlen(*all[i]) + 1;
	if ((p = arena_alloc(mem, size)) == NULL) {
		log_err("file: no room for a page of the list");
		return (-1);
	}
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		move(all[i], &p);
	return (0);
}

static int
page_row(void *cookie, char *const *cols)
{
	struct page *p = cookie;
	struct file *f = &p->f[p->n];

	if (p->n == p->max || file_row(cols, f) || keep(p->mem, f))
		return (-1);
	p->n++;
	return (0);
}

enum data_rc
file_list(struct db *db, struct arena *mem, const struct file_query *q,
    struct file *f, size_t *n)
{
	/* The ends of the list, before and after everything. */
	static const struct file_pos first = {.created = 0, .id = ""},
				     last = {.created = UINT64_MAX, .id = ""};
	const struct file_pos *from = q->from;
	const char *purpose = q->purpose;
	struct page page = {.mem = mem, .f = f, .max = q->limit};
	struct db_arg args[8];
	size_t nargs = 0;
	enum db_rc rc;

	if (q->limit > FILE_PAGE)
		return (DATA_FAIL);
	if (from == NULL)
		from = q->ascending ? &first : &last;
	/* One thing that vendors call by two words is stored under one. */
	if (purpose != NULL && strcmp(purpose, "assistants_output") == 0)
		purpose = "code_execution_output";
	args[nargs++] = (struct db_arg)DB_U64(q->owner->workspace);
	args[nargs++] = (struct db_arg)DB_U64(q->owner->user);
	if (purpose != NULL)
		args[nargs++] = DB_STR(purpose);
	args[nargs++] = (struct db_arg)DB_U64(q->now);
	args[nargs++] = (struct db_arg)DB_U64(from->created);
	args[nargs++] = (struct db_arg)DB_U64(from->created);
	args[nargs++] = DB_STR(from->id);
	args[nargs++] = (struct db_arg)DB_U64(q->limit);
	rc = db_rows(db, pages[purpose != NULL][q->ascending != 0], args, nargs,
	    FILE_NCOLS, page_row, &page);
	*n = page.n;
	return (data_rc_of(rc));
}
