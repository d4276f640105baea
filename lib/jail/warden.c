#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "jail/filter.h"
#include "jail/plain.h"
#include "jail/supervisor.h"
#include "jail/title.h"
#include "jail/warden.h"

static int
enter(int rules, struct ns_fail *f)
{
	int rc;

	if ((rc = landlock_enter(rules)) != 0)
		(void)ns_failed(f, "landlock");
	(void)close(rules);
	return (rc);
}

/* Go where a session's supervisor is to be, but for the domain of its own. */
static int
prepare(struct jail *J, struct ns_fail *f)
{
	int rules;

	(void)umask(022);
	if (landlock_can(&J->lim, f) ||
	    plain_make(SUPERVISOR_LOCK, &J->land, f))
		return (-1);
	if (filter_drop())
		return (ns_failed(f, "capabilities"));
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return (ns_failed(f, "dumpable"));
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		return (ns_failed(f, "subreaper"));
	if (chdir(J->land.work))
		return (ns_failed(f, "workspace"));
	if ((J->rules = landlock_guest(&J->land, f)) == -1 ||
	    (rules = landlock_keeper(&J->land, f)) == -1)
		return (-1);
	return (enter(rules, f));
}

/* Wait until ${supervisor} has ended, and end all others then. */
static _Noreturn void
watch(pid_t supervisor)
{
	pid_t pid;

	(void)prctl(PR_SET_NAME, "warden", 0, 0, 0);
	title_session("warden", SUPERVISOR_LOCK);
	(void)dup2(0, SUPERVISOR_REPORT);
	(void)close(SUPERVISOR_LISTEN);
	while ((pid = waitpid(-1, NULL, 0)) != supervisor)
		if (pid == -1 && errno != EINTR)
			break;

	/* All at one stroke; who has a parent among them goes with that. */
	(void)kill(-1, SIGKILL);
	while ((pid = waitpid(-1, NULL, 0)) != -1 || errno == EINTR)
		;
	_exit(0);
}

/*
 * In the supervisor: what of its session it can signal is its own.  Should the
 * warden end first, it is told so and ends its session itself.
 */
static _Noreturn void
supervise(struct jail *J, pid_t warden, struct ns_fail *f)
{

	if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0)) {
		(void)ns_failed(f, "warden");
		supervisor_failed(f);
	}
	if (getppid() != warden)
		_exit(1);
	if (landlock_apart(f))
		supervisor_failed(f);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) {
		(void)ns_failed(f, "subreaper");
		supervisor_failed(f);
	}
	supervisor_first(J);
}

_Noreturn void
warden_supervise(struct jail *J)
{
	struct ns_fail f = {.step = "fork"};
	pid_t pid, warden;

	/* Whoever has started us waits for an end, which shall be ours. */
	if ((pid = fork()) == -1)
		goto err;
	if (pid > 0)
		_exit(0);
	if (prepare(J, &f))
		supervisor_failed(&f);
	warden = getpid();
	if ((pid = fork()) == -1)
		goto err;
	if (pid == 0)
		supervise(J, warden, &f);
	(void)dprintf(SUPERVISOR_REPORT, "pid %ld\n", (long)pid);
	watch(pid);

err:
	(void)ns_failed(&f, f.step);
	supervisor_failed(&f);
}
