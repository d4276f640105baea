#ifndef BASE_LOG_H_
#define BASE_LOG_H_

#include <stdint.h>

/*
 * The log: one JSON object a line on standard error, or in the file given to
 * log_open().  Every line carries the time, the level, the program and, inside
 * a request, the request's id.  Never log a key, a token, a body or a file's
 * content.  Safe from any thread; a line is one write().
 */

/**
 * log_open(program, path):
 * Name the program whose lines these are, and append them to ${path}, or write
 * them to standard error if ${path} is NULL or empty; from now on nothing goes
 * where they went before.  Return 0; or -1 after saying why, where they went
 * before, to which they go on.
 */
int log_open(const char *, const char *);

/**
 * log_mute(on):
 * From now on write no lines, or write them again: for a program that says
 * itself what its calls come to.
 */
void log_mute(int);

/**
 * log_request(id):
 * From now on this thread's lines carry the request id ${id}, which must stay
 * valid; NULL ends that.
 */
void log_request(const char *);

/**
 * log_request_id():
 * That id, or NULL.
 */
const char *log_request_id(void);

/**
 * log_err(fmt, ...), log_warn(fmt, ...), log_info(fmt, ...):
 * Write one line with the formatted text as "msg", cut at 1,000 bytes.
 */
void log_err(const char *, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *, ...) __attribute__((format(printf, 1, 2)));

/* What an access line says of a finished request. */
struct log_access {
	const char *method;
	const char *route; /* The pattern, never the path itself. */
	int status;
	double ms;
	uint64_t bytes_in, bytes_out;
	uint64_t key; /* Row id of the key; 0 = none. */
	int aborted;  /* The client left first. */

	/* Whose request it was; NULL: not known. */
	const char *workspace, *user;

	/* Of a model request, else NULL and 0. */
	const char *model, *provider;
	uint64_t upstream_ms; /* That the provider took, in all. */
	int counted;          /* The tokens are known. */
	uint64_t input, output, runs;
};

/**
 * log_access(a):
 * Write the "access" line of a request.
 */
void log_access(const struct log_access *);

#endif /* !BASE_LOG_H_ */
