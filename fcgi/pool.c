#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#include "fcgi/pool.h"

#define YOUNG_MS 1000 /* A child that dies sooner could not start. */
#define PAUSE_MIN 100 /* Then wait so long, doubling, before the next. */
#define PAUSE_MAX 5000

struct state {
	struct prefork *p;
	struct {
		pid_t pid; /* 0: free. */
		unsigned int generation;
		uint64_t since; /* ms */
	} child[POOL_SLOTS];
	unsigned int generation;
	uint64_t pause, not_before; /* ms */
	int stopping;
	sigset_t watched, before;
};

/* Children alive, of any generation if ${all}, else of the current one. */
static size_t
count(const struct state *s, int all)
{
	size_t i, n = 0;

	for (i = 0; i < POOL_SLOTS; i++)
		n += s->child[i].pid != 0 &&
		    (all || s->child[i].generation == s->generation);
	return (n);
}

/* In the new process: be the child ${slot}. */
static _Noreturn void
be_child(struct state *s, size_t slot, pid_t parent)
{

	/* Whatever ends the parent ends its children, in order. */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)sigprocmask(SIG_SETMASK, &s->before, NULL);
	if (getppid() != parent)
		exit(0);
	exit(s->p->child(s->p->cookie, slot));
}

/* Fork one child.  Return 0, or -1 if there must be a pause first. */
static int
spawn(struct state *s)
{
	pid_t parent = getpid(), pid;
	size_t slot;

	for (slot = 0; slot < POOL_SLOTS && s->child[slot].pid != 0; slot++)
		;
	if (slot == POOL_SLOTS)
		return (-1);
	if ((pid = fork()) == 0)
		be_child(s, slot, parent);
	if (pid == -1) {
		log_err("pool: fork: %s", strerror(errno));
		return (-1);
	}
	s->child[slot].pid = pid;
	s->child[slot].generation = s->generation;
	s->child[slot].since = clock_ms();
	return (0);
}

static void
hold_off(struct state *s)
{

	s->pause *= 2;
	if (s->pause < PAUSE_MIN)
		s->pause = PAUSE_MIN;
	if (s->pause > PAUSE_MAX)
		s->pause = PAUSE_MAX;
	s->not_before = clock_ms() + s->pause;
}

/* Bring the current generation up to its number, unless told to hold off. */
static void
fill(struct state *s)
{

	while (!s->stopping && clock_ms() >= s->not_before &&
	    count(s, 0) < s->p->processes) {
		if (spawn(s))
			hold_off(s);
	}
}

static void
signal_all(const struct state *s, int sig, int old_only)
{
	size_t i;

	for (i = 0; i < POOL_SLOTS; i++) {
		if (s->child[i].pid != 0 &&
		    (!old_only || s->child[i].generation != s->generation))
			(void)kill(s->child[i].pid, sig);
	}
}

static void
log_death(const struct state *s, size_t slot, int status)
{
	const long pid = s->child[slot].pid;

	if (WIFSIGNALED(status))
		log_err("pool: process %ld killed by signal %d%s", pid,
		    WTERMSIG(status), s->stopping ? "" : ", replaced");
	else if (WEXITSTATUS(status) != 0)
		log_err("pool: process %ld ended with status %d", pid,
		    WEXITSTATUS(status));
}

/* The child ${slot} has ended with ${status}. */
static void
bury(struct state *s, size_t slot, int status)
{

	log_death(s, slot, status);
	if (clock_ms() - s->child[slot].since >= YOUNG_MS)
		s->pause = 0;
	else if (s->child[slot].generation == s->generation)
		hold_off(s);
	s->child[slot].pid = 0;
	if (s->p->gone != NULL)
		s->p->gone(s->p->cookie, slot);
}

static void
reap(struct state *s)
{
	pid_t pid;
	size_t slot;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (slot = 0; slot < POOL_SLOTS; slot++) {
			if (s->child[slot].pid == pid)
				bury(s, slot, status);
		}
	}
}

/* Replace all children: the new ones first, so that nobody finds us closed. */
static void
reload(struct state *s)
{

	if (s->stopping || s->p->reload == NULL)
		return;
	if (s->p->reload(s->p, s->p->cookie)) {
		log_err("pool: not reloaded, going on as before");
		return;
	}
	s->generation++;
	s->pause = s->not_before = 0;
	fill(s);
	signal_all(s, SIGTERM, 1);
	log_info("pool: reloaded, %zu processes", s->p->processes);
}

static void
stop(struct state *s)
{

	if (!s->stopping && s->p->stop != NULL)
		s->p->stop(s->p->cookie);
	s->stopping = 1;
	signal_all(s, SIGTERM, 0);
}

/* Wait for a signal, or until it is time to start a child. */
static int
next_signal(const struct state *s)
{
	struct timespec ts;
	uint64_t now = clock_ms(), ms;

	if (s->stopping || count(s, 0) >= s->p->processes)
		return (sigwaitinfo(&s->watched, NULL));
	ms = s->not_before > now ? s->not_before - now : 0;
	ts.tv_sec = (time_t)(ms / 1000);
	ts.tv_nsec = (long)(ms % 1000) * 1000000;
	return (sigtimedwait(&s->watched, NULL, &ts));
}

static void
watch_signals(struct state *s)
{

	(void)sigemptyset(&s->watched);
	(void)sigaddset(&s->watched, SIGCHLD);
	(void)sigaddset(&s->watched, SIGHUP);
	(void)sigaddset(&s->watched, SIGINT);
	(void)sigaddset(&s->watched, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &s->watched, &s->before);
	/* An inherited "ignore" would lose us our children's ends. */
	(void)signal(SIGCHLD, SIG_DFL);
}

int
pool_run(struct prefork *p)
{
	struct state s = {.p = p};

	if (p->processes < 1 || p->processes > POOL_MAX) {
		log_err("pool: %zu processes", p->processes);
		return (-1);
	}
	watch_signals(&s);
	fill(&s);
	while (!s.stopping || count(&s, 1) > 0) {
		switch (next_signal(&s)) {
		case SIGCHLD:
			reap(&s);
			break;
		case SIGHUP:
			reload(&s);
			break;
		case SIGINT:
		case SIGTERM:
			stop(&s);
			break;
		}
		fill(&s);
	}
	return (0);
}
