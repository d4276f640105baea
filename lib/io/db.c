#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mysql.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"

#include "io/db_error.h"
#include "io/fault.h"

#include "io/db_conn.h"

#define WARM_MS 5    /* Used so lately: the server is there. */
#define IDLE_MS 1000 /* Idle longer than this: ping before use. */
#define COLUMN 1152  /* Bytes bound for a column; 255 characters fit. */

/* A prepared statement and where its parameters and columns go. */
struct stmt {
	const char *sql;
	MYSQL_STMT *st;
	size_t nargs, ncols;
	MYSQL_BIND *in, *out;
	unsigned long *inlen, *outlen;
	my_bool *null;
	char *buf;
};

/* Sort the error ${number} of ${sql} and note what it does to ${c}. */
static enum db_rc
conn_error(
    struct conn *c, unsigned int number, const char *msg, const char *sql)
{

	switch (db_error(number)) {
	case DB_ERROR_DUP:
		return (DB_DUP);
	case DB_ERROR_AGAIN:
		c->again = 1;
		return (DB_AGAIN);
	case DB_ERROR_LOST:
		c->dead = 1;
		return (DB_DOWN);
	case DB_ERROR_THERE:
		return (DB_THERE);
	case DB_ERROR_STALE:
		return (DB_FAIL);
	case DB_ERROR_OTHER:
		break;
	}
	log_err("db: %u %s: %.120s", number, msg, sql);
	return (DB_FAIL);
}

static void
stmt_free(struct stmt *s)
{

	if (s == NULL)
		return;
	(void)mysql_stmt_close(s->st);
	free(s->in);
	free(s->out);
	free(s->inlen);
	free(s->outlen);
	free(s->null);
	free(s->buf);
	free(s);
}

/* Bytes to bind for a column: all of a short one, the usual of a long one. */
static unsigned long
column_size(const MYSQL_FIELD *f)
{

	return (f->length < COLUMN ? f->length + 1 : COLUMN);
}

/* Bind the columns of ${s} once and for all to a buffer of its own. */
static int
stmt_bind(struct stmt *s)
{
	MYSQL_RES *meta;
	MYSQL_FIELD *f;
	size_t i, size = 0;
	char *p;

	if ((meta = mysql_stmt_result_metadata(s->st)) == NULL)
		goto err0;
	f = mysql_fetch_fields(meta);
	for (i = 0; i < s->ncols; i++)
		size += column_size(&f[i]);
	if ((s->buf = p = malloc(size)) == NULL)
		goto err1;
	for (i = 0; i < s->ncols; i++) {
		s->out[i].buffer_type = MYSQL_TYPE_STRING;
		s->out[i].buffer = p;
		s->out[i].buffer_length = column_size(&f[i]);
		s->out[i].length = &s->outlen[i];
		s->out[i].is_null = &s->null[i];
		p += s->out[i].buffer_length;
	}
	if (mysql_stmt_bind_result(s->st, s->out))
		goto err1;
	mysql_free_result(meta);

	/* Success! */
	return (0);

err1:
	mysql_free_result(meta);
err0:
	/* Failure! */
	return (-1);
}

/* Prepare ${sql} on ${c}. */
static enum db_rc
stmt_new(struct conn *c, const char *sql, struct stmt **sp)
{
	struct stmt *s;
	enum db_rc rc = DB_FAIL;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		goto err0;
	s->sql = sql;
	if ((s->st = mysql_stmt_init(c->my)) == NULL)
		goto err1;
	if (mysql_stmt_prepare(s->st, sql, strlen(sql))) {
		rc = conn_error(
		    c, mysql_stmt_errno(s->st), mysql_stmt_error(s->st), sql);
		goto err2;
	}
	s->nargs = mysql_stmt_param_count(s->st);
	s->ncols = mysql_stmt_field_count(s->st);
	/* One more than needed: none may be of no size. */
	s->in = calloc(s->nargs + 1, sizeof(*s->in));
	s->inlen = calloc(s->nargs + 1, sizeof(*s->inlen));
	s->out = calloc(s->ncols + 1, sizeof(*s->out));
	s->outlen = calloc(s->ncols + 1, sizeof(*s->outlen));
	s->null = calloc(s->ncols + 1, sizeof(*s->null));
	if (s->in == NULL || s->inlen == NULL || s->out == NULL ||
	    s->outlen == NULL || s->null == NULL ||
	    (s->ncols > 0 && stmt_bind(s))) {
		log_err("db: no memory: %.120s", sql);
		goto err2;
	}
	*sp = s;

	/* Success! */
	return (DB_OK);

err2:
	stmt_free(s);
	return (rc);
err1:
	free(s);
err0:
	/* Failure! */
	return (rc);
}

/* Forget all statements of ${c}. */
static void
cache_clear(struct conn *c)
{
	size_t i;

	for (i = 0; i < CONN_CACHE; i++) {
		stmt_free(c->cache[i]);
		c->cache[i] = NULL;
	}
	c->ncache = 0;
}

/* Find ${sql} among the statements of ${c}, or prepare it. */
static enum db_rc
cache_get(struct conn *c, const char *sql, struct stmt **s)
{
	size_t i = ((uintptr_t)sql >> 4) % CONN_CACHE;
	enum db_rc rc;

	for (; c->cache[i] != NULL; i = (i + 1) % CONN_CACHE)
		if (c->cache[i]->sql == sql) {
			*s = c->cache[i];
			return (DB_OK);
		}
	if (c->ncache >= CONN_CACHE * 3 / 4) {
		cache_clear(c);
		i = ((uintptr_t)sql >> 4) % CONN_CACHE;
	}
	if ((rc = stmt_new(c, sql, s)) == DB_OK) {
		c->cache[i] = *s;
		c->ncache++;
	}
	return (rc);
}

void
conn_close(struct conn *c)
{

	/* First the connection: its statements then end without a word. */
	mysql_close(c->my);
	cache_clear(c);
	free(c);
}

/* Give a new session the settings that all our SQL takes for granted. */
static int
conn_setup(MYSQL *my, const struct conn_to *to)
{
	static const char level[] =
	    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
	char sql[256];
	int n;

	n = snprintf(sql, sizeof(sql),
	    "SET SESSION time_zone = '+00:00', autocommit = 1,"
	    " sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,"
	    "NO_ENGINE_SUBSTITUTION', innodb_lock_wait_timeout = %u",
	    to->lock_s);
	return (mysql_real_query(my, level, sizeof(level) - 1) ||
	    mysql_real_query(my, sql, (unsigned long)n));
}

/* Set what must be known before connecting. */
static int
conn_options(MYSQL *my, const struct conn_to *to, unsigned int connect_s)
{
	const unsigned int tcp = MYSQL_PROTOCOL_TCP, infile = 0;
	const my_bool reconnect = 0;

	if (mysql_options(my, MYSQL_SET_CHARSET_NAME, "utf8mb4") ||
	    mysql_options(my, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s) ||
	    mysql_options(my, MYSQL_OPT_READ_TIMEOUT, &to->answer_s) ||
	    mysql_options(my, MYSQL_OPT_WRITE_TIMEOUT, &to->answer_s) ||
	    mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &infile) ||
	    mysql_options(my, MYSQL_OPT_RECONNECT, &reconnect))
		return (-1);
	if (to->host != NULL && mysql_options(my, MYSQL_OPT_PROTOCOL, &tcp))
		return (-1);
	return (0);
}

static void
library_init(void)
{

	(void)mysql_library_init(0, NULL, NULL);
}

struct conn *
conn_open(const struct conn_to *to, unsigned int s, char *err, size_t len)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct conn *c;

	(void)pthread_once(&once, library_init);
	(void)snprintf(err, len, "no memory");
	if ((c = calloc(1, sizeof(*c))) == NULL)
		goto err0;
	if ((c->my = mysql_init(NULL)) == NULL)
		goto err1;
	if (conn_options(c->my, to, s))
		goto err2;
	if (mysql_real_connect(c->my, to->host, to->user, to->password,
		to->name, to->port, to->host != NULL ? NULL : to->socket,
		0) == NULL)
		goto err2;
	if (conn_setup(c->my, to))
		goto err2;

	/* Success! */
	return (c);

err2:
	(void)snprintf(err, len, "%s", mysql_error(c->my));
	mysql_close(c->my);
err1:
	free(c);
err0:
	/* Failure! */
	return (NULL);
}

int
conn_good(struct conn *c, int doubt, int ask)
{
	struct pollfd p = {.events = POLLIN | POLLRDHUP};
	const uint64_t idle = clock_ms() - c->used;

	if (!doubt && idle < WARM_MS)
		return (1);
	p.fd = mysql_get_socket(c->my);
	if (!doubt && poll(&p, 1, 0) == 0 && idle < IDLE_MS)
		return (1);
	return (ask && mysql_ping(c->my) == 0);
}

/* Point the parameters of ${s} at ${args}; nothing is copied. */
static void
bind_args(struct stmt *s, const struct db_arg *args)
{
	MYSQL_BIND *b;
	size_t i;

	for (i = 0; i < s->nargs; i++) {
		b = &s->in[i];
		switch (args[i].kind) {
		case DB_ARG_NULL:
			b->buffer_type = MYSQL_TYPE_NULL;
			continue;
		case DB_ARG_U64:
			b->buffer_type = MYSQL_TYPE_LONGLONG;
			b->buffer = (void *)(uintptr_t)&args[i].u;
			b->is_unsigned = 1;
			continue;
		case DB_ARG_BIN:
			b->buffer_type = MYSQL_TYPE_BLOB;
			break;
		case DB_ARG_STR:
			b->buffer_type = MYSQL_TYPE_STRING;
			break;
		}
		b->buffer = (void *)(uintptr_t)args[i].s;
		b->buffer_length = s->inlen[i] = args[i].len;
		b->length = &s->inlen[i];
	}
}

/* conn_error() for what last failed in ${s}. */
static enum db_rc
stmt_error(struct conn *c, struct stmt *s)
{

	return (conn_error(
	    c, mysql_stmt_errno(s->st), mysql_stmt_error(s->st), s->sql));
}

/* Send ${s} with ${op}'s parameters. */
static enum db_rc
stmt_execute(struct conn *c, struct stmt *s, const struct op *op)
{
	unsigned int number;

	if (s->nargs != op->nargs || s->ncols != op->ncols) {
		log_err("db: %zu parameters and %zu columns do not fit: %.120s",
		    op->nargs, op->ncols, op->sql);
		return (DB_FAIL);
	}
	if (op->kind == OP_EXEC && fault("exec-1205"))
		return (conn_error(c, 1205, "on purpose", op->sql));
	bind_args(s, op->args);
	if (s->nargs > 0 && mysql_stmt_bind_param(s->st, s->in))
		return (stmt_error(c, s));
	if (mysql_stmt_execute(s->st) == 0)
		return (DB_OK);
	number = mysql_stmt_errno(s->st);
	c->sent = db_error_unheard(number);
	return (stmt_error(c, s));
}

/* Bytes that the current row of ${s} needs as strings. */
static size_t
row_size(const struct stmt *s)
{
	size_t i, size = 0;

	for (i = 0; i < s->ncols; i++)
		if (!s->null[i])
			size += s->outlen[i] + 1;
	return (size);
}

/* Copy the current row to ${p}, which has row_size() bytes. */
static int
row_copy(struct stmt *s, char *p, char **cols)
{
	MYSQL_BIND big;
	size_t i;

	for (i = 0; i < s->ncols; i++) {
		if (s->null[i]) {
			cols[i] = NULL;
			continue;
		}
		if (s->outlen[i] <= s->out[i].buffer_length)
			memcpy(p, s->out[i].buffer, s->outlen[i]);
		else {
			big = s->out[i];
			big.buffer = p;
			big.buffer_length = s->outlen[i];
			if (mysql_stmt_fetch_column(
				s->st, &big, (unsigned int)i, 0))
				return (-1);
		}
		p[s->outlen[i]] = '\0';
		cols[i] = p;
		p += s->outlen[i] + 1;
	}
	return (0);
}

/* Fetch a row of ${s} into its bound buffers: DB_OK, DB_NONE or a failure. */
static enum db_rc
row_fetch(struct conn *c, struct stmt *s)
{

	switch (mysql_stmt_fetch(s->st)) {
	case 0:
	case MYSQL_DATA_TRUNCATED:
		return (DB_OK);
	case MYSQL_NO_DATA:
		return (DB_NONE);
	default:
		return (stmt_error(c, s));
	}
}

static enum db_rc
take_row(struct conn *c, struct stmt *s, struct op *op)
{
	enum db_rc rc;
	char *p;

	if ((rc = row_fetch(c, s)) == DB_OK) {
		if ((p = arena_alloc(op->mem, row_size(s) + 1)) == NULL ||
		    row_copy(s, p, op->cols)) {
			log_err("db: no room for a row: %.120s", op->sql);
			rc = DB_FAIL;
		}
	}
	/* Reads what is left of the answer. */
	(void)mysql_stmt_free_result(s->st);
	return (rc);
}

static enum db_rc
take_rows(struct conn *c, struct stmt *s, struct op *op)
{
	struct line *l, **end = &op->lines;
	enum db_rc rc;

	op->lines = NULL;
	while ((rc = row_fetch(c, s)) == DB_OK) {
		if ((l = arena_alloc(op->mem,
			 sizeof(*l) + s->ncols * sizeof(l->cols[0]) +
			     row_size(s) + 1)) == NULL ||
		    row_copy(s, (char *)&l->cols[s->ncols], l->cols)) {
			log_err("db: no room for rows: %.120s", op->sql);
			rc = DB_FAIL;
			break;
		}
		*end = l;
		end = &l->next;
	}
	(void)mysql_stmt_free_result(s->st);
	return (rc == DB_NONE ? DB_OK : rc);
}

static enum db_rc
take_done(struct conn *c, struct stmt *s, struct op *op)
{

	(void)c;
	op->affected = mysql_stmt_affected_rows(s->st);
	op->id = mysql_stmt_insert_id(s->st);
	return (DB_OK);
}

/* In the order of the kinds of op. */
static enum db_rc (*const take[])(struct conn *, struct stmt *, struct op *) = {
    take_row, take_rows, take_done};

enum db_rc
conn_run(struct conn *c, struct op *op)
{
	struct stmt *s = NULL;
	enum db_rc rc;
	int i;

	for (i = 0; i < 2; i++) {
		if ((rc = cache_get(c, op->sql, &s)) != DB_OK)
			return (rc);
		if ((rc = stmt_execute(c, s, op)) == DB_OK)
			return (take[op->kind](c, s, op));
		if (rc != DB_FAIL ||
		    db_error(mysql_stmt_errno(s->st)) != DB_ERROR_STALE)
			return (rc);
		/* A table has changed under the statement: prepare anew. */
		cache_clear(c);
	}
	log_err("db: cannot keep prepared: %.120s", op->sql);
	return (DB_FAIL);
}

/* Run one of the words that need no preparing. */
static enum db_rc
word(struct conn *c, const char *sql)
{

	if (mysql_real_query(c->my, sql, strlen(sql)) == 0)
		return (DB_OK);
	return (conn_error(c, mysql_errno(c->my), mysql_error(c->my), sql));
}

enum db_rc
conn_begin(struct conn *c)
{

	return (word(c, "START TRANSACTION"));
}

void
conn_rollback(struct conn *c)
{

	/* A connection that cannot even do this is not to be trusted. */
	if (!c->dead && word(c, "ROLLBACK") != DB_OK)
		c->dead = 1;
}

enum db_rc
conn_commit(struct conn *c)
{
	unsigned int number;

	if (fault("commit-1213")) {
		conn_rollback(c);
		return (DB_AGAIN);
	}
	if (fault("commit-cut") ||
	    (mysql_real_query(c->my, "COMMIT", 6) == 0 &&
		fault("commit-lost"))) {
		log_err("db: lost while committing: on purpose");
		c->dead = 1;
		return (DB_UNSURE);
	}
	if ((number = mysql_errno(c->my)) == 0)
		return (DB_OK);
	if (db_error(number) == DB_ERROR_AGAIN) {
		conn_rollback(c);
		return (DB_AGAIN);
	}
	c->dead = 1;
	if (db_error_unsent(number))
		return (DB_DOWN);
	log_err("db: lost while committing: %u %s", number, mysql_error(c->my));
	return (DB_UNSURE);
}
