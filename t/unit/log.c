#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json.h>

#include "base/log.h"
#include "base/utf8.h"
#include "t/unit/tap.h"

static char path[] = "/tmp/satchel-log-XXXXXX";
static char text[1 << 20];

/* Read what was logged since the last call; return the number of lines. */
static size_t
fetch(void)
{
	static off_t at;
	size_t i, lines = 0;
	ssize_t n;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return (0);
	n = pread(fd, text, sizeof(text) - 1, at);
	(void)close(fd);
	if (n < 0)
		n = 0;
	at += n;
	text[n] = '\0';
	for (i = 0; i < (size_t)n; i++)
		lines += text[i] == '\n';
	return (lines);
}

/* The string member ${key} of the one line last fetched, or "". */
static const char *
member(const char *key)
{
	static char out[8192];
	json_object *o, *v;

	out[0] = '\0';
	if ((o = json_tokener_parse(text)) == NULL)
		return (out);
	if (json_object_object_get_ex(o, key, &v))
		(void)snprintf(
		    out, sizeof(out), "%s", json_object_get_string(v));
	json_object_put(o);
	return (out);
}

static void
lines(void)
{

	log_info("%d apples", 3);
	ok(fetch() == 1, "a message is one line");
	ok(strcmp(member("msg"), "3 apples") == 0, "with the message");
	ok(strcmp(member("level"), "info") == 0, "its level");
	ok(strcmp(member("program"), "unit") == 0, "the program's name");
	ok(strlen(member("time")) == 24 && member("time")[23] == 'Z',
	    "and the time in UTC with milliseconds");
	ok(member("request")[0] == '\0', "outside a request there is no id");

	log_request("req_1");
	errno = ENOENT;
	log_err("x");
	ok(errno == ENOENT, "logging leaves errno alone");
	(void)fetch();
	ok(strcmp(member("request"), "req_1") == 0,
	    "inside one the line carries it");
	ok(strcmp(member("level"), "error") == 0, "an error says error");
	log_request(NULL);
	log_warn("y");
	(void)fetch();
	ok(member("request")[0] == '\0', "until the request is over");
	ok(strcmp(member("level"), "warn") == 0, "a warning says warn");
}

static void
hostile(void)
{
	char big[5000];

	log_info("a\"b\\c\nd\re\x01\x7f\t");
	ok(fetch() == 1, "control characters make no second line");
	ok(strcmp(member("msg"), "a\"b\\c\nd\re\x01\x7f\t") == 0,
	    "and are read back as they were");
	log_info("%s", "bad \xff\xc3 utf-8 \xc3\xa9");
	(void)fetch();
	ok(utf8_valid(text, strlen(text)), "the line is valid UTF-8");
	ok(strcmp(member("msg"),
	       "bad \xef\xbf\xbd\xef\xbf\xbd utf-8 \xc3\xa9") == 0,
	    "with U+FFFD for what was broken");

	memset(big, '\n', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	log_info("%s", big);
	ok(fetch() == 1 && strlen(member("msg")) == 1000,
	    "a message is cut at 1,000 bytes, however they are escaped");
	memset(big, 'a', 999);
	memcpy(big + 999, "\xc3\xa9 and more", 12);
	log_info("%s", big);
	(void)fetch();
	ok(strlen(member("msg")) == 999, "the cut splits no character");
}

static void
access_line(void)
{
	const struct log_access a = {.method = "GET",
	    .route = "/v1/files/{file}",
	    .status = 200,
	    .ms = 1.25,
	    .bytes_in = 3,
	    .bytes_out = 18446744073709551615ULL,
	    .key = 7};
	struct log_access b = a;

	log_access(&a);
	ok(fetch() == 1 && strcmp(member("level"), "access") == 0,
	    "an access line");
	ok(strcmp(member("route"), "/v1/files/{file}") == 0 &&
		strcmp(member("method"), "GET") == 0 &&
		strcmp(member("status"), "200") == 0 &&
		strcmp(member("key"), "7") == 0 &&
		strcmp(member("in"), "3") == 0,
	    "names route, status, key and bytes");
	ok(strstr(text, "aborted") == NULL, "and nothing of an abort");
	b.aborted = 1;
	b.route = NULL;
	log_access(&b);
	(void)fetch();
	ok(strcmp(member("aborted"), "true") == 0, "unless there was one");
}

static void *
shout(void *cookie)
{
	int i;

	log_request(cookie);
	for (i = 0; i < 200; i++)
		log_info("%0500d", i);
	return (NULL);
}

static void
threads(void)
{
	static char ids[4][8] = {"req_a", "req_b", "req_c", "req_d"};
	pthread_t t[4];
	size_t i, n, whole = 0, mine = 0;
	char *line, *rest = text;

	for (i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, shout, ids[i]))
			return;
	for (i = 0; i < 4; i++)
		(void)pthread_join(t[i], NULL);
	n = fetch();
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		whole += line[0] == '{' && line[strlen(line) - 1] == '}';
		mine += strstr(line, "\"req_b\"") != NULL;
	}
	ok(n == 800 && whole == 800, "lines of four threads never mix");
	ok(mine == 200, "each thread has its own request id");
}

/* A file that is not named any more gets no more lines. */
static void
test_elsewhere(void)
{
	char other[] = "/tmp/satchel-log-XXXXXX";
	const int old = dup(STDERR_FILENO), fd = mkstemp(other);
	struct stat st;

	(void)fetch();
	(void)dup2(fd, STDERR_FILENO);
	ok(log_open("unit", "/nonexistent/log") != 0 && fetch() == 1 &&
		strstr(member("msg"), "/nonexistent/log") != NULL,
	    "a log that cannot be opened is told in the one that is");
	ok(log_open("unit", "") == 0, "without a name: standard error");
	log_info("gone on");
	ok(fetch() == 0, "... and the file gets no more");
	ok(fstat(fd, &st) == 0 && st.st_size > 0, "... which goes there");
	(void)dup2(old, STDERR_FILENO);
	(void)close(fd);
	(void)close(old);
	(void)unlink(other);
}

int
main(void)
{
	int fd;

	if ((fd = mkstemp(path)) == -1)
		return (1);
	(void)close(fd);
	ok(log_open("unit", path) == 0, "a log file opens");
	lines();
	hostile();
	access_line();
	threads();
	test_elsewhere();
	(void)unlink(path);
	return (done_testing());
}
