#ifndef DATA_FILE_SQL_H_
#define DATA_FILE_SQL_H_

#include "data/file.h"
#include "io/db.h"

/*
 * What the modules of lib/data share about the table file, as pieces of SQL.
 * ${f} is the table's alias with its dot, or "".
 */

/* clang-format off */

/* The columns file_row() reads, in its order. */
#define FILE_COLS(f)							\
	f "id, " f "pid, " f "name, " f "mime, " f "purpose, "		\
	f "store_key, " f "sha256, " f "bytes, " f "created, "		\
	f "expires, " f "origin"
#define FILE_NCOLS 11

/*
 * THE rule for live, at the SQL expression ${now} in Unix milliseconds: a live
 * row's sweep_at is when it dies, of its expiry or of disuse.  file_found() is
 * the same rule for a row that is here already.
 */
#define FILE_LIVE(f, now)						\
	f "state = 'live' AND (" f "sweep_at IS NULL OR "		\
	f "sweep_at > " now ")"

/* What file_found() reads of a row in whatever state. */
#define FILE_FOUND(f) FILE_COLS(f) ", " f "sweep_at, " f "state"
#define FILE_NFOUND (FILE_NCOLS + 2)

/* clang-format on */

/**
 * file_found(cols, now, f):
 * Read FILE_FOUND into ${f}.  DATA_OK if it is live at ${now}; DATA_EXPIRED if
 * it was live until its expiry, whether it has been swept since or not;
 * DATA_NONE for any other state; DATA_FAIL.
 */
enum data_rc file_found(char *const *, uint64_t, struct file *);

/**
 * file_row(cols, f):
 * Read FILE_COLS into ${f}, whose strings are those of ${cols}.  Return 0, or
 * -1 after logging that the row makes no sense.
 */
int file_row(char *const *, struct file *);

/**
 * file_id_make(ms, id):
 * Write a new public id for the time ${ms}.  Return 0 or -1.
 */
int file_id_make(uint64_t, char[static FILE_IDLEN + 1]);

/**
 * file_id_bare(s, prefix):
 * Return the id of our form inside ${s}, which may begin with ${prefix}; or
 * NULL if there is none.
 */
const char *file_id_bare(const char *, const char *);

/**
 * file_id_time(id, ms):
 * Set ${ms} to the time inside ${id}.  Return 0, or -1 if ${id} is not of our
 * form.
 */
int file_id_time(const char *, uint64_t *);

/* A publishing under way. */
struct publish {
	struct arena *mem;
	const struct owner *owner;
	uint64_t row;
	const struct file_new *new;
	struct file *f;
	uint64_t joining; /* Row of an upload whose parts it is made of. */
	enum data_rc why; /* Of a DB_STOP. */
	int unsure;       /* An earlier commit may have been done, */
	int done;         /* and has been. */
};

/**
 * file_publish_in(tx, p):
 * The part of file_publish() that happens inside a transaction.  DB_STOP with
 * ${p}->why set where it is refused.  If ${p}->unsure is set and the row is
 * live already, it is left as it is and ${p}->done set.
 */
enum db_rc file_publish_in(struct db *, struct publish *);

/**
 * file_publish_run(db, p, body, cookie):
 * Run the transaction ${body}(tx, ${cookie}), which publishes ${p}; when its
 * outcome is in doubt run it once more to find out.  Returns as file_publish().
 */
enum data_rc file_publish_run(struct db *, struct publish *, db_body *, void *);

#endif /* !DATA_FILE_SQL_H_ */
