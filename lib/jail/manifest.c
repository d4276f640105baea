#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

#include "jail/manifest.h"
#include "jail/words.h"
#include "jail/ws.h"

#define INPUTS_MAX 10000
#define NAMES_MAX (16U << 20)
#define BUDGET_MAX (4ULL << 30) /* What a few seconds suffice for. */

struct manifest_input {
	const char *path, *sha;
};

/* One line of the answer; its path is an offset into names. */
struct manifest_item {
	size_t path;
	enum manifest_state state;
	uint64_t bytes;
	char sha[HASH_SIZE]; /* "" if it is not known. */
};

static int
by_path(const void *a, const void *b)
{
	const struct manifest_input *x = a, *y = b;

	return (strcmp(x->path, y->path));
}

/* Let programs only read ${path}, if ${how} says so. */
static enum reply
prepare(int root, const char *path, const char *how)
{
	struct stat st;
	enum reply rc;
	int fd;

	if ((rc = ws_open(root, path, O_RDONLY, &fd)) != REPLY_OK)
		return (rc);
	if (fstat(fd, &st))
		rc = REPLY_FAIL;
	else if (!S_ISREG(st.st_mode))
		rc = REPLY_DIRECTORY;
	else if (*how == 'r' && fchmod(fd, 0444))
		rc = REPLY_FAIL;
	(void)close(fd);
	return (rc);
}

static enum reply
take_input(struct manifest *M, char *const word[3])
{
	struct manifest_input *in = &M->in[M->n];
	char path[WS_PATH_SIZE];
	enum reply rc;

	if (strlen(word[2]) != HASH_SHA256_HEX ||
	    (strcmp(word[1], "r") != 0 && strcmp(word[1], "w") != 0))
		return (REPLY_BAD);
	if ((rc = ws_path(word[0], path)) != REPLY_OK)
		return (rc);
	if (strlen(path) > strlen(word[0]))
		return (REPLY_NAME);
	in->path = memcpy(word[0], path, strlen(path) + 1);
	in->sha = word[2];
	M->n++;
	return (prepare(M->root, in->path, word[1]));
}

enum reply
manifest_begin(struct manifest *M, int root, uint64_t budget, const char *text)
{
	enum reply rc = REPLY_OK;
	size_t n, i;

	memset(M, 0, sizeof(*M));
	M->root = root;
	M->budget = budget < BUDGET_MAX ? budget : BUDGET_MAX;
	M->names.max = NAMES_MAX;
	if (text == NULL)
		return (REPLY_OK);
	M->wanted = 1;
	M->words = words_read(text, 3 * INPUTS_MAX, &n);
	if (M->words == NULL || n % 3 != 0)
		return (REPLY_BAD);
	if ((M->in = calloc(n / 3 + 1, sizeof(*M->in))) == NULL)
		return (REPLY_FAIL);
	for (i = 0; i < n && rc == REPLY_OK; i += 3)
		rc = take_input(M, M->words + i);
	qsort(M->in, M->n, sizeof(*M->in), by_path);
	for (i = 1; i < M->n; i++)
		if (strcmp(M->in[i - 1].path, M->in[i].path) == 0)
			rc = REPLY_BAD;
	return (rc);
}

/*
 * Hash what ${fd} holds; ${sha} is empty if that is more than may be read.
 * Return 0, or -1 if it cannot be read.
 */
static int
hash_file(struct manifest *M, int fd, uint64_t bytes, char sha[HASH_SIZE])
{
	char piece[65536];
	struct hash *h;
	ssize_t n;

	sha[0] = '\0';
	if (bytes > M->budget)
		return (0);
	M->budget -= bytes;
	if ((h = hash_new(HASH_SHA256)) == NULL)
		return (-1);
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		hash_add(h, piece, (size_t)n);
	if (n < 0) {
		hash_free(h);
		return (-1);
	}
	return (hash_hex(h, sha));
}

/* Note ${path}, called ${shown}, as it is now; ${sha}: as it was, or NULL. */
static int
look(struct manifest *M, const char *path, const char *shown,
    enum manifest_state state, const char *sha)
{
	struct manifest_item *it;
	struct stat st = {0};
	size_t room;
	int fd = -1, rc = 0;

	if (M->nitem == M->room) {
		room = M->room > 0 ? 2 * M->room : 64;
		if ((it = realloc(M->item, room * sizeof(*it))) == NULL)
			return (-1);
		M->item = it;
		M->room = room;
	}
	it = &M->item[M->nitem];
	memset(it, 0, sizeof(*it));
	it->state = state;
	if (ws_open(M->root, path, O_RDONLY, &fd) != REPLY_OK ||
	    fstat(fd, &st) || !S_ISREG(st.st_mode))
		it->state = MANIFEST_DELETED;
	else
		rc = hash_file(M, fd, (uint64_t)st.st_size, it->sha);
	it->bytes = (uint64_t)st.st_size;
	if (fd != -1)
		(void)close(fd);
	if (rc || (sha != NULL && strcmp(it->sha, sha) == 0))
		return (rc);
	it->path = M->names.len;
	M->nitem++;
	return (buf_put(&M->names, shown, strlen(shown) + 1));
}

static int
is_input(const struct manifest *M, const char *path)
{
	const struct manifest_input key = {.path = path};

	return (bsearch(&key, M->in, M->n, sizeof(key), by_path) != NULL);
}

/* One file that is not as it was. */
static int
note(void *cookie, const struct walk_entry *was, const struct walk_entry *is)
{
	struct buf shown = BUF_INIT(4 * WS_PATH_SIZE);
	const char *path = is != NULL ? is->path : was->path;
	struct manifest *M = cookie;
	int rc = -1;

	if (ws_escape(&shown, path))
		rc = -1;
	else if (is_input(M, path) || is_input(M, shown.p))
		rc = 0;
	else
		rc = look(M, path, shown.p,
		    was == NULL ? MANIFEST_NEW : MANIFEST_CHANGED, NULL);
	buf_free(&shown);
	return (rc);
}

static int
put_item(
    const struct manifest *M, const struct manifest_item *it, struct buf *b)
{
	const char *path = M->names.p + it->path;
	struct buf m = BUF_INIT(4 * WS_PATH_SIZE);
	int rc = -1;

	(void)msg_text(&m, MSG_PATH, path, strlen(path));
	(void)msg_num(&m, MSG_STATE, it->state);
	if (it->state != MANIFEST_DELETED)
		(void)msg_num(&m, MSG_SIZE, it->bytes);
	if (it->sha[0] != '\0')
		(void)msg_text(&m, MSG_SHA, it->sha, strlen(it->sha));
	if (buf_ok(&m))
		rc = frame_put(b, FRAME_FILE, m.p, m.len);
	buf_free(&m);
	return (rc);
}

static int
in_order(const void *a, const void *b, void *names)
{
	const struct manifest_item *x = a, *y = b;

	return (strcmp(
	    (const char *)names + x->path, (const char *)names + y->path));
}

int
manifest_put(struct manifest *M, const struct walk *before,
    const struct walk *after, int64_t since, struct buf *b)
{
	size_t i;

	for (i = 0; i < M->n; i++)
		if (look(M, M->in[i].path, M->in[i].path, MANIFEST_CHANGED,
			M->in[i].sha))
			return (-1);
	if (walk_diff(before, after, since, note, M))
		return (-1);
	if (M->nitem > 1)
		qsort_r(
		    M->item, M->nitem, sizeof(*M->item), in_order, M->names.p);
	M->truncated = M->nitem > WALK_ENTRIES;
	for (i = 0; i < M->nitem && i < WALK_ENTRIES; i++)
		if (put_item(M, &M->item[i], b))
			return (-1);
	return (0);
}

void
manifest_free(struct manifest *M)
{

	free(M->words);
	free(M->in);
	free(M->item);
	buf_free(&M->names);
}
