#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#include "jail/bwrap.h"
#include "jail/cgroup.h"
#include "jail/filter.h"
#include "jail/guest.h"
#include "jail/kernel.h"
#include "jail/ns.h"
#include "jail/serve.h"
#include "jail/socks.h"
#include "jail/supervisor.h"
#include "jail/title.h"
#include "jail/usage.h"
#include "jail/users.h"
#include "jail/warden.h"

#define PEER_S 30       /* A worker that stalls so long is gone. */
#define LOOK_MS 60000UL /* Between two looks whether we are wanted. */
#define EARLY_MS 1000   /* The same before the first call. */
#define MEASURE_MS 500  /* After a call we say what we hold. */

_Noreturn void
supervisor_failed(const struct ns_fail *f)
{

	(void)dprintf(
	    SUPERVISOR_REPORT, "fail %s: %s\n", f->step, strerror(f->err));
	_exit(1);
}

/* Has the session's directory been removed? */
static int
unwanted(void)
{
	struct stat st;

	return (fstat(SUPERVISOR_LOCK, &st) != 0 || st.st_nlink == 0);
}

static void
serve_next(struct jail *J, uint64_t ends)
{
	struct timeval patience = {.tv_sec = PEER_S};
	int conn;

	conn = accept4(SUPERVISOR_LISTEN, NULL, NULL, SOCK_CLOEXEC);
	if (conn == -1)
		return;
	if (setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &patience,
		sizeof(patience)) == 0 &&
	    setsockopt(conn, SOL_SOCKET, SO_SNDTIMEO, &patience,
		sizeof(patience)) == 0)
		serve(J, conn, ends);
	(void)close(conn);

	/* The time of the lock file says when the session was last used. */
	(void)futimens(SUPERVISOR_LOCK, NULL);
}

static uint64_t
least(uint64_t a, uint64_t b)
{

	return (a < b ? a : b);
}

/* Serve until one of the session's times is over. */
static void
loop(struct jail *J)
{
	struct pollfd p[2] = {
	    {.fd = SUPERVISOR_LISTEN, .events = POLLIN},
	    {.fd = J->sigs, .events = POLLIN},
	};
	uint64_t now = J->began, ends, idle, wait;
	int measured = 0, called = 0, n, unused;

	ends = now + J->lim.lifetime_s * 1000;
	idle = now + J->lim.idle_s * 1000;
	for (; now < ends && now < idle && !J->over && !unwanted();
	     now = clock_ms()) {
		/* Whoever has begun to make us may have been killed. */
		wait = least(least(ends, idle) - now,
		    !measured     ? MEASURE_MS
			: !called ? EARLY_MS
				  : LOOK_MS);
		p[0].revents = p[1].revents = 0;
		if ((n = poll(p, 2, (int)wait)) == -1 && errno != EINTR)
			return;
		if (n == 0 && !measured) {
			usage_write(J, SUPERVISOR_LOCK);
			measured = 1;
		}
		if (p[1].revents)
			(void)guests_heed(J, NULL, &unused);
		if (p[0].revents) {
			serve_next(J, ends);
			ends = J->began + J->lim.lifetime_s * 1000;
			idle = clock_ms() + J->lim.idle_s * 1000;
			measured = 0;
			called = 1;
		}
	}
}

/*
 * From now on children are waited for when signalfd says so.  The first process
 * of a pid namespace can tell whether SIGTERM comes from outside, and where
 * rules confine its session none comes from inside; any other ends by it.
 */
static int
watch_children(const struct jail *J)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	if (getpid() == 1 || J->rules != -1)
		sigaddset(&mask, SIGTERM);
	sigaddset(&mask, GUEST_LEAVES);
	if (sigprocmask(SIG_SETMASK, &mask, NULL))
		return (-1);
	return (signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
}

/* Is its root of our making? */
static int
has_own_root(const struct jail *J)
{

	return (J->lim.isolation == ISOLATION_NAMESPACES ||
	    J->lim.isolation == ISOLATION_CGROUP);
}

/* Have no more than a session's tree of files. */
static int
take_root(struct jail *J, struct ns_fail *f)
{

	if (J->interpreter != NULL && ns_stages(&J->lim))
		return (ns_staged(&J->lim, &J->proc, f));
	return (ns_root(&J->lim, &J->proc, f));
}

_Noreturn void
supervisor_first(struct jail *J)
{
	struct ns_fail f = {.step = "supervisor"};

	if (has_own_root(J) &&
	    (cgroup_enter(&J->lim, &J->group, &f) || ns_settle(&f) ||
		take_root(J, &f)))
		supervisor_failed(&f);

	/* Nobody may look at us, nor may we gain anything any more. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || filter_drop() ||
	    limits_supervisor() || (J->sigs = watch_children(J)) == -1 ||
	    (J->root = open(J->rules == -1 ? NS_WORKSPACE : J->land.work,
		 O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 ||
	    fcntl(SUPERVISOR_LOCK, F_SETFD, FD_CLOEXEC) ||
	    fcntl(SUPERVISOR_LISTEN, F_SETFD, FD_CLOEXEC)) {
		f.err = errno;
		supervisor_failed(&f);
	}
	(void)prctl(PR_SET_NAME, "supervisor", 0, 0, 0);
	if (J->ready)
		title_set("satchel: ready session");
	else
		title_session("session", SUPERVISOR_LOCK);
	J->began = clock_ms();
	J->socks = socks_open();

	/* Nobody waits yet: what the first program needs can be there. */
	if (J->interpreter != NULL && kernel_start(J)) {
		f.step = "interpreter";
		f.err = errno;
		supervisor_failed(&f);
	}
	(void)dprintf(SUPERVISOR_REPORT, "ok\n");
	(void)dup2(0, SUPERVISOR_REPORT);
	loop(J);
	_exit(0);
}

_Noreturn void
supervisor_main(int argc, char *const *argv)
{
	static struct jail J = JAIL_INIT;
	struct ns_fail f = {.step = "limits", .err = EINVAL};
	int inside = argc > 0 && strcmp(argv[0], BWRAP_INSIDE) == 0;
	pid_t pid;

	title_find();
	if (inside ? bwrap_inside(&J.lim)
		   : limits_read(argv, (size_t)argc, &J.lim))
		supervisor_failed(&f);
	if (inside)
		supervisor_first(&J);
	if (J.lim.isolation == ISOLATION_LANDLOCK)
		warden_supervise(&J);
	if (users_enter(SUPERVISOR_USERS, &f))
		supervisor_failed(&f);
	(void)close(SUPERVISOR_USERS);
	if (J.lim.isolation == ISOLATION_BWRAP)
		bwrap_supervise(&J.lim);
	if (ns_clone(&pid, SUPERVISOR_LOCK, &f))
		supervisor_failed(&f);
	if (pid == 0)
		supervisor_first(&J);
	(void)dprintf(SUPERVISOR_REPORT, "pid %ld\n", (long)pid);
	_exit(0);
}
