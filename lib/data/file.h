#ifndef DATA_FILE_H_
#define DATA_FILE_H_

#include <stddef.h>
#include <stdint.h>

#include "data/rc.h"

/*
 * Files as rows.  A file's life: file_begin() commits a row "uploading" that
 * holds the blob's key before the first byte is written; file_publish() makes
 * it live, giving it its public id and its time of creation from the database's
 * clock; file_delete() makes it dead; the sweep (data/sweep.h) removes the
 * bytes after the grace time and the row after the tombstone time.  "Live"
 * means state live and not past its expiry at the time given, and is written
 * once.
 *
 * A public id is 32 lower-case hex digits: 12 of the creation time in Unix
 * milliseconds, 20 random.  Callers print it as "file-ID" and accept "file_ID"
 * and "cfile_ID" for it (file_id_parse()).
 */

/* Opaque types. */
struct arena;
struct db;

#define FILE_IDLEN 32
#define FILE_IDMAX 128 /* A provider's own id may be this long. */

enum file_origin { FILE_UPLOAD, FILE_RUN, FILE_PROVIDER };

/* One file.  Strings live in the arena they were read into. */
struct file {
	uint64_t row;
	const char *id;   /* Without prefix; see file_id_parse(). */
	const char *name; /* UTF-8, never a path. */
	const char *mime;
	const char *purpose; /* As stored. */
	const char *key;     /* The blob's; NULL = no bytes here. */
	const char *sha256;  /* 64 hex digits. */
	uint64_t bytes;
	uint64_t created; /* Unix milliseconds. */
	uint64_t expires; /* Unix milliseconds; 0 = never. */
	enum file_origin origin;
};

/* What file_publish() is told about a finished upload or output. */
struct file_new {
	const char *name, *mime, *purpose, *sha256;
	uint64_t bytes;
	uint64_t lifetime_s; /* Seconds from creation; 0 = never expires. */
	enum file_origin origin;
	uint64_t quota; /* Live bytes the owner may hold; 0 = no limit. */
};

/**
 * file_id_parse(s, id):
 * If ${s} is "file-", "file_" or "cfile_" and 32 lower-case hex digits, write
 * those digits to ${id}; else if ${s} is 1 to 128 of [A-Za-z0-9_-], a
 * provider's id, copy it whole.  Return 0, or -1 for anything else, such digits
 * without a prefix included, which names no file.
 */
int file_id_parse(const char *, char[static FILE_IDMAX + 1]);

/**
 * file_begin_all(db, owner, keys, n, now, rows):
 * As file_begin() for each of ${n} blobs, all or none, by one commit.
 */
enum data_rc file_begin_all(struct db *, const struct owner *,
    const char *const *, size_t, uint64_t, uint64_t *);

/**
 * file_begin(db, owner, key, now, row):
 * Commit a row "uploading" for the blob ${key} and set ${row}.
 */
enum data_rc file_begin(
    struct db *, const struct owner *, const char *, uint64_t, uint64_t *);

/**
 * file_give(db, row, owner):
 * Make ${owner} the owner of the row "uploading" ${row}, for a caller who says
 * only after the bytes for whom they are.  DATA_OK, DATA_STATE (the sweep has
 * taken it), DATA_DOWN or DATA_FAIL.
 */
enum data_rc file_give(struct db *, uint64_t, const struct owner *);

/**
 * file_publish(db, mem, owner, row, new, f):
 * Make ${row} live and fill in ${f}.  One transaction.  DATA_STATE if the sweep
 * has taken the row meanwhile, DATA_QUOTA, DATA_UNSURE (keep the bytes: the
 * sweep settles it), DATA_DOWN or DATA_FAIL; the row is then still "uploading".
 */
enum data_rc file_publish(struct db *, struct arena *, const struct owner *,
    uint64_t, const struct file_new *, struct file *);

/* One of several that are made live together. */
struct file_item {
	uint64_t row;
	struct file_new new;
	struct file made;
};

/**
 * file_publish_all(db, mem, owner, items, n):
 * As file_publish() for each of ${n} ${items}, all or none, by one commit.
 */
enum data_rc file_publish_all(struct db *, struct arena *, const struct owner *,
    struct file_item *, size_t);

/**
 * file_drop(db, row):
 * Remove the row "uploading" ${row} after its bytes have gone.  A failure is
 * logged and left to the sweep.
 */
void file_drop(struct db *, uint64_t);

/**
 * file_find(db, mem, owner, id, now, f):
 * Look up the file ${id} as it stands at ${now} (Unix milliseconds).  DATA_OK;
 * DATA_EXPIRED with ${f} filled in; DATA_NONE; DATA_DOWN; DATA_FAIL.
 */
enum data_rc file_find(struct db *, struct arena *, const struct owner *,
    const char *, uint64_t, struct file *);

/**
 * file_delete(db, owner, id, now):
 * Make the live file ${id} dead.  DATA_OK for exactly one of several callers at
 * once, DATA_NONE for the others and for an expired file.
 */
enum data_rc
file_delete(struct db *, const struct owner *, const char *, uint64_t);

/* A place in the list: files order by (created, id), ids compared as bytes. */
struct file_pos {
	uint64_t created;
	char id[FILE_IDMAX + 1];
};

/* One page of the list of ${owner}'s live files. */
struct file_query {
	const struct owner *owner;
	const char *purpose;         /* NULL = any. */
	const struct file_pos *from; /* Exclusive; NULL = from the end. */
	int ascending;
	size_t limit; /* At most FILE_PAGE. */
	uint64_t now;
};
#define FILE_PAGE 512

/**
 * file_list(db, mem, q, f, n):
 * Fill in the next at most ${q}->limit files after ${q}->from in the order
 * asked for, and set ${n}.  Costs the same at any depth.
 */
enum data_rc file_list(struct db *, struct arena *, const struct file_query *,
    struct file *, size_t *);

/**
 * file_position(db, owner, id, pos):
 * The place of the cursor ${id}: of the owner's own row whatever its state,
 * else read from the id itself if it has our form.  DATA_OK, DATA_NONE (not our
 * form and no such row), DATA_DOWN, DATA_FAIL.
 */
enum data_rc file_position(
    struct db *, const struct owner *, const char *, struct file_pos *);

#endif /* !DATA_FILE_H_ */
