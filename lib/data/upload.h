#ifndef DATA_UPLOAD_H_
#define DATA_UPLOAD_H_

#include <stddef.h>
#include <stdint.h>

#include "data/file.h"
#include "data/rc.h"

/*
 * Uploads in parts (/v1/uploads) as rows: an upload is pending until it is
 * completed, cancelled or an hour old; its parts are blobs of their own, joined
 * into a new file at completion and reclaimed by the sweep.  Public ids are 32
 * lower-case hex digits, printed "upload_ID" and "part_ID".
 */

struct arena;
struct db;

enum upload_state {
	UPLOAD_PENDING,
	UPLOAD_COMPLETED,
	UPLOAD_CANCELLED,
	UPLOAD_EXPIRED
};

struct upload {
	uint64_t row;
	struct owner owner;
	const char *id, *name, *mime, *purpose;
	uint64_t bytes;      /* Declared. */
	uint64_t created;    /* Unix ms. */
	uint64_t expires;    /* Unix ms: created + an hour. */
	uint64_t lifetime_s; /* Of the file it will make; 0 = never expires. */
	uint64_t parts;      /* That it has ever had. */
	uint64_t quota;      /* Of its owner; 0 = none, as it is found. */
	enum upload_state state;
	const char *file; /* Id of the file it made, or NULL. */
};

struct upload_part {
	uint64_t row;
	const char *id, *key;
	uint64_t bytes, created;
};

#define UPLOAD_LIFE_MS 3600000ULL
#define UPLOAD_PARTS_MAX 10000ULL

/**
 * upload_create(db, mem, owner, u):
 * Store a new pending upload from ${u}'s name, mime, purpose, bytes and
 * lifetime_s; fill in the rest.  DATA_OK, DATA_DOWN, DATA_FAIL.
 */
enum data_rc upload_create(
    struct db *, struct arena *, const struct owner *, struct upload *);

/**
 * upload_find(db, mem, owner, id, now, u):
 * Look up the upload ${id}, which may carry its prefix, as it stands at
 * ${now}.  DATA_OK, DATA_NONE, DATA_DOWN, DATA_FAIL.
 */
enum data_rc upload_find(struct db *, struct arena *, const struct owner *,
    const char *, uint64_t, struct upload *);

/**
 * upload_part_begin(db, u, key, now, row):
 * Commit a row "uploading" for a part of ${u} with the blob ${key}.  DATA_STATE
 * if ${u} is no longer pending.
 */
enum data_rc upload_part_begin(
    struct db *, const struct upload *, const char *, uint64_t, uint64_t *);

/**
 * upload_part_publish(db, mem, u, row, bytes, now, p):
 * Make the part live and fill in ${p}.  DATA_STATE if the upload is no longer
 * pending, has had UPLOAD_PARTS_MAX parts, or the row is gone; DATA_QUOTA if it
 * would pass ${u}->quota; DATA_UNSURE: keep the bytes.
 */
enum data_rc upload_part_publish(struct db *, struct arena *,
    const struct upload *, uint64_t, uint64_t, uint64_t, struct upload_part *);

/**
 * upload_part_drop(db, row):
 * Remove the row of a part whose bytes have gone.
 */
void upload_part_drop(struct db *, uint64_t);

/**
 * upload_part_find(db, mem, u, id, p):
 * Look up the live part ${id} of ${u}.  DATA_OK, DATA_NONE, DATA_DOWN,
 * DATA_FAIL.
 */
enum data_rc upload_part_find(struct db *, struct arena *,
    const struct upload *, const char *, struct upload_part *);

/**
 * upload_complete(db, mem, owner, u, row, new, f):
 * In one transaction make the file ${row} live as file_publish() does, ${u}
 * completed with it, and its parts dead.  DATA_STATE if ${u} was no longer
 * pending; else as file_publish().
 */
enum data_rc upload_complete(struct db *, struct arena *, const struct owner *,
    const struct upload *, uint64_t, const struct file_new *, struct file *);

/**
 * upload_cancel(db, u, now):
 * Make ${u} cancelled and its parts dead.  DATA_STATE if it was not pending.
 */
enum data_rc upload_cancel(struct db *, const struct upload *, uint64_t);

#endif /* !DATA_UPLOAD_H_ */
