#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"

#include "jail/meta.h"
#include "jail/session.h"
#include "jail/spawn.h"

#define PREFIX "sbx_"
#define RANDOM 22
#define BACKLOG 64
#define SWEEP_S 10 /* Between two looks for what ended sessions have left. */

struct host {
	int dir;
	char label[3];
	uint64_t most;
};

struct host *
host_open(const char *dir, const char *label, uint64_t most)
{
	struct stat st;
	struct host *H;

	if ((H = calloc(1, sizeof(*H))) == NULL)
		goto err0;
	memcpy(H->label, label, 2);
	H->most = most;
	if (mkdir(dir, 0700) && errno != EEXIST) {
		log_err("sandbox: %s: %s", dir, strerror(errno));
		goto err1;
	}
	if ((H->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 ||
	    fstat(H->dir, &st)) {
		log_err("sandbox: %s: %s", dir, strerror(errno));
		goto err1;
	}
	if (st.st_uid != geteuid() || st.st_mode & 022) {
		log_err("sandbox: %s: must belong to the service's user and be"
			" writable by nobody else",
		    dir);
		goto err2;
	}
	return (H);

err2:
	(void)close(H->dir);
err1:
	free(H);
err0:
	return (NULL);
}

void
host_close(struct host *H)
{

	if (H == NULL)
		return;
	(void)close(H->dir);
	free(H);
}

static int
is_id(const char *id)
{
	static const char all[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz";

	return (strlen(id) == SESSION_IDLEN &&
	    strncmp(id, PREFIX, sizeof(PREFIX) - 1) == 0 &&
	    strspn(id + sizeof(PREFIX) - 1, all) ==
		SESSION_IDLEN - (sizeof(PREFIX) - 1));
}

static int
open_dir(const struct host *H, const char *id)
{

	return (openat(
	    H->dir, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/* Does its supervisor live?  ${how} is LOCK_SH or LOCK_EX. */
static int
is_live(int lock, int how)
{

	return (flock(lock, how | LOCK_NB) == -1 && errno == EWOULDBLOCK);
}

/* Remove the directory ${id}, open as ${dir}, which is closed. */
static void
discard(const struct host *H, const char *id, int dir)
{
	static const char *const names[] = {"sock", "meta", "lock"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlinkat(dir, names[i], 0);
	(void)close(dir);
	if (unlinkat(H->dir, id, AT_REMOVEDIR) && errno != ENOENT)
		log_warn("sandbox: %s: %s", id, strerror(errno));
}

/* Is the session in the directory ${id} over? */
static int
is_over(const struct host *H, const char *id)
{
	int dir, lock, over = 0;

	if ((dir = open_dir(H, id)) == -1)
		return (0);
	if ((lock = openat(dir, "lock", O_RDONLY | O_CLOEXEC)) == -1) {
		over = errno == ENOENT;
	} else {
		over = !is_live(lock, LOCK_SH);
		(void)close(lock);
	}
	(void)close(dir);
	return (over);
}

/*
 * Count the sessions, with ${sure} only those that live; with ${remove} remove
 * what the others have left.
 */
static uint64_t
look_around(const struct host *H, int sure, int remove)
{
	struct dirent *d;
	uint64_t n = 0;
	int fd, dir;
	DIR *D;

	if ((fd = openat(H->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) ==
	    -1)
		return (0);
	if ((D = fdopendir(fd)) == NULL) {
		(void)close(fd);
		return (0);
	}
	while ((d = readdir(D)) != NULL) {
		if (!is_id(d->d_name))
			continue;
		if (!sure || !is_over(H, d->d_name))
			n++;
		else if (remove && (dir = open_dir(H, d->d_name)) != -1)
			discard(H, d->d_name, dir);
	}
	(void)closedir(D);
	return (n);
}

uint64_t
host_count(struct host *H)
{

	return (look_around(H, 1, 0));
}

uint64_t
host_most(const struct host *H)
{

	return (H->most);
}

/* One maker of directories at a time; the time of the file is the last sweep's.
 */
static int
take_turn(const struct host *H)
{
	int fd;

	fd = openat(
	    H->dir, ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd == -1)
		return (-1);
	while (flock(fd, LOCK_EX)) {
		if (errno != EINTR) {
			(void)close(fd);
			return (-1);
		}
	}
	return (fd);
}

static int
sweep_is_due(int turn)
{
	struct stat st;

	return (fstat(turn, &st) == 0 && st.st_mtime + SWEEP_S < time(NULL));
}

/* Make a directory for ${id} and its lock, which is held. */
static enum session_rc
make_dir(const struct host *H, const char *id, int *dir, int *lock)
{
	enum session_rc rc = SESSION_FAIL;
	int turn;

	if ((turn = take_turn(H)) == -1)
		goto err0;
	if (sweep_is_due(turn) || look_around(H, 0, 0) >= H->most) {
		if (look_around(H, 1, 1) >= H->most) {
			rc = SESSION_FULL;
			goto err1;
		}
		(void)futimens(turn, NULL);
	}
	if (mkdirat(H->dir, id, 0700) || (*dir = open_dir(H, id)) == -1)
		goto err1;
	*lock =
	    openat(*dir, "lock", O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*lock == -1 || flock(*lock, LOCK_EX))
		goto err2;
	(void)close(turn);
	return (SESSION_OK);

err2:
	discard(H, id, *dir);
	if (*lock != -1)
		(void)close(*lock);
err1:
	(void)close(turn);
err0:
	return (rc);
}

/* A socket's path must be short, whatever the directory's is. */
static void
sock_path(int dir, struct sockaddr_un *sun)
{

	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	(void)snprintf(
	    sun->sun_path, sizeof(sun->sun_path), "/proc/self/fd/%d/sock", dir);
}

static int
listen_in(int dir)
{
	struct sockaddr_un sun;
	int fd;

	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return (-1);
	sock_path(dir, &sun);
	if (bind(fd, (struct sockaddr *)&sun, sizeof(sun)) ||
	    listen(fd, BACKLOG)) {
		(void)close(fd);
		return (-1);
	}
	return (fd);
}

/* Start the supervisor of the session whose directory is ${dir}. */
static int
start(const struct limits *l, int dir, int lock, char why[SESSION_WHY])
{
	struct meta m = {.created_ms = clock_unix_ms(),
	    .idle_s = l->idle_s,
	    .lifetime_s = l->lifetime_s};
	int sock, rc;
	long pid;

	if ((sock = listen_in(dir)) == -1) {
		(void)snprintf(why, SESSION_WHY, "socket: %s", strerror(errno));
		return (-1);
	}
	rc = spawn_supervisor(l, lock, sock, &pid, why, SESSION_WHY);
	(void)close(sock);
	if (rc)
		return (-1);
	m.pid = (uint64_t)pid;
	if (meta_of(m.pid, &m.start) || meta_write(dir, &m)) {
		(void)snprintf(why, SESSION_WHY, "meta: %s", strerror(errno));
		return (-1);
	}
	return (0);
}

static enum session_rc
create(struct host *H, const struct limits *l, struct session *s,
    char why[SESSION_WHY])
{
	enum session_rc rc;
	int dir, lock, bad;

	memset(s, 0, sizeof(*s));
	memcpy(s->id, PREFIX, 4);
	memcpy(s->id + 4, H->label, 2);
	if (id_base62(s->id + 6, RANDOM))
		return (SESSION_FAIL);
	(void)snprintf(why, SESSION_WHY, "directory: %s", strerror(errno));
	if ((rc = make_dir(H, s->id, &dir, &lock)) != SESSION_OK)
		return (rc);
	bad = start(l, dir, lock, why);
	(void)close(lock);
	if (bad) {
		/* Should it live after all, it ends when it misses its lock. */
		discard(H, s->id, dir);
		return (SESSION_FAIL);
	}
	(void)close(dir);
	s->created_ms = s->used_ms = clock_unix_ms();
	s->idle_s = l->idle_s;
	s->lifetime_s = l->lifetime_s;
	return (SESSION_OK);
}

enum session_rc
session_create(struct host *H, const struct limits *l, struct session *s)
{
	char why[SESSION_WHY];
	enum session_rc rc;

	if ((rc = create(H, l, s, why)) == SESSION_FAIL)
		log_err("sandbox: no session: %s", why);
	return (rc);
}

int
host_probe(struct host *H, const struct limits *l, char why[static SESSION_WHY])
{
	struct session s;

	switch (create(H, l, &s, why)) {
	case SESSION_OK:
		(void)session_destroy(H, s.id);
		return (0);
	case SESSION_FULL:
		return (0); /* They could be made, it seems. */
	default:
		return (-1);
	}
}

/* Open the live session ${id}: its directory, its lock's times, its meta. */
static enum session_rc
find(const struct host *H, const char *id, int *dir, struct stat *st,
    struct meta *m)
{
	int lock, live;

	if (!is_id(id) || (*dir = open_dir(H, id)) == -1)
		return (SESSION_NONE);
	if ((lock = openat(*dir, "lock", O_RDONLY | O_CLOEXEC)) == -1)
		goto err1;
	live = fstat(lock, st) == 0 && is_live(lock, LOCK_SH);
	(void)close(lock);
	if (!live || meta_read(*dir, m))
		goto err1;
	return (SESSION_OK);

err1:
	(void)close(*dir);
	return (SESSION_NONE);
}

enum session_rc
session_find(struct host *H, const char *id, struct session *s)
{
	struct meta m;
	struct stat st;
	int dir;

	if (find(H, id, &dir, &st, &m) != SESSION_OK)
		return (SESSION_NONE);
	(void)close(dir);
	memcpy(s->id, id, sizeof(s->id));
	s->created_ms = m.created_ms;
	s->used_ms = (uint64_t)st.st_mtim.tv_sec * 1000 +
	    (uint64_t)st.st_mtim.tv_nsec / 1000000;
	if (s->used_ms < s->created_ms)
		s->used_ms = s->created_ms;
	s->idle_s = m.idle_s;
	s->lifetime_s = m.lifetime_s;
	return (SESSION_OK);
}

/* As connect(), but waits for room in the backlog until ${until}. */
static int
reach(int fd, const struct sockaddr_un *sun, uint64_t until)
{
	static const struct timespec moment = {.tv_nsec = 20000000};

	while (connect(fd, (const struct sockaddr *)sun, sizeof(*sun))) {
		if (errno != EAGAIN && errno != EINTR)
			return (-1);
		if (clock_ms() >= until) {
			errno = EAGAIN;
			return (-1);
		}
		(void)nanosleep(&moment, NULL);
	}
	return (0);
}

enum session_rc
session_connect(struct host *H, const char *id, uint64_t until, int *fd)
{
	enum session_rc rc = SESSION_NONE;
	struct sockaddr_un sun;
	int dir, flags;

	if (!is_id(id) || (dir = open_dir(H, id)) == -1)
		return (SESSION_NONE);
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd == -1) {
		log_err("sandbox: socket: %s", strerror(errno));
		rc = SESSION_FAIL;
		goto err1;
	}
	sock_path(dir, &sun);
	if (reach(*fd, &sun, until)) {
		if (errno == EAGAIN)
			rc = SESSION_FULL;
		goto err2;
	}
	if ((flags = fcntl(*fd, F_GETFL)) == -1 ||
	    fcntl(*fd, F_SETFL, flags & ~O_NONBLOCK))
		goto err2;
	(void)close(dir);
	return (SESSION_OK);

err2:
	(void)close(*fd);
err1:
	(void)close(dir);
	return (rc);
}

enum session_rc
session_destroy(struct host *H, const char *id)
{
	struct meta m;
	struct stat st;
	int dir;

	if (find(H, id, &dir, &st, &m) != SESSION_OK)
		return (SESSION_NONE);

	/* Nobody finds it any more, whatever the kill takes. */
	(void)unlinkat(dir, "sock", 0);
	if (meta_kill(&m))
		log_warn("sandbox: %s: its supervisor does not end", id);
	discard(H, id, dir);
	return (SESSION_OK);
}
