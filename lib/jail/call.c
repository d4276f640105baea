#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#include "jail/broker.h"
#include "jail/call.h"
#include "jail/frame.h"

#define TICK_MS 50       /* How often the meter is looked at. */
#define ARG_MAX_1 100000 /* Below what the kernel takes as one argument. */

enum { P_CONN, P_SIGS, P_OUT, P_ERR, P_CTL, P_ASKS, P_COUNT };

static void
set_polls(const struct call *c, struct pollfd p[P_COUNT])
{

	/* Nothing is expected of the worker; POLLIN would not tell us. */
	p[P_CONN].fd = c->conn;
	p[P_CONN].events = POLLRDHUP;
	if (c->wire != NULL && c->wire->len > 0)
		p[P_CONN].events = POLLRDHUP | POLLOUT;
	p[P_SIGS].fd = c->J->sigs;
	p[P_SIGS].events = POLLIN;
	p[P_OUT].fd = c->out.over ? -1 : c->out.fd;
	p[P_OUT].events = POLLIN;
	p[P_ERR].fd = c->err.over ? -1 : c->err.fd;
	p[P_ERR].events = POLLIN;
	p[P_CTL].fd = c->g->ctl;
	p[P_CTL].events = c->ask.len > 0 ? POLLIN | POLLOUT : POLLIN;
	p[P_ASKS].fd = c->g->asks;
	p[P_ASKS].events = POLLIN;
}

/* The interpreter's end is closed although it lives: it is of no use now. */
static void
cut_off(struct call *c)
{

	(void)kill(c->g->pid, SIGKILL);
	(void)close(c->g->ctl);
	c->g->ctl = -1;
}

static void
talk(struct call *c, short revents)
{
	char piece[4096];
	ssize_t n;

	if (revents & POLLOUT && c->ask.len > 0) {
		n = send(c->g->ctl, c->ask.p, c->ask.len, MSG_NOSIGNAL);
		if (n > 0)
			buf_drop(&c->ask, (size_t)n);
		else if (n == -1 && errno != EAGAIN && errno != EINTR) {
			cut_off(c);
			return;
		}
	}
	if (!(revents & (POLLIN | POLLHUP | POLLERR)))
		return;
	n = recv(c->g->ctl, piece, sizeof(piece), 0);
	if (n > 0)
		c->told =
		    kernel_feed(&c->line, c->nonce, piece, (size_t)n, &c->code);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		cut_off(c);
}

/* The program asks for tool calls.  Read what is there. */
static void
hear(struct call *c)
{
	char piece[65536];
	ssize_t n;

	while ((n = read(c->g->ctl, piece, sizeof(piece))) > 0) {
		if (calls_feed(c->calls, piece, (size_t)n)) {
			c->settled = 1;
			return;
		}
		c->settled = c->calls->whole == c->calls->raw.len
		    ? clock_ms() + c->settle_ms
		    : 0;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		(void)close(c->g->ctl);
		c->g->ctl = -1;
	}
}

/* When to look up again. */
static uint64_t
next_look(const struct call *c, uint64_t tick)
{

	if (c->deadline < tick)
		tick = c->deadline;
	return (c->settled > 0 && c->settled < tick ? c->settled : tick);
}

static const enum call_end ends[] = {
    [METER_OK] = CALL_ENDED,
    [METER_MEMORY] = CALL_MEMORY,
    [METER_CPU] = CALL_CPU,
    [METER_FILES] = CALL_FILES,
    [METER_SPACE] = CALL_SPACE,
    [METER_TASKS] = CALL_TASKS,
    [METER_WATCHES] = CALL_WATCHES,
};

/* Frames of what ${o} has kept since the last. */
static void
tell_one(struct call *c, enum frame_tag tag, struct out *o)
{
	size_t n;

	for (; o->told < o->kept.len; o->told += n) {
		n = o->kept.len - o->told;
		if (n > FRAME_PIECE)
			n = FRAME_PIECE;
		(void)frame_put(c->wire, tag, o->kept.p + o->told, n);
	}
}

/* Tell the worker what there is.  Return 0, or -1 if it has gone. */
static int
tell(struct call *c)
{

	if (c->wire == NULL || !buf_ok(c->wire))
		return (0);
	tell_one(c, FRAME_OUT, &c->out);
	tell_one(c, FRAME_ERR, &c->err);
	return (frame_trickle(c->conn, c->wire));
}

/* Wait for whatever happens first. */
static enum call_end
watch(struct call *c)
{
	struct pollfd p[P_COUNT];
	uint64_t now = clock_ms(), tick = now + TICK_MS;
	enum meter_rc over;

	meter_start(&c->meter, c->J, &c->lim, c->deadline);
	while (!c->g->dead && !c->told) {
		if (c->settled > 0 && now >= c->settled)
			return (CALL_ASKS);
		if (now >= c->deadline)
			return (CALL_LATE);
		if (now >= tick) {
			if ((over = meter_look(&c->meter)) != METER_OK)
				return (ends[over]);
			tick = clock_ms() + TICK_MS;
		}
		set_polls(c, p);
		if (poll(p, P_COUNT, (int)(next_look(c, tick) - now)) == -1 &&
		    errno != EINTR)
			return (CALL_FAIL);
		if (p[P_CONN].revents & ~POLLOUT)
			return (CALL_LEFT);
		if (p[P_OUT].revents)
			out_drain(&c->out);
		if (p[P_ERR].revents)
			out_drain(&c->err);
		if (tell(c))
			return (CALL_LEFT);
		if (p[P_SIGS].revents)
			c->told |= guests_heed(
			    c->J, c->g == &c->J->bash ? c->g : NULL, &c->code);
		if (p[P_CTL].revents && c->calls != NULL)
			hear(c);
		else if (p[P_CTL].revents)
			talk(c, p[P_CTL].revents);
		if (p[P_ASKS].revents & POLLIN)
			broker_serve(c->g->asks, &c->J->land);
		now = clock_ms();
	}
	over = meter_last(&c->meter);
	return (over == METER_OK ? CALL_ENDED : ends[over]);
}

static void
say(struct call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* One line for the caller, whatever the program has printed. */
static void
say(struct call *c, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	(void)buf_puts(&c->note, line);
}

/* The words for what a call has cost its session. */
static const char *
losses(const struct call *c)
{

	return (c->g == &c->J->kernel ? "variables were lost, files kept"
				      : "files were kept");
}

/* The return code and the message of a guest that ended by itself. */
static void
judge(struct call *c)
{
	const int st = c->g->status;

	if (c->told && c->code >= KERNEL_SPENT) {
		c->code -= KERNEL_SPENT;
		say(c,
		    "sandbox: the interpreter has lost what it prints to; %s\n",
		    losses(c));
	}
	if (c->told || !c->g->dead)
		return;
	if (WIFSIGNALED(st)) {
		c->signal = WTERMSIG(st);
		c->code = 128 + c->signal;
		if (c->g == &c->J->kernel)
			say(c,
			    "sandbox: the interpreter was ended by signal"
			    " %d; %s\n",
			    WTERMSIG(st), losses(c));
		return;
	}
	c->code = WEXITSTATUS(st);
	if (c->g == &c->J->kernel)
		say(c, "sandbox: the interpreter exited with status %d; %s\n",
		    c->code, losses(c));
}

static void
explain(struct call *c)
{

	switch (c->end) {
	case CALL_LATE:
		c->code = 124;
		say(c, "sandbox: wall limit of %" PRIu64 " s reached; %s\n",
		    c->limit_s, losses(c));
		break;
	case CALL_MEMORY:
		c->code = 137;
		say(c,
		    "sandbox: memory limit of %" PRIu64 " MiB reached;"
		    " %s\n",
		    c->lim.memory >> 20, losses(c));
		break;
	case CALL_CPU:
		c->code = 128 + SIGXCPU;
		say(c, "sandbox: CPU limit of %" PRIu64 " s reached; %s\n",
		    c->lim.cpu_s, losses(c));
		break;
	case CALL_FILES:
		c->code = 128 + SIGXFSZ;
		say(c, "sandbox: limit of %" PRIu64 " files reached; %s\n",
		    limits_inodes(&c->J->lim), losses(c));
		break;
	case CALL_SPACE:
		c->code = 128 + SIGXFSZ;
		say(c, "sandbox: space limit of %" PRIu64 " MiB reached; %s\n",
		    c->J->lim.workspace >> 20, losses(c));
		break;
	case CALL_TASKS:
		c->code = 128 + SIGKILL;
		say(c, "sandbox: limit of %" PRIu64 " processes reached; %s\n",
		    c->lim.processes, losses(c));
		break;
	case CALL_WATCHES:
		c->code = 128 + SIGKILL;
		say(c,
		    "sandbox: limit of %" PRIu64 " epoll watches reached;"
		    " %s\n",
		    c->J->lim.watches, losses(c));
		break;
	case CALL_FAIL:
		c->code = 126;
		say(c, "sandbox: the program could not be started\n");
		break;
	case CALL_ENDED:
		judge(c);
		break;
	case CALL_ASKS:
		c->code = 0;
		break;
	case CALL_LEFT:
		break;
	}
}

/* Run ${c}->g to its end, and leave nothing of it behind. */
static void
run(struct call *c)
{

	c->out.fd = c->g->out;
	c->err.fd = c->g->err;
	c->end = watch(c);
	if ((c->end != CALL_ENDED || (c->told && c->code >= KERNEL_SPENT)) &&
	    c->g == &c->J->kernel)
		guests_kill(c->J);
	else
		guests_end(c->J);
	out_drain(&c->out);
	out_drain(&c->err);
	if (c->calls != NULL) {
		if (c->g->ctl != -1)
			hear(c);
		calls_end(c->calls);
	}
	explain(c);
	buf_free(&c->ask);
}

/*
 * A text that is too long for an argument goes through a file that exists only
 * as a descriptor, and that nobody can write to any more.
 */
static int
long_text(const char *text, size_t len)
{
	ssize_t n;
	int fd;

	if ((fd = memfd_create("command", MFD_CLOEXEC | MFD_ALLOW_SEALING)) ==
	    -1)
		return (-1);
	for (; len > 0; text += n, len -= (size_t)n)
		if ((n = write(fd, text, len)) <= 0)
			break;
	if (len > 0 || lseek(fd, 0, SEEK_SET) == -1 ||
	    fcntl(fd, F_ADD_SEALS,
		F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)) {
		(void)close(fd);
		return (-1);
	}
	return (fd);
}

static void
could_not(struct call *c)
{

	c->end = CALL_FAIL;
	explain(c);
}

/* Drop what processes of an earlier call may still have written. */
static void
discard(struct jail *J)
{
	struct out o = OUT_INIT;
	char piece[4096];

	out_limit(&o, 0);
	o.fd = J->kernel.out;
	out_drain(&o);
	o.fd = J->kernel.err;
	out_drain(&o);
	out_free(&o);
	while (recv(J->kernel.ctl, piece, sizeof(piece), MSG_DONTWAIT) > 0)
		;
}

/* Is there an interpreter?  Then nothing comes from it now. */
static int
calm(struct jail *J)
{

	(void)guests_reap(J);
	if (J->kernel.pid == 0 || J->kernel.dead)
		return (0);
	discard(J);
	return (1);
}

void
call_guest(struct call *c, const struct guest_how *how)
{
	struct jail *J = c->J;
	int bad;

	c->g = &J->bash;
	guests_gone(J);
	bad = !(how->path == NULL && calm(J) &&
		  kernel_program(J, how, c->g) == 0) &&
	    guest_start(J, how, c->g);
	if (how->extra != -1)
		(void)close(how->extra);
	if (bad) {
		if (how->ctl != -1)
			(void)close(how->ctl);
		could_not(c);
		return;
	}
	run(c);
	guest_close(c->g);
}

void
call_bash(struct call *c, const char *text, size_t len)
{
	static char bash[] = "bash", opt[] = "-c",
		    by_fd[] = "eval \"$(</dev/fd/3)\" 3<&-";
	char *argv[] = {bash, opt, (char *)(uintptr_t)text, NULL};
	struct guest_how how = {.path = "/usr/bin/bash",
	    .argv = argv,
	    .dir = -1,
	    .extra = -1,
	    .ctl = -1};

	if (len <= ARG_MAX_1) {
		call_guest(c, &how);
		return;
	}
	argv[2] = by_fd;
	if ((how.extra = long_text(text, len)) == -1) {
		could_not(c);
		return;
	}
	call_guest(c, &how);
}

void
call_python(struct call *c, const char *code, size_t len)
{
	struct jail *J = c->J;

	c->g = &J->kernel;
	guests_gone(J);
	(void)calm(J);
	if (kernel_start(J) || kernel_ask(c->nonce, code, len, &c->ask)) {
		guests_kill(J);
		could_not(c);
	} else {
		J->fresh = 0;
		run(c);
	}
	if (J->kernel.dead)
		guest_close(&J->kernel);
}
