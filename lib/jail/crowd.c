#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"

#include "jail/crowd.h"
#include "jail/place.h"
#include "jail/usage.h"

struct member {
	char id[SESSION_IDLEN + 1];
	struct timespec used;
	uint64_t bytes;
};

struct crowd {
	struct member *m;
	size_t n, room;
	uint64_t bytes;
};

/* Add the session ${id} of the directory ${at}, if it lives. */
static int
add(struct crowd *c, int at, const char *id)
{
	struct member *m;
	struct stat st;
	int dir, lock;

	if (c->n == c->room) {
		c->room = c->room == 0 ? 256 : 2 * c->room;
		if ((m = reallocarray(c->m, c->room, sizeof(*m))) == NULL)
			return (-1);
		c->m = m;
	}
	if ((dir = place_open(at, id)) == -1)
		return (0);
	if ((lock = openat(dir, "lock", O_RDONLY | O_CLOEXEC)) != -1) {
		m = &c->m[c->n];
		if (place_held(lock) && fstat(lock, &st) == 0) {
			memcpy(m->id, id, sizeof(m->id));
			m->used = st.st_mtim;
			m->bytes = usage_read(lock);
			c->bytes += m->bytes;
			c->n++;
		}
		(void)close(lock);
	}
	(void)close(dir);
	return (0);
}

static int
look(struct crowd *c, int at)
{
	struct dirent *d;
	int fd, rc = 0;
	DIR *D;

	if ((fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (-1);
	if ((D = fdopendir(fd)) == NULL) {
		(void)close(fd);
		return (-1);
	}
	while (rc == 0 && (d = readdir(D)) != NULL)
		if (session_is_id(d->d_name))
			rc = add(c, at, d->d_name);
	(void)closedir(D);
	return (rc);
}

/* The one unused for longest comes first. */
static int
compare(const void *a, const void *b)
{
	const struct timespec *x = &((const struct member *)a)->used,
			      *y = &((const struct member *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return (x->tv_sec < y->tv_sec ? -1 : 1);
	return ((x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec));
}

void
crowd_bound(struct host *H, uint64_t most)
{
	struct crowd c = {.m = NULL};
	size_t i;

	if (look(&c, host_dir(H)))
		log_err("sandbox: cannot look at the sessions");
	else if (c.bytes > most)
		qsort(c.m, c.n, sizeof(*c.m), compare);
	for (i = 0; i < c.n && c.bytes > most; i++) {
		if (session_retire(H, c.m[i].id) != SESSION_OK)
			continue;
		log_info("sandbox: %s ended, unused: the sessions hold %" PRIu64
			 " bytes",
		    c.m[i].id, c.bytes);
		c.bytes -= c.m[i].bytes;
	}
	free(c.m);
}
