#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/log.h"
#include "base/version.h"
#include "jail/brood.h"
#include "jail/crowd.h"
#include "jail/ready.h"
#include "jail/session.h"

/*
 * satchel-keeper: keeps sessions ready on a sandbox host.  Workers take them by
 * themselves, and start their own where there are none.
 */

#define PAUSE_MS 1000      /* After a failure; doubled for each further one, */
#define PAUSE_MAX_MS 60000 /* up to this. */
#define LOAD_MS 120000     /* A zygote that loads for so long hangs. */
#define REST_MS 1000       /* Between two looks at the zygote. */
#define LOOK_MS 5000       /* Between two looks at what there is. */
#define CALM_MS 20         /* See urgent(). */
#define BIRTHS 2           /* While one starts the zygote makes the next. */
#define WAIT_MIN_S 60      /* Ready sessions outlive their zygote's age. */

/* The library of zygote.h, put into the program by the linker. */
extern const char _binary_zygote_so_start[], _binary_zygote_so_end[];

static const char usage[] =
    "usage: satchel-keeper [-c FILE]... [-s KEY=VALUE]...\n"
    "Keep sandbox sessions ready (sandbox.ready), until SIGTERM.\n"
    "  -c FILE        read settings from FILE\n"
    "  -s KEY=VALUE   set one\n"
    "  --help         print this\n"
    "SIGHUP: read the settings again.\n";

struct keeper {
	struct conf_args args;
	struct conf conf;
	struct host *host;
	struct limits limits; /* Of ready sessions. */
	char mark[READY_MARK];
	int idle;   /* READY_DIR */
	int lock;   /* Nobody else keeps this host's. */
	int served; /* Held while we make sessions; else -1. */
	int image, sigs, watch;
	struct brood now, next; /* The second replaces the first. */
	uint64_t pause, until;  /* Nothing is started before. */
	uint64_t looked;
	size_t there;   /* So many sessions waited when we last looked, */
	uint64_t taken; /* and one was taken then (clock_ms()). */
	struct birth births[BIRTHS]; /* The oldest comes first. */
	size_t nbirths;
	int stop;
};

static int
read_options(int argc, char **argv, struct conf_args *args)
{
	static const struct option longs[] = {
	    {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "c:s:h", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
		case 's':
			if (conf_args_take(args, c, optarg))
				return (-1);
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

/* The library as a file without a name that nobody can change. */
static int
open_image(void)
{
	const size_t len = (size_t)((uintptr_t)_binary_zygote_so_end -
	    (uintptr_t)_binary_zygote_so_start);
	int fd;

	fd = memfd_create("satchel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd == -1 ||
	    write(fd, _binary_zygote_so_start, len) != (ssize_t)len ||
	    fcntl(fd, F_ADD_SEALS,
		F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)) {
		log_err("keeper: memfd: %s", strerror(errno));
		return (-1);
	}
	return (fd);
}

static int
open_signals(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	if (sigprocmask(SIG_SETMASK, &mask, NULL))
		return (-1);
	return (signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
}

/* Take ${k}->conf as what holds from now on. */
static int
adopt(struct keeper *k)
{

	if (log_open("satchel-keeper", k->conf.log_file))
		return (-1);
	limits_of(&k->conf, &k->limits);
	if (ready_mark(&k->limits, k->mark))
		return (-1);
	k->limits.idle_s = 2 * k->conf.sandbox_zygote_s + WAIT_MIN_S;
	if (k->conf.sandbox_ready > 0 && !ready_able(&k->limits))
		log_warn("keeper: sandbox.isolation is %s: no session can be"
			 " made ready",
		    limits_isolation(&k->limits));
	return (0);
}

/* Open all that is needed.  Return 0, or -1 after logging. */
static int
prepare(struct keeper *k)
{
	char path[64];

	if (adopt(k))
		return (-1);
	k->host = host_open(k->conf.sandbox_dir, k->conf.sandbox_label,
	    k->conf.sandbox_sessions);
	if (k->host == NULL)
		return (-1);
	if ((k->idle = ready_open(host_dir(k->host), 1)) == -1) {
		log_err("keeper: %s/" READY_DIR ": %s", k->conf.sandbox_dir,
		    strerror(errno));
		return (-1);
	}
	if ((k->lock = ready_lock(k->idle, "keeper", 0)) == -1) {
		log_err("keeper: another one keeps %s", k->conf.sandbox_dir);
		return (-1);
	}
	if ((k->image = open_image()) == -1)
		return (-1);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", k->idle);
	if ((k->sigs = open_signals()) == -1 ||
	    (k->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) == -1 ||
	    inotify_add_watch(k->watch, path, IN_MOVED_FROM | IN_DELETE) ==
		-1) {
		log_err("keeper: %s", strerror(errno));
		return (-1);
	}
	return (0);
}

/* Something failed: let time pass before it is tried again. */
static void
back_off(struct keeper *k, const char *what, const char *why)
{

	log_err("keeper: %s: %s", what, why);
	k->pause = k->pause == 0 ? PAUSE_MS : 2 * k->pause;
	if (k->pause > PAUSE_MAX_MS)
		k->pause = PAUSE_MAX_MS;
	k->until = clock_ms() + k->pause;
}

/* Say whether workers may wait for us. */
static void
serve(struct keeper *k, int yes)
{

	if (yes && k->served == -1) {
		k->served = ready_lock(k->idle, "served", 1);
	} else if (!yes && k->served != -1) {
		(void)close(k->served);
		k->served = -1;
	}
}

/* Hear what the zygote ${B} has to say; end it if that is nothing good. */
static void
hear(struct keeper *k, struct brood *B)
{
	char why[512];

	if (B->state == BROOD_NONE)
		return;
	if (brood_hear(B, why, sizeof(why)) == 0) {
		if (B->state == BROOD_READY || clock_ms() < B->began + LOAD_MS)
			return;
		(void)snprintf(why, sizeof(why), "it does not get ready");
	}
	brood_end(B);
	back_off(k, "zygote", why);
}

/* Start the zygote that is needed, and replace what is old. */
static void
see_to_zygotes(struct keeper *k)
{
	const uint64_t age = k->conf.sandbox_zygote_s * 1000, at = clock_ms();
	char why[512];

	hear(k, &k->now);
	hear(k, &k->next);
	if (k->next.state == BROOD_READY) {
		brood_end(&k->now);
		k->now = k->next;
		k->next.state = BROOD_NONE;
		k->next.fd = -1;
	}
	if (k->next.state == BROOD_NONE && at >= k->until &&
	    (k->now.state == BROOD_NONE || at >= k->now.began + age) &&
	    brood_start(&k->next, k->image, &k->limits, why, sizeof(why)))
		back_off(k, "zygote", why);
}

/* No session can be made now. */
static void
give_up(struct keeper *k, const char *why)
{

	brood_end(&k->now);
	serve(k, 0);
	back_off(k, "session", why);
}

/* Have the zygote make another session. */
static int
begin(struct keeper *k, char *why, size_t size)
{
	struct birth *b = &k->births[k->nbirths];

	if (ready_begin(k->idle, k->mark, k->now.name, b, why, size))
		return (-1);
	k->nbirths++;
	return (brood_order(&k->now, &k->limits, b, why, size));
}

/* Wait for the oldest of those that are being made. */
static int
finish(struct keeper *k, char *why, size_t size)
{
	struct birth b = k->births[0];

	k->nbirths--;
	memmove(k->births, k->births + 1, k->nbirths * sizeof(k->births[0]));
	return (ready_finish(k->idle, &k->limits, &b, why, size));
}

/* Wait for all of them, whatever becomes of them. */
static void
finish_all(struct keeper *k)
{
	char why[512];

	while (k->nbirths > 0)
		(void)finish(k, why, sizeof(why));
}

/*
 * ${there} sessions wait; must those that lack be made at once?  While half of
 * them are there, whoever has just taken one shall not have to share the
 * processors with the making of the next.  If not, set ${ms} to how long it can
 * wait.
 */
static int
urgent(struct keeper *k, size_t there, int *ms)
{
	const uint64_t now = clock_ms();

	if (there < k->there)
		k->taken = now;
	k->there = there;
	if (2 * there < k->conf.sandbox_ready || now >= k->taken + CALM_MS)
		return (1);
	*ms = (int)(k->taken + CALM_MS - now);
	return (0);
}

/* Make one of those that lack.  Return how many ms there is nothing to do. */
static int
refill(struct keeper *k)
{
	const size_t want = k->conf.sandbox_ready;
	int ms = REST_MS;
	char why[512];
	size_t there;

	if (k->now.state != BROOD_READY || clock_ms() < k->until) {
		finish_all(k);
		return (ms);
	}
	there = ready_count(k->idle, k->mark, k->now.name);
	while (k->nbirths < BIRTHS && there + k->nbirths < want &&
	    urgent(k, there, &ms))
		if (begin(k, why, sizeof(why)))
			goto fail;
	if (k->nbirths == 0)
		return (ms);
	if (finish(k, why, sizeof(why)))
		goto fail;
	k->there++;
	k->pause = 0;
	serve(k, 1);
	return (0);

fail:
	give_up(k, why);
	finish_all(k);
	return (ms);
}

/* Remove what is dead or of another time. */
static void
look(struct keeper *k)
{

	if (clock_ms() < k->looked + LOOK_MS)
		return;
	host_sweep(k->host);
	if (k->conf.sandbox_host_memory > 0)
		crowd_bound(k->host, k->conf.sandbox_host_memory);
	if (k->now.state == BROOD_READY)
		ready_prune(k->idle, k->now.name);
	k->looked = clock_ms();
}

/* SIGHUP. */
static void
reload(struct keeper *k)
{
	struct conf c;

	k->args.running = 1;
	if (conf_load(&k->args, &c))
		return;
	finish_all(k);
	conf_free(&k->conf);
	k->conf = c;
	if (adopt(k))
		k->stop = 1;

	/* What is ready is of before: begin anew. */
	serve(k, 0);
	brood_end(&k->now);
	brood_end(&k->next);
	k->until = k->pause = k->looked = 0;
}

static void
take_signal(struct keeper *k)
{
	struct signalfd_siginfo si;

	while (read(k->sigs, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGHUP)
			reload(k);
		else
			k->stop = 1;
	}
}

/* Wait until something has happened, or is due. */
static void
rest(struct keeper *k, int ms)
{
	struct pollfd p[] = {
	    {.fd = k->sigs, .events = POLLIN},
	    {.fd = k->watch, .events = POLLIN},
	    {.fd = k->now.fd, .events = POLLIN},
	    {.fd = k->next.fd, .events = POLLIN},
	};
	char events[4096];

	if (poll(p, 4, ms) <= 0)
		return;
	if (p[0].revents)
		take_signal(k);
	while (read(k->watch, events, sizeof(events)) > 0)
		;
}

/* Keep sessions ready until told to end. */
static void
keep(struct keeper *k)
{
	int ms = 0;

	while (!k->stop) {
		rest(k, ms);
		ms = REST_MS;
		if (k->conf.sandbox_ready > 0 && ready_able(&k->limits)) {
			see_to_zygotes(k);
			if (k->now.state != BROOD_READY)
				serve(k, 0);
			ms = refill(k);
		}
		if (ms > 0)
			look(k);
	}
	finish_all(k);
	serve(k, 0);
	brood_end(&k->now);
	brood_end(&k->next);
	ready_prune(k->idle, NULL);
}

int
main(int argc, char **argv)
{
	static struct keeper k = {.idle = -1,
	    .lock = -1,
	    .served = -1,
	    .image = -1,
	    .sigs = -1,
	    .watch = -1,
	    .now = {.fd = -1},
	    .next = {.fd = -1}};
	int rc = 1;

	if (version_asked(argc, argv))
		return (0);
	k.args.partial = 1; /* Where a gateway's files are is not our affair. */
	if (read_options(argc, argv, &k.args))
		return (2);
	if (conf_load(&k.args, &k.conf))
		return (1);
	if (host_user("satchel-keeper", k.conf.sandbox_dir) == 0 &&
	    prepare(&k) == 0) {
		keep(&k);
		rc = 0;
	}
	host_close(k.host);
	conf_free(&k.conf);
	return (rc);
}
