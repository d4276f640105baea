#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jail/limits.h"
#include "jail/title.h"

#define TITLE_MAX 128
#define STAT_MAX 2048
#define FIRST 3      /* The field of stat that comes after the name. */
#define ARG_START 48 /* Where the words begin; the next field: end. */

/* The words we were started with; NULL: not known. */
static char *place;
static size_t room;

void
title_find(void)
{
	uintptr_t start, end;
	char text[STAT_MAX], *p;
	ssize_t n;
	int fd, i;

	if ((fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC)) == -1)
		return;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';

	/* The name may hold anything. */
	p = strrchr(text, ')');
	for (i = FIRST; i <= ARG_START && p != NULL; i++)
		p = strchr(p + 1, ' ');
	if (p == NULL)
		return;
	start = strtoul(p, &p, 10);
	end = strtoul(p, NULL, 10);
	if (start == 0 || end <= start)
		return;
	place = (char *)start;
	room = end - start;
}

void
title_set(const char *title)
{
	size_t n;

	if (place == NULL)
		return;
	n = strnlen(title, room - 1);
	memset(place, 0, room);
	memcpy(place, title, n);

	/* Where the last word does not end, the kernel shows one string. */
	if (n < room - 1)
		place[room - 1] = '.';
}

void
title_session(const char *what, int lock)
{
	char link[64], path[2 * LIMITS_PATH], title[TITLE_MAX], *id = path;
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", lock);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	if ((id = strrchr(path, '/')) != NULL) {
		*id = '\0';
		id = strrchr(path, '/');
	}
	(void)snprintf(title, sizeof(title), "satchel: %s%s%s", what,
	    id == NULL ? "" : " ", id == NULL ? "" : id + 1);
	title_set(title);
}
