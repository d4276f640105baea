/* Uploads in parts: their rows and those of their parts. */

#include "data/upload.h"
#include "io/blob.h"

#include "t/tool/rows.h"

static struct owner alice, carol;

static struct upload
create(void)
{
	struct upload u = {.name = "b.bin",
	    .mime = "application/octet-stream",
	    .purpose = "batch",
	    .bytes = 30,
	    .lifetime_s = 7200};

	if (upload_create(db, mem, &alice, &u) != DATA_OK)
		exit(3);
	return (u);
}

static uint64_t
part_begin(const struct upload *u)
{
	char key[BLOB_KEYLEN + 1];
	uint64_t row = 0;

	if (blob_key(key) ||
	    upload_part_begin(db, u, key, now(), &row) != DATA_OK)
		exit(3);
	return (row);
}

static struct upload_part
part(const struct upload *u, uint64_t bytes)
{
	struct upload_part p = {0};

	if (upload_part_publish(db, mem, u, part_begin(u), bytes, now(), &p) !=
	    DATA_OK)
		exit(3);
	return (p);
}

/* A row for the file that an upload is to become. */
static uint64_t
file_row_begin(void)
{
	char key[BLOB_KEYLEN + 1];
	uint64_t row = 0;

	if (blob_key(key) ||
	    file_begin(db, &alice, key, now(), &row) != DATA_OK)
		exit(3);
	return (row);
}

static struct file_new
whole(const struct upload *u)
{
	struct file_new n = {.name = u->name,
	    .mime = u->mime,
	    .purpose = u->purpose,
	    .sha256 = "0",
	    .bytes = u->bytes,
	    .lifetime_s = u->lifetime_s,
	    .origin = FILE_UPLOAD};

	return (n);
}

static enum upload_state
state(const struct upload *u, uint64_t at)
{
	struct upload f;

	if (upload_find(db, mem, &alice, u->id, at, &f) != DATA_OK)
		exit(3);
	return (f.state);
}

static void
test_find(void)
{
	struct upload u = create(), f;
	char id[64];

	ok(strlen(u.id) == 32 && u.row != 0 && u.state == UPLOAD_PENDING &&
		u.expires == u.created + 3600000 && u.file == NULL &&
		now() - u.created < 5000,
	    "a new upload is pending for an hour");
	ok(upload_find(db, mem, &alice, u.id, u.created, &f) == DATA_OK &&
		f.row == u.row && strcmp(f.id, u.id) == 0 &&
		strcmp(f.name, "b.bin") == 0 && f.bytes == 30 &&
		strcmp(f.mime, "application/octet-stream") == 0 &&
		strcmp(f.purpose, "batch") == 0 && f.lifetime_s == 7200 &&
		f.created == u.created && f.expires == u.expires &&
		f.state == UPLOAD_PENDING && f.file == NULL,
	    "it is found as it was made");
	(void)snprintf(id, sizeof(id), "upload_%s", u.id);
	ok(upload_find(db, mem, &alice, id, u.created, &f) == DATA_OK,
	    "... by its printed id too");
	(void)snprintf(id, sizeof(id), "part_%s", u.id);
	ok(upload_find(db, mem, &alice, id, u.created, &f) == DATA_NONE &&
		upload_find(db, mem, &alice, "upload_", u.created, &f) ==
		    DATA_NONE &&
		upload_find(db, mem, &alice, "nonsense", u.created, &f) ==
		    DATA_NONE,
	    "... by no other");
	ok(upload_find(db, mem, &carol, u.id, u.created, &f) == DATA_NONE,
	    "... by nobody else");
	ok(state(&u, u.expires - 1) == UPLOAD_PENDING &&
		state(&u, u.expires) == UPLOAD_EXPIRED,
	    "after the hour it is expired");
}

static void
test_parts(void)
{
	struct upload u = create(), other = create();
	struct upload_part p, q, f;
	char id[64];
	uint64_t row;

	p = part(&u, 10);
	q = part(&u, 20);
	ok(strlen(p.id) == 32 && p.bytes == 10 && p.row != 0 &&
		strlen(p.key) == BLOB_KEYLEN && strcmp(p.id, q.id) != 0,
	    "parts are published");
	(void)snprintf(id, sizeof(id), "part_%s", p.id);
	ok(upload_part_find(db, mem, &u, id, &f) == DATA_OK && f.row == p.row &&
		strcmp(f.key, p.key) == 0 && f.bytes == 10 &&
		f.created == p.created,
	    "and found by their ids");
	ok(upload_part_find(db, mem, &other, p.id, &f) == DATA_NONE,
	    "in their own upload only");
	ok(upload_part_find(db, mem, &u, "part_x", &f) == DATA_NONE,
	    "not by nonsense");
	ok(number("SELECT p.sweep_at = u.expires FROM upload_part p"
		  "  JOIN upload u ON u.id = p.upload_id WHERE p.id = ?",
	       p.row) == 1,
	    "the sweep is due when the upload expires");
	row = part_begin(&u);
	ok(upload_part_publish(db, mem, &other, row, 1, now(), &f) ==
		DATA_STATE,
	    "a part belongs to one upload");
	upload_part_drop(db, row);
	upload_part_drop(db, p.row);
	ok(number("SELECT COUNT(*) FROM upload_part WHERE id = ?", row) == 0 &&
		upload_part_find(db, mem, &u, p.id, &f) == DATA_OK,
	    "an unfinished part can be dropped, a live one not");
	row = part_begin(&u);
	sql("UPDATE upload_part SET state = 'dead' WHERE state = 'uploading'");
	ok(upload_part_publish(db, mem, &u, row, 1, now(), &f) == DATA_STATE,
	    "one that a sweep has given up cannot be published");
	row = part_begin(&u);
	ok(upload_part_publish(db, mem, &u, row, 1, u.expires, &f) ==
		    DATA_STATE &&
		upload_part_begin(db, &u, "k", u.expires, &row) == DATA_STATE,
	    "none after the hour");
}

static void
test_complete(void)
{
	struct upload u = create(), f;
	struct upload_part p = part(&u, 30), late;
	struct file_new n = whole(&u);
	struct file file, again;
	uint64_t open_row = part_begin(&u), row;

	ok(upload_complete(db, mem, &alice, &u, file_row_begin(), &n, &file) ==
		DATA_OK,
	    "an upload is completed");
	ok(file_find(db, mem, &alice, file.id, now(), &again) == DATA_OK &&
		again.bytes == 30 && strcmp(again.name, "b.bin") == 0 &&
		strcmp(again.purpose, "batch") == 0 &&
		again.expires == again.created + 7200000,
	    "... into a file");
	ok(upload_find(db, mem, &alice, u.id, u.expires + 1, &f) == DATA_OK &&
		f.state == UPLOAD_COMPLETED && f.file != NULL &&
		strcmp(f.file, file.id) == 0,
	    "... that it names, also after its hour");
	ok(number("SELECT state = 'dead' FROM upload_part WHERE id = ?",
	       p.row) == 1 &&
		upload_part_find(db, mem, &u, p.id, &late) == DATA_NONE,
	    "... and its parts are dead");
	row = file_row_begin();
	ok(upload_complete(db, mem, &alice, &u, row, &n, &again) == DATA_STATE,
	    "a second time is refused");
	ok(number("SELECT state = 'uploading' AND pid IS NULL FROM file"
		  " WHERE id = ?",
	       row) == 1,
	    "... and makes no file");
	ok(upload_part_publish(db, mem, &u, open_row, 1, now(), &late) ==
		    DATA_STATE &&
		upload_part_begin(db, &u, "k", now(), &row) == DATA_STATE,
	    "no part comes after it");
	ok(upload_cancel(db, &u, now()) == DATA_STATE,
	    "nor can it be cancelled");
}

static void
test_refused(void)
{
	struct upload u = create();
	struct upload_part p = part(&u, 30);
	struct file_new n = whole(&u);
	struct file f;
	uint64_t row = file_row_begin();

	n.quota = 1;
	ok(upload_complete(db, mem, &alice, &u, row, &n, &f) == DATA_QUOTA &&
		state(&u, now()) == UPLOAD_PENDING &&
		number("SELECT state = 'live' FROM upload_part WHERE id = ?",
		    p.row) == 1,
	    "over the quota: everything stays as it was");
	n.quota = 0;
	ok(upload_complete(db, mem, &alice, &u, 999999, &n, &f) == DATA_STATE &&
		state(&u, now()) == UPLOAD_PENDING,
	    "so without a row for the file");
	sql("UPDATE upload SET expires = created WHERE state = 'pending'");
	ok(upload_complete(db, mem, &alice, &u, row, &n, &f) == DATA_STATE &&
		number("SELECT COUNT(*) FROM file"
		       " WHERE id = ? AND state = 'uploading'",
		    row) == 1,
	    "so after its hour");
}

static void
test_cancel(void)
{
	struct upload u = create();
	struct upload_part p = part(&u, 10);
	uint64_t open_row = part_begin(&u), row;

	ok(upload_cancel(db, &u, u.expires) == DATA_STATE,
	    "an expired upload cannot be cancelled");
	ok(upload_cancel(db, &u, now()) == DATA_OK &&
		state(&u, now()) == UPLOAD_CANCELLED &&
		state(&u, u.expires) == UPLOAD_CANCELLED,
	    "an upload is cancelled");
	ok(number("SELECT state = 'dead' FROM upload_part WHERE id = ?",
	       p.row) == 1,
	    "... its parts with it");
	ok(upload_part_publish(db, mem, &u, open_row, 1, now(), &p) ==
		    DATA_STATE &&
		upload_part_begin(db, &u, "k", now(), &row) == DATA_STATE,
	    "... and no part comes after it");
	ok(upload_cancel(db, &u, now()) == DATA_STATE, "... once");
}

/* Publish a part of ${bytes} under a quota of 10. */
static enum data_rc
part_in(struct upload u, uint64_t bytes)
{
	struct upload_part p;

	u.quota = 10;
	return (
	    upload_part_publish(db, mem, &u, part_begin(&u), bytes, now(), &p));
}

/* Publish a file of ${bytes} under the same. */
static enum data_rc
file_in(const struct upload *u, uint64_t bytes)
{
	struct file_new n = whole(u);
	struct file f;

	n.bytes = bytes;
	n.quota = 10;
	return (file_publish(db, mem, &alice, file_row_begin(), &n, &f));
}

/* What becomes of the parts leaves room for ${bytes} more. */
static void
test_room(const struct upload *u, uint64_t bytes, const char *name)
{

	ok(file_in(u, bytes + 1) == DATA_QUOTA && file_in(u, bytes) == DATA_OK,
	    name);
	sql("DELETE FROM file WHERE state = 'live'");
}

static void
test_quota(void)
{
	struct upload u = create(), v = create();
	struct file_new n = whole(&u);
	struct file f;

	sql("DELETE FROM file");
	sql("UPDATE upload SET state = 'cancelled' WHERE parts > 0");
	ok(part_in(u, 11) == DATA_QUOTA, "a part may pass the quota alone");
	ok(part_in(u, 6) == DATA_OK && part_in(v, 5) == DATA_QUOTA &&
		part_in(v, 1) == DATA_OK,
	    "parts of all uploads count together");
	test_room(&u, 3, "... and with files");
	ok(file_in(&u, 3) == DATA_OK && part_in(u, 1) == DATA_QUOTA,
	    "... and files with them");
	n.bytes = 6;
	n.quota = 10;
	ok(upload_complete(db, mem, &alice, &u, file_row_begin(), &n, &f) ==
		DATA_OK,
	    "parts that become a file do not count twice");
	ok(part_in(v, 1) == DATA_QUOTA, "... but once");
	sql("DELETE FROM file WHERE state = 'live'");
	test_room(&u, 9, "a completed upload's parts have gone");
	sql("UPDATE upload SET expires = 2 WHERE held = 1");
	test_room(&u, 10, "an expired one's too");
	sql("UPDATE upload SET expires = 99999999999999 WHERE held = 1");
	ok(part_in(v, 2) == DATA_OK, "what was refused has left no trace");
	test_room(&u, 7, "... in the sum either");
	ok(upload_cancel(db, &v, now()) == DATA_OK, "an upload is cancelled");
	test_room(&u, 10, "... and its parts are given back");
}

static void
test_number(void)
{
	struct upload u = create(), f;

	sql("UPDATE upload SET parts = 9999 WHERE parts = 0");
	ok(part_in(u, 1) == DATA_OK, "the 10,000th part");
	ok(part_in(u, 1) == DATA_STATE, "... is the last");
	ok(upload_find(db, mem, &alice, u.id, now(), &f) == DATA_OK &&
		f.parts == UPLOAD_PARTS_MAX && f.state == UPLOAD_PENDING,
	    "... as the upload says");
}

int
main(int argc, char *argv[])
{

	rows_open(argc, argv, 2);
	alice = owner("w", "alice");
	carol = owner("w", "carol");
	test_find();
	test_parts();
	test_complete();
	test_refused();
	test_cancel();
	test_quota();
	test_number();
	return (rows_close());
}
