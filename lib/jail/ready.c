#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/id.h"

#include "jail/ready.h"
#include "jail/report.h"

#define MAKE_MS 10000 /* One that takes longer to make has failed. */
#define VERSION "1"   /* Of what supervisors understand. */
#define NEW "new."    /* Begins the name of one that is being made. */
#define TAKEN "old."  /* And of one that is being ended. */

int
ready_open(int host, int make)
{

	if (make && mkdirat(host, READY_DIR, 0700) && errno != EEXIST)
		return (-1);
	return (place_open(host, READY_DIR));
}

int
ready_lock(int idle, const char *name, int wait)
{
	int fd;

	fd =
	    openat(idle, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd == -1)
		return (-1);
	while (flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB)) {
		if (errno != EINTR) {
			(void)close(fd);
			return (-1);
		}
	}
	return (fd);
}

int
ready_held(int idle, const char *name)
{
	int fd, held;

	if ((fd = openat(idle, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) == -1)
		return (0);
	held = place_held(fd);
	(void)close(fd);
	return (held);
}

int
ready_able(const struct limits *l)
{

	return (l->isolation == ISOLATION_NAMESPACES ||
	    l->isolation == ISOLATION_CGROUP);
}

int
ready_mark(const struct limits *l, char mark[static READY_MARK])
{
	char words[LIMITS_WORDS][LIMITS_WORD], hex[HASH_SIZE];
	struct buf b = BUF_INIT(LIMITS_WORDS * LIMITS_WORD + 64);
	struct limits copy = *l;
	int rc = -1;
	size_t i;

	copy.idle_s = copy.lifetime_s = 1;
	limits_write(&copy, words);
	(void)buf_puts(&b, VERSION);
	for (i = 0; i < LIMITS_WORDS; i++)
		(void)buf_printf(&b, "\n%s", words[i]);
	if (buf_ok(&b) && hash_sha256(b.p, b.len, hex) == 0) {
		(void)snprintf(mark, READY_MARK, "%.*s", READY_MARK - 1, hex);
		rc = 0;
	}
	buf_free(&b);
	return (rc);
}

/* Is ${name} that of a waiting session with ${mark}, made by ${maker}? */
static int
fits(const char *name, const char *mark, const char *maker)
{

	if (strlen(name) < READY_MARK + READY_MAKER ||
	    name[READY_MARK - 1] != '.' ||
	    name[READY_MARK + READY_MAKER - 1] != '.')
		return (0);
	return ((mark == NULL || strncmp(name, mark, READY_MARK - 1) == 0) &&
	    (maker == NULL ||
		strncmp(name + READY_MARK, maker, READY_MAKER - 1) == 0));
}

/* The names in ${idle}, from their beginning; NULL if they cannot be read. */
static DIR *
names(int idle)
{
	DIR *D;
	int fd;

	fd = openat(idle, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return (NULL);
	if ((D = fdopendir(fd)) == NULL)
		(void)close(fd);
	return (D);
}

int
ready_take(int host, int idle, const char *mark, const char *id)
{
	struct dirent *d;
	int rc = -1;
	DIR *D;

	if ((D = names(idle)) == NULL)
		return (-1);
	while (rc == -1 && (d = readdir(D)) != NULL)
		if (fits(d->d_name, mark, NULL))
			rc = renameat(idle, d->d_name, host, id);
	(void)closedir(D);
	return (rc);
}

int
ready_begin(int idle, const char *mark, const char *maker, struct birth *b,
    char *why, size_t size)
{
	char random[17];

	b->report = -1;
	(void)snprintf(why, size, "no random name");
	if (id_hex(random, sizeof(random) - 1))
		return (-1);
	(void)snprintf(b->made, sizeof(b->made), NEW "%s", random);
	(void)snprintf(
	    b->name, sizeof(b->name), "%s.%s.%s", mark, maker, random);
	if (place_make(idle, b->made, &b->dir, &b->lock)) {
		(void)snprintf(why, size, "directory: %s", strerror(errno));
		return (-1);
	}
	if ((b->sock = place_listen(b->dir)) == -1) {
		(void)snprintf(why, size, "socket: %s", strerror(errno));
		(void)close(b->lock);
		(void)place_discard(idle, b->made, b->dir);
		return (-1);
	}
	return (0);
}

/* Hear from ${b}'s supervisor, and say that it waits. */
static int
hear(int idle, const struct limits *l, struct birth *b, char *why, size_t size)
{
	long pid;

	if (report_read(b->report, MAKE_MS, &pid, why, size))
		return (-1);
	if (place_record(b->dir, l, pid)) {
		(void)snprintf(why, size, "meta: %s", strerror(errno));
		return (-1);
	}
	if (renameat(idle, b->made, idle, b->name)) {
		(void)snprintf(why, size, "rename: %s", strerror(errno));
		return (-1);
	}
	return (0);
}

int
ready_finish(
    int idle, const struct limits *l, struct birth *b, char *why, size_t size)
{
	int rc = -1;

	/* Only the supervisor holds these, lest its end go unnoticed. */
	(void)close(b->lock);
	(void)close(b->sock);
	if (b->report != -1) {
		rc = hear(idle, l, b, why, size);
		(void)close(b->report);
	}
	(void)close(b->dir);
	if (rc)
		(void)place_end(idle, b->made);
	return (rc);
}

size_t
ready_count(int idle, const char *mark, const char *maker)
{
	struct dirent *d;
	size_t n = 0;
	DIR *D;

	if ((D = names(idle)) == NULL)
		return (0);
	while ((d = readdir(D)) != NULL)
		n += (size_t)fits(d->d_name, mark, maker);
	(void)closedir(D);
	return (n);
}

/* Take it away from those who would claim it, then end it. */
static void
end(int idle, const char *name)
{
	char taken[READY_NAME + sizeof(TAKEN)];

	(void)snprintf(taken, sizeof(taken), TAKEN "%s", name);
	if (renameat(idle, name, idle, taken) == 0)
		(void)place_end(idle, taken);
}

void
ready_prune(int idle, const char *maker)
{
	struct dirent *d;
	DIR *D;

	if ((D = names(idle)) == NULL)
		return;
	while ((d = readdir(D)) != NULL) {
		if (strncmp(d->d_name, TAKEN, sizeof(TAKEN) - 1) == 0)
			(void)place_end(idle, d->d_name);
		else if (strncmp(d->d_name, NEW, sizeof(NEW) - 1) == 0)
			end(idle, d->d_name);
		else if (fits(d->d_name, NULL, NULL) &&
		    (maker == NULL || !fits(d->d_name, NULL, maker) ||
			place_over(idle, d->d_name)))
			end(idle, d->d_name);
	}
	(void)closedir(D);
}
