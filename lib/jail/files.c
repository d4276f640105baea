#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#include "jail/files.h"
#include "jail/walk.h"
#include "jail/ws.h"

static int
write_all(int fd, const char *p, size_t len)
{
	ssize_t n;

	for (; len > 0; p += n, len -= (size_t)n) {
		if ((n = write(fd, p, len)) == -1) {
			if (errno != EINTR)
				return (-1);
			n = 0;
		}
	}
	return (0);
}

/*
 * The filesystem's own times are those of the last clock tick.  A full reading
 * makes any later write visible, even one in this tick.
 */
static void
stamp(int fd)
{
	struct timespec t[2];

	if (clock_gettime(CLOCK_REALTIME, &t[1]) == 0) {
		t[0] = t[1];
		(void)futimens(fd, t);
	}
}

/* Open the regular file ${path} for reading. */
static enum reply
open_file(int root, const char *path, int *fd, struct stat *st)
{
	enum reply rc;

	if ((rc = ws_open(root, path, O_RDONLY, fd)) != REPLY_OK)
		return (rc);
	if (fstat(*fd, st))
		rc = REPLY_FAIL;
	else if (S_ISDIR(st->st_mode))
		rc = REPLY_DIRECTORY;
	else if (!S_ISREG(st->st_mode))
		rc = REPLY_NONE;
	if (rc != REPLY_OK)
		(void)close(*fd);
	return (rc);
}

enum reply
files_slurp(int root, const char *path, struct buf *b)
{
	char piece[16384];
	struct stat st;
	enum reply rc;
	ssize_t n;
	int fd;

	if ((rc = open_file(root, path, &fd, &st)) != REPLY_OK)
		return (rc);
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		if (buf_put(b, piece, (size_t)n))
			break;
	(void)close(fd);
	if (!buf_ok(b))
		return (REPLY_FULL);
	return (n == 0 ? REPLY_OK : REPLY_FAIL);
}

enum reply
files_replace(int root, const char *path, const char *p, size_t len, int fresh)
{
	char name[WS_TEMP_SIZE];
	struct stat st;
	const char *base;
	enum reply rc;
	int dir, fd;

	if ((rc = ws_parents(root, path, &dir, &base)) != REPLY_OK)
		goto err0;
	if (fresh && fstatat(dir, base, &st, AT_SYMLINK_NOFOLLOW) == 0)
		rc = REPLY_BAD;
	else
		rc = ws_replaceable(dir, base);
	if (rc != REPLY_OK)
		goto err1;
	if ((fd = ws_temp(dir, name)) == -1) {
		rc = ws_reply(errno);
		goto err1;
	}
	if (!fresh && fstatat(dir, base, &st, AT_SYMLINK_NOFOLLOW) == 0)
		(void)fchmod(fd, st.st_mode & 0777);
	if (write_all(fd, p, len))
		goto err2;
	stamp(fd);
	if (renameat(dir, name, dir, base))
		goto err2;
	(void)close(fd);
	(void)close(dir);
	return (REPLY_OK);

err2:
	rc = ws_reply(errno);
	(void)close(fd);
	(void)unlinkat(dir, name, 0);
err1:
	(void)close(dir);
err0:
	return (rc);
}

/* Give the finished file ${name} of ${root} the path that ${m} says. */
static enum reply
settle(int root, const char *name, const struct msg *m, struct buf *shown)
{
	char path[WS_PATH_SIZE];
	const char *base, *asked;
	enum reply rc;
	int dir;

	if ((asked = msg_get(m, MSG_PATH)) == NULL)
		return (REPLY_BAD);
	if ((rc = ws_path(asked, path)) != REPLY_OK)
		return (rc);
	if (strcmp(path, ".") == 0)
		return (REPLY_DIRECTORY);
	if (ws_hidden(path))
		return (REPLY_OUTSIDE);
	if ((rc = ws_parents(root, path, &dir, &base)) != REPLY_OK)
		return (rc);
	if ((rc = ws_replaceable(dir, base)) == REPLY_OK &&
	    renameat(root, name, dir, base))
		rc = ws_reply(errno);
	(void)close(dir);
	if (rc == REPLY_OK && ws_escape(shown, path))
		rc = REPLY_FAIL;
	return (rc);
}

/* Write DATA frames to ${fd} up to LAST, which is read into ${b}. */
static enum reply
take(int conn, int fd, uint64_t until, uint64_t *bytes, struct buf *b)
{
	enum frame_tag tag;

	*bytes = 0;
	for (;;) {
		if (frame_recv(conn, &tag, b) != FRAME_OK)
			return (REPLY_FAIL);
		if (tag == FRAME_LAST)
			return (REPLY_OK);
		if (tag != FRAME_DATA)
			return (REPLY_BAD);
		if (clock_ms() > until)
			return (REPLY_LATE);
		if (write_all(fd, b->p, b->len))
			return (ws_reply(errno));
		*bytes += b->len;
	}
}

enum reply
files_put(
    int root, int conn, uint64_t until, uint64_t *bytes, struct buf *shown)
{
	struct buf b = BUF_INIT(FRAME_PIECE);
	char name[WS_TEMP_SIZE];
	enum reply rc;
	struct msg m;
	int fd;

	if ((fd = ws_temp(root, name)) == -1)
		return (ws_reply(errno));
	rc = take(conn, fd, until, bytes, &b);
	if (rc == REPLY_OK && msg_parse(b.p, b.len, &m))
		rc = REPLY_BAD;
	if (rc == REPLY_OK) {
		stamp(fd);
		rc = settle(root, name, &m, shown);
	}
	if (rc != REPLY_OK)
		(void)unlinkat(root, name, 0);
	(void)close(fd);
	buf_free(&b);
	return (rc);
}

/* Send ${left} bytes of ${fd}; a file that has become shorter is a failure. */
static enum reply
send_bytes(int conn, int fd, uint64_t left)
{
	char piece[FRAME_PIECE];
	ssize_t n;

	while (left > 0) {
		n = read(fd, piece,
		    left < sizeof(piece) ? (size_t)left : sizeof(piece));
		if (n <= 0 || frame_send(conn, FRAME_DATA, piece, (size_t)n))
			return (REPLY_FAIL);
		left -= (uint64_t)n;
	}
	return (REPLY_OK);
}

enum reply
files_get(int root, int conn, const char *asked)
{
	struct buf b = BUF_INIT(64);
	char path[WS_PATH_SIZE];
	struct stat st;
	enum reply rc;
	int fd;

	if ((rc = ws_path(asked, path)) != REPLY_OK)
		return (rc);
	if ((rc = open_file(root, path, &fd, &st)) != REPLY_OK)
		return (rc);
	if (msg_num(&b, MSG_SIZE, (uint64_t)st.st_size) ||
	    frame_send(conn, FRAME_FILE, b.p, b.len))
		rc = REPLY_FAIL;
	else
		rc = send_bytes(conn, fd, (uint64_t)st.st_size);
	buf_free(&b);
	(void)close(fd);
	return (rc);
}

static int
put_entry(struct buf *b, const char *path, uint64_t bytes, uint64_t mtime_ms)
{
	struct buf m = BUF_INIT(4 * WS_PATH_SIZE), shown = m;
	int rc = -1;

	if (ws_escape(&shown, path) == 0 &&
	    msg_text(&m, MSG_PATH, shown.p, shown.len) == 0 &&
	    msg_num(&m, MSG_SIZE, bytes) == 0 &&
	    msg_num(&m, MSG_MTIME, mtime_ms) == 0)
		rc = frame_put(b, FRAME_FILE, m.p, m.len);
	buf_free(&m);
	buf_free(&shown);
	return (rc);
}

static enum reply
list_dir(int fd, const char *path, struct buf *b, int *truncated)
{
	const char *prefix = strcmp(path, ".") == 0 ? "" : path;
	char full[2 * WS_PATH_SIZE];
	struct walk w;
	size_t i;
	int rc = 0;

	if (walk_take(fd, 1, 0, &w))
		return (REPLY_FAIL);
	for (i = 0; i < w.n && rc == 0; i++) {
		(void)snprintf(full, sizeof(full), "%s%s%s", prefix,
		    *prefix != '\0' ? "/" : "", w.e[i].path);
		rc = put_entry(b, full, w.e[i].bytes, w.e[i].ms);
	}
	*truncated = w.seen > WALK_ENTRIES;
	walk_free(&w);
	return (rc ? REPLY_FAIL : REPLY_OK);
}

enum reply
files_list(int root, const char *asked, struct buf *b, int *truncated)
{
	char path[WS_PATH_SIZE];
	struct stat st;
	enum reply rc;
	int fd;

	*truncated = 0;
	if ((rc = ws_path(asked, path)) != REPLY_OK)
		return (rc);
	if ((rc = ws_open(root, path, O_RDONLY, &fd)) != REPLY_OK)
		return (rc);
	if (fstat(fd, &st))
		rc = REPLY_FAIL;
	else if (S_ISDIR(st.st_mode))
		rc = list_dir(fd, path, b, truncated);
	else if (!S_ISREG(st.st_mode))
		rc = REPLY_NONE;
	else if (put_entry(b, path, (uint64_t)st.st_size, walk_ms(&st.st_mtim)))
		rc = REPLY_FAIL;
	(void)close(fd);
	return (rc);
}
