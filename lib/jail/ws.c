#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/openat2.h>

#include "base/id.h"
#include "base/utf8.h"

#include "jail/ns.h"
#include "jail/ws.h"

/* Of one part of a path, its NUL included. */
#define PART_SIZE 256

enum reply
ws_path(const char *s, char out[static WS_PATH_SIZE])
{
	static const size_t at = sizeof(NS_WORKSPACE) - 1;
	size_t len, n = 0;

	if (*s == '\0' || strlen(s) >= WS_PATH_SIZE)
		return (REPLY_NAME);
	if (*s == '/') {
		if (strncmp(s, NS_WORKSPACE, at) != 0 ||
		    (s[at] != '/' && s[at] != '\0'))
			return (REPLY_OUTSIDE);
		s += at;
	}
	for (; *s != '\0'; s += len) {
		s += strspn(s, "/");
		len = strcspn(s, "/");
		if (len == 0 || (len == 1 && *s == '.'))
			continue;
		if (len == 2 && s[0] == '.' && s[1] == '.')
			return (REPLY_OUTSIDE);
		if (len >= PART_SIZE)
			return (REPLY_NAME);
		if (n > 0)
			out[n++] = '/';
		memcpy(out + n, s, len);
		n += len;
	}
	if (n == 0)
		out[n++] = '.';
	out[n] = '\0';
	return (REPLY_OK);
}

int
ws_hidden(const char *path)
{

	if (strcmp(path, ".") == 0)
		return (0);
	return (*path == '.' || strstr(path, "/.") != NULL);
}

int
ws_skipped(const char *name)
{
	size_t len = strlen(name);

	return (*name == '.' || strcmp(name, "__pycache__") == 0 ||
	    strcmp(name, "node_modules") == 0 ||
	    (len > 4 && strcmp(name + len - 4, ".pyc") == 0));
}

/* How many bytes at ${p} can be shown as they are; 0 if the first cannot. */
static size_t
clean(const char *p, size_t len)
{
	uint32_t cp;
	size_t n;

	if ((n = utf8_next(p, len, &cp)) == 0)
		return (0);
	return (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) ? 0 : n);
}

static int
is_clean(const char *s)
{
	size_t n, len = strlen(s);

	for (; len > 0; s += n, len -= n)
		if ((n = clean(s, len)) == 0)
			return (0);
	return (1);
}

int
ws_escape(struct buf *b, const char *path)
{
	size_t n, len = strlen(path);

	if (is_clean(path))
		return (buf_put(b, path, len));
	for (; len > 0; path += n, len -= n) {
		if ((n = *path == '%' ? 0 : clean(path, len)) > 0) {
			if (buf_put(b, path, n))
				return (-1);
			continue;
		}
		if (buf_printf(b, "%%%02X", (unsigned char)*path))
			return (-1);
		n = 1;
	}
	return (0);
}

static int
hex(char c)
{

	if (c >= '0' && c <= '9')
		return (c - '0');
	return (c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1);
}

/* Undo ws_escape(); -1 if it cannot have written ${s}. */
static int
unescape(const char *s, char out[static WS_PATH_SIZE])
{
	size_t n = 0;
	int hi, lo;

	for (; *s != '\0'; s++) {
		if (*s != '%') {
			out[n++] = *s;
			continue;
		}
		if ((hi = hex(s[1])) == -1 || (lo = hex(s[2])) == -1 ||
		    (hi == 0 && lo == 0) || (hi << 4 | lo) == '/')
			return (-1);
		out[n++] = (char)(hi << 4 | lo);
		s += 2;
	}
	out[n] = '\0';
	return (is_clean(out) ? -1 : 0);
}

/* No link is followed, no mount crossed, nothing outside reached. */
static int
open_beneath(int root, const char *path, int flags)
{
	struct open_how how;

	memset(&how, 0, sizeof(how));
	how.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC);
	if (!(flags & O_PATH))
		how.flags |= O_NONBLOCK | O_NOCTTY;
	how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
	    RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
	return ((int)syscall(SYS_openat2, root, path, &how, sizeof(how)));
}

enum reply
ws_reply(int err)
{

	switch (err) {
	case ENOENT:
	case ENOTDIR:
	case ENXIO: /* A socket, or a FIFO that nobody reads. */
		return (REPLY_NONE);
	case ELOOP:
	case EXDEV:
	case EACCES: /* Closed to its own owner. */
	case EPERM:
		return (REPLY_OUTSIDE);
	case EISDIR:
		return (REPLY_DIRECTORY);
	case ENAMETOOLONG:
		return (REPLY_NAME);
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return (REPLY_FULL);
	default:
		return (REPLY_FAIL);
	}
}

enum reply
ws_open(int root, const char *path, int flags, int *fd)
{
	char raw[WS_PATH_SIZE];

	if ((*fd = open_beneath(root, path, flags)) == -1 && errno == ENOENT) {
		if (unescape(path, raw) == 0)
			*fd = open_beneath(root, raw, flags);
		else
			errno = ENOENT;
	}
	return (*fd == -1 ? ws_reply(errno) : REPLY_OK);
}

enum reply
ws_parents(int root, const char *path, int *dir, const char **base)
{
	char part[PART_SIZE];
	size_t len;
	int next;

	if ((*dir = open_beneath(root, ".", O_PATH | O_DIRECTORY)) == -1)
		return (ws_reply(errno));
	for (; path[len = strcspn(path, "/")] != '\0'; path += len + 1) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)len, path);
		if (mkdirat(*dir, part, 0755) && errno != EEXIST)
			goto err1;
		if ((next = open_beneath(*dir, part, O_PATH | O_DIRECTORY)) ==
		    -1)
			goto err1;
		(void)close(*dir);
		*dir = next;
	}
	*base = path;
	return (REPLY_OK);

err1:
	next = errno;
	(void)close(*dir);
	*dir = -1;
	return (ws_reply(next));
}

enum reply
ws_replaceable(int dir, const char *base)
{
	struct stat st;

	if (fstatat(dir, base, &st, AT_SYMLINK_NOFOLLOW))
		return (errno == ENOENT ? REPLY_OK : ws_reply(errno));
	if (S_ISLNK(st.st_mode))
		return (REPLY_OUTSIDE);
	return (S_ISDIR(st.st_mode) ? REPLY_DIRECTORY : REPLY_OK);
}

int
ws_temp(int dir, char name[static WS_TEMP_SIZE])
{

	memcpy(name, ".put-", 5);
	if (id_hex(name + 5, 16))
		return (-1);
	return (openat(dir, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
}
