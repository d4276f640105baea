/* The life of a file's row: begin, publish, find, delete, expire, quota. */

#include "data/file.h"
#include "io/blob.h"

#include "t/tool/rows.h"

#define SHA "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static struct owner alice, carol, bob;

static struct file_new
simple(uint64_t bytes)
{
	struct file_new n = {.name = "a.csv",
	    .mime = "text/csv",
	    .purpose = "user_data",
	    .sha256 = SHA,
	    .bytes = bytes,
	    .origin = FILE_UPLOAD};

	return (n);
}

/* Begin a row with a blob key of its own. */
static uint64_t
begin(const struct owner *o)
{
	char key[BLOB_KEYLEN + 1];
	uint64_t row = 0;

	if (blob_key(key) || file_begin(db, o, key, now(), &row) != DATA_OK)
		exit(3);
	return (row);
}

/* A live file of ${o}. */
static struct file
live(const struct owner *o, struct file_new n)
{
	struct file f = {0};

	if (file_publish(db, mem, o, begin(o), &n, &f) != DATA_OK)
		exit(3);
	return (f);
}

static enum data_rc
find(const struct owner *o, const char *id, uint64_t at)
{
	struct file f;

	return (file_find(db, mem, o, id, at, &f));
}

static void
test_publish(void)
{
	/* 255 characters of four bytes each. */
	char name[4 * 255 + 1] = "", key[BLOB_KEYLEN + 1];
	struct file_new n = simple(12);
	struct file f, g;
	uint64_t row, before = now(), ms;
	size_t i;

	for (i = 0; i < 255; i++)
		memcpy(name + 4 * i, "\xf0\x9f\x98\x80", 4);
	name[sizeof(name) - 1] = '\0';
	n.name = name;
	n.lifetime_s = 3600;
	n.origin = FILE_RUN;
	ok(blob_key(key) == 0 &&
		file_begin(db, &alice, key, now(), &row) == DATA_OK,
	    "a row is begun");
	ok(number("SELECT state = 'uploading' AND pid IS NULL AND"
		  " sweep_at = created FROM file WHERE id = ?",
	       row) == 1,
	    "... uploading, without an id, its last write now");
	ok(file_publish(db, mem, &alice, row, &n, &f) == DATA_OK,
	    "... and published");
	ok(strlen(f.id) == FILE_IDLEN &&
		strspn(f.id, "0123456789abcdef") == FILE_IDLEN,
	    "its id is 32 hex digits");
	ms = strtoull(
	    (char[13]){f.id[0], f.id[1], f.id[2], f.id[3], f.id[4], f.id[5],
		f.id[6], f.id[7], f.id[8], f.id[9], f.id[10], f.id[11]},
	    NULL, 16);
	ok(ms == f.created, "... which begin with the time of creation");
	ok(f.created >= before && f.created <= now(),
	    "... the database's at that moment");
	ok(f.expires == f.created + 3600000, "its expiry counts from there");
	ok(strcmp(f.name, name) == 0, "255 characters of four bytes are whole");
	ok(strcmp(f.key, key) == 0 && strcmp(f.sha256, SHA) == 0 &&
		f.bytes == 12 && f.row == row && f.origin == FILE_RUN &&
		strcmp(f.mime, "text/csv") == 0 &&
		strcmp(f.purpose, "user_data") == 0,
	    "all else is as told");
	ok(file_find(db, mem, &alice, f.id, now(), &g) == DATA_OK &&
		strcmp(g.name, name) == 0 && g.row == f.row &&
		g.created == f.created && g.expires == f.expires &&
		strcmp(g.key, key) == 0,
	    "it is found as it was published");
	ok(number("SELECT sweep_at = expires FROM file WHERE id = ?", row) == 1,
	    "the sweep is due when it expires");
	n = simple(1);
	f = live(&alice, n);
	ok(f.expires == 0 &&
		number("SELECT expires IS NULL AND sweep_at IS NULL"
		       "  FROM file WHERE id = ?",
		    f.row) == 1,
	    "no lifetime: never expires, nothing for the sweep");
	n.name = "a\nb";
	n.mime = "";
	ok(file_publish(db, mem, &alice, begin(&alice), &n, &f) == DATA_OK &&
		strcmp(f.name, "a\nb") == 0 && strcmp(f.mime, "") == 0,
	    "odd text passes unchanged");
}

static void
test_refused(void)
{
	struct file_new n = simple(1);
	struct file f;
	uint64_t row;

	ok(file_publish(db, mem, &alice, 999999, &n, &f) == DATA_STATE,
	    "a row that is not there cannot be published");
	row = begin(&alice);
	ok(file_publish(db, mem, &carol, row, &n, &f) == DATA_STATE,
	    "... nor another user's");
	ok(file_publish(db, mem, &bob, row, &n, &f) == DATA_STATE,
	    "... nor one of another workspace");
	sql("UPDATE file SET claim = 7 WHERE state = 'uploading'");
	ok(file_publish(db, mem, &alice, row, &n, &f) == DATA_STATE,
	    "... nor one that a sweep has claimed");
	sql("UPDATE file SET claim = 0, state = 'dead'"
	    " WHERE state = 'uploading'");
	ok(file_publish(db, mem, &alice, row, &n, &f) == DATA_STATE,
	    "... nor one that a sweep has given up");
	ok(number("SELECT COUNT(*) FROM file"
		  " WHERE id = ? AND pid IS NULL AND state = 'dead'",
	       row) == 1,
	    "... which stays as it was");
	f = live(&alice, n);
	ok(file_publish(db, mem, &alice, f.row, &n, &f) == DATA_STATE,
	    "... nor one twice");
	row = begin(&alice);
	file_drop(db, row);
	ok(number("SELECT COUNT(*) FROM file WHERE id = ?", row) == 0,
	    "an unfinished row is dropped");
	f = live(&alice, n);
	file_drop(db, f.row);
	ok(find(&alice, f.id, now()) == DATA_OK, "... a live one is not");
	n.purpose = "a purpose that is much longer than the sixty-four bytes"
		    " that the column holds";
	row = begin(&alice);
	ok(file_publish(db, mem, &alice, row, &n, &f) == DATA_FAIL &&
		number("SELECT state = 'uploading' FROM file WHERE id = ?",
		    row) == 1,
	    "text too long for its column fails and changes nothing");
}

static void
test_owner(void)
{
	struct file f = live(&alice, simple(3));
	char other[FILE_IDLEN + 1];
	size_t i;

	ok(find(&alice, f.id, now()) == DATA_OK, "found by its owner");
	ok(find(&carol, f.id, now()) == DATA_NONE, "not by his neighbour");
	ok(find(&bob, f.id, now()) == DATA_NONE, "not from elsewhere");
	ok(find(&(struct owner){alice.workspace, bob.user}, f.id, now()) ==
		    DATA_NONE &&
		find(&(struct owner){bob.workspace, alice.user}, f.id, now()) ==
		    DATA_NONE,
	    "workspace and user must both match");
	for (i = 0; i <= FILE_IDLEN; i++)
		other[i] = (char)(f.id[i] >= 'a' ? f.id[i] - 32 : f.id[i]);
	ok(strcmp(other, f.id) != 0 && find(&alice, other, now()) == DATA_NONE,
	    "the case of letters counts");
	ok(find(&alice, "", now()) == DATA_NONE, "an empty id is nothing");
	ok(file_delete(db, &carol, f.id, now()) == DATA_NONE &&
		file_delete(db, &bob, f.id, now()) == DATA_NONE &&
		find(&alice, f.id, now()) == DATA_OK,
	    "others cannot delete it");
	ok(file_delete(db, &alice, f.id, now()) == DATA_OK, "its owner can");
	ok(find(&alice, f.id, now()) == DATA_NONE, "... and it is gone");
	ok(file_delete(db, &alice, f.id, now()) == DATA_NONE, "... once");
	ok(number("SELECT state = 'dead' AND store_key IS NOT NULL AND"
		  " sweep_at >= created FROM file WHERE id = ?",
	       f.row) == 1,
	    "... its bytes left for the sweep");
}

static void
test_expiry(void)
{
	struct file_new n = simple(3);
	struct file f, g;

	n.lifetime_s = 3600;
	f = live(&alice, n);
	ok(find(&alice, f.id, f.expires - 1) == DATA_OK, "live to the last");
	ok(file_find(db, mem, &alice, f.id, f.expires, &g) == DATA_EXPIRED &&
		g.row == f.row,
	    "expired at its expiry, and told apart");
	ok(find(&carol, f.id, f.expires) == DATA_NONE,
	    "... but only for its owner");
	ok(file_delete(db, &alice, f.id, f.expires) == DATA_NONE,
	    "an expired file cannot be deleted");
	sql("UPDATE file SET state = 'dead' WHERE state = 'live'"
	    " AND expires IS NOT NULL");
	ok(find(&alice, f.id, f.expires) == DATA_EXPIRED, "dead by expiry");
	sql("UPDATE file SET state = 'gone', store_key = NULL"
	    " WHERE state = 'dead'");
	ok(find(&alice, f.id, f.expires) == DATA_EXPIRED, "and swept");
	f = live(&alice, n);
	ok(file_delete(db, &alice, f.id, f.created + 5) == DATA_OK &&
		find(&alice, f.id, f.expires + 1) == DATA_NONE,
	    "what was deleted in its time did not expire");
}

static void
test_position(void)
{
	static const char never[] = "01a229f128007c5e8f21d0a4b6e93f11";
	struct file f = live(&alice, simple(3)), g = live(&carol, simple(3));
	struct file_pos pos;

	ok(file_position(db, &alice, f.id, &pos) == DATA_OK &&
		pos.created == f.created && strcmp(pos.id, f.id) == 0,
	    "a cursor is the place of its row");
	(void)file_delete(db, &alice, f.id, now());
	ok(file_position(db, &alice, f.id, &pos) == DATA_OK &&
		pos.created == f.created,
	    "... also of a dead one");
	ok(file_position(db, &alice, never, &pos) == DATA_OK &&
		pos.created == 0x01a229f12800 && strcmp(pos.id, never) == 0,
	    "one never issued is the time it tells");
	ok(file_position(db, &alice, g.id, &pos) == DATA_OK &&
		pos.created == g.created && strcmp(pos.id, g.id) == 0,
	    "a stranger's is no different");
	ok(file_position(db, &alice, "file_011CNha8", &pos) == DATA_NONE,
	    "one of another form is nowhere");
	sql("INSERT INTO file (pid, workspace_id, user_id, state, origin, name,"
	    " mime, purpose, created) SELECT 'file_011CNha8', workspace_id,"
	    " id, 'live', 'provider', 'p', 'm', 'q', 77 FROM user"
	    " WHERE name = 'alice'");
	ok(file_position(db, &alice, "file_011CNha8", &pos) == DATA_OK &&
		pos.created == 77,
	    "... unless there is such a row");
	ok(file_position(db, &carol, "file_011CNha8", &pos) == DATA_NONE,
	    "... of this owner");
}

static void
test_provider(void)
{
	struct file f;

	sql("INSERT INTO file (pid, workspace_id, user_id, state, origin, name,"
	    " mime, purpose, created) SELECT 'cfile_Ab', workspace_id, id,"
	    " 'live', 'provider', name, 'm', 'q', 78 FROM user"
	    " WHERE name IN ('alice', 'carol')");
	ok(file_find(db, mem, &alice, "cfile_Ab", now(), &f) == DATA_OK &&
		strcmp(f.name, "alice") == 0 && f.key == NULL && f.bytes == 0 &&
		f.sha256 == NULL && f.origin == FILE_PROVIDER,
	    "a provider's file: no bytes here, size not known");
	ok(file_find(db, mem, &carol, "cfile_Ab", now(), &f) == DATA_OK &&
		strcmp(f.name, "carol") == 0,
	    "one id, two owners, two rows");
	ok(find(&alice, "cfile_ab", now()) == DATA_NONE,
	    "its letters' case counts");
}

static void
test_quota(void)
{
	struct owner o = owner("w", "limited");
	struct file_new n = simple(6);
	struct file f, g;
	uint64_t row;

	n.quota = 10;
	f = live(&o, n);
	n.bytes = 5;
	row = begin(&o);
	ok(file_publish(db, mem, &o, row, &n, &g) == DATA_QUOTA,
	    "6 of 10 used: 5 more are too many");
	ok(number("SELECT state = 'uploading' FROM file WHERE id = ?", row) ==
		1,
	    "... and leave the row as it was");
	n.bytes = 4;
	ok(file_publish(db, mem, &o, row, &n, &g) == DATA_OK, "4 more fit");
	n.bytes = 1;
	row = begin(&o);
	ok(file_publish(db, mem, &o, row, &n, &g) == DATA_QUOTA, "1 does not");
	(void)file_delete(db, &o, f.id, now());
	n.bytes = 6;
	ok(file_publish(db, mem, &o, row, &n, &g) == DATA_OK,
	    "what was deleted no longer counts");
	sql("UPDATE file SET expires = 1, sweep_at = 1 WHERE bytes = 6");
	row = begin(&o);
	ok(file_publish(db, mem, &o, row, &n, &g) == DATA_OK,
	    "nor what has expired");
	n.bytes = 11;
	o = owner("w", "limited2");
	row = begin(&o);
	ok(file_publish(db, mem, &o, row, &n, &g) == DATA_QUOTA,
	    "more than all of it is too much for anybody");
	n.bytes = 10;
	ok(file_publish(db, mem, &o, row, &n, &g) == DATA_OK,
	    "exactly all of it is not, and nobody else's counts");
}

int
main(int argc, char *argv[])
{

	rows_open(argc, argv, 2);
	alice = owner("w", "alice");
	carol = owner("w", "carol");
	bob = owner("other", "bob");
	test_publish();
	test_refused();
	test_owner();
	test_expiry();
	test_position();
	test_provider();
	test_quota();
	return (rows_close());
}
