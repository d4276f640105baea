#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "io/blob.h"
#include "io/blob_probe.h"

/*
 * store ROOT: a store to be driven by lines on standard input, for tests that
 * put odd filesystems beneath it.  Each line is answered by one.
 *	ready		-> RC
 *	put BYTES	-> RC KEY
 *	get KEY		-> RC BYTES (all read, and all what put wrote)
 *	rm KEY		-> RC
 *	probe		-> RC HOW DIRSYNC CLOCK_OK BYTES_FREE INODES_FREE
 */

static const char *const words[] = {[BLOB_OK] = "ok",
    [BLOB_TOO_BIG] = "too-big",
    [BLOB_FULL] = "full",
    [BLOB_GONE] = "gone",
    [BLOB_AWAY] = "away",
    [BLOB_FAIL] = "fail"};

static unsigned char piece[65536];

static void
put(struct store *S, const char *arg)
{
	char key[BLOB_KEYLEN + 1] = "-";
	enum blob_rc rc = BLOB_FAIL;
	struct blob *B;
	uint64_t n;
	size_t len;

	if (num_u64(arg, 0, UINT64_MAX, &n) || blob_key(key) ||
	    (rc = blob_new(S, key, n, &B)) != BLOB_OK)
		goto done;
	for (; n > 0 && rc == BLOB_OK; n -= len) {
		len = n < sizeof(piece) ? (size_t)n : sizeof(piece);
		rc = blob_write(B, piece, len);
	}
	if (rc == BLOB_OK)
		rc = blob_commit(B);
	else
		blob_abort(B);

done:
	printf("%s %s\n", words[rc], key);
}

static void
get(struct store *S, const char *key)
{
	unsigned char buf[sizeof(piece)];
	enum blob_rc rc;
	uint64_t n = 0, left;
	ssize_t r;
	int fd;

	if ((rc = blob_open(S, key, &n, &fd)) == BLOB_OK) {
		for (left = n; left > 0; left -= (uint64_t)r) {
			r = read(
			    fd, buf, left < sizeof(buf) ? left : sizeof(buf));
			if (r <= 0 || memcmp(buf, piece, (size_t)r) != 0) {
				rc = BLOB_FAIL;
				break;
			}
		}
		close(fd);
	}
	printf("%s %ju\n", words[rc], (uintmax_t)n);
}

static void
probe(struct store *S)
{
	struct store_probe p;
	enum blob_rc rc;

	rc = store_probe(S, &p);
	printf("%s %s %d %d %ju %ju\n", words[rc], publish_name(p.how),
	    p.dirsync, p.clock_ok, (uintmax_t)p.bytes_free,
	    (uintmax_t)p.inodes_free);
}

static void
obey(struct store *S, const char *word, const char *arg)
{

	if (strcmp(word, "ready") == 0)
		printf("%s\n", words[store_ready(S)]);
	else if (strcmp(word, "put") == 0)
		put(S, arg);
	else if (strcmp(word, "get") == 0)
		get(S, arg);
	else if (strcmp(word, "rm") == 0)
		printf("%s\n", words[blob_remove(S, arg)]);
	else if (strcmp(word, "probe") == 0)
		probe(S);
	else
		printf("?\n");
}

int
main(int argc, char **argv)
{
	char line[256], *arg;
	struct store *S;
	size_t i;

	if (argc != 2 || log_open("store", NULL) ||
	    (S = store_open(argv[1])) == NULL)
		return (2);
	for (i = 0; i < sizeof(piece); i++)
		piece[i] = (unsigned char)(i % 251);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if ((arg = strchr(line, ' ')) != NULL)
			*arg++ = '\0';
		obey(S, line, arg != NULL ? arg : "");
		fflush(stdout);
	}
	store_close(S);
	return (0);
}
