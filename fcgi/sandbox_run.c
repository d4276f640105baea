#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/jget.h"
#include "base/log.h"

#include "jail/language.h"
#include "jail/words.h"

#include "fcgi/sandbox_exec.h"

/* What the extensions "run", "manifest" and "calls" ask for. */

#define SOURCE_MAX (1U << 20) /* Bytes. */
#define ARGS_MAX 512          /* Arguments, */
#define ARGS_BYTES 100000U    /* and bytes of all of them. */
#define ENV_MAX 128           /* Variables, */
#define ENV_BYTES 100000U     /* likewise. */
#define COMPILE_MAX_S 600     /* Time to compile, at most. */
#define MEMORY_MIN (8U << 20) /* Bytes; with less hardly anything starts. */
#define SETTLE_MS 250         /* Its tool calls are complete after so long. */
#define SETTLE_MAX_MS 10000
#define INPUTS_MAX 10000        /* Files in a manifest, */
#define INPUTS_BYTES (3U << 20) /* and bytes of what it says of them. */

/* Append the texts of ${list}, which ends with NULL, as words. */
static void
put_words(struct buf *b, const char *const *list)
{

	for (; *list != NULL; list++)
		(void)words_put(b, *list, strlen(*list));
}

/* Append ${words} under ${key} to what is asked, and free them. */
static void
ask_words(struct exec *e, enum msg_key key, struct buf *words)
{

	if (!buf_ok(words))
		e->ask.spoiled = 1;
	else
		(void)msg_text(
		    &e->ask, key, words->len > 0 ? words->p : "", words->len);
	buf_free(words);
}

static int
read_language(struct exec *e, const struct language **lang)
{
	const char *name, *lacking;

	if (jget_str(e->input, "language", &name) != JGET_OK)
		return (exec_refuse(e, "input.language is needed, a text"));
	*lang = languages_find(e->r->srv->languages, name);
	if (*lang == NULL) {
		(void)sbx_fail(e->r, 422, "language_unknown",
		    "input.language: %.64s is none that this sandbox knows;"
		    " GET /health lists them",
		    name);
		return (-1);
	}
	if ((lacking = language_absent(*lang, e->r->srv->limits.rootfs)) !=
	    NULL) {
		(void)sbx_fail(e->r, 422, "language_absent",
		    "%.64s is not installed on this host (Debian: %s)", name,
		    (*lang)->packages);
		log_warn("sandbox: %s is not installed: there is no %s (Debian:"
			 " %s)",
		    (*lang)->name, lacking, (*lang)->packages);
		return (-1);
	}
	return (0);
}

/* The source, and where it goes. */
static int
read_source(struct exec *e, const struct language *lang)
{
	const char *text;

	switch (jget_str(e->input, "source", &text)) {
	case JGET_OK:
		break;
	case JGET_RANGE:
		return (exec_refuse(e, "input.source holds a NUL"));
	default:
		return (exec_refuse(e, "input.source is needed, a text"));
	}
	if (*text == '\0')
		return (exec_refuse(e, "input.source is empty"));
	if (strlen(text) > SOURCE_MAX)
		return (exec_refuse(e, "input.source is longer than 1 MiB"));
	(void)msg_text(&e->ask, MSG_TEXT, text, strlen(text));
	(void)msg_text(&e->ask, MSG_PATH, lang->file, strlen(lang->file));
	return (0);
}

/* The commands, the caller's arguments behind the second. */
static int
read_args(struct exec *e, const struct language *lang)
{
	static const char what[] =
	    "input.args is a list of at most 512 texts without NUL, 100000"
	    " bytes in all";
	struct buf compile = BUF_INIT(65536),
		   run = BUF_INIT(ARGS_BYTES + 65536);
	json_object *list = NULL, *v;
	enum jget got = jget_array(e->input, "args", &list);
	size_t i, n = 0, bytes = 0, len;

	if (got == JGET_OK)
		n = json_object_array_length(list);
	else if (got != JGET_ABSENT && got != JGET_NULL)
		return (exec_refuse(e, "%s", what));
	put_words(&compile, lang->compile);
	ask_words(e, MSG_COMPILE, &compile);
	put_words(&run, lang->run);
	for (i = 0; i < n && n <= ARGS_MAX; i++) {
		v = json_object_array_get_idx(list, i);
		len = (size_t)json_object_get_string_len(v);
		bytes += len;
		if (!json_object_is_type(v, json_type_string) ||
		    strlen(json_object_get_string(v)) != len ||
		    bytes > ARGS_BYTES)
			break;
		(void)words_put(&run, json_object_get_string(v), len);
	}
	if (i < n) {
		buf_free(&run);
		return (exec_refuse(e, "%s", what));
	}
	ask_words(e, MSG_RUN, &run);
	return (0);
}

/* May a program's environment have ${name}=${v}? */
static int
is_variable(const char *name, json_object *v)
{
	const char *s;

	if (*name == '\0' || (*name >= '0' && *name <= '9') ||
	    name[strspn(name,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_")] != '\0' ||
	    !json_object_is_type(v, json_type_string))
		return (0);
	s = json_object_get_string(v);
	return (strlen(s) == (size_t)json_object_get_string_len(v));
}

static int
read_env(struct exec *e, const struct language *lang)
{
	struct buf words = BUF_INIT(2 * ENV_BYTES), one = BUF_INIT(ENV_BYTES);
	json_object *o = NULL;
	enum jget got = jget_object(e->input, "env", &o);
	size_t bytes = 0;
	int bad = got != JGET_OK && got != JGET_ABSENT && got != JGET_NULL;

	put_words(&words, lang->env);
	if (got == JGET_OK) {
		bad = json_object_object_length(o) > ENV_MAX;
		json_object_object_foreach(o, name, v)
		{
			if (bad || (bad = !is_variable(name, v)))
				break;
			buf_drop(&one, one.len);
			(void)buf_puts(&one, name);
			(void)buf_puts(&one, "=");
			(void)buf_puts(&one, json_object_get_string(v));
			bytes += one.len;
			bad = !buf_ok(&one) || bytes > ENV_BYTES ||
			    words_put(&words, one.p, one.len);
		}
	}
	buf_free(&one);
	if (bad) {
		buf_free(&words);
		return (exec_refuse(e,
		    "input.env is an object of at most 128 names and texts"
		    " without NUL, 100000 bytes in all"));
	}
	ask_words(e, MSG_ENV, &words);
	return (0);
}

/* The number under ${key}, at least ${min}; what is above ${max} becomes so. */
static int
read_limit(
    struct exec *e, const char *key, uint64_t min, uint64_t max, uint64_t *n)
{

	switch (jget_u64(e->input, key, min, UINT64_MAX - 1, n)) {
	case JGET_OK:
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		return (0);
	default:
		return (
		    exec_refuse(e, "input.%s is a whole number, at least %ju",
			key, (uintmax_t)min));
	}
	if (*n > max)
		*n = max;
	return (0);
}

static int
read_limits(struct exec *e, const struct language *lang)
{
	uint64_t memory = e->r->srv->limits.memory, keep = LIMIT_OUTPUT;

	e->compile_s = lang->compile_s;
	if (read_limit(e, "compile_timeout_seconds", 1, COMPILE_MAX_S,
		&e->compile_s) ||
	    read_limit(e, "memory_bytes", MEMORY_MIN, memory, &memory) ||
	    read_limit(e, "output_bytes", 1, LIMIT_OUTPUT, &keep))
		return (-1);
	(void)msg_num(&e->ask, MSG_COMPILE_LIMIT, e->compile_s);
	(void)msg_num(&e->ask, MSG_MEMORY, memory);
	(void)msg_num(&e->ask, MSG_SPACE, lang->space);
	(void)msg_num(&e->ask, MSG_KEEP, keep);
	if (lang->compile[0] == NULL)
		e->compile_s = 0;
	return (0);
}

/* Whether its tool calls are wanted: {"settle_ms": ...}. */
static int
read_calls(struct exec *e)
{
	uint64_t ms = SETTLE_MS;
	json_object *o;

	switch (jget_object(e->input, "calls", &o)) {
	case JGET_OK:
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		return (0);
	default:
		return (exec_refuse(e, "input.calls is an object"));
	}
	switch (jget_u64(o, "settle_ms", 1, SETTLE_MAX_MS, &ms)) {
	case JGET_OK:
	case JGET_ABSENT:
	case JGET_NULL:
		break;
	default:
		return (exec_refuse(e,
		    "input.calls.settle_ms is a whole number, 1 to %d",
		    SETTLE_MAX_MS));
	}
	e->calls = 1;
	(void)msg_num(&e->ask, MSG_SETTLE, ms);
	return (0);
}

int
exec_read_run(struct exec *e)
{
	const struct language *lang = NULL;

	(void)msg_num(&e->ask, MSG_OP, OP_RUN);
	if (read_language(e, &lang) || read_source(e, lang) ||
	    read_args(e, lang) || read_env(e, lang) || read_limits(e, lang) ||
	    read_calls(e))
		return (-1);
	return (0);
}

/* One file of a manifest. */
static int
read_input(json_object *o, struct buf *words)
{
	const char *path, *sha;
	int read_only = 0;
	enum jget got;

	if (!json_object_is_type(o, json_type_object) ||
	    jget_str(o, "path", &path) != JGET_OK || *path == '\0' ||
	    jget_str(o, "sha256", &sha) != JGET_OK ||
	    strlen(sha) != HASH_SHA256_HEX ||
	    strspn(sha, "0123456789abcdef") != HASH_SHA256_HEX)
		return (-1);
	got = jget_bool(o, "read_only", &read_only);
	if (got != JGET_OK && got != JGET_ABSENT && got != JGET_NULL)
		return (-1);
	if (words_put(words, path, strlen(path)) ||
	    words_put(words, read_only ? "r" : "w", 1) ||
	    words_put(words, sha, HASH_SHA256_HEX))
		return (-1);
	return (0);
}

int
exec_read_manifest(struct exec *e)
{
	struct buf words = BUF_INIT(INPUTS_BYTES);
	json_object *o, *list = NULL;
	size_t i, n = 0;

	switch (jget_object(e->body, "manifest", &o)) {
	case JGET_OK:
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		return (0);
	default:
		return (exec_refuse(e, "manifest is an object"));
	}
	e->manifest = 1;
	switch (jget_array(o, "inputs", &list)) {
	case JGET_OK:
		n = json_object_array_length(list);
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		break;
	default:
		return (exec_refuse(e, "manifest.inputs is a list"));
	}
	for (i = 0; i < n && n <= INPUTS_MAX; i++)
		if (read_input(json_object_array_get_idx(list, i), &words))
			break;
	if (i < n) {
		buf_free(&words);
		return (exec_refuse(e,
		    "manifest.inputs[%zu] is {path, sha256 in small hex,"
		    " read_only}; there may be %d, 3 MiB in all",
		    i, INPUTS_MAX));
	}
	ask_words(e, MSG_INPUTS, &words);
	return (0);
}
