#include <sys/stat.h>
#include <sys/statvfs.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

#include "jail/guest.h"
#include "jail/held.h"
#include "jail/memory.h"
#include "jail/proc.h"
#include "jail/usage.h"

#define DIGITS 20

static void
add(struct plain_use *use, const struct statvfs *fs)
{

	use->bytes += (fs->f_blocks - fs->f_bfree) * fs->f_frsize;
	use->files += fs->f_files - fs->f_ffree;
}

void
usage_files(const struct jail *J, struct plain_use *use)
{
	static const char *const others[] = {"/tmp", "/dev/shm"};
	struct statvfs fs;
	size_t i;

	if (J->lim.isolation == ISOLATION_LANDLOCK) {
		plain_look(&J->land, use);
		return;
	}
	memset(use, 0, sizeof(*use));
	if (fstatvfs(J->root, &fs) == 0)
		add(use, &fs);
	else
		use->odd++;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (statvfs(others[i], &fs) == 0)
			add(use, &fs);
		else
			use->odd++;
}

void
usage_write(struct jail *J, int lock)
{
	char text[DIGITS + 2];
	struct timespec times[2];
	struct plain_use files;
	uint64_t bytes;
	struct stat st;

	if (fstat(lock, &st))
		return;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	held_look(J, UINT64_MAX);
	if ((bytes = memory_use(J, 0)) == PROC_BLIND)
		bytes = J->lim.memory;
	if (J->lim.isolation != ISOLATION_LANDLOCK) {
		usage_files(J, &files);
		bytes += files.bytes;
	}
	(void)snprintf(text, sizeof(text), "%0*" PRIu64 "\n", DIGITS, bytes);
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
