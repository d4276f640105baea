#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/gate.h"
#include "base/log.h"
#include "base/seldom.h"
#include "base/num.h"
#include "base/version.h"
#include "data/mark.h"
#include "data/schema.h"
#include "http/jwk.h"
#include "io/blob.h"
#include "io/db.h"
#include "run/leases.h"
#include "run/seats.h"

#include "fcgi/front.h"
#include "fcgi/listen.h"
#include "fcgi/pool.h"
#include "fcgi/rate.h"
#include "fcgi/req.h"
#include "fcgi/share.h"
#include "fcgi/stats.h"
#include "fcgi/upgrade.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static const char usage_text[] =
    "usage: satchel [-l SOCKET|HOST:PORT] [-n PROCESSES] [-p files|run|all]\n"
    "               [-c FILE]... [-s KEY=VALUE]... [-t]\n"
    "\n"
    "Answers Satchel's public API by FastCGI, or one request as a CGI "
    "program.\n"
    "\n"
    "  -l  listen here; without it, on the socket that standard input is\n"
    "      (spawn-fcgi, web servers) or that systemd passes\n"
    "  -n  worker processes (default: workers.processes)\n"
    "  -p  which requests will be sent here, which decides the number of\n"
    "      threads: short ones (files), model requests (run) or all (default)\n"
    "  -c  read settings from FILE (default: $SATCHEL_CONF, else\n"
    "      /etc/satchel/satchel.yml); later files win\n"
    "  -s  set one setting; wins over files\n"
    "  -t  look at settings, log and database schema, say what is wrong and\n"
    "      end\n"
    "\n"
    "SIGTERM finishes running requests and ends; SIGHUP reads the settings\n"
    "again and replaces the workers one generation by the next, of the "
    "program\n"
    "that is installed by then.\n";

struct program {
	struct conf_args args;
	struct conf conf;
	const char *where;  /* -l, or NULL. */
	uint64_t processes; /* -n, or 0. */
	int test;           /* -t */
	const struct kind *kind;
	int listenfd;
	struct stats *stats;
	struct rates *rates;
	struct seats *seats;
};

static size_t
files_threads(const struct conf *c)
{

	return (c->files_threads);
}

static size_t
run_threads(const struct conf *c)
{

	return (c->run_threads);
}

static size_t
all_threads(const struct conf *c)
{

	return (c->files_threads + c->run_threads);
}

/*
 * A short request mostly waits for the database.  If that is on this machine it
 * has the same processors, and more requests at once than those only get in
 * each other's way; elsewhere there may be one a connection.
 */
static size_t
files_quick(const struct conf *c)
{
	const long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (c->db_host != NULL || n < 1 || (size_t)n > c->db_pool)
		return (c->db_pool);
	return ((size_t)n);
}

/* What -p may say: how many threads, how many of them begin at once. */
static const struct kind {
	const char *name;
	size_t (*threads)(const struct conf *);
	size_t (*quick)(const struct conf *);
	const char *setting;
} kinds[] = {
    {"all", all_threads, all_threads,
	"workers.files_threads and workers.run_threads together"},
    {"files", files_threads, files_quick, "workers.files_threads"},
    {"run", run_threads, run_threads, "workers.run_threads"},
};

static int
usage(FILE *to)
{

	(void)fputs(usage_text, to);
	return (to == stdout ? 0 : 2);
}

static const struct kind *
find_kind(const char *name)
{

	for (size_t i = 0; i < NELEM(kinds); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return (&kinds[i]);
	}
	return (NULL);
}

/* Return -1 to go on, else the exit status. */
static int
take_args(struct program *p, int argc, char *argv[])
{
	static const struct option longs[] = {
	    {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int c;

	while (
	    (c = getopt_long(argc, argv, "l:n:p:c:s:th", longs, NULL)) != -1) {
		switch (c) {
		case 'l':
			p->where = optarg;
			break;
		case 'n':
			if (num_u64(optarg, 1, POOL_MAX, &p->processes))
				return (usage(stderr));
			break;
		case 'p':
			if ((p->kind = find_kind(optarg)) == NULL)
				return (usage(stderr));
			break;
		case 'c':
		case 's':
			if (conf_args_take(&p->args, c, optarg))
				return (2);
			break;
		case 't':
			p->test = 1;
			break;
		case 'h':
			return (usage(stdout));
		default:
			return (usage(stderr));
		}
	}
	return (optind == argc ? -1 : usage(stderr));
}

static void
serve(struct io *io, void *srv)
{

	req_serve(srv, io);
}

/* Open what requests need; nothing connects or reads before one does. */
static int
server_open(struct server *srv, const struct conf *c)
{

	memset(srv, 0, sizeof(*srv));
	srv->conf = c;
	if ((srv->store = store_open(c->files_root)) == NULL)
		goto err0;
	if ((srv->db = db_open(c)) == NULL)
		goto err1;
	const struct jwk_source keys = {.jwks_file = c->lc_jwks_file,
	    .pem_dir = c->lc_pem_dir,
	    .pem_file = c->lc_pem_file,
	    .kid = c->lc_kid};
	if ((c->lc_jwks_file != NULL || c->lc_pem_dir != NULL ||
		c->lc_pem_file != NULL) &&
	    (srv->jwk = jwk_ring_new(&keys)) == NULL)
		goto err2;

	/* Success! */
	return (0);

err2:
	db_close(srv->db);
err1:
	store_close(srv->store);
err0:
	/* Failure! */
	log_err("satchel: out of memory");
	return (-1);
}

static void
server_close(struct server *srv)
{

	jwk_ring_free(srv->jwk);
	db_close(srv->db);
	store_close(srv->store);
}

/* For what still runs: no more connections than that needs. */
static void
stopping(void *cookie)
{
	const struct server *srv = cookie;

	db_retire(srv->db);
}

/* A worker process. */
static int
child(void *cookie, size_t slot)
{
	const struct program *p = cookie;
	const size_t threads = p->kind->threads(&p->conf);
	const struct gate_size bodies = {.threads = threads,
	    .places = threads * 3 / 4,
	    .quick = threads / 16,
	    .queue = threads / 8};
	struct server srv;
	const struct front_job job = {.threads = threads,
	    .idle_s = FRONT_IDLE_S,
	    .setting = p->kind->setting,
	    .quick = p->kind->quick(&p->conf),
	    .handle = serve,
	    .stopping = stopping,
	    .cookie = &srv};
	int rc = 1;

	if (server_open(&srv, &p->conf))
		goto err0;
	if ((srv.leases = leases_new(srv.db)) == NULL)
		goto err1;
	if ((srv.gate = gate_new(&bodies)) == NULL)
		goto err2;
	if ((srv.shares = shares_new(threads, p->conf.bodies_bytes)) == NULL)
		goto err3;
	srv.xaccel_ok = 1;
	srv.stats = p->stats;
	srv.rates = p->rates;
	srv.seats = p->seats;
	srv.slot = slot;
	if (front_run(p->listenfd, &job) == 0)
		rc = 0;
	shares_free(srv.shares);
err3:
	gate_free(srv.gate);
err2:
	leases_free(srv.leases);
err1:
	server_close(&srv);
err0:
	return (rc);
}

static void
gone(void *cookie, size_t slot)
{
	const struct program *p = cookie;

	stats_gone(p->stats, slot);
	seats_gone(p->seats, slot);
}

static void
stop(void *cookie)
{
	const struct program *p = cookie;

	listen_close(p->listenfd, p->where);
}

static size_t
processes(const struct program *p)
{

	return (p->processes > 0 ? p->processes : p->conf.processes);
}

/* Settings that cannot be read leave those that could in force. */
static int
reload(struct prefork *f, void *cookie)
{
	struct program *p = cookie;
	struct conf fresh;

	p->args.running = 1;
	if (conf_load(&p->args, &fresh))
		return (-1);
	if (log_open("satchel", fresh.log_file)) {
		conf_free(&fresh);
		return (-1);
	}
	conf_free(&p->conf);
	p->conf = fresh;
	f->processes = processes(p);
	f->drain_s = p->conf.drain_s;
	return (0);
}

/* Say now if there is no store; it may come back like the database. */
static void
warn_store(const struct conf *c, struct db *db)
{
	struct store *S = store_open(c->files_root);

	if (S == NULL)
		return;
	if (mark_learn(db, S) == DATA_OK && store_ready(S) != BLOB_OK)
		log_warn("satchel: the store %s is not there or not ours; "
			 "files get 503",
		    c->files_root);
	store_close(S);
}

/*
 * Refuse to touch a schema of another number.  A database that is away may come
 * back, and is then looked at before its first row is.
 */
static int
check_schema(const struct conf *c)
{
	struct db *db;
	enum data_rc rc;

	if ((db = db_open(c)) == NULL) {
		log_err("satchel: out of memory");
		return (-1);
	}
	rc = schema_check(db);
	if (rc == DATA_DOWN)
		log_warn("satchel: no database yet; requests get 503");
	else if (rc == DATA_OK)
		warn_store(c, db);
	db_close(db);
	return (rc == DATA_OK || rc == DATA_DOWN ? 0 : -1);
}

static int
run_fastcgi(struct program *p)
{
	struct prefork f = {.processes = processes(p),
	    .drain_s = p->conf.drain_s,
	    .child = child,
	    .gone = gone,
	    .reload = reload,
	    .stop = stop,
	    .listenfd = p->listenfd,
	    .cookie = p};

	if (check_schema(&p->conf) ||
	    (p->stats = stats_new(p->kind->name)) == NULL ||
	    (p->rates = rates_new()) == NULL ||
	    (p->seats = seats_new(POOL_SLOTS)) == NULL)
		return (1);
	log_info("satchel: pool %s, %zu processes of up to %zu threads",
	    p->kind->name, f.processes, p->kind->threads(&p->conf));
	return (pool_run(&f) ? 1 : 0);
}

static int
run_cgi(const struct conf *c)
{
	struct server srv;
	int rc;

	if (server_open(&srv, c))
		return (1);
	rc = front_cgi(serve, &srv);
	server_close(&srv);
	return (rc ? 1 : 0);
}

/*
 * A web server hands a CGI program the words of a query without a '=' as its
 * arguments: those are the caller's, and nothing to obey.
 */
static int
foreign_args(void)
{
	const char *query = getenv("QUERY_STRING");

	return (getenv("REQUEST_METHOD") != NULL && query != NULL &&
	    *query != '\0' && strchr(query, '=') == NULL);
}

int
main(int argc, char *argv[])
{
	struct program p = {.listenfd = -1, .kind = &kinds[0]};
	const int cgi = getenv("REQUEST_METHOD") != NULL;
	int rc;

	if (!cgi)
		upgrade_begin(argv);
	if (!foreign_args() && version_asked(argc, argv))
		return (0);
	if (!foreign_args() && (rc = take_args(&p, argc, argv)) != -1)
		return (rc);
	if (conf_load(&p.args, &p.conf))
		return (1);
	if (log_open("satchel", p.conf.log_file))
		goto err0;
	seldom_share();
	if (cgi) {
		rc = run_cgi(&p.conf);
		goto done;
	}
	if (p.test) {
		rc = check_schema(&p.conf) ? 1 : 0;
		goto done;
	}
	listen_raise_nofile();
	if ((p.listenfd = upgrade_listener()) == -1)
		p.listenfd =
		    p.where != NULL ? listen_open(p.where) : listen_given();
	if (p.listenfd == -1) {
		if (p.where == NULL)
			(void)fprintf(stderr,
			    "satchel: standard input is no listening socket, "
			    "and no -l was given\n");
		goto err0;
	}
	rc = run_fastcgi(&p);

done:
	conf_free(&p.conf);
	return (rc);

err0:
	conf_free(&p.conf);
	return (1);
}
