#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

#include "io/store.h"
#include "io/store_mark.h"

#define HEX "0123456789abcdef"
#define MARK_NEW STORE_MARK ".new"

/* Is ${s} of ${len} bytes one mark and the end of its line? */
static int
is_line(const char *s, size_t len)
{

	return (len == STORE_MARKLEN + 1 && s[STORE_MARKLEN] == '\n' &&
	    strspn(s, HEX) == STORE_MARKLEN);
}

/* Read the mark in the directory ${root}.  Return 0, or -1 with errno. */
static int
read_at(int root, char mark[static STORE_MARKLEN + 1])
{
	char line[STORE_MARKLEN + 3] = "";
	ssize_t n;
	int fd, e;

	if ((fd = openat(root, STORE_MARK,
		 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) == -1)
		return (-1);
	while ((n = read(fd, line, sizeof(line) - 1)) == -1 && errno == EINTR)
		continue;
	e = errno;
	close(fd);
	if (n == -1 || !is_line(line, (size_t)n)) {
		errno = n == -1 ? e : EBADMSG;
		return (-1);
	}
	memcpy(mark, line, STORE_MARKLEN);
	mark[STORE_MARKLEN] = '\0';
	return (0);
}

int
store_mark_check(const struct store *S, int root)
{
	char mark[STORE_MARKLEN + 1];

	if (S->mark[0] == '\0')
		return (0);
	if (read_at(root, mark))
		log_err("store %s: it is not the store of this database: its "
			"mark %s: %s; is its filesystem mounted?",
		    S->root, STORE_MARK, strerror(errno));
	else if (strcmp(mark, S->mark) != 0)
		log_err("store %s: it is the store of another database: its "
			"mark is %s, not %s",
		    S->root, mark, S->mark);
	else
		return (0);
	errno = ENODEV;
	return (-1);
}

void
store_expect(struct store *S, const char mark[static STORE_MARKLEN + 1])
{

	pthread_mutex_lock(&S->lock);
	memcpy(S->mark, mark, STORE_MARKLEN + 1);
	S->checked = 0;
	pthread_mutex_unlock(&S->lock);
}

int
store_expects(struct store *S)
{
	int rc;

	pthread_mutex_lock(&S->lock);
	rc = S->mark[0] != '\0';
	pthread_mutex_unlock(&S->lock);
	return (rc);
}

enum blob_rc
store_mark_read(struct store *S, char mark[static STORE_MARKLEN + 1])
{
	enum blob_rc rc = BLOB_OK;
	int root;

	if ((root = open(S->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (BLOB_AWAY);
	if (read_at(root, mark))
		rc =
		    errno == ENOENT || errno == EBADMSG ? BLOB_GONE : BLOB_AWAY;
	close(root);
	return (rc);
}

/* Write ${mark} to a new file of ${root}.  Return 0, or -1 with errno. */
static int
write_new(int root, const char *mark)
{
	char line[STORE_MARKLEN + 2];
	int fd, e;

	(void)unlinkat(root, MARK_NEW, 0);
	if ((fd = openat(root, MARK_NEW,
		 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)) ==
	    -1)
		return (-1);
	(void)snprintf(line, sizeof(line), "%s\n", mark);
	errno = ENOSPC; /* What a short write means. */
	if (write(fd, line, STORE_MARKLEN + 1) != STORE_MARKLEN + 1 ||
	    fchmod(fd, 0644) || fsync(fd)) {
		e = errno;
		close(fd);
		errno = e;
		return (-1);
	}
	return (close(fd));
}

enum blob_rc
store_mark_write(struct store *S, const char mark[static STORE_MARKLEN + 1])
{
	enum blob_rc rc = BLOB_OK;
	int root;

	if ((root = open(S->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (store_fail(S, "open the root for", STORE_MARK));
	if (write_new(root, mark) ||
	    renameat(root, MARK_NEW, root, STORE_MARK) ||
	    store_sync_dir(S, root, ".")) {
		rc = store_fail(S, "write", STORE_MARK);
		(void)unlinkat(root, MARK_NEW, 0);
	}
	close(root);
	return (rc);
}
