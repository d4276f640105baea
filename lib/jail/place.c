#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#include "jail/end.h"
#include "jail/meta.h"
#include "jail/place.h"
#include "jail/plain.h"
#include "jail/strays.h"

#define BACKLOG 64
#define END_MS 1000

int
place_open(int at, const char *name)
{

	return (
	    openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

int
place_make(int at, const char *name, int *dir, int *lock)
{

	if (mkdirat(at, name, 0700))
		return (-1);
	*lock = -1;
	if ((*dir = place_open(at, name)) == -1)
		goto err1;
	*lock =
	    openat(*dir, "lock", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	/* It may become another user's, and we still look at it. */
	if (*lock == -1 || fchmod(*lock, 0644) || flock(*lock, LOCK_EX))
		goto err2;
	return (0);

err2:
	if (*lock != -1)
		(void)close(*lock);
	(void)place_discard(at, name, *dir);
	return (-1);
err1:
	(void)unlinkat(at, name, AT_REMOVEDIR);
	return (-1);
}

void
place_sock(int dir, struct sockaddr_un *sun)
{

	/* A socket's path must be short, whatever the directory's is. */
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	(void)snprintf(
	    sun->sun_path, sizeof(sun->sun_path), "/proc/self/fd/%d/sock", dir);
}

int
place_listen(int dir)
{
	struct sockaddr_un sun;
	int fd;

	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return (-1);
	place_sock(dir, &sun);
	if (bind(fd, (struct sockaddr *)&sun, sizeof(sun)) ||
	    listen(fd, BACKLOG)) {
		(void)close(fd);
		return (-1);
	}
	return (fd);
}

int
place_record(int dir, const struct limits *l, long pid)
{
	struct meta m = {.pid = (uint64_t)pid,
	    .created_ms = clock_unix_ms(),
	    .idle_s = l->idle_s,
	    .lifetime_s = l->lifetime_s};

	if (meta_of(m.pid, &m.start))
		return (-1);
	return (meta_write(dir, &m));
}

int
place_held(int lock)
{

	return (flock(lock, LOCK_SH | LOCK_NB) == -1 && errno == EWOULDBLOCK);
}

int
place_over(int at, const char *name)
{
	int dir, lock, over = 0;

	if ((dir = place_open(at, name)) == -1)
		return (0);
	if ((lock = openat(dir, "lock", O_RDONLY | O_CLOEXEC)) == -1) {
		over = errno == ENOENT;
	} else {
		over = !place_held(lock);
		(void)close(lock);
	}
	(void)close(dir);
	return (over);
}

int
place_discard(int at, const char *name, int dir)
{
	static const char *const names[] = {"sock", "meta", "meta.new", "lock"};
	size_t i;

	if (plain_here(dir) && strays_end()) {
		log_warn("sandbox: %s: its programs do not end", name);
		(void)close(dir);
		return (-1);
	}
	plain_remove(dir);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlinkat(dir, names[i], 0);
	(void)close(dir);
	if (unlinkat(at, name, AT_REMOVEDIR) && errno != ENOENT)
		log_warn("sandbox: %s: %s", name, strerror(errno));
	return (0);
}

/* Wait until the warden of a session without namespaces has ended all of it.
 * Return 0, or -1 if it does not.
 */
static int
await_end(int dir)
{
	static const struct timespec moment = {.tv_nsec = 500000};
	uint64_t until = clock_ms() + END_MS;
	int lock, held;

	if ((lock = openat(dir, "lock", O_RDONLY | O_CLOEXEC)) == -1)
		return (0);
	while ((held = place_held(lock)) && clock_ms() < until)
		(void)nanosleep(&moment, NULL);
	(void)close(lock);
	return (held ? -1 : 0);
}

int
place_end(int at, const char *name)
{
	struct meta m;
	int dir;

	if ((dir = place_open(at, name)) == -1)
		return (0);
	if ((meta_read(dir, &m) == 0 && end_session(dir, &m)) ||
	    (plain_here(dir) && await_end(dir))) {
		log_warn("sandbox: %s: its supervisor does not end", name);
		(void)close(dir);
		return (-1);
	}
	return (place_discard(at, name, dir));
}
