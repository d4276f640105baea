#include <stdio.h>
#include <string.h>

#include "data/mark.h"
#include "io/blob.h"
#include "io/db.h"
#include "io/store_mark.h"

#include "tools/admin.h"
#include "tools/admin_store.h"

/* The store, and what database and root say of each other. */
struct marks {
	struct admin *a;
	struct store *S;
	char want[STORE_MARKLEN + 1], have[STORE_MARKLEN + 1];
	enum data_rc wanted; /* DATA_OK or DATA_NONE. */
	enum blob_rc had;
};

static int
look(struct marks *m)
{

	m->wanted = mark_find(m->a->db, m->want);
	if (m->wanted != DATA_OK && m->wanted != DATA_NONE)
		return (admin_data(m->wanted));
	m->had = store_mark_read(m->S, m->have);
	return (ADMIN_OK);
}

/* Does the root bear the mark of the database? */
static int
fits(const struct marks *m)
{

	return (m->had == BLOB_OK && strcmp(m->have, m->want) == 0);
}

/* The root gets the mark of the database. */
static int
give(struct marks *m)
{

	if (store_mark_write(m->S, m->want) != BLOB_OK)
		return (admin_fail(
		    "files.root %s cannot be written", m->a->conf.files_root));
	return (ADMIN_OK);
}

/*
 * The database had no mark a moment ago: it takes that of the root if there is
 * one, else a new one that the root is given next.  Another program may be at
 * the same; the database's row decides.
 */
static int
take(struct marks *m)
{
	enum data_rc rc;

	if (m->had == BLOB_OK)
		memcpy(m->want, m->have, sizeof(m->want));
	else if (blob_key(m->want))
		return (admin_fail("no random bytes"));
	if ((rc = mark_set(m->a->db, m->want)) == DATA_TAKEN)
		rc = mark_find(m->a->db, m->want);
	if (rc != DATA_OK)
		return (admin_data(rc));
	if (fits(m))
		return (ADMIN_OK);
	return (give(m));
}

static int
with_store(struct admin *a, int (*fn)(struct marks *))
{
	struct marks m = {.a = a};
	int rc;

	if ((m.S = store_open(a->conf.files_root)) == NULL)
		return (admin_fail("out of memory"));
	if ((rc = look(&m)) == ADMIN_OK)
		rc = fn(&m);
	store_close(m.S);
	return (rc);
}

static int
settle(struct marks *m)
{
	const char *root = m->a->conf.files_root;

	if (m->had == BLOB_AWAY) {
		fprintf(stderr,
		    "satchel-admin: note: files.root %s cannot be looked at "
		    "yet; run satchel-admin store adopt once it can\n",
		    root);
		return (ADMIN_OK);
	}
	if (m->wanted == DATA_NONE)
		return (take(m));
	if (fits(m))
		return (ADMIN_OK);

	/* Nothing can be missed: whoever should have marked it was killed. */
	if (m->had == BLOB_GONE && mark_unused(m->a->db))
		return (give(m));
	return (admin_fail("files.root %s is not the store of this database: "
			   "it bears %s mark.  Is its filesystem mounted?  If "
			   "it is the right one, run satchel-admin store adopt",
	    root, m->had == BLOB_OK ? "another" : "no"));
}

int
admin_store_settle(struct admin *a)
{

	return (with_store(a, settle));
}

static int
adopt(struct marks *m)
{
	const char *root = m->a->conf.files_root;
	int rc = ADMIN_OK;

	if (m->had == BLOB_AWAY)
		return (admin_fail("files.root %s cannot be looked at", root));
	if (m->wanted == DATA_NONE)
		rc = take(m);
	else if (!fits(m))
		rc = give(m);
	if (rc == ADMIN_OK && !m->a->json)
		printf("%s is the store of this database\n", root);
	else if (rc == ADMIN_OK)
		printf("{\"mark\":\"%s\"}\n", m->want);
	return (rc);
}

int
admin_store_adopt(struct admin *a, int argc, char **argv)
{

	if (admin_options(argc, argv, NULL, 0, NULL, 0))
		return (ADMIN_USAGE);
	return (with_store(a, adopt));
}
