#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jail/filter.h"
#include "jail/guest.h"
#include "jail/memory.h"
#include "jail/ns.h"
#include "jail/pass.h"
#include "jail/supervisor.h"
#include "jail/title.h"

#define LEAVE_NS 20000000

/* All that a guest learns of the world. */
char *const guest_environment[] = {
    (char[]){"PATH=/usr/bin:/bin"},
    (char[]){"HOME=" NS_WORKSPACE},
    (char[]){"LANG=C.UTF-8"},
    (char[]){"MPLBACKEND=Agg"},
    (char[]){"MPLCONFIGDIR=/tmp"},
    (char[]){"OPENBLAS_NUM_THREADS=1"},
    NULL,
};

void
guest_signals(void)
{
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Do ${a} and ${b} set the same variable? */
static int
same_variable(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return (strncmp(a, b, n) == 0 && b[n] == '=');
}

/* Write ${more} to ${env}, where it wins over what is there. */
static void
add_variables(char *const *more, char *env[GUEST_ENVIRONMENT])
{
	size_t n = 0, i, k;

	while (env[n] != NULL)
		n++;
	for (i = 0; more != NULL && more[i] != NULL; i++) {
		for (k = 0; k < n; k++)
			if (same_variable(more[i], env[k]))
				break;
		if (k == GUEST_ENVIRONMENT - 1)
			break;
		env[k] = more[i];
		n += k == n;
	}
	env[n] = NULL;
}

void
guest_variables(char *const *more, char **env)
{
	size_t n;

	for (n = 0; guest_environment[n] != NULL; n++)
		env[n] = guest_environment[n];
	env[n] = NULL;
	add_variables(more, env);
}

/* Where a guest of a session that has no root of its own finds its files. */
#define LAND_WORDS 3
struct land_words {
	char text[LAND_WORDS][LIMITS_PATH + 16];
	char *list[LAND_WORDS + 1];
};

static char *const *
say_land(const struct land *land, struct land_words *w)
{
	static const char *const names[LAND_WORDS] = {
	    "HOME", "TMPDIR", "MPLCONFIGDIR"};
	size_t i;

	for (i = 0; i < LAND_WORDS; i++) {
		(void)snprintf(w->text[i], sizeof(w->text[i]), "%s=%s",
		    names[i], i == 0 ? land->work : land->tmp);
		w->list[i] = w->text[i];
	}
	w->list[i] = NULL;
	return (w->list);
}

/* Confine us by rules alone; the descriptor ${pass} leads to the supervisor. */
static int
confine(const struct jail *J, int pass)
{
	int asks;

	if (landlock_enter(J->rules) || (asks = filter_lone()) == -1)
		return (-1);
	return (pass_send(pass, "", 1, &asks, 1) ? -1 : filter_shut());
}

/* In the child: become the guest.  Descriptors below 5 are all taken. */
static void
become(const struct jail *J, const struct guest_how *how, int out, int err,
    int pass)
{
	const struct limits *lim = how->lim != NULL ? how->lim : &J->lim;
	char *env[GUEST_ENVIRONMENT];
	struct land_words land;
	unsigned int first = 3;

	/* Before their supervisor. */
	memory_offer(J->proc);
	guest_variables(J->rules != -1 ? say_land(&J->land, &land) : NULL, env);
	add_variables(how->env, env);
	if (setsid() == -1 || fchdir(how->dir != -1 ? how->dir : J->root) ||
	    dup2(out, 1) == -1 || dup2(err, 2) == -1)
		_exit(126);
	if (how->extra != -1 && dup2(how->extra, (int)first++) == -1)
		_exit(126);
	if (limits_apply(lim, how->path == NULL ? limits_loaded() : 0) ||
	    (J->rules != -1 && confine(J, pass)) ||
	    close_range(first, ~0U, 0) || filter_load())
		_exit(126);
	guest_signals();
	if (how->path == NULL) {
		/* What the supervisor hides of itself is no secret here. */
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		(void)prctl(PR_SET_NAME, "python3", 0, 0, 0);
		title_set("python3");
		J->interpreter(how->argv, env);
	}
	(void)execve(how->path, how->argv, env);
	_exit(127);
}

int
guest_start(const struct jail *J, const struct guest_how *how, struct guest *g)
{
	int out[2], err[2], pass[2] = {-1, -1};
	char byte;

	if (pipe2(out, O_CLOEXEC))
		goto err0;
	if (pipe2(err, O_CLOEXEC))
		goto err1;
	if (J->rules != -1 &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pass))
		goto err2;
	if (fcntl(out[0], F_SETFL, O_NONBLOCK) ||
	    fcntl(err[0], F_SETFL, O_NONBLOCK))
		goto err3;

	/*
	 * A supervisor that comes from the zygote has much to copy, so a child
	 * that becomes another program borrows its memory until then.  Nobody
	 * can stop the child meanwhile: when a guest begins, all others have
	 * ended or are stopped.
	 */
	if ((g->pid = how->path != NULL ? vfork() : fork()) == -1)
		goto err3;
	if (g->pid == 0)
		become(J, how, out[1], err[1], pass[1]);
	if (J->rules != -1) {
		(void)pass_recv(pass[0], &byte, 1, &g->asks, 1, MSG_DONTWAIT);
		(void)close(pass[0]);
		(void)close(pass[1]);
	}
	(void)close(out[1]);
	(void)close(err[1]);
	g->dead = g->status = 0;
	g->out = out[0];
	g->err = err[0];
	g->ctl = how->ctl;
	return (0);

err3:
	if (J->rules != -1) {
		(void)close(pass[0]);
		(void)close(pass[1]);
	}
err2:
	(void)close(err[0]);
	(void)close(err[1]);
err1:
	(void)close(out[0]);
	(void)close(out[1]);
err0:
	g->pid = 0;
	return (-1);
}

void
guest_close(struct guest *g)
{
	static const struct guest none = GUEST_INIT;

	if (g->out != -1)
		(void)close(g->out);
	if (g->err != -1)
		(void)close(g->err);
	if (g->ctl != -1)
		(void)close(g->ctl);
	if (g->asks != -1)
		(void)close(g->asks);
	*g = none;
}

static void
note(struct guest *g, pid_t pid, int status)
{

	if (g->pid != pid)
		return;
	g->dead = 1;
	g->status = status;
}

/*
 * Wait for children until there are none that ${flags} would wait for; return
 * whether there are others.
 */
static int
reap(struct jail *J, int flags)
{
	int status;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, flags);
		if (pid == -1 && errno == EINTR)
			continue;
		if (pid <= 0)
			return (pid == 0);
		note(&J->kernel, pid, status);
		note(&J->bash, pid, status);
	}
}

int
guests_reap(struct jail *J)
{

	return (reap(J, WNOHANG));
}

_Noreturn void
guest_leave(int status)
{
	const union sigval v = {.sival_int = status};

	/* Should it be lost, the supervisor sees our end in its time. */
	(void)sigqueue(1, GUEST_LEAVES, v);
	_exit(status);
}

void
guests_kill(struct jail *J)
{

	(void)kill(-1, SIGKILL);
	(void)reap(J, 0);
}

/*
 * End.  Whoever finds the socket closed may be sure that no guest runs: they
 * are stopped at one stroke, and nobody is left who could let them go on.  To
 * take them and us apart costs the kernel milliseconds, which whoever waits for
 * the socket, and what he does next, shall not have to share; nor shall it take
 * more than one processor.
 */
static _Noreturn void
leave(struct jail *J)
{
	static const struct timespec moment = {.tv_nsec = LEAVE_NS};

	(void)kill(-1, SIGSTOP);
	(void)close(SUPERVISOR_LISTEN);
	/* Where there is a lock to wait for, nobody looks at the socket. */
	if (J->rules == -1)
		(void)nanosleep(&moment, NULL);
	guests_kill(J);
	_exit(0);
}

int
guests_heed(struct jail *J, const struct guest *g, int *status)
{
	struct signalfd_siginfo si[2];
	ssize_t n, i;
	int left = 0;

	n = read(J->sigs, si, sizeof(si));
	for (i = 0; i < n / (ssize_t)sizeof(si[0]); i++) {
		/*
		 * A sender outside has no number here, and guests can't lie;
		 * by rules they send us none.
		 */
		if (si[i].ssi_signo == SIGTERM &&
		    (J->rules != -1 ||
			(si[i].ssi_code == SI_USER && si[i].ssi_pid == 0)))
			leave(J);
		/* Here they can, and about each other too: whoever is said to
		 * leave is ended, but only of their own session. */
		if (si[i].ssi_signo == (uint32_t)GUEST_LEAVES && g != NULL &&
		    si[i].ssi_pid == (uint32_t)g->pid) {
			*status = si[i].ssi_int & 0xff;
			left = 1;
		}
	}
	(void)guests_reap(J);
	return (left);
}
