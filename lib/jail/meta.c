#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

#include "jail/meta.h"

#define META_MAX 512

static const struct {
	const char *name;
	size_t at;
} lines[] = {
    {"pid ", offsetof(struct meta, pid)},
    {"start ", offsetof(struct meta, start)},
    {"created ", offsetof(struct meta, created_ms)},
    {"idle ", offsetof(struct meta, idle_s)},
    {"lifetime ", offsetof(struct meta, lifetime_s)},
};
#define NLINES (sizeof(lines) / sizeof(lines[0]))

static uint64_t *
field(struct meta *m, size_t i)
{

	return ((uint64_t *)(void *)((char *)m + lines[i].at));
}

int
meta_write(int dir, const struct meta *m)
{
	struct meta copy = *m;
	char text[META_MAX];
	size_t i, len = 0;
	ssize_t n;
	int fd;

	for (i = 0; i < NLINES; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "%s%" PRIu64 "\n", lines[i].name, *field(&copy, i));
	fd = openat(
	    dir, "meta.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd == -1)
		return (-1);
	n = write(fd, text, len);
	(void)close(fd);
	if (n != (ssize_t)len)
		return (-1);
	return (renameat(dir, "meta.new", dir, "meta"));
}

/* Read the first ${size} - 1 bytes of a file. */
static int
read_text(int dir, const char *name, char *text, size_t size)
{
	ssize_t n;
	int fd;

	if ((fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) == -1)
		return (-1);
	n = read(fd, text, size - 1);
	(void)close(fd);
	if (n <= 0)
		return (-1);
	text[n] = '\0';
	return (0);
}

int
meta_read(int dir, struct meta *m)
{
	char text[META_MAX], *p = text, *line;
	size_t i, len;

	if (read_text(dir, "meta", text, sizeof(text)))
		return (-1);
	for (i = 0; i < NLINES; i++) {
		len = strlen(lines[i].name);
		if ((line = strsep(&p, "\n")) == NULL || p == NULL ||
		    strncmp(line, lines[i].name, len) != 0 ||
		    num_u64(line + len, 0, INT64_MAX, field(m, i))) {
			errno = EINVAL;
			return (-1);
		}
	}
	return (0);
}

int
meta_of(uint64_t pid, uint64_t *start)
{
	char path[64], text[1024], *p, *word = NULL;
	int i;

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	if (read_text(AT_FDCWD, path, text, sizeof(text)) ||
	    (p = strrchr(text, ')')) == NULL)
		return (-1);

	/* The 22nd field; the one after the name is the third. */
	for (p += 2, i = 3; i <= 22 && p != NULL; i++)
		word = strsep(&p, " ");
	return (num_u64(word, 0, UINT64_MAX, start));
}
