#include <sys/random.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "base/log.h"

/*
 * Read ahead, so that an id costs no system call for its bytes.  A child must
 * not give out what its parent does, so the bytes belong to a process.
 */
static __thread struct {
	unsigned char p[256];
	size_t left;
	pid_t pid;
} ahead;

static int
refill(void *p, size_t len)
{
	unsigned char *q = p;
	ssize_t n;

	while (len > 0) {
		if ((n = getrandom(q, len, 0)) == -1) {
			if (errno == EINTR)
				continue;
			log_err("id: getrandom: %s", strerror(errno));
			return (-1);
		}
		q += n;
		len -= (size_t)n;
	}
	return (0);
}

int
id_bytes(void *p, size_t n)
{

	if (n > sizeof(ahead.p))
		return (refill(p, n));
	if (ahead.left < n || ahead.pid != getpid()) {
		ahead.left = 0;
		if (refill(ahead.p, sizeof(ahead.p)))
			return (-1);
		ahead.left = sizeof(ahead.p);
		ahead.pid = getpid();
	}
	ahead.left -= n;
	memcpy(p, ahead.p + ahead.left, n);
	memset(ahead.p + ahead.left, 0, n); /* Nobody can read them again. */
	return (0);
}

/*
 * ${n} characters of the ${base} in ${set}.  A byte past the largest multiple
 * of ${base} is thrown away: it would favour the first characters.
 */
static int
text(char *s, size_t n, const char *set, unsigned int base)
{
	unsigned int top = 256 - 256 % base;
	unsigned char b[32];
	size_t i, j, len;

	for (i = 0; i < n;) {
		len = n - i < sizeof(b) ? n - i : sizeof(b);
		if (id_bytes(b, len)) {
			*s = '\0';
			return (-1);
		}
		for (j = 0; j < len; j++) {
			if (b[j] < top)
				s[i++] = set[b[j] % base];
		}
	}
	s[n] = '\0';
	return (0);
}

int
id_hex(char *s, size_t n)
{

	return (text(s, n, "0123456789abcdef", 16));
}

int
id_base36(char *s, size_t n)
{

	return (text(s, n, "0123456789abcdefghijklmnopqrstuvwxyz", 36));
}

int
id_base62(char *s, size_t n)
{

	return (text(s, n,
	    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	    62));
}

int
id_plain(const char *s)
{
	size_t i;

	for (i = 0; s[i] > ' ' && s[i] < 0x7f; i++)
		continue;
	return (i > 0 && s[i] == '\0');
}
