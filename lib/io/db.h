#ifndef IO_DB_H_
#define IO_DB_H_

#include <stddef.h>
#include <stdint.h>

/*
 * The database.  A ${struct db} is a bounded pool of connections shared by the
 * threads of a process, opened as they are first needed; each statement takes
 * a free one and gives it back, so nobody holds one while waiting for anything
 * else.  Inside db_tx() the handle passed to the function is one connection.
 *
 * Every connection is utf8mb4, UTC, READ COMMITTED and autocommit.  Statements
 * are constant text with question marks, prepared once a connection and known
 * by the address of their text.  A connection idle for over a second is pinged
 * before use and replaced if it has died; the client library's own
 * auto-reconnect stays off.
 */

/* Opaque types. */
struct arena;
struct conf;
struct db;

/* What a statement or a transaction came to. */
enum db_rc {
	DB_OK,     /* Done; a row, if one was asked for. */
	DB_NONE,   /* No row. */
	DB_DUP,    /* A unique key is taken. */
	DB_STOP,   /* db_tx(): the function asked to roll back. */
	DB_AGAIN,  /* Deadlock or lock wait; inside db_tx() return it. */
	DB_DOWN,   /* No connection, or it was lost: nothing was done. */
	DB_UNSURE, /* Lost while committing: done or not, nobody knows. */
	DB_THERE,  /* DDL: what it would make is there, or gone already. */
	DB_FAIL    /* Anything else; db.c has logged it. */
};

/*
 * One statement parameter; build it with DB_STR (text: UTF-8), DB_BIN (bytes,
 * for BINARY columns only: against text no index is used), DB_U64 or DB_NULL.
 */
struct db_arg {
	enum { DB_ARG_NULL, DB_ARG_BIN, DB_ARG_U64, DB_ARG_STR } kind;
	const char *s;
	size_t len;
	uint64_t u;
};
/* clang-format off */
#define DB_NULL        { .kind = DB_ARG_NULL }
#define DB_BIN(x, n)   { .kind = DB_ARG_BIN, .s = (x), .len = (n) }
#define DB_U64(x)      { .kind = DB_ARG_U64, .u = (x) }
/* clang-format on */
#define DB_STR(x) db_str(x) /* NULL is SQL NULL; not for static arrays. */

/* The database's clock in Unix milliseconds, as an SQL expression. */
#define DB_NOW_MS "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED)"

/* The same at less cost to the server: a column for db_clock_ms() to read. */
#define DB_CLOCK "UNIX_TIMESTAMP(NOW(3))"

/* At most this many parameters and columns a statement. */
#define DB_MAXARGS 256
#define DB_MAXCOLS 40

/**
 * db_str(s):
 * The parameter that passes ${s}, or SQL NULL if ${s} is NULL.
 */
struct db_arg db_str(const char *);

/**
 * db_open(c):
 * Return a pool of at most ${c}->db_pool connections that reads ${c}'s
 * database settings, or NULL if memory ran out.  Connects to nothing yet.
 */
struct db *db_open(const struct conf *);

/**
 * db_patience(db, seconds):
 * Let the connections that ${db} opens wait ${seconds} for an answer and longer
 * than usual for locks, with no bound on all tries together: for programs that
 * nobody waits for, and statements that change or read whole tables.  Call it
 * before the first statement.
 */
void db_patience(struct db *, unsigned int);

/**
 * db_afresh():
 * This thread begins something new.  Within one thing a database that does not
 * answer is waited for 9 seconds in all, and then found to be DB_DOWN at once.
 */
void db_afresh(void);

/**
 * db_why():
 * Why the calling thread's last DB_DOWN was one, in the client library's words:
 * whether nobody answers, the login is refused or the connection was lost.  ""
 * before the first.
 */
const char *db_why(void);

/**
 * db_retire(db):
 * Hold no connection of ${db} from now on but while it is in use.
 */
void db_retire(struct db *);

/**
 * db_close(db):
 * Disconnect and free ${db}, which no thread may be using.  NULL is allowed.
 */
void db_close(struct db *);

/**
 * db_row(db, mem, sql, args, nargs, cols, ncols):
 * Run ${sql} with ${args} and fetch its first row: ${cols}[i] is column i as a
 * NUL-terminated string in ${mem}, or NULL for SQL NULL.  Return DB_OK, DB_NONE
 * or a failure; ${cols} is valid only after DB_OK.  Outside a transaction a
 * lost connection is replaced and the statement run again, once: use it for
 * statements that only read.
 */
enum db_rc db_row(struct db *, struct arena *, const char *,
    const struct db_arg *, size_t, char **, size_t);

/**
 * A row for db_rows(); ${cols} lives only during the call.  Return 0 to go on,
 * or -1 to stop (db_rows() then returns DB_FAIL).
 */
typedef int db_each(void *, char *const *);

/**
 * db_rows(db, sql, args, nargs, ncols, fn, cookie):
 * Run ${sql} and call ${fn}(${cookie}, cols) for each row, fetched whole before
 * the first call.  Return DB_OK, also when there were none.  Reruns as db_row()
 * does.
 */
enum db_rc db_rows(struct db *, const char *, const struct db_arg *, size_t,
    size_t, db_each *, void *);

/**
 * db_exec(db, sql, args, nargs, affected, id):
 * Run ${sql}, which returns no rows.  Set ${affected} to the rows it matched
 * and changed and ${id} to the auto-increment value it made; either may be
 * NULL.  Return DB_OK (even for no rows), DB_DUP or a failure.  Outside a
 * transaction DB_AGAIN is retried here, and a connection found dead before the
 * statement was sent is replaced; one lost after that is DB_UNSURE.
 */
enum db_rc db_exec(struct db *, const char *, const struct db_arg *, size_t,
    uint64_t *, uint64_t *);

/**
 * The body of a transaction: run statements on the handle, then return DB_OK to
 * commit, DB_STOP to roll back, or the failure a statement came to.  It may be
 * run several times and must start afresh each time.
 */
typedef enum db_rc db_body(struct db *, void *);

/**
 * db_tx(db, body, cookie):
 * Run ${body}(handle, ${cookie}) in a transaction and commit it.  DB_AGAIN from
 * the body or from COMMIT rolls back and runs it again after a short random
 * wait, five times in all, then DB_DOWN.  A connection lost before COMMIT is
 * replaced and the body run again, once.  Return DB_OK, DB_STOP, DB_DUP,
 * DB_NONE, DB_DOWN, DB_UNSURE or DB_FAIL.
 */
enum db_rc db_tx(struct db *, db_body *, void *);

/**
 * db_clock_ms(col, ms):
 * Set ${ms} to what the column DB_CLOCK says.  Return 0, or -1 if that is no
 * time.
 */
int db_clock_ms(const char *, uint64_t *);

/**
 * db_now(db, ms):
 * Set ${ms} to the database's clock in Unix milliseconds.
 */
enum db_rc db_now(struct db *, uint64_t *);

#endif /* !IO_DB_H_ */
