#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#include "fcgi/pool.h"
#include "fcgi/upgrade.h"

#define YOUNG_MS 1000 /* A child that dies sooner could not start. */
#define PAUSE_MIN 100 /* Then wait so long, doubling, before the next, */
#define PAUSE_MAX 800 /* which is there within a second of what was wrong. */

struct state {
	struct prefork *p;
	struct {
		pid_t pid; /* 0: free. */
		unsigned int generation;
		uint64_t since; /* ms */
		uint64_t until; /* ms: to be gone by then; 0: not told to. */
	} child[POOL_SLOTS];
	unsigned int generation;
	uint64_t pause, not_before; /* ms */
	int wanted;                 /* A reload, once there is room for one. */
	int retired; /* The generations before this one were told to end. */
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
	s->child[slot].until = 0;
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

/* Tell all children to end, or those of former generations; return how many. */
static size_t
dismiss(struct state *s, int old_only)
{
	const uint64_t until = clock_ms() + s->p->drain_s * 1000;
	size_t i, n = 0;

	for (i = 0; i < POOL_SLOTS; i++) {
		if (s->child[i].pid == 0 || s->child[i].until != 0 ||
		    (old_only && s->child[i].generation == s->generation))
			continue;
		(void)kill(s->child[i].pid, SIGTERM);
		s->child[i].until = until;
		n++;
	}
	return (n);
}

/* Once the new generation is whole, the former ones may go. */
static void
retire(struct state *s)
{
	size_t n;

	if (s->stopping || s->retired || count(s, 0) < s->p->processes)
		return;
	s->retired = 1;
	n = dismiss(s, 1);
	log_info("pool: reloaded, %zu processes; %zu of before end once their"
		 " requests are answered",
	    s->p->processes, n);
}

/* Kill whoever has outstayed its time. */
static void
evict(struct state *s)
{
	const uint64_t now = clock_ms();

	for (size_t i = 0; i < POOL_SLOTS; i++) {
		if (s->child[i].pid == 0 || s->child[i].until == 0 ||
		    s->child[i].until > now)
			continue;
		log_warn("pool: process %ld has requests still, %" PRIu64
			 " s after it was told to end: killed",
		    (long)s->child[i].pid, s->p->drain_s);
		(void)kill(s->child[i].pid, SIGKILL);
		s->child[i].until = UINT64_MAX;
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

/*
 * Become the program that is installed in our place, if that could start.  It
 * starts children of its own and then tells ours to end.
 */
static void
upgrade(struct state *s)
{
	struct upgrade_child heirs[POOL_SLOTS];
	size_t n = 0;

	if (upgrade_try() == 0) {
		for (size_t i = 0; i < POOL_SLOTS; i++)
			if (s->child[i].pid != 0)
				heirs[n++] = (struct upgrade_child){
				    s->child[i].pid, s->child[i].until};
		(void)upgrade_exec(s->p->listenfd, heirs, n);
	}
	log_err("pool: not upgraded, going on as before");
}

/* The children of the program that was in our place. */
static void
adopt(struct state *s)
{
	struct upgrade_child heirs[POOL_SLOTS];
	const size_t n = upgrade_children(heirs, POOL_SLOTS);

	for (size_t i = 0; i < n; i++) {
		s->child[i].pid = heirs[i].pid;
		s->child[i].since = clock_ms();
		s->child[i].until = heirs[i].until;
	}
	if (n == 0)
		return;
	s->generation++;
	s->retired = 0;
	reap(s); /* Their ends may have been told before we looked. */
}

/*
 * Replace all children: the new ones first, so that nobody finds us closed.  If
 * too many of former generations are there for that, when some have gone.
 */
static void
reload(struct state *s)
{
	const size_t alive = count(s, 1);
	const int waited = s->wanted;

	s->wanted = 0;
	if (s->stopping || s->p->reload == NULL)
		return;
	if (alive > POOL_SLOTS - POOL_MAX) {
		s->wanted = 1;
		if (!waited)
			log_warn("pool: %zu processes are there: the reload"
				 " waits until some have ended",
			    alive);
		return;
	}
	if (upgrade_due()) {
		upgrade(s);
		return;
	}
	if (s->p->reload(s->p, s->p->cookie)) {
		log_err("pool: not reloaded, going on as before");
		return;
	}
	s->generation++;
	s->pause = s->not_before = 0;
	s->retired = 0;
}

static void
stop(struct state *s)
{

	if (!s->stopping && s->p->stop != NULL)
		s->p->stop(s->p->cookie);
	s->stopping = 1;
	(void)dismiss(s, 0);
}

/* When it is time to start a child or to kill one; UINT64_MAX: never. */
static uint64_t
next_time(const struct state *s)
{
	uint64_t at = UINT64_MAX;

	if (!s->stopping && count(s, 0) < s->p->processes)
		at = s->not_before;
	for (size_t i = 0; i < POOL_SLOTS; i++) {
		if (s->child[i].pid != 0 && s->child[i].until != 0 &&
		    s->child[i].until < at)
			at = s->child[i].until;
	}
	return (at);
}

/* Wait for a signal, or until next_time(). */
static int
next_signal(const struct state *s)
{
	const uint64_t at = next_time(s), now = clock_ms();
	struct timespec ts;
	uint64_t ms;

	if (at == UINT64_MAX)
		return (sigwaitinfo(&s->watched, NULL));
	ms = at > now ? at - now : 0;
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
	/* The program in whose place we are has left them blocked. */
	(void)sigdelset(&s->before, SIGCHLD);
	(void)sigdelset(&s->before, SIGHUP);
	(void)sigdelset(&s->before, SIGINT);
	(void)sigdelset(&s->before, SIGTERM);
	/* An inherited "ignore" would lose us our children's ends. */
	(void)signal(SIGCHLD, SIG_DFL);
}

int
pool_run(struct prefork *p)
{
	struct state s = {.p = p, .retired = 1};

	if (p->processes < 1 || p->processes > POOL_MAX) {
		log_err("pool: %zu processes", p->processes);
		return (-1);
	}
	watch_signals(&s);
	adopt(&s);
	fill(&s);
	retire(&s);
	while (!s.stopping || count(&s, 1) > 0) {
		switch (next_signal(&s)) {
		case SIGCHLD:
			reap(&s);
			if (s.wanted)
				reload(&s);
			break;
		case SIGHUP:
			reload(&s);
			break;
		case SIGINT:
		case SIGTERM:
			stop(&s);
			break;
		}
		evict(&s);
		fill(&s);
		retire(&s);
	}
	return (0);
}
