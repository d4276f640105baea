#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "base/num.h"

#include "jail/kernel.h"
#include "jail/python.h"
#include "jail/script.h"

#define ORDER_MAX 65536 /* Bytes that say what program it becomes. */

int
kernel_start(struct jail *J)
{
	static const char *const sources[] = {
	    python_kernel, python_adapt, NULL};
	char first[SCRIPT_FIRST];
	char *argv[] = {
	    (char[]){"python3"}, (char[]){"-I"}, (char[]){"-c"}, first, NULL};
	struct guest_how how = {.path = PYTHON, .argv = argv, .dir = -1};
	int sv[2];

	if (J->kernel.pid != 0 && !J->kernel.dead)
		return (kill(J->kernel.pid, SIGCONT));
	guest_close(&J->kernel);
	if (J->interpreter != NULL)
		how.path = NULL, how.argv = NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return (-1);
	how.extra = sv[1];
	how.ctl = sv[0];
	if (fcntl(sv[0], F_SETFL, O_NONBLOCK) ||
	    (how.path != NULL && script_send(sv[0], sources, first)) ||
	    guest_start(J, &how, &J->kernel)) {
		(void)close(sv[0]);
		(void)close(sv[1]);
		return (-1);
	}
	(void)close(sv[1]);
	J->fresh = J->interpreter != NULL;
	return (0);
}

static void
put_length(struct buf *b, size_t n)
{
	const unsigned char h[4] = {(unsigned char)(n >> 24),
	    (unsigned char)(n >> 16), (unsigned char)(n >> 8),
	    (unsigned char)n};

	(void)buf_put(b, h, sizeof(h));
}

/* Append what makes the interpreter a program, whole behind its length. */
static int
order(const struct guest_how *how, struct buf *b)
{
	static const unsigned char program[4] = {0xff, 0xff, 0xff, 0xff};
	struct buf words = BUF_INIT(ORDER_MAX);
	char *env[GUEST_ENVIRONMENT];
	size_t argc = 0, i;

	while (how->argv[argc] != NULL)
		argc++;
	guest_variables(how->env, env);
	(void)buf_printf(
	    &words, "%d%c%zu%c", how->extra != -1, '\0', argc, '\0');
	for (i = 0; i < argc; i++)
		(void)buf_put(&words, how->argv[i], strlen(how->argv[i]) + 1);
	for (i = 0; env[i] != NULL; i++)
		(void)buf_put(&words, env[i], strlen(env[i]) + 1);
	(void)buf_put(b, program, sizeof(program));
	put_length(b, words.len);
	(void)buf_put(b, words.p, words.len);
	i = buf_ok(&words) && buf_ok(b);
	buf_free(&words);
	return (i ? 0 : -1);
}

int
kernel_program(struct jail *J, const struct guest_how *how, struct guest *g)
{
	static const struct guest none = GUEST_INIT;
	struct buf b = BUF_INIT(ORDER_MAX + 8);
	int rc = -1;

	if (!J->fresh || J->kernel.dead || how->path != NULL ||
	    how->argv == NULL || how->dir != -1 ||
	    (how->lim != NULL && !limits_alike(how->lim, &J->lim)) ||
	    order(how, &b))
		goto out;
	/* It waits with an empty buffer, which has room for all of it. */
	if (kill(J->kernel.pid, SIGCONT) ||
	    send(J->kernel.ctl, b.p, b.len, MSG_NOSIGNAL) != (ssize_t)b.len) {
		J->fresh = 0;
		(void)kill(J->kernel.pid, SIGKILL);
		goto out;
	}
	*g = J->kernel;
	J->kernel = none;
	J->fresh = 0;
	if (how->extra == -1) {
		(void)close(g->ctl);
		g->ctl = -1;
	} else {
		(void)close(how->ctl);
	}
	rc = 0;
out:
	buf_free(&b);
	return (rc);
}

int
kernel_ask(char nonce[static KERNEL_NONCE + 1], const char *code, size_t len,
    struct buf *b)
{

	if (id_hex(nonce, KERNEL_NONCE))
		return (-1);
	put_length(b, len);
	if (buf_put(b, nonce, KERNEL_NONCE) || buf_put(b, code, len))
		return (-1);
	return (0);
}

/* Is the line ${s} the end of the call ${nonce}? */
static int
is_end(const char *s, const char *nonce, int *code)
{
	uint64_t n;

	if (strncmp(s, nonce, KERNEL_NONCE) != 0 || s[KERNEL_NONCE] != ' ' ||
	    num_u64(s + KERNEL_NONCE + 1, 0, KERNEL_SPENT + 255, &n))
		return (0);
	*code = (int)n;
	return (1);
}

int
kernel_feed(struct kernel_line *l, const char nonce[static KERNEL_NONCE + 1],
    const char *p, size_t len, int *code)
{

	for (; len > 0; p++, len--) {
		if (*p != '\n') {
			if (l->n < sizeof(l->text))
				l->text[l->n++] = *p;
			continue;
		}
		if (l->n < sizeof(l->text)) {
			l->text[l->n] = '\0';
			if (is_end(l->text, nonce, code))
				return (1);
		}
		l->n = 0;
	}
	return (0);
}
