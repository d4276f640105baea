#include <sys/prctl.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/guest.h"
#include "jail/ns.h"
#include "jail/order.h"
#include "jail/supervisor.h"
#include "jail/title.h"
#include "jail/zygote.h"

/* Have exactly the descriptors that a supervisor is to have. */
static int
arrange(struct order *o)
{
	static const int at[ORDER_FDS] = {
	    SUPERVISOR_REPORT, SUPERVISOR_LOCK, SUPERVISOR_LISTEN};
	int i;

	for (i = 0; i < ORDER_FDS; i++)
		if ((o->fd[i] = fcntl(o->fd[i], F_DUPFD, 16)) == -1)
			return (-1);
	for (i = 0; i < ORDER_FDS; i++)
		if (dup2(o->fd[i], at[i]) == -1)
			return (-1);
	if (dup2(0, 2) == -1)
		return (-1);
	return (close_range(SUPERVISOR_LISTEN + 1, ~0U, 0));
}

/* In a clone: become a session. */
static _Noreturn void
become(struct order *o, struct jail *J, struct ns_fail *f)
{
	const char *step = f->step;
	int i;

	f->step = "descriptors";
	if (arrange(o)) {
		f->err = errno;
		supervisor_failed(f);
	}
	if (step != NULL) {
		f->step = step;
		supervisor_failed(f);
	}
	/* The first process gets no signal from inside that it does not want.
	 */
	for (i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)setsid();
	supervisor_first(J);
}

static void
make(struct order *o, jail_interpreter *interpreter)
{
	static struct jail J;
	static const struct jail none = JAIL_INIT;
	struct ns_fail f = {.step = NULL};
	pid_t pid;

	J = none;
	J.interpreter = interpreter;
	J.ready = 1;
	J.lim = o->lim;
	if (ns_clone(&pid, o->fd[ORDER_LOCK], &f) == 0 && pid > 0)
		(void)dprintf(o->fd[ORDER_REPORT], "pid %ld\n", (long)pid);
	else if (pid == 0)
		become(o, &J, &f);
	else
		(void)dprintf(o->fd[ORDER_REPORT], "fail %s: %s\n", f.step,
		    strerror(f.err));
}

void
zygote_serve(int fd, jail_interpreter *interpreter)
{
	static struct order o;
	enum order_rc rc;

	/* Sessions are nobody's children: none is waited for. */
	(void)signal(SIGCHLD, SIG_IGN);
	(void)prctl(PR_SET_NAME, "zygote", 0, 0, 0);
	title_find();
	title_set("satchel: zygote");
	while ((rc = order_next(fd, &o)) != ORDER_GONE) {
		if (rc == ORDER_OK)
			make(&o, interpreter);
		else if (o.fd[ORDER_REPORT] != -1)
			(void)dprintf(o.fd[ORDER_REPORT], "fail limits: %s\n",
			    strerror(EINVAL));
		order_drop(&o);
	}
}
