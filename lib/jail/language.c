#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <linux/openat2.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jget.h"
#include "base/num.h"
#include "base/yamltree.h"

#include "jail/language.h"

#define ARENA_MAX (4U << 20)
#define ROWS_MAX 64
#define WORDS_MAX 64
#define COMPILE_S 10 /* Unless the row says. */

struct languages {
	struct arena *mem;
	struct language row[ROWS_MAX];
	size_t n;
};

/* A table being read. */
struct reader {
	struct languages *L;
	struct language *row;
	struct buf *err;
};

extern const char languages_built_in[];

/* What a value may be. */
static int
is_name(const char *s)
{

	return (*s != '\0' &&
	    s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789+#._-")] == '\0');
}

static int
is_file(const char *s)
{

	return (*s != '\0' && *s != '.' && strlen(s) <= 64 &&
	    strchr(s, '/') == NULL);
}

static int
is_setting(const char *s)
{
	size_t n = strspn(s,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789_");

	return (n > 0 && s[n] == '=' && (*s < '0' || *s > '9'));
}

static int
is_text(const char *s)
{

	return (*s != '\0');
}

/* How a key of a row is read. */
enum form { FORM_TEXT, FORM_TEXTS, FORM_COMMAND, FORM_NUMBER };

/* clang-format off */
static const struct key {
	const char *name;
	enum form form;
	size_t at;
	int (*is)(const char *);
	int needed;
	uint64_t max;
	const char *want;
} keys[] = {
	{ "name", FORM_TEXT, offsetof(struct language, name), is_name, 1, 0,
	    "a name in small letters" },
	{ "aliases", FORM_TEXTS, offsetof(struct language, aliases), is_name,
	    0, 0, "a list of names in small letters" },
	{ "file", FORM_TEXT, offsetof(struct language, file), is_file, 1, 0,
	    "the name of a file, without a directory" },
	{ "compile", FORM_COMMAND, offsetof(struct language, compile), is_text,
	    0, 0, "a list of words, the first an absolute path" },
	{ "run", FORM_COMMAND, offsetof(struct language, run), is_text, 1, 0,
	    "a list of words, the first an absolute path" },
	{ "env", FORM_TEXTS, offsetof(struct language, env), is_setting, 0, 0,
	    "a list of NAME=VALUE" },
	{ "packages", FORM_TEXT, offsetof(struct language, packages), is_text,
	    1, 0, "the Debian packages to install" },
	{ "compile_seconds", FORM_NUMBER, offsetof(struct language, compile_s),
	    NULL, 0, 600, "a number of seconds, 1 to 600" },
	{ "address_space_bytes", FORM_NUMBER, offsetof(struct language, space),
	    NULL, 0, 1ULL << 40, "a number of bytes, at most 1 TiB" },
	{ NULL, 0, 0, NULL, 0, 0, NULL }
};
/* clang-format on */

static int
bad(struct reader *R, const struct key *k)
{

	(void)buf_printf(R->err, "language %s: %s must be %s",
	    R->row->name != NULL ? R->row->name : "without a name", k->name,
	    k->want);
	return (-1);
}

static int
no_memory(struct reader *R)
{

	(void)buf_puts(R->err, "out of memory");
	return (-1);
}

/* The texts of the array ${a}, behind them NULL. */
static int
read_texts(struct reader *R, const struct key *k, json_object *a,
    const char *const **out)
{
	size_t i, n = a != NULL ? json_object_array_length(a) : 0;
	const char **list, *s;
	json_object *v;

	if (n > WORDS_MAX)
		return (bad(R, k));
	if ((list = arena_alloc(R->L->mem, (n + 1) * sizeof(*list))) == NULL)
		return (no_memory(R));
	for (i = 0; i < n; i++) {
		v = json_object_array_get_idx(a, i);
		s = json_object_get_string(v);
		if (!json_object_is_type(v, json_type_string) || !k->is(s))
			return (bad(R, k));
		if ((list[i] = arena_strndup(R->L->mem, s, strlen(s))) == NULL)
			return (no_memory(R));
	}
	if (k->form == FORM_COMMAND && (n > 0 ? list[0][0] != '/' : k->needed))
		return (bad(R, k));
	*out = list;
	return (0);
}

static int
read_text(
    struct reader *R, const struct key *k, const char *s, const char **out)
{

	if (!k->is(s))
		return (bad(R, k));
	*out = arena_strndup(R->L->mem, s, strlen(s));
	return (*out != NULL ? 0 : no_memory(R));
}

/* The value ${v} of the key ${k}; NULL: it is not there. */
static int
read_key(struct reader *R, const struct key *k, json_object *v)
{
	void *field = (char *)R->row + k->at;
	int list = k->form == FORM_TEXTS || k->form == FORM_COMMAND;

	if (v == NULL && k->needed)
		return (bad(R, k));
	if (v != NULL &&
	    !json_object_is_type(v, list ? json_type_array : json_type_string))
		return (bad(R, k));
	if (list)
		return (read_texts(R, k, v, field));
	if (v == NULL)
		return (0);
	if (k->form == FORM_TEXT)
		return (read_text(R, k, json_object_get_string(v), field));
	if (num_u64(json_object_get_string(v), 1, k->max, field))
		return (bad(R, k));
	return (0);
}

/* Is every member of ${o} one that a row has? */
static int
only_known(struct reader *R, json_object *o)
{
	const struct key *k;

	json_object_object_foreach(o, name, v)
	{
		(void)v;
		for (k = keys; k->name != NULL; k++)
			if (strcmp(k->name, name) == 0)
				break;
		if (k->name == NULL) {
			(void)buf_printf(
			    R->err, "%s: a language has no such key", name);
			return (0);
		}
	}
	return (1);
}

/* Nothing may be called as something else is. */
static int
is_new(struct reader *R, const char *name)
{

	if (languages_find(R->L, name) == NULL)
		return (1);
	(void)buf_printf(R->err, "language %s: %s names another one already",
	    R->row->name, name);
	return (0);
}

static int
read_row(struct reader *R, json_object *o)
{
	static const char *const no_more = NULL;
	const char *const *aliases;
	const struct key *k;
	json_object *v;
	size_t i;

	if (!json_object_is_type(o, json_type_object)) {
		(void)buf_puts(R->err, "languages: each begins with - name:");
		return (-1);
	}
	if (!only_known(R, o))
		return (-1);
	R->row->compile_s = COMPILE_S;
	for (k = keys; k->name != NULL; k++) {
		v = NULL;
		(void)json_object_object_get_ex(o, k->name, &v);
		if (read_key(R, k, v))
			return (-1);
	}
	aliases = R->row->aliases;
	R->row->aliases = &no_more;
	if (!is_new(R, R->row->name))
		return (-1);
	/* From here on it is found by its own name. */
	R->L->n++;
	for (i = 0; aliases[i] != NULL; i++)
		if (!is_new(R, aliases[i]))
			return (-1);
	R->row->aliases = aliases;
	return (0);
}

/* The whole table. */
static int
read_all(struct reader *R, json_object *o)
{
	json_object *list;
	size_t i;

	if (!json_object_is_type(o, json_type_object) ||
	    json_object_object_length(o) != 1 ||
	    jget_array(o, "languages", &list) != JGET_OK) {
		(void)buf_puts(R->err,
		    "the file holds a list languages:, and nothing else");
		return (-1);
	}
	if (json_object_array_length(list) > ROWS_MAX) {
		(void)buf_printf(
		    R->err, "languages: more than %d of them", ROWS_MAX);
		return (-1);
	}
	for (i = 0; i < json_object_array_length(list); i++) {
		R->row = &R->L->row[i];
		if (read_row(R, json_object_array_get_idx(list, i)))
			return (-1);
	}
	return (0);
}

struct languages *
languages_read(const char *text, size_t len, struct buf *err)
{
	struct reader R = {.err = err};
	json_object *o;
	int rc;

	if (yamltree_read(text, len, &o, err))
		return (NULL);
	if ((R.L = calloc(1, sizeof(*R.L))) == NULL ||
	    (R.L->mem = arena_new(ARENA_MAX)) == NULL)
		rc = no_memory(&R);
	else
		rc = read_all(&R, o);
	json_object_put(o);
	if (rc == 0)
		return (R.L);
	languages_free(R.L);
	return (NULL);
}

struct languages *
languages_load(const char *path, struct buf *err)
{
	struct languages *L = NULL;
	size_t len;
	char *text;
	FILE *f;

	if (path == NULL)
		return (languages_read(
		    languages_built_in, strlen(languages_built_in), err));
	if ((f = fopen(path, "re")) == NULL) {
		(void)buf_puts(err, strerror(errno));
		return (NULL);
	}
	if ((text = malloc(YAMLTREE_MAX + 1)) == NULL) {
		(void)buf_puts(err, "out of memory");
		goto err1;
	}
	len = fread(text, 1, YAMLTREE_MAX + 1, f);
	if (ferror(f))
		(void)buf_puts(err, "it cannot be read");
	else
		L = languages_read(text, len, err);
	free(text);
err1:
	(void)fclose(f);
	return (L);
}

const struct language *
languages_get(const struct languages *L, size_t i)
{

	return (i < L->n ? &L->row[i] : NULL);
}

const struct language *
languages_find(const struct languages *L, const char *name)
{
	const struct language *row;
	size_t i, k;

	for (i = 0; i < L->n; i++) {
		row = &L->row[i];
		if (strcasecmp(row->name, name) == 0)
			return (row);
		for (k = 0; row->aliases[k] != NULL; k++)
			if (strcasecmp(row->aliases[k], name) == 0)
				return (row);
	}
	return (NULL);
}

/* Is ${path} no program in ${root}?  What is compiled first is not asked. */
static int
is_missing(const char *root, const char *path)
{
	struct open_how how = {
	    .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	struct stat st;
	int dir, fd, rc;

	if (strncmp(path, LANGUAGE_DIR "/", sizeof(LANGUAGE_DIR)) == 0)
		return (0);
	dir =
	    open(*root != '\0' ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1)
		return (1);
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	(void)close(dir);
	if (fd == -1)
		return (1);
	rc = fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (st.st_mode & 0111) == 0;
	(void)close(fd);
	return (rc);
}

const char *
language_absent(const struct language *l, const char *root)
{

	if (l->compile[0] != NULL && is_missing(root, l->compile[0]))
		return (l->compile[0]);
	return (is_missing(root, l->run[0]) ? l->run[0] : NULL);
}

void
languages_free(struct languages *L)
{

	if (L == NULL)
		return;
	arena_free(L->mem);
	free(L);
}
