#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#include "jail/language.h"
#include "jail/plain.h"
#include "jail/program.h"
#include "jail/python.h"
#include "jail/words.h"

#define WORDS_MAX 2048
#define TREE_FDS 16
#define ADAPT "sitecustomize.py" /* What Python runs before a program. */

/* One program and how it is to be run. */
struct program {
	struct call *c;
	const struct msg *m;
	char **compile, **run, **env;
	size_t ncompile, nrun, nenv;
	size_t keep;                /* Bytes of each stream. */
	char dir[LIMITS_PATH + 16]; /* LANGUAGE_DIR, as it is called here. */
};

static int
remove_one(const char *path, const struct stat *st, int what, struct FTW *f)
{

	(void)st;
	(void)what;
	(void)f;
	(void)remove(path);
	return (0);
}

/*
 * Nothing of an earlier program stays.  No guest runs now, so nobody is in our
 * way; one that has made what cannot be removed has it moved aside.
 */
static void
clear_dir(const struct program *P)
{
	char aside[sizeof(P->dir) + 8];

	(void)snprintf(aside, sizeof(aside), "%s.XXXXXX", P->dir);
	(void)nftw(P->dir, remove_one, TREE_FDS, FTW_DEPTH | FTW_PHYS);
	if (access(P->dir, F_OK) == 0 && mkdtemp(aside) != NULL)
		(void)rename(P->dir, aside);
}

static int
make_dir(const struct program *P)
{

	clear_dir(P);
	if (mkdir(P->dir, 0700))
		return (-1);
	return (open(P->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

static int
put_file(int dir, const char *name, const char *text, size_t len)
{
	ssize_t n;
	int fd;

	if ((fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		 0600)) == -1)
		return (-1);
	for (; len > 0; text += n, len -= (size_t)n)
		if ((n = write(fd, text, len)) <= 0)
			break;
	if (close(fd) || len > 0)
		return (-1);
	return (0);
}

static int
is_python(const struct program *P)
{

	return (strcmp(P->run[0], PYTHON) == 0);
}

/* Is it a script that the interpreter of the jail, if it has one, can run? */
static int
is_script(const struct program *P)
{

	return (P->c->J->interpreter != NULL && P->nrun > 2 && is_python(P) &&
	    strcmp(P->run[1], "-u") == 0 && P->run[2][0] == '/');
}

/* Run ${argv} in ${dir} (-1: the workspace), ${asks} being its descriptor 3. */
static void
step(struct program *P, char **argv, int dir, int asks, int ctl)
{
	const struct guest_how how = {
	    .path = argv == P->run && is_script(P) ? NULL : argv[0],
	    .argv = argv,
	    .env = P->env,
	    .lim = &P->c->lim,
	    .dir = dir,
	    .extra = asks,
	    .ctl = ctl};

	out_limit(&P->c->out, P->keep);
	out_limit(&P->c->err, P->keep);
	call_guest(P->c, &how);
}

/* Run the program itself, and hear what it asks for if that is wanted. */
static int
run(struct program *P)
{
	int fd[2];

	if (P->c->calls == NULL) {
		step(P, P->run, -1, -1, -1);
		return (0);
	}
	if (pipe2(fd, O_CLOEXEC))
		return (-1);
	if (fcntl(fd[0], F_SETFL, O_NONBLOCK)) {
		(void)close(fd[0]);
		(void)close(fd[1]);
		return (-1);
	}
	step(P, P->run, -1, fd[1], fd[0]);
	return (0);
}

/* Forget what a successful compiler has said. */
static void
forget(struct call *c)
{
	static const struct out none = OUT_INIT;

	out_free(&c->out);
	out_free(&c->err);
	c->out = c->err = none;
}

/* Did the compiler run, and say that all is well? */
static int
compile(struct program *P, int dir, uint64_t ends)
{
	struct call *c = P->c;
	const uint64_t deadline = c->deadline, limit_s = c->limit_s;
	struct calls *const calls = c->calls;
	struct buf *const wire = c->wire;
	uint64_t began = clock_ms();

	c->limit_s = msg_get_num(P->m, MSG_COMPILE_LIMIT, 0);
	c->deadline = began + c->limit_s * 1000;
	if (c->deadline > ends)
		c->deadline = ends;
	c->calls = NULL;
	c->wire = NULL; /* Nobody needs to know unless it fails. */
	step(P, P->compile, dir, -1, -1);
	c->calls = calls;
	c->wire = wire;
	if (c->end != CALL_ENDED || c->code != 0)
		return (0);
	forget(c);
	c->limit_s = limit_s;
	c->deadline = deadline + (clock_ms() - began);
	if (c->deadline > ends)
		c->deadline = ends;
	return (1);
}

static enum reply
run_in(struct program *P, uint64_t ends, enum program_stage *stage)
{
	const char *text = msg_get(P->m, MSG_TEXT);
	enum reply rc = REPLY_OK;
	int dir;

	if ((dir = make_dir(P)) == -1)
		return (REPLY_FULL);
	if (put_file(dir, msg_get(P->m, MSG_PATH), text, strlen(text)) ||
	    (is_python(P) &&
		put_file(dir, ADAPT, python_adapt, strlen(python_adapt)))) {
		rc = REPLY_FULL;
	} else {
		*stage = PROGRAM_COMPILED;
		if (P->ncompile == 0 || compile(P, dir, ends)) {
			*stage = PROGRAM_RAN;
			if (run(P))
				rc = REPLY_FAIL;
		}
	}
	(void)close(dir);
	clear_dir(P);
	return (rc);
}

/* Where the session has no root of its own, its files have other paths. */
static void
settle(struct program *P)
{
	const struct jail *J = P->c->J;

	(void)snprintf(P->dir, sizeof(P->dir), "%s", LANGUAGE_DIR);
	if (J->rules == -1)
		return;
	(void)snprintf(P->dir, sizeof(P->dir), "%s%s", J->land.tmp,
	    &LANGUAGE_DIR[sizeof("/tmp") - 1]);
	P->compile = plain_words(&J->land, P->compile, P->ncompile);
	P->run = plain_words(&J->land, P->run, P->nrun);
	P->env = plain_words(&J->land, P->env, P->nenv);
}

/* A lower limit than the session's. */
static uint64_t
lower(const struct msg *m, enum msg_key key, uint64_t limit)
{
	uint64_t n = msg_get_num(m, key, limit);

	return (n < limit ? n : limit);
}

enum reply
program_run(struct call *c, const struct msg *m, uint64_t ends,
    enum program_stage *stage)
{
	struct program P = {.c = c, .m = m};
	const char *name = msg_get(m, MSG_PATH);
	enum reply rc = REPLY_BAD;

	c->lim.memory = lower(m, MSG_MEMORY, c->lim.memory);
	if (c->lim.address == 0)
		c->lim.address = c->lim.memory * 16;
	if (c->lim.address < msg_get_num(m, MSG_SPACE, 0))
		c->lim.address = msg_get_num(m, MSG_SPACE, 0);
	P.keep = lower(m, MSG_KEEP, LIMIT_OUTPUT);
	P.compile = words_read(msg_get(m, MSG_COMPILE), WORDS_MAX, &P.ncompile);
	P.run = words_read(msg_get(m, MSG_RUN), WORDS_MAX, &P.nrun);
	P.env = words_read(msg_get(m, MSG_ENV), WORDS_MAX, &P.nenv);
	if (P.compile != NULL && P.run != NULL && P.env != NULL)
		settle(&P);
	if (P.compile != NULL && P.run != NULL && P.env != NULL && P.nrun > 0 &&
	    name != NULL && strchr(name, '/') == NULL &&
	    msg_get(m, MSG_TEXT) != NULL)
		rc = run_in(&P, ends, stage);
	free(P.compile);
	free(P.run);
	free(P.env);
	return (rc);
}
