#include <sys/prctl.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/guest.h"
#include "jail/ns.h"
#include "jail/supervisor.h"
#include "jail/zygote.h"

/* A session that is asked for. */
struct order {
	char text[ZYGOTE_MAX];
	int fd[ZYGOTE_FDS]; /* The report, the lock, the socket; or -1. */
};

static void
drop(struct order *o)
{
	int i;

	for (i = 0; i < ZYGOTE_FDS; i++) {
		if (o->fd[i] != -1)
			(void)close(o->fd[i]);
		o->fd[i] = -1;
	}
}

/* Take the descriptors that came with ${m}. */
static void
take_fds(struct msghdr *m, struct order *o)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);

	if (c != NULL && c->cmsg_level == SOL_SOCKET &&
	    c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(o->fd)))
		memcpy(o->fd, CMSG_DATA(c), sizeof(o->fd));
}

/* Wait for the next order.  Return -1 once the keeper has gone. */
static int
next(int fd, struct order *o)
{
	union {
		char room[CMSG_SPACE(sizeof(int) * ZYGOTE_FDS)];
		struct cmsghdr align;
	} u;
	struct iovec v = {.iov_base = o->text, .iov_len = sizeof(o->text) - 1};
	struct msghdr m = {.msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_control = u.room,
	    .msg_controllen = sizeof(u.room)};
	ssize_t n;
	int i;

	for (i = 0; i < ZYGOTE_FDS; i++)
		o->fd[i] = -1;
	while ((n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC)) == -1)
		if (errno != EINTR)
			return (-1);
	if (n == 0)
		return (-1);
	o->text[n] = '\0';
	take_fds(&m, o);
	return (0);
}

static int
read_limits(char *text, struct limits *l)
{
	char *words[LIMITS_WORDS], *word;
	size_t n = 0;

	while ((word = strsep(&text, "\n")) != NULL)
		if (*word != '\0' && n < LIMITS_WORDS)
			words[n++] = word;
	return (limits_read(words, n, l));
}

/* Have exactly the descriptors that a supervisor is to have. */
static int
arrange(struct order *o)
{
	static const int at[ZYGOTE_FDS] = {
	    SUPERVISOR_REPORT, SUPERVISOR_LOCK, SUPERVISOR_LISTEN};
	int i;

	for (i = 0; i < ZYGOTE_FDS; i++)
		if ((o->fd[i] = fcntl(o->fd[i], F_DUPFD, 16)) == -1)
			return (-1);
	for (i = 0; i < ZYGOTE_FDS; i++)
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
	static const struct guest none = GUEST_INIT;
	struct ns_fail f = {.step = NULL};
	pid_t pid;

	memset(&J, 0, sizeof(J));
	J.root = J.sigs = J.group = J.rules = -1;
	J.kernel = J.bash = none;
	J.interpreter = interpreter;
	J.ready = 1;
	if (read_limits(o->text, &J.lim)) {
		(void)dprintf(o->fd[0], "fail limits: %s\n", strerror(EINVAL));
		return;
	}
	if (ns_clone(&pid, &f) == 0 && pid > 0)
		(void)dprintf(o->fd[0], "pid %ld\n", (long)pid);
	else if (pid == 0)
		become(o, &J, &f);
	else
		(void)dprintf(
		    o->fd[0], "fail %s: %s\n", f.step, strerror(f.err));
}

void
zygote_serve(int fd, jail_interpreter *interpreter)
{
	static struct order o;

	/* Sessions are nobody's children: none is waited for. */
	(void)signal(SIGCHLD, SIG_IGN);
	(void)prctl(PR_SET_NAME, "zygote", 0, 0, 0);
	while (next(fd, &o) == 0) {
		if (o.fd[ZYGOTE_FDS - 1] != -1)
			make(&o, interpreter);
		drop(&o);
	}
}
