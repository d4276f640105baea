#ifndef JAIL_LANGUAGE_H_
#define JAIL_LANGUAGE_H_

#include <stddef.h>
#include <stdint.h>

/* Opaque type. */
struct buf;

/*
 * The programming languages that a sandbox runs: the rows of languages.yml.
 * A program's source is put as ${file} into LANGUAGE_DIR, which no workspace
 * holds; ${compile}, if there is one, runs there, and then ${run} in the
 * workspace, with the caller's arguments behind it.
 */

#define LANGUAGE_DIR "/tmp/program"

struct language {
	const char *name, *file;
	const char *const *aliases, *const *compile, *const *run;
	const char *const *env; /* NAME=VALUE; as the others it ends with NULL,
				 * and has nothing before that if left out. */
	const char *packages;   /* Debian's; for who installs. */
	uint64_t compile_s;     /* Time to compile. */
	uint64_t space;         /* Bytes of address space it needs to start. */
};

/* Opaque type: a table of them. */
struct languages;

/**
 * languages_read(text, len, err):
 * Read the table of the ${len} bytes of YAML at ${text}.  Return NULL with one
 * line in ${err} if anything in it is not as conf/languages.yml explains.
 */
struct languages *languages_read(const char *, size_t, struct buf *);

/**
 * languages_load(path, err):
 * Read the file ${path} likewise; NULL stands for the table these programs were
 * built with, conf/languages.yml.
 */
struct languages *languages_load(const char *, struct buf *);

/**
 * languages_get(L, i):
 * The row numbered ${i} from 0, or NULL behind the last.
 */
const struct language *languages_get(const struct languages *, size_t);

/**
 * languages_find(L, name):
 * The row that ${name}, whatever its letter case, names or is an alias of, or
 * NULL.
 */
const struct language *languages_find(const struct languages *, const char *);

/**
 * language_absent(lang, root):
 * The program that ${lang} needs and the tree ${root} ("" for the machine's
 * own) has not got; or NULL if all are there.
 */
const char *language_absent(const struct language *, const char *);

/**
 * languages_free(L):
 * Free ${L} with its rows.  NULL is allowed.
 */
void languages_free(struct languages *);

#endif /* !JAIL_LANGUAGE_H_ */
