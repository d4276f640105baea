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

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"

#include "jail/errand.h"
#include "jail/meta.h"
#include "jail/place.h"
#include "jail/ready.h"
#include "jail/session.h"
#include "jail/spawn.h"

#define PREFIX "sbx_"
#define RANDOM 22
#define TELL_MS 2000       /* For a ready session to answer. */
#define RETIRE_MS 200      /* Or it is busy. */
#define READY_MS 3000      /* For the next one to be made, */
#define IMPATIENT_MS 10000 /* or nobody waits for so long. */
#define SWEEP_S 10 /* Between two looks for what ended sessions have left. */

struct host {
	int dir;
	char label[3];
	uint64_t most;
	_Atomic uint64_t impatient; /* Until then no keeper is waited for. */
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

int
session_is_id(const char *id)
{
	static const char all[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz";

	return (strlen(id) == SESSION_IDLEN &&
	    strncmp(id, PREFIX, sizeof(PREFIX) - 1) == 0 &&
	    strspn(id + sizeof(PREFIX) - 1, all) ==
		SESSION_IDLEN - (sizeof(PREFIX) - 1));
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
		if (!session_is_id(d->d_name))
			continue;
		if (!sure || !place_over(H->dir, d->d_name))
			n++;
		else if (remove && (dir = place_open(H->dir, d->d_name)) != -1)
			(void)place_discard(H->dir, d->d_name, dir);
	}
	(void)closedir(D);
	return (n);
}

uint64_t
host_count(struct host *H)
{

	return (look_around(H, 1, 0));
}

int
host_dir(const struct host *H)
{

	return (H->dir);
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

void
host_sweep(struct host *H)
{
	int turn;

	if ((turn = take_turn(H)) == -1)
		return;
	(void)look_around(H, 1, 1);
	(void)futimens(turn, NULL);
	(void)close(turn);
}

/*
 * Take the turn, held while ${turn} is open, if there is room for another
 * session.
 */
static enum session_rc
find_room(const struct host *H, int *turn)
{

	if ((*turn = take_turn(H)) == -1)
		return (SESSION_FAIL);
	if (sweep_is_due(*turn) || look_around(H, 0, 0) >= H->most) {
		if (look_around(H, 1, 1) >= H->most) {
			(void)close(*turn);
			return (SESSION_FULL);
		}
		(void)futimens(*turn, NULL);
	}
	return (SESSION_OK);
}

/* Make a directory for ${id} and its lock, which is held. */
static enum session_rc
make_dir(const struct host *H, const char *id, int *dir, int *lock)
{
	enum session_rc rc;
	int turn;

	if ((rc = find_room(H, &turn)) != SESSION_OK)
		return (rc);
	if (place_make(H->dir, id, dir, lock))
		rc = SESSION_FAIL;
	(void)close(turn);
	return (rc);
}

/* Have the session ${id} do what ${m} says, at once. */
static int
order(struct host *H, const char *id, struct buf *m, uint64_t ms)
{
	uint64_t until = clock_ms() + ms;
	struct errand e;
	enum frame_tag tag;
	struct msg answer;
	int rc = -1;

	(void)msg_num(m, MSG_DEADLINE, until);
	if (!buf_ok(m) || errand_start(H, id, m, -1, until, &e) != ERRAND_OK)
		return (-1);
	if (errand_next(&e, until, &tag) == ERRAND_OK && tag == FRAME_DONE &&
	    msg_parse(e.body.p, e.body.len, &answer) == 0 &&
	    msg_get_num(&answer, MSG_STATUS, REPLY_FAIL) == REPLY_OK)
		rc = 0;
	errand_end(&e);
	return (rc);
}

/* Tell the session ${id}, which was waiting for a caller, that it has one. */
static int
tell(struct host *H, const char *id, const struct limits *l)
{
	struct buf m = BUF_INIT(256);
	int rc;

	(void)msg_num(&m, MSG_OP, OP_CLAIM);
	(void)msg_num(&m, MSG_IDLE, l->idle_s);
	(void)msg_num(&m, MSG_LIFETIME, l->lifetime_s);
	rc = order(H, id, &m, TELL_MS);
	buf_free(&m);
	return (rc);
}

/* Make the session ${id}, just taken, ours. */
static int
adopt(struct host *H, const char *id, const struct limits *l)
{
	struct meta m;
	int dir, rc = -1;

	if ((dir = place_open(H->dir, id)) == -1)
		return (-1);
	if (tell(H, id, l) == 0 && meta_read(dir, &m) == 0) {
		m.created_ms = clock_unix_ms();
		m.idle_s = l->idle_s;
		m.lifetime_s = l->lifetime_s;
		rc = meta_write(dir, &m);
	}
	(void)close(dir);
	return (rc);
}

/* Give a ready session the name ${id}; SESSION_NONE if there is none. */
static enum session_rc
take(struct host *H, int idle, const char *mark, const char *id)
{
	enum session_rc rc;
	int turn;

	if ((rc = find_room(H, &turn)) != SESSION_OK)
		return (rc);
	if (ready_take(H->dir, idle, mark, id))
		rc = SESSION_NONE;
	(void)close(turn);
	return (rc);
}

/*
 * As take(), but wait for the keeper's next while it makes some: that is faster
 * than to start one.  Workers wait in turn.  One that waited in vain does not
 * do so again for a while, nor do those behind it.
 */
static enum session_rc
take_next(struct host *H, int idle, const char *mark, const char *id)
{
	static const struct timespec moment = {.tv_nsec = 500000};
	enum session_rc rc;
	uint64_t until;
	int turn;

	if ((rc = take(H, idle, mark, id)) != SESSION_NONE ||
	    !ready_held(idle, "served") || clock_ms() < H->impatient ||
	    (turn = ready_lock(idle, "claim", 1)) == -1)
		return (rc);
	until = clock_ms() + READY_MS;
	while ((rc = take(H, idle, mark, id)) == SESSION_NONE &&
	    ready_held(idle, "served") && clock_ms() >= H->impatient) {
		if (clock_ms() >= until) {
			log_warn("sandbox: the keeper makes no sessions");
			H->impatient = clock_ms() + IMPATIENT_MS;
			break;
		}
		(void)nanosleep(&moment, NULL);
	}
	(void)close(turn);
	return (rc);
}

/* Claim a ready session as ${id}; SESSION_NONE if there is none. */
static enum session_rc
claim(struct host *H, const struct limits *l, const char *id)
{
	enum session_rc rc = SESSION_NONE;
	char mark[READY_MARK];
	int idle;

	if ((idle = ready_open(H->dir, 0)) == -1)
		return (SESSION_NONE);
	if (ready_mark(l, mark) == 0)
		/* What was killed while it waited is of no use. */
		while ((rc = take_next(H, idle, mark, id)) == SESSION_OK &&
		    adopt(H, id, l))
			(void)place_end(H->dir, id);
	(void)close(idle);
	return (rc);
}

/* Have a supervisor serve the new directory ${dir}. */
static int
man(int dir, int lock, const struct limits *l, char why[SESSION_WHY])
{
	int sock, rc;
	long pid;

	if ((sock = place_listen(dir)) == -1) {
		(void)snprintf(why, SESSION_WHY, "socket: %s", strerror(errno));
		return (-1);
	}
	rc = spawn_supervisor(l, lock, sock, &pid, why, SESSION_WHY);
	(void)close(sock);
	if (rc == 0 && (rc = place_record(dir, l, pid)) != 0)
		(void)snprintf(why, SESSION_WHY, "meta: %s", strerror(errno));
	return (rc);
}

/* Start a session of our own as ${id}. */
static enum session_rc
start(struct host *H, const struct limits *l, const char *id,
    char why[SESSION_WHY])
{
	enum session_rc rc;
	int dir, lock, bad;

	(void)snprintf(why, SESSION_WHY, "directory: %s", strerror(errno));
	if ((rc = make_dir(H, id, &dir, &lock)) != SESSION_OK)
		return (rc);
	bad = man(dir, lock, l, why);
	(void)close(lock);
	if (bad) {
		/* Should it live after all, it ends when it misses its lock. */
		(void)place_discard(H->dir, id, dir);
		return (SESSION_FAIL);
	}
	(void)close(dir);
	return (SESSION_OK);
}

/* Draw an id. */
static int
draw(const struct host *H, char id[static SESSION_IDLEN + 1])
{

	memcpy(id, PREFIX, 4);
	memcpy(id + 4, H->label, 2);
	return (id_base62(id + 6, RANDOM));
}

enum session_rc
session_create(struct host *H, const struct limits *l, struct session *s)
{
	char why[SESSION_WHY];
	enum session_rc rc;

	memset(s, 0, sizeof(*s));
	if (draw(H, s->id))
		return (SESSION_FAIL);
	if ((rc = claim(H, l, s->id)) == SESSION_NONE &&
	    (rc = start(H, l, s->id, why)) == SESSION_FAIL)
		log_err("sandbox: no session: %s", why);
	s->created_ms = s->used_ms = clock_unix_ms();
	s->idle_s = l->idle_s;
	s->lifetime_s = l->lifetime_s;
	return (rc);
}

int
host_probe(struct host *H, const struct limits *l, char why[static SESSION_WHY])
{
	char id[SESSION_IDLEN + 1];

	(void)snprintf(why, SESSION_WHY, "no random name");
	if (draw(H, id))
		return (-1);
	switch (start(H, l, id, why)) {
	case SESSION_OK:
		(void)session_destroy(H, id);
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

	if (!session_is_id(id) || (*dir = place_open(H->dir, id)) == -1)
		return (SESSION_NONE);
	if ((lock = openat(*dir, "lock", O_RDONLY | O_CLOEXEC)) == -1)
		goto err1;
	live = fstat(lock, st) == 0 && place_held(lock);
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

	if (!session_is_id(id) || (dir = place_open(H->dir, id)) == -1)
		return (SESSION_NONE);
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd == -1) {
		log_err("sandbox: socket: %s", strerror(errno));
		rc = SESSION_FAIL;
		goto err1;
	}
	place_sock(dir, &sun);
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

	if (find(H, id, &dir, &st, &m) != SESSION_OK) {
		/* Who has ended it may have left some of it. */
		if (session_is_id(id) && place_over(H->dir, id))
			host_sweep(H);
		return (SESSION_NONE);
	}
	(void)close(dir);
	return (place_end(H->dir, id) ? SESSION_FAIL : SESSION_OK);
}

enum session_rc
session_retire(struct host *H, const char *id)
{
	struct buf m = BUF_INIT(256);
	int rc;

	(void)msg_num(&m, MSG_OP, OP_RETIRE);
	rc = order(H, id, &m, RETIRE_MS);
	buf_free(&m);
	if (rc)
		return (SESSION_NONE);
	(void)place_end(H->dir, id);
	return (SESSION_OK);
}
