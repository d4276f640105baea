#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"

#include "jail/brood.h"
#include "jail/guest.h"
#include "jail/ns.h"
#include "jail/order.h"
#include "jail/python.h"
#include "jail/script.h"
#include "jail/users.h"
#include "jail/zygote.h"

/* In the child: become the zygote.  What fails is said in its stead. */
static _Noreturn void
become(int fd, int image, char *first, const struct limits *l)
{
	char *argv[] = {
	    (char[]){"python3"}, (char[]){"-I"}, (char[]){"-c"}, first, NULL};
	struct ns_fail f = {.step = "descriptors"};

	if (users_enter(users_held(), &f) && dup2(fd, 3) != -1)
		goto out;
	if ((fd = fcntl(fd, F_DUPFD, 16)) == -1 ||
	    (image = fcntl(image, F_DUPFD, 16)) == -1 || dup2(fd, 3) == -1 ||
	    dup2(image, 4) == -1 || close_range(5, ~0U, 0) || chdir("/") ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
		f.err = errno;
	} else if (ns_zygote(l, &f) == 0) {
		guest_signals();
		(void)execve(PYTHON, argv, guest_environment);
		f.step = PYTHON;
		f.err = errno;
	}
out:
	(void)dprintf(3, "%s: %s", f.step, strerror(f.err));
	_exit(1);
}

int
brood_start(
    struct brood *B, int image, const struct limits *l, char *why, size_t size)
{
	static const char *const sources[] = {
	    python_zygote, python_kernel, python_program, python_adapt, NULL};
	char first[SCRIPT_FIRST];
	int sv[2];

	if (id_hex(B->name, sizeof(B->name) - 1)) {
		(void)snprintf(why, size, "no random name");
		return (-1);
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv)) {
		(void)snprintf(why, size, "socketpair: %s", strerror(errno));
		return (-1);
	}
	if (script_send(sv[0], sources, first)) {
		(void)snprintf(why, size, "send: %s", strerror(errno));
		goto err;
	}
	if ((B->pid = fork()) == -1) {
		(void)snprintf(why, size, "fork: %s", strerror(errno));
		goto err;
	}
	if (B->pid == 0)
		become(sv[1], image, first, l);
	(void)close(sv[1]);
	B->fd = sv[0];
	B->began = clock_ms();
	B->state = BROOD_LOADING;
	return (0);

err:
	(void)close(sv[0]);
	(void)close(sv[1]);
	return (-1);
}

int
brood_hear(struct brood *B, char *why, size_t size)
{
	char text[ZYGOTE_MAX];
	ssize_t n;

	n = recv(B->fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return (0);
	if (n <= 0) {
		(void)snprintf(why, size, "it ended without a word");
		return (-1);
	}
	text[n] = '\0';
	if (B->state == BROOD_LOADING && strcmp(text, "ready") == 0) {
		B->state = BROOD_READY;
		return (0);
	}
	(void)snprintf(why, size, "%s", text);
	return (-1);
}

int
brood_order(const struct brood *B, const struct limits *l, struct birth *b,
    char *why, size_t size)
{
	int report[2], rc;

	if (pipe2(report, O_CLOEXEC)) {
		(void)snprintf(why, size, "pipe: %s", strerror(errno));
		return (-1);
	}
	rc = order_send(B->fd, l,
	    (int[ORDER_FDS]){[ORDER_REPORT] = report[1],
		[ORDER_LOCK] = b->lock,
		[ORDER_SOCKET] = b->sock});
	(void)close(report[1]);
	if (rc) {
		(void)snprintf(why, size, "zygote: %s", strerror(errno));
		(void)close(report[0]);
		return (-1);
	}
	b->report = report[0];
	return (0);
}

void
brood_end(struct brood *B)
{

	if (B->state == BROOD_NONE)
		return;
	(void)kill(B->pid, SIGKILL);
	(void)waitpid(B->pid, NULL, 0);
	(void)close(B->fd);
	B->state = BROOD_NONE;
	B->fd = -1;
}
