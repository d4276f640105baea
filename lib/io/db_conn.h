#ifndef IO_DB_CONN_H_
#define IO_DB_CONN_H_

#include <stddef.h>
#include <stdint.h>

#include "io/db.h"

/*
 * Inside the database layer: one connection, as db.c makes it from the MySQL
 * client library, for db_run.c, which knows the pool, the retries and nothing
 * of that library.
 */

#define CONN_CACHE 128 /* Prepared statements a connection. */

/* Opaque types. */
struct st_mysql;
struct stmt;

struct conn {
	struct st_mysql *my;
	uint64_t used; /* clock_ms() when it was last given back. */
	int dead;      /* Of no use any more. */
	int sent;      /* The statement that failed may have been run. */
	int again;     /* The transaction has been, or must be, rolled back. */
	size_t ncache;
	struct stmt *cache[CONN_CACHE];
};

/* How to connect. */
struct conn_to {
	const char *socket, *host, *user, *password, *name;
	unsigned int port;
	unsigned int answer_s; /* How long to wait for an answer, */
	unsigned int lock_s;   /* and the server for a lock. */
};

/* A row kept until all have come. */
struct line {
	struct line *next;
	char *cols[];
};

/* One statement to run, and what becomes of its result. */
struct op {
	enum { OP_ROW, OP_ROWS, OP_EXEC } kind;
	const char *sql;
	const struct db_arg *args;
	size_t nargs, ncols;
	struct arena *mem;     /* Where rows go. */
	char **cols;           /* OP_ROW: of the one row. */
	struct line *lines;    /* OP_ROWS: in order. */
	uint64_t affected, id; /* OP_EXEC */
};

/**
 * conn_open(to, seconds, err, len):
 * Connect within ${seconds}.  Return NULL with what the client library says of
 * it in ${err}, of ${len} bytes.
 */
struct conn *conn_open(const struct conn_to *, unsigned int, char *, size_t);

/**
 * conn_close(c):
 * Disconnect and free ${c}.
 */
void conn_close(struct conn *);

/**
 * conn_good(c, doubt, ask):
 * Is the idle connection ${c} still of use?  A server that has hung up, or has
 * something to say unasked, shows at once, but is not looked for within a few
 * ms of its last answer; silence is trusted for a second.  With ${doubt} set
 * nothing is.  A server that is to be asked is so only with ${ask}, for there
 * must be time to wait for its answer.
 */
int conn_good(struct conn *, int, int);

/**
 * conn_run(c, op):
 * Run ${op} on ${c}.  Return its outcome, with ${c}'s dead, sent and again set
 * as the case may be.
 */
enum db_rc conn_run(struct conn *, struct op *);

/**
 * conn_begin(c), conn_rollback(c):
 * Begin a transaction; end it undone.
 */
enum db_rc conn_begin(struct conn *);
void conn_rollback(struct conn *);

/**
 * conn_commit(c):
 * Commit.  DB_OK; DB_AGAIN if the server refused for a conflict, or DB_DOWN if
 * it never heard of it: then the transaction can be run again; DB_UNSURE.
 */
enum db_rc conn_commit(struct conn *);

#endif /* !IO_DB_CONN_H_ */
