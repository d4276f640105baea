#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/jset.h"
#include "base/version.h"
#include "data/mark.h"
#include "io/blob.h"
#include "io/db.h"
#include "io/sandbox_client.h"

#include "fcgi/io.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

static int
database_ready(struct req *r)
{
	uint64_t ms;

	return (db_now(r->srv->db, &ms) == DB_OK);
}

static int
files_ready(struct req *r)
{

	/* If the database is away, that has been said. */
	(void)mark_learn(r->srv->db, r->srv->store);
	return (store_ready(r->srv->store) == BLOB_OK);
}

static int
sandbox_ready(struct req *r)
{
	const struct sandbox s = {.url = r->srv->conf->sandbox_url,
	    .token = r->srv->conf->sandbox_token,
	    .gone_fd = io_fd(r->io)};

	return (sandbox_health(&s) == SANDBOX_OK);
}

static int
always(const struct conf *c)
{

	(void)c;
	return (1);
}

static int
with_sandbox(const struct conf *c)
{

	return (c->sandbox_url != NULL);
}

/* What must work before all requests can; asked in this order. */
static const struct check {
	const char *name;
	int (*wanted)(const struct conf *);
	int (*ready)(struct req *);
} checks[] = {
    {"database", always, database_ready},
    {"store", always, files_ready},
    {"sandbox", with_sandbox, sandbox_ready},
};

#define NCHECKS (sizeof(checks) / sizeof(checks[0]))

/* An answer to give while another is being looked for may be so old. */
#define FRESH_MS 10000

/* So many threads may wait for a newer one; more have the old one. */
#define WAITING_MAX 2

/*
 * Anybody may ask, so one thread at a time looks and the others take its answer
 * or the last one: else all of them could wait for a sandbox that is stuck.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t known;
	int looking;
	unsigned int waiting;
	uint64_t at; /* When these were found, ms; 0: never. */
	int ok[NCHECKS];
} last = {.lock = PTHREAD_MUTEX_INITIALIZER, .known = PTHREAD_COND_INITIALIZER};

static void
look(struct req *r, int ok[NCHECKS])
{

	for (size_t i = 0; i < NCHECKS; i++)
		ok[i] = checks[i].wanted(r->srv->conf) ? checks[i].ready(r) : 1;
}

/* Set ${ok} for each of the checks; 1 too for what is not wanted. */
static void
learn(struct req *r, int ok[NCHECKS])
{
	const uint64_t since = clock_ms();

	pthread_mutex_lock(&last.lock);
	while (last.looking && last.at + FRESH_MS < since &&
	    last.waiting < WAITING_MAX) {
		last.waiting++;
		(void)pthread_cond_wait(&last.known, &last.lock);
		last.waiting--;
	}
	if (!last.looking && last.at <= since) {
		last.looking = 1;
		pthread_mutex_unlock(&last.lock);
		look(r, ok);
		pthread_mutex_lock(&last.lock);
		memcpy(last.ok, ok, sizeof(last.ok));
		last.at = clock_ms();
		last.looking = 0;
		(void)pthread_cond_broadcast(&last.known);
	}
	memcpy(ok, last.ok, sizeof(last.ok));
	pthread_mutex_unlock(&last.lock);
}

/*
 * GET /healthz
 *
 * 200: this process answers.  Nothing else is asked.
 */
int
healthz(struct req *r)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "status", jstr("ok")) ||
	    jset(o, "version", jstr(SATCHEL_VERSION))) {
		json_object_put(o);
		return (-1);
	}
	return (reply_json(r, 200, o));
}

/*
 * HEAD /
 *
 * 200: clients ask this to see whether anybody is there.  GET has nothing to
 * show, so it is told that like any path without a route.
 */
int
root(struct req *r)
{

	if (r->head)
		return (reply_begin(r, 200, NULL, 0));
	return (reply_problem(
	    r, P_UNKNOWN_URL, NULL, "There is no such endpoint: GET /"));
}

/*
 * GET /readyz
 *
 * 200: all that requests need is there.
 * 503: something is not; the body says what.
 */
int
readyz(struct req *r)
{
	int ok[NCHECKS], all = 1;
	json_object *o;

	learn(r, ok);
	if ((o = json_object_new_object()) == NULL)
		return (-1);
	for (size_t i = 0; i < NCHECKS; i++) {
		all = all && ok[i];
		if (checks[i].wanted(r->srv->conf) &&
		    jset(o, checks[i].name, jstr(ok[i] ? "ok" : "away")))
			goto err0;
	}
	if (jset(o, "status", jstr(all ? "ok" : "away")))
		goto err0;
	return (reply_json(r, all ? 200 : 503, o));

err0:
	/* Failure! */
	json_object_put(o);
	return (-1);
}
