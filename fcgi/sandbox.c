#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/conf.h"
#include "base/log.h"
#include "base/num.h"
#include "base/version.h"

#include "jail/language.h"
#include "jail/probe.h"
#include "jail/spawn.h"
#include "jail/supervisor.h"

#include "fcgi/front.h"
#include "fcgi/listen.h"
#include "fcgi/pool.h"
#include "fcgi/sandbox.h"

#define THREADS_MAX 512

static const char usage[] =
    "usage: satchel-sandbox [-c FILE]... [-s KEY=VALUE]... [-l SOCKET]\n"
    "                       [-n PROCESSES]\n"
    "Serve the code-execution protocol over FastCGI.\n"
    "  -c FILE        read settings from FILE\n"
    "  -s KEY=VALUE   set one\n"
    "  -l SOCKET      listen on this unix socket or HOST:PORT; else on the\n"
    "                 socket that standard input is\n"
    "  -n PROCESSES   run so many worker processes\n"
    "                 (workers.processes)\n"
    "  --help         print this\n";

/* The whole program. */
struct program {
	struct conf_args args;
	const char *where;  /* -l, or NULL. */
	uint64_t processes; /* -n, or 0. */
	struct conf conf;
	struct sbx_server srv;
	size_t threads; /* Of a process. */
	int fd;
};

/* Read the command line.  Return 0, or -1 after a line on standard error. */
static int
read_options(int argc, char **argv, struct program *p)
{
	static const struct option longs[] = {
	    {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "c:s:l:n:h", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
		case 's':
			if (conf_args_take(&p->args, c, optarg))
				return (-1);
			break;
		case 'l':
			p->where = optarg;
			break;
		case 'n':
			if (num_u64(optarg, 1, POOL_MAX, &p->processes)) {
				(void)fprintf(stderr,
				    "satchel-sandbox: -n: 1 to %d\n", POOL_MAX);
				return (-1);
			}
			break;
		case 'h':
			(void)fputs(usage, stdout);
			exit(0);
		default:
			(void)fputs(usage, stderr);
			return (-1);
		}
	}
	if (optind != argc) {
		(void)fputs(usage, stderr);
		return (-1);
	}
	return (0);
}

/* Is ${path} below ${rootfs}${tree}? */
static int
is_below(const char *path, const char *rootfs, const char *tree)
{
	char real[PATH_MAX], top[PATH_MAX + LIMITS_PATH];
	size_t len;

	if (path == NULL || realpath(path, real) == NULL)
		return (0);
	(void)snprintf(top, sizeof(top), "%s%s", rootfs, tree);
	len = strlen(top);
	return (strncmp(real, top, len) == 0 &&
	    (real[len] == '/' || real[len] == '\0'));
}

/* Sandboxes read this as our own user: nothing of ours may be in it. */
static int
is_shown(const char *name, const char *path, const struct limits *l)
{

	if (*l->rootfs == '\0' ? !is_below(path, "", "/usr")
			       : !is_below(path, l->rootfs, "/usr") &&
		    !is_below(path, l->rootfs, "/opt"))
		return (0);
	log_err("%s: %s is below %s/usr, which every sandbox can read", name,
	    path, l->rootfs);
	return (1);
}

/* Log why sessions cannot be made, ${why} being all that is known so far. */
static void
log_refusal(const struct limits *l, const char *why)
{
	struct buf said = BUF_INIT(1024), remedy = said;

	if (probe_level(l, &said, &remedy) && buf_ok(&said) && said.len > 0)
		log_err("this machine cannot make sandboxes: %s -> %s", said.p,
		    remedy.p != NULL ? remedy.p : "see its kernel's log");
	else
		log_err("this machine cannot make sandboxes: %s", why);
	buf_free(&said);
	buf_free(&remedy);
}

static struct languages *
load_languages(const char *path)
{
	struct buf err = BUF_INIT(1024);
	struct languages *L;

	if ((L = languages_load(path, &err)) == NULL)
		log_err("sandbox.languages: %s: %s",
		    path != NULL ? path : "(built in)",
		    buf_ok(&err) && err.len > 0 ? err.p : "out of memory");
	buf_free(&err);
	return (L);
}

/* Prepare ${s}, which all processes share.  Return 0, or -1 after logging. */
static int
prepare(struct sbx_server *s, const struct conf *c)
{
	char why[SESSION_WHY];

	s->conf = c;
	limits_of(c, &s->limits);
	if (s->limits.isolation == ISOLATION_REMOTE) {
		log_err("sandbox.isolation is remote: sessions are another"
			" machine's, and I am to make none");
		return (-1);
	}
	if (is_shown("sandbox.dir", c->sandbox_dir, &s->limits) ||
	    is_shown("files.root", c->files_root, &s->limits))
		return (-1);
	if ((s->languages = load_languages(c->sandbox_languages)) == NULL)
		goto err0;
	s->host =
	    host_open(c->sandbox_dir, c->sandbox_label, c->sandbox_sessions);
	if (s->host == NULL)
		goto err1;
	if (host_probe(s->host, &s->limits, why)) {
		log_refusal(&s->limits, why);
		goto err2;
	}
	if (*limits_looked_at(&s->limits) != '\0')
		log_info("sandbox: %s: %s", limits_isolation(&s->limits),
		    limits_looked_at(&s->limits));
	return (0);

err2:
	host_close(s->host);
err1:
	languages_free(s->languages);
err0:
	return (-1);
}

/* Go on with the settings ${c}, which become ${p}'s if they are of use. */
static int
adopt(struct program *p, struct conf *c)
{
	struct sbx_server s;

	if (log_open("satchel-sandbox", c->log_file) || prepare(&s, c))
		return (-1);
	host_close(p->srv.host);
	languages_free(p->srv.languages);
	conf_free(&p->conf);
	p->conf = *c;
	p->srv = s;
	p->srv.conf = &p->conf;
	p->threads = c->sandbox_sessions + 16;
	if (p->threads > THREADS_MAX)
		p->threads = THREADS_MAX;
	return (0);
}

static size_t
processes(const struct program *p)
{

	return ((size_t)(p->processes > 0 ? p->processes : p->conf.processes));
}

/* SIGHUP: read the settings again. */
static int
reload(struct prefork *f, void *cookie)
{
	struct program *p = cookie;
	struct conf c;

	p->args.running = 1;
	if (conf_load(&p->args, &c))
		return (-1);
	if (adopt(p, &c)) {
		conf_free(&c);
		return (-1);
	}
	f->processes = processes(p);
	f->drain_s = p->conf.drain_s;
	return (0);
}

static int
child(void *cookie, size_t slot)
{
	struct program *p = cookie;
	const struct front_job job = {.threads = p->threads,
	    .quick = p->threads,
	    .idle_s = FRONT_IDLE_S,
	    .setting = "sandbox.sessions_max",
	    .handle = sbx_dispatch,
	    .cookie = &p->srv};

	(void)slot;
	return (front_run(p->fd, &job) ? 1 : 0);
}

/* Serve until told to end.  Returns an exit status. */
static int
serve(struct program *p)
{
	struct prefork f = {.processes = processes(p),
	    .drain_s = p->conf.drain_s,
	    .child = child,
	    .reload = reload,
	    .cookie = p};
	int rc;

	listen_raise_nofile();
	p->fd = p->where != NULL ? listen_open(p->where) : listen_given();
	if (p->fd == -1) {
		if (p->where == NULL)
			log_err("standard input is no listening socket: use"
				" -l");
		return (1);
	}
	rc = pool_run(&f) ? 1 : 0;
	listen_close(p->fd, p->where);
	return (rc);
}

int
main(int argc, char **argv)
{
	static struct program p; /* Zero is what it begins with. */
	struct conf c;
	int rc = 1;

	if (argc > 1 && strcmp(argv[1], SPAWN_WORD) == 0)
		supervisor_main(argc - 2, argv + 2);

	if (version_asked(argc, argv))
		return (0);
	p.args.partial = 1; /* Where a gateway's files are is not our affair. */
	if (read_options(argc, argv, &p))
		return (2);
	if (conf_load(&p.args, &c))
		return (1);
	if (host_user("satchel-sandbox", c.sandbox_dir) || adopt(&p, &c)) {
		conf_free(&c);
		return (1);
	}
	rc = serve(&p);
	host_close(p.srv.host);
	languages_free(p.srv.languages);
	conf_free(&p.conf);
	return (rc);
}
