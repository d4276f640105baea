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

int
kernel_start(struct jail *J)
{
	char *argv[] = {(char[]){"python3"}, (char[]){"-I"}, (char[]){"-c"},
	    (char *)(uintptr_t)python_kernel, NULL};
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
	    guest_start(J, &how, &J->kernel)) {
		(void)close(sv[0]);
		(void)close(sv[1]);
		return (-1);
	}
	(void)close(sv[1]);
	return (0);
}

int
kernel_ask(char nonce[static KERNEL_NONCE + 1], const char *code, size_t len,
    struct buf *b)
{
	unsigned char h[4];

	if (id_hex(nonce, KERNEL_NONCE))
		return (-1);
	h[0] = (unsigned char)(len >> 24);
	h[1] = (unsigned char)(len >> 16);
	h[2] = (unsigned char)(len >> 8);
	h[3] = (unsigned char)len;
	if (buf_put(b, h, sizeof(h)) || buf_put(b, nonce, KERNEL_NONCE) ||
	    buf_put(b, code, len))
		return (-1);
	return (0);
}

/* Is the line ${s} the end of the call ${nonce}? */
static int
is_end(const char *s, const char *nonce, int *code)
{
	uint64_t n;

	if (strncmp(s, nonce, KERNEL_NONCE) != 0 || s[KERNEL_NONCE] != ' ' ||
	    num_u64(s + KERNEL_NONCE + 1, 0, 255, &n))
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
