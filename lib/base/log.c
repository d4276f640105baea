#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"

#define MSG_MAX 1000
#define WORD_MAX 128

static int log_fd = STDERR_FILENO;
static char log_program[32] = "satchel";
static __thread const char *log_id;
static int log_muted;

/* A line being built: escaping makes at most six bytes of one. */
struct line {
	char p[6 * (MSG_MAX + 4 * WORD_MAX) + 512];
	size_t len;
};

int
log_open(const char *program, const char *path)
{
	int fd;

	(void)snprintf(log_program, sizeof(log_program), "%s", program);
	fd = STDERR_FILENO;
	if (path != NULL && *path != '\0')
		fd =
		    open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
	if (fd == -1 && log_fd != STDERR_FILENO) {
		log_err("cannot log to %s: %s", path, strerror(errno));
		return (-1);
	}
	if (fd == -1) {
		(void)fprintf(stderr, "%s: cannot log to %s: %s\n", program,
		    path, strerror(errno));
		return (-1);
	}
	if (log_fd != STDERR_FILENO)
		(void)close(log_fd);
	log_fd = fd;
	return (0);
}

void
log_mute(int on)
{

	log_muted = on;
}

void
log_request(const char *id)
{

	log_id = id;
}

const char *
log_request_id(void)
{

	return (log_id);
}

static void
add(struct line *, const char *, ...) __attribute__((format(printf, 2, 3)));

/* Append; a line that is full stays as it is. */
static void
add(struct line *l, const char *fmt, ...)
{
	size_t room = sizeof(l->p) - l->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->p + l->len, room, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < room)
		l->len += (size_t)n;
}

/* Append ${n} bytes as they are. */
static void
copy(struct line *l, const char *s, size_t n)
{

	if (n >= sizeof(l->p) - l->len)
		return;
	memcpy(l->p + l->len, s, n);
	l->len += n;
}

static void
copy_str(struct line *l, const char *s)
{

	copy(l, s, strlen(s));
}

/* How many bytes at ${s} stand for themselves inside a JSON string. */
static size_t
plain(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= ' ' && s[n] < 0x7f && s[n] != '"' &&
	    s[n] != '\\')
		n++;
	return (n);
}

/* Append a member with the string ${s}, at most ${max} bytes of it. */
static void
add_str(struct line *l, const char *key, const char *s, size_t max)
{
	size_t i, len, n;
	uint32_t cp;

	len = utf8_cut(s, strnlen(s, max + 1), max);
	copy_str(l, ",\"");
	copy_str(l, key);
	copy_str(l, "\":\"");
	for (i = 0; i < len; i += n) {
		if ((n = plain(s + i, len - i)) > 0)
			copy(l, s + i, n);
		else if ((n = utf8_next(s + i, len - i, &cp)) == 0) {
			add(l, "\\ufffd");
			n = 1;
		} else if (cp < 0x20 || cp == 0x7f) {
			add(l, "\\u%04x", (unsigned int)cp);
		} else {
			add(l, "%s%.*s", cp == '"' || cp == '\\' ? "\\" : "",
			    (int)n, s + i);
		}
	}
	copy_str(l, "\"");
}

static void
begin(struct line *l, const char *level)
{
	char now[CLOCK_RFC3339_SIZE];

	l->len = 0;
	clock_rfc3339(clock_unix_ms(), now);
	copy_str(l, "{\"time\":\"");
	copy_str(l, now);
	copy_str(l, "\",\"level\":\"");
	copy_str(l, level);
	copy_str(l, "\"");
	add_str(l, "program", log_program, WORD_MAX);
	if (log_id != NULL)
		add_str(l, "request", log_id, WORD_MAX);
}

static void
finish(struct line *l)
{

	copy_str(l, "}\n");
	if (log_muted)
		return;
	while (write(log_fd, l->p, l->len) == -1 && errno == EINTR)
		continue;
}

static void message(const char *, const char *, va_list)
    __attribute__((format(printf, 2, 0)));

static void
message(const char *level, const char *fmt, va_list ap)
{
	int saved = errno;
	char msg[MSG_MAX + 4];
	struct line l;

	(void)vsnprintf(msg, sizeof(msg), fmt, ap);
	begin(&l, level);
	add_str(&l, "msg", msg, MSG_MAX);
	finish(&l);
	errno = saved;
}

void
log_err(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("error", fmt, ap);
	va_end(ap);
}

void
log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("warn", fmt, ap);
	va_end(ap);
}

void
log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("info", fmt, ap);
	va_end(ap);
}

static void
add_model(struct line *l, const struct log_access *a)
{

	add_str(l, "model", a->model, WORD_MAX);
	add_str(
	    l, "provider", a->provider != NULL ? a->provider : "", WORD_MAX);
	add(l, ",\"upstream_ms\":%llu", (unsigned long long)a->upstream_ms);
	if (a->counted)
		add(l, ",\"input_tokens\":%llu,\"output_tokens\":%llu",
		    (unsigned long long)a->input,
		    (unsigned long long)a->output);
	add(l, ",\"runs\":%llu", (unsigned long long)a->runs);
}

void
log_access(const struct log_access *a)
{
	struct line l;

	begin(&l, "access");
	add_str(&l, "method", a->method == NULL ? "" : a->method, WORD_MAX);
	add_str(&l, "route", a->route == NULL ? "" : a->route, WORD_MAX);
	add(&l, ",\"status\":%d,\"ms\":%.1f,\"in\":%llu,\"out\":%llu",
	    a->status, a->ms, (unsigned long long)a->bytes_in,
	    (unsigned long long)a->bytes_out);
	add(&l, ",\"key\":%llu%s", (unsigned long long)a->key,
	    a->aborted ? ",\"aborted\":true" : "");
	if (a->workspace != NULL)
		add_str(&l, "workspace", a->workspace, WORD_MAX);
	if (a->user != NULL)
		add_str(&l, "user", a->user, WORD_MAX);
	if (a->model != NULL)
		add_model(&l, a);
	finish(&l);
}
