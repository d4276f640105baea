#include <sys/stat.h>
#include <sys/vfs.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

#include "jail/guest.h"
#include "jail/usage.h"

#define DIGITS 20

/* What the filesystems in memory hold. */
static uint64_t
files(void)
{
	static const char *const paths[] = {"/mnt/data", "/tmp", "/dev/shm"};
	struct statfs fs;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (statfs(paths[i], &fs) == 0)
			sum += (uint64_t)(fs.f_blocks - fs.f_bfree) *
			    (uint64_t)fs.f_bsize;
	return (sum);
}

void
usage_write(int lock)
{
	char text[DIGITS + 2];
	struct timespec times[2];
	struct stat st;

	if (fstat(lock, &st))
		return;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	(void)snprintf(text, sizeof(text), "%0*" PRIu64 "\n", DIGITS,
	    guests_memory(0) + files());
	(void)pwrite(lock, text, DIGITS + 1, 0);
	(void)futimens(lock, times);
}

uint64_t
usage_read(int lock)
{
	char text[DIGITS + 1];
	uint64_t n;

	if (pread(lock, text, DIGITS, 0) != DIGITS)
		return (0);
	text[DIGITS] = '\0';
	return (num_u64(text + strspn(text, "0"), 1, INT64_MAX, &n) ? 0 : n);
}
