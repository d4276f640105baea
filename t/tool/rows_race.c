/*
 * Several at the same rows at once.  PROGRAM SOCKET SCHEMA ROUNDS: in each
 * round threads start together, and what they came to is counted.
 */

#include <pthread.h>

#include "data/file.h"
#include "data/upload.h"
#include "io/blob.h"

#include "t/tool/rows.h"

#define THREADS 4

/* What one thread does in a round. */
struct turn {
	enum data_rc (*what)(struct turn *);
	struct owner o;
	uint64_t row, bytes, quota;
	const char *id;
	const struct upload *u;
	enum data_rc rc;
};

static pthread_barrier_t gate;

static void *
turn_run(void *cookie)
{
	struct turn *t = cookie;

	(void)pthread_barrier_wait(&gate);
	t->rc = t->what(t);
	return (NULL);
}

/* Let ${t} run at once; return how many came to ${rc}. */
static size_t
together(struct turn *t, enum data_rc rc)
{
	pthread_t thread[THREADS];
	size_t i, n = 0;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, turn_run, &t[i]))
			exit(3);
	for (i = 0; i < THREADS; i++) {
		(void)pthread_join(thread[i], NULL);
		n += (t[i].rc == rc);
	}
	return (n);
}

static uint64_t
begin(const struct owner *o)
{
	char key[BLOB_KEYLEN + 1];
	uint64_t row = 0;

	if (blob_key(key) || file_begin(db, o, key, now(), &row) != DATA_OK)
		exit(3);
	return (row);
}

static enum data_rc
publish(struct turn *t)
{
	struct file_new n = {.name = "n",
	    .mime = "m",
	    .purpose = "p",
	    .sha256 = "0",
	    .bytes = t->bytes,
	    .quota = t->quota};
	struct arena *m = arena_new(1 << 16);
	struct file f;
	enum data_rc rc;

	if (t->u != NULL)
		rc = upload_complete(db, m, &t->o, t->u, t->row, &n, &f);
	else
		rc = file_publish(db, m, &t->o, t->row, &n, &f);
	arena_free(m);
	return (rc);
}

static enum data_rc delete (struct turn *t) {

	return (file_delete(db, &t->o, t->id, now()));
}

static enum data_rc
cancel(struct turn *t)
{

	return (upload_cancel(db, t->u, now()));
}

static enum data_rc
part(struct turn *t)
{
	struct arena *m = arena_new(1 << 16);
	struct upload_part p;
	enum data_rc rc;

	rc = upload_part_publish(db, m, t->u, t->row, 1, now(), &p);
	arena_free(m);
	return (rc);
}

/* Four uploads race for room for one. */
static void
test_quota(uint64_t rounds)
{
	struct turn t[THREADS];
	size_t one = 0, rest = 0, i;
	uint64_t r;

	for (r = 0; r < rounds; r++) {
		struct owner o = owner("race", "quota");

		sql("DELETE FROM file");
		for (i = 0; i < THREADS; i++)
			t[i] = (struct turn){.what = publish,
			    .o = o,
			    .row = begin(&o),
			    .bytes = 10,
			    .quota = 19};
		one += together(t, DATA_OK) == 1;
		for (i = 0; i < THREADS; i++)
			rest += t[i].rc == DATA_QUOTA;
	}
	ok(one == rounds, "room for one of four: one gets it, every time");
	ok(rest == rounds * (THREADS - 1), "... and the others are told");
}

/* Four publish, then four delete, the same file. */
static void
test_once(uint64_t rounds)
{
	struct turn t[THREADS];
	struct owner o = owner("race", "once");
	size_t live = 0, dead = 0, i;
	uint64_t r, row;
	char *id;

	for (r = 0; r < rounds; r++) {
		row = begin(&o);
		for (i = 0; i < THREADS; i++)
			t[i] = (struct turn){
			    .what = publish, .o = o, .row = row, .bytes = 1};
		live += together(t, DATA_OK) == 1;
		const struct db_arg args[] = {DB_U64(row)};
		if (db_row(db, mem, "SELECT pid FROM file WHERE id = ?", args,
			1, &id, 1) != DB_OK)
			exit(3);
		for (i = 0; i < THREADS; i++)
			t[i] = (struct turn){.what = delete, .o = o, .id = id};
		dead += together(t, DATA_OK) == 1;
	}
	ok(live == rounds, "one row is published once");
	ok(dead == rounds, "... and deleted once");
}

/* Two complete an upload while one cancels it and one adds a part. */
static void
test_upload(uint64_t rounds)
{
	struct turn t[THREADS];
	struct owner o = owner("race", "upload");
	size_t one = 0, agree = 0;
	uint64_t r, files;

	for (r = 0; r < rounds; r++) {
		struct upload u = {
		    .name = "n", .mime = "m", .purpose = "p", .bytes = 1};
		char key[BLOB_KEYLEN + 1];

		if (upload_create(db, mem, &o, &u) != DATA_OK || blob_key(key))
			exit(3);
		memset(t, 0, sizeof(t));
		t[0] = t[1] = t[2] = t[3] =
		    (struct turn){.o = o, .u = &u, .bytes = 1};
		t[0].what = t[1].what = publish;
		t[0].row = begin(&o);
		t[1].row = begin(&o);
		t[2].what = cancel;
		t[3].what = part;
		if (upload_part_begin(db, &u, key, now(), &t[3].row) != DATA_OK)
			exit(3);
		(void)together(t, DATA_OK);
		one += (t[0].rc == DATA_OK) + (t[1].rc == DATA_OK) +
			(t[2].rc == DATA_OK) ==
		    1;
		files = number("SELECT COUNT(*) FROM file f JOIN upload u"
			       "  ON u.file_id = f.id AND f.state = 'live'"
			       " WHERE u.id = ? AND u.state = 'completed'",
		    u.row);
		agree += files == (t[2].rc != DATA_OK);
	}
	ok(one == rounds, "an upload ends in one way, every time");
	ok(agree == rounds, "... and makes a file if that is the way");
	ok(number("SELECT COUNT(*) FROM file f LEFT JOIN upload u"
		  "  ON u.file_id = f.id"
		  " WHERE f.user_id = ? AND f.state = 'live' AND u.id IS NULL",
	       o.user) == 0,
	    "... and no other");
}

int
main(int argc, char *argv[])
{
	uint64_t rounds;

	rows_open(argc, argv, THREADS + 1);
	if (argc != 4 || num_u64(argv[3], 1, 100000, &rounds) ||
	    pthread_barrier_init(&gate, NULL, THREADS))
		return (2);
	test_quota(rounds);
	test_once(rounds);
	test_upload(rounds);
	return (rows_close());
}
