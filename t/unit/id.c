#include <sys/wait.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "t/unit/tap.h"

static void
shapes(void)
{
	char s[100];

	ok(id_hex(s, 32) == 0 && strlen(s) == 32 &&
		strspn(s, "0123456789abcdef") == 32,
	    "32 hex digits");
	ok(id_base36(s, 21) == 0 && strlen(s) == 21 &&
		strspn(s, "0123456789abcdefghijklmnopqrstuvwxyz") == 21,
	    "21 digits and small letters");
	ok(id_base62(s, 43) == 0 && strlen(s) == 43 &&
		strspn(s,
		    "0123456789abcdefghijklmnopqrstuvwxyz"
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 43,
	    "43 digits and letters");
	s[0] = 'x';
	ok(id_hex(s, 0) == 0 && s[0] == '\0', "none at all");
}

/* Does each of the ${base} characters come about equally often? */
static int
even(int (*make)(char *, size_t), unsigned int base)
{
	unsigned int count[256] = {0}, i, j, low = 200, high = 0, kinds = 0;
	char s[101];

	for (i = 0; i < 20 * base; i++) {
		if (make(s, 100))
			return (0);
		for (j = 0; j < 100; j++)
			count[(unsigned char)s[j]]++;
	}

	/* 2,000 of each expected; 300 off is nearly seven sigma. */
	for (i = 0, low = 100000; i < 256; i++) {
		if (count[i] == 0)
			continue;
		kinds++;
		low = count[i] < low ? count[i] : low;
		high = count[i] > high ? count[i] : high;
	}
	return (kinds == base && low > 1700 && high < 2300);
}

static void
spread(void)
{
	unsigned char big[1000] = {0};
	unsigned int i, zeros = 0;

	ok(even(id_hex, 16), "hex digits are evenly spread");
	ok(even(id_base36, 36), "base 36 favours none of its characters");
	ok(even(id_base62, 62), "base 62 favours none of its characters");
	ok(id_bytes(big, sizeof(big)) == 0, "more bytes than are read ahead");
	for (i = 0; i < sizeof(big); i++)
		zeros += big[i] == 0;
	ok(zeros < 30, "and all of them are filled in");
}

static void
children(void)
{
	char mine[33], theirs[33] = "";
	int fd[2], status;
	pid_t pid;

	(void)fflush(stdout); /* A sanitizer's _exit() would print it again. */
	if (id_hex(mine, 32) || pipe(fd) || (pid = fork()) == -1) {
		ok(0, "cannot fork");
		return;
	}
	if (pid == 0) {
		if (id_hex(mine, 32) || write(fd[1], mine, 32) != 32)
			_exit(1);
		_exit(0);
	}
	ok(read(fd[0], theirs, 32) == 32 && waitpid(pid, &status, 0) == pid &&
		status == 0,
	    "a child makes an id too");
	ok(id_hex(mine, 32) == 0 && strcmp(mine, theirs) != 0,
	    "parent and child do not make the same one after fork()");
	(void)close(fd[0]);
	(void)close(fd[1]);
}

static char made[4][1000][17];

static void *
make_many(void *cookie)
{
	char(*out)[17] = cookie;
	int i;

	for (i = 0; i < 1000; i++)
		if (id_hex(out[i], 16))
			out[i][0] = '\0';
	return (NULL);
}

static void
threads(void)
{
	pthread_t t[4];
	int i, j, k, twice = 0;

	for (i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, make_many, made[i]))
			return;
	for (i = 0; i < 4; i++)
		(void)pthread_join(t[i], NULL);
	for (i = 0; i < 4; i++)
		for (j = 0; j < 1000; j++)
			for (k = 0; k < j; k++)
				twice += !strcmp(made[i][j], made[i][k]) ||
				    !strcmp(made[i][j], made[(i + 1) % 4][k]);
	ok(twice == 0, "four threads make no id twice");
}

int
main(void)
{

	shapes();
	spread();
	children();
	threads();
	return (done_testing());
}
