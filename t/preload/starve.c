#include <sys/mman.h>

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A machine that has no memory for every so manieth call: with LD_PRELOAD, and
 * only in a program called satchel, malloc() and its kind fail once in as many
 * calls as the file $SATCHEL_STARVE says in its first four bytes, never if that
 * is 0.  A process that this ends says where, on standard error.
 */

extern char *program_invocation_short_name;
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t),
    *__libc_realloc(void *, size_t);

static const volatile unsigned int *every;
static atomic_uint calls;

static void
say_where(int sig)
{
	void *frames[64];
	int n;

	(void)!write(STDERR_FILENO, "starved:\n", 9);
	n = backtrace(frames, 64);
	backtrace_symbols_fd(frames, n, STDERR_FILENO);
	(void)!write(STDERR_FILENO, "starved.\n", 9);
	(void)raise(sig);
}

static void __attribute__((constructor)) begin(void)
{
	const struct sigaction sa = {
	    .sa_handler = say_where, .sa_flags = SA_RESETHAND | SA_NODEFER};
	const char *path = getenv("SATCHEL_STARVE");
	void *p = MAP_FAILED;
	void *frame;
	int fd;

	if (path == NULL || strcmp(program_invocation_short_name, "satchel"))
		return;
	(void)backtrace(&frame, 1); /* It loads a library at first. */
	(void)sigaction(SIGSEGV, &sa, NULL);
	(void)sigaction(SIGBUS, &sa, NULL);
	(void)sigaction(SIGABRT, &sa, NULL);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return;
	p = mmap(NULL, sizeof(*every), PROT_READ, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (p != MAP_FAILED)
		every = p;
}

/* Is it this call's turn to fail? */
static int
starved(void)
{
	const unsigned int n = every != NULL ? *every : 0;

	if (n == 0 || (atomic_fetch_add(&calls, 1) + 1) % n != 0)
		return (0);
	errno = ENOMEM;
	return (1);
}

void *
malloc(size_t size)
{

	return (starved() ? NULL : __libc_malloc(size));
}

void *
calloc(size_t n, size_t size)
{

	return (starved() ? NULL : __libc_calloc(n, size));
}

void *
realloc(void *p, size_t size)
{

	return (starved() ? NULL : __libc_realloc(p, size));
}
