/*
 * The database layer by hand: db SOCKET SCHEMA POOL reads commands from
 * standard input and answers each with one line.  Parameters follow the
 * statement, each after " | ": uNUMBER, sTEXT, bHEX, n (NULL).
 *
 *   row NCOLS SQL      rc, then the columns
 *   rows NCOLS SQL     rc, then all columns of all rows
 *   exec SQL           rc, affected rows, id
 *   tx SQL;; SQL...    rc, how often the body was run
 *   stop SQL           the same with a body that asks to roll back
 *   nest               rc of a transaction inside a transaction
 *   storm N MS SQL     N threads at once, MS apart: how many came to which rc
 *   now                rc, the clock
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/log.h"

#include "io/db.h"

#define MAXSQL 200
#define MAXARGS 16

static const char *const names[] = {[DB_OK] = "OK",
    [DB_NONE] = "NONE",
    [DB_DUP] = "DUP",
    [DB_STOP] = "STOP",
    [DB_AGAIN] = "AGAIN",
    [DB_DOWN] = "DOWN",
    [DB_UNSURE] = "UNSURE",
    [DB_THERE] = "THERE",
    [DB_FAIL] = "FAIL"};

static struct db *db;

/* Statements are known by their address: one text, one address. */
static const char *
intern(const char *s)
{
	static char *known[MAXSQL];
	size_t i;

	for (i = 0; i < MAXSQL && known[i] != NULL; i++)
		if (strcmp(known[i], s) == 0)
			return (known[i]);
	if (i == MAXSQL || (known[i] = strdup(s)) == NULL)
		exit(3);
	return (known[i]);
}

/* Turn hex into bytes in place. */
static size_t
unhex(char *s)
{
	size_t i, len = strlen(s) / 2;
	char digits[3] = {0};

	for (i = 0; i < len; i++) {
		memcpy(digits, s + 2 * i, 2);
		s[i] = (char)strtoul(digits, NULL, 16);
	}
	return (len);
}

/* Cut the parameters off ${s} into ${args}. */
static size_t
parse_args(char *s, struct db_arg *args)
{
	char *p, *next;
	size_t n = 0;

	if ((p = strstr(s, " | ")) == NULL)
		return (0);
	for (*p = '\0', p += 3; p != NULL; p = next, n++) {
		if ((next = strstr(p, " | ")) != NULL) {
			*next = '\0';
			next += 3;
		}
		if (*p == 'u')
			args[n] =
			    (struct db_arg)DB_U64(strtoull(p + 1, NULL, 10));
		else if (*p == 's')
			args[n] = DB_STR(p + 1);
		else if (*p == 'b')
			args[n] = (struct db_arg)DB_BIN(p + 1, unhex(p + 1));
		else
			args[n] = DB_STR(NULL);
	}
	return (n);
}

static void
print_cols(char *const *cols, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		printf("\t%s", cols[i] != NULL ? cols[i] : "\\N");
}

static void
cmd_row(char *s)
{
	struct db_arg args[MAXARGS];
	char *cols[DB_MAXCOLS];
	size_t ncols = strtoul(s, &s, 10), nargs;
	struct arena *mem = arena_new(1 << 20);
	enum db_rc rc;

	nargs = parse_args(++s, args);
	rc = db_row(db, mem, intern(s), args, nargs, cols, ncols);
	printf("%s", names[rc]);
	if (rc == DB_OK)
		print_cols(cols, ncols);
	arena_free(mem);
}

/* Rows are told after the statement: keep what to print until rc is known. */
struct all {
	size_t ncols, n;
	char text[8192];
};

static int
all_row(void *cookie, char *const *cols)
{
	struct all *a = cookie;
	size_t i;

	for (i = 0; i < a->ncols; i++) {
		a->n += (size_t)snprintf(a->text + a->n, sizeof(a->text) - a->n,
		    "\t%s", cols[i] != NULL ? cols[i] : "\\N");
		if (a->n >= sizeof(a->text))
			return (-1);
	}
	return (0);
}

static void
cmd_rows(char *s)
{
	struct db_arg args[MAXARGS];
	struct all a = {.ncols = strtoul(s, &s, 10)};
	size_t nargs;
	enum db_rc rc;

	nargs = parse_args(++s, args);
	rc = db_rows(db, intern(s), args, nargs, a.ncols, all_row, &a);
	printf("%s%s", names[rc], a.text);
}

static void
cmd_exec(char *s)
{
	struct db_arg args[MAXARGS];
	size_t nargs = parse_args(s, args);
	uint64_t n = 0, id = 0;
	enum db_rc rc;

	rc = db_exec(db, intern(s), args, nargs, &n, &id);
	printf("%s\t%llu\t%llu", names[rc], (unsigned long long)n,
	    (unsigned long long)id);
}

struct body {
	const char *sql[8];
	size_t n;
	int runs, stop;
};

static enum db_rc
body(struct db *tx, void *cookie)
{
	struct body *b = cookie;
	enum db_rc rc;
	size_t i;

	b->runs++;
	for (i = 0; i < b->n; i++)
		if ((rc = db_exec(tx, b->sql[i], NULL, 0, NULL, NULL)) != DB_OK)
			return (rc);
	return (b->stop ? DB_STOP : DB_OK);
}

static void
cmd_tx(char *s, int stop)
{
	struct body b = {.stop = stop};
	char *next;
	enum db_rc rc;

	for (; s != NULL && b.n < 8; s = next) {
		if ((next = strstr(s, ";; ")) != NULL) {
			*next = '\0';
			next += 3;
		}
		b.sql[b.n++] = intern(s);
	}
	rc = db_tx(db, body, &b);
	printf("%s\t%d", names[rc], b.runs);
}

static enum db_rc
nest(struct db *tx, void *cookie)
{

	(void)cookie;
	return (db_tx(tx, body, NULL));
}

struct storm {
	const char *sql;
	pthread_mutex_t lock;
	int count[DB_FAIL + 1];
};

static void *
storm_thread(void *cookie)
{
	struct storm *st = cookie;
	enum db_rc rc = db_exec(db, st->sql, NULL, 0, NULL, NULL);

	pthread_mutex_lock(&st->lock);
	st->count[rc]++;
	pthread_mutex_unlock(&st->lock);
	return (NULL);
}

static void
cmd_storm(char *s)
{
	struct storm st = {.lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t t[64];
	size_t n = strtoul(s, &s, 10), i;
	unsigned long ms = strtoul(s, &s, 10);
	struct timespec apart = {.tv_nsec = (long)ms * 1000000};

	st.sql = intern(s + 1);
	for (i = 0; i < n && i < 64; i++) {
		if (pthread_create(&t[i], NULL, storm_thread, &st))
			exit(3);
		nanosleep(&apart, NULL);
	}
	for (n = i, i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i <= DB_FAIL; i++)
		if (st.count[i] > 0)
			printf("%s %d ", names[i], st.count[i]);
}

static void
command(char *line)
{
	uint64_t ms = 0;
	enum db_rc rc;
	char *rest = strchr(line, ' ');

	if (rest != NULL)
		*rest++ = '\0';
	if (strcmp(line, "row") == 0)
		cmd_row(rest);
	else if (strcmp(line, "rows") == 0)
		cmd_rows(rest);
	else if (strcmp(line, "exec") == 0)
		cmd_exec(rest);
	else if (strcmp(line, "tx") == 0)
		cmd_tx(rest, 0);
	else if (strcmp(line, "stop") == 0)
		cmd_tx(rest, 1);
	else if (strcmp(line, "nest") == 0)
		printf("%s", names[db_tx(db, nest, NULL)]);
	else if (strcmp(line, "storm") == 0)
		cmd_storm(rest);
	else if (strcmp(line, "now") == 0) {
		rc = db_now(db, &ms);
		printf("%s\t%llu", names[rc], (unsigned long long)ms);
	} else
		printf("what?");
	printf("\n");
	fflush(stdout);
}

int
main(int argc, char *argv[])
{
	struct conf c = {0};
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	if (argc != 4 || log_open("db", NULL))
		return (2);
	c.db_socket = argv[1];
	c.db_name = argv[2];
	c.db_pool = strtoul(argv[3], NULL, 10);
	c.db_user = (char[]){"root"};
	if ((db = db_open(&c)) == NULL)
		return (2);
	while ((n = getline(&line, &cap, stdin)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		command(line);
	}
	free(line);
	db_close(db);
	return (0);
}
