#ifndef DATA_USAGE_H_
#define DATA_USAGE_H_

#include <stddef.h>
#include <stdint.h>

#include "data/rc.h"

/*
 * What was used: a row a model request and a row a run of code (executor
 * contract 5.5), written once they are over.  Money is in millionths of the
 * deployment's unit.
 */

/* Opaque types. */
struct arena;
struct db;

#define USAGE_IDLEN 24
#define USAGE_PAGE 1000

struct usage_row {
	const char *id;      /* [0-9a-z] */
	const char *request; /* Its X-Request-Id; NULL: not known. */
	struct owner owner;
	uint64_t key;
	const char *user;     /* Its name; usage_list() only. */
	const char *route;    /* "messages", "responses" or "chat". */
	const char *model;    /* As the caller said it. */
	const char *provider; /* Its name here. */
	const char *ran;      /* "nobody", "local" or "provider". */
	uint64_t status;      /* Of HTTP; 0: the client left before. */
	const char *error;    /* A word, or NULL. */
	int counted;          /* The tokens are known. */
	uint64_t input, output, cached, reasoning;
	uint64_t rounds, runs, priced, run_ms, bytes;
	uint64_t price; /* Millionths. */
	uint64_t ms, created;
};

struct usage_run {
	const char *container; /* Bare id; NULL: none. */
	const char *tool;
	uint64_t ms, files, bytes;
	int has_code, code;
	const char *error; /* NULL: it ran. */
};

/**
 * usage_put(db, u):
 * Write the row of a request.  DATA_OK, DATA_DOWN, DATA_UNSURE or DATA_FAIL.
 */
enum data_rc usage_put(struct db *, const struct usage_row *);

/**
 * usage_put_run(db, u, run):
 * Write the row of one of its runs.
 */
enum data_rc
usage_put_run(struct db *, const struct usage_row *, const struct usage_run *);

/* Which rows: of one key, or of a workspace. */
struct usage_query {
	uint64_t key;          /* 0: all of... */
	uint64_t workspace;    /* ...this one. */
	uint64_t since, until; /* Unix ms; [since, until). */
	const char *after;     /* Id, exclusive; NULL = from the end. */
	int ascending;
	size_t limit; /* At most USAGE_PAGE. */
};

/**
 * usage_list(db, mem, q, u, n):
 * Fill in the next at most ${q}->limit rows by (created, id) and set ${n}.
 * DATA_NONE: there is no row ${q}->after among them.
 */
enum data_rc usage_list(struct db *, struct arena *, const struct usage_query *,
    struct usage_row *, size_t *);

/**
 * usage_sum(db, mem, q, sum, requests):
 * Add up the numbers of all rows of ${q}, whatever its page, into ${sum}, and
 * set ${requests}.
 */
enum data_rc usage_sum(struct db *, struct arena *, const struct usage_query *,
    struct usage_row *, uint64_t *);

#endif /* !DATA_USAGE_H_ */
