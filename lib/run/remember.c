#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/conf.h"
#include "base/jget.h"
#include "base/jput.h"
#include "base/log.h"
#include "base/utf8.h"

#include "data/caller.h"
#include "data/code_call.h"

#include "speech/outcome.h"

#include "run/our_call.h"
#include "run/remember.h"

#define INPUT_MAX 262144
#define OUT_MAX 65536
#define FACTS_MAX 262144
#define FILES_MAX 100
#define AFTER_MS 86400000 /* Kept so long after the container's end. */

/* The numbers of an outcome, by the names that a row has for them. */
/* clang-format off */
#define SIZE(f) sizeof(((struct outcome *)0)->f)
#define FACT(f) { #f, offsetof(struct outcome, f), SIZE(f) }
static const struct fact {
	const char *name;
	size_t at, size;
} numbers[] = {
	FACT(code), FACT(over_count), FACT(over_bytes), FACT(empty),
	FACT(failed), FACT(timeout_s), FACT(lost), FACT(start), FACT(lines),
	FACT(total), FACT(new_start), FACT(new_lines), FACT(update),
};
/* clang-format on */
#define NNUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* ---- Writing */

static uint64_t
get_number(const struct outcome *o, const struct fact *f)
{
	uint64_t wide = 0;
	unsigned int narrow = 0;

	if (f->size == sizeof(wide)) {
		memcpy(&wide, (const char *)o + f->at, sizeof(wide));
		return (wide);
	}
	memcpy(&narrow, (const char *)o + f->at, sizeof(narrow));
	return (narrow);
}

static int
put_facts(struct buf *b, const struct outcome *o)
{
	const struct outcome_file *f;
	size_t i, n = 0;

	buf_puts(b, "{");
	for (i = 0; i < NNUMBERS; i++)
		buf_printf(b, "\"%s\":%llu,", numbers[i].name,
		    (unsigned long long)get_number(o, &numbers[i]));
	buf_puts(b, "\"message\":");
	if (o->message != NULL)
		jput_str(b, o->message);
	else
		buf_puts(b, "null");
	buf_puts(b, ",\"files\":[");
	for (f = o->files; f != NULL && n < FILES_MAX; f = f->next) {
		buf_puts(b, n++ > 0 ? ",{\"id\":" : "{\"id\":");
		jput_str(b, f->id);
		buf_puts(b, ",\"path\":");
		jput_str(b, f->path != NULL ? f->path : "");
		buf_printf(b, ",\"bytes\":%llu}", (unsigned long long)f->bytes);
	}
	return (buf_puts(b, "]}"));
}

/* What a stream said, or its two ends: whole characters and no NULs. */
static int
put_stream(struct buf *b, struct text x, const struct gap *g)
{
	struct buf ends = BUF_INIT(2 * OUT_MAX);
	struct buf clean = BUF_INIT(6 * OUT_MAX);
	size_t i;
	int rc = -1;

	(void)ends_put(&ends, x.p != NULL ? x.p : "", x.len, g, OUT_MAX, NULL);
	if (buf_ok(&ends) &&
	    utf8_scrub(&clean, ends.p != NULL ? ends.p : "", ends.len) == 0) {
		for (i = 0; i < clean.len; i++)
			if (clean.p[i] == '\0')
				clean.p[i] = ' ';
		buf_put(b, clean.p, clean.len);
		rc = buf_put(b, "", 1);
	}
	buf_free(&clean);
	buf_free(&ends);
	return (rc);
}

void
remember_put(const struct run_env *env, const char *container, const char *id,
    uint64_t nth, const struct call *c, const struct outcome *o)
{
	const uint64_t now = env->caller->now;
	struct buf facts = BUF_INIT(FACTS_MAX), input = BUF_INIT(INPUT_MAX + 1);
	struct buf out = BUF_INIT(4 * OUT_MAX), err = BUF_INIT(4 * OUT_MAX);
	struct code_call row = {.id = id,
	    .nth = nth,
	    .container = container,
	    .tool = (uint64_t)o->tool,
	    .kind = (uint64_t)o->kind};

	/* What is too long to be kept whole is no call any more. */
	if (c->bad || c->args.len > INPUT_MAX)
		buf_puts(&input, "{}");
	else
		buf_put(&input, c->args.p, c->args.len);
	buf_put(&input, "", 1);
	put_facts(&facts, o);
	buf_put(&facts, "", 1);
	put_stream(&out, o->out, &o->out_gap);
	put_stream(&err, o->err, &o->err_gap);
	if (buf_ok(&facts) && buf_ok(&input) && buf_ok(&out) && buf_ok(&err)) {
		row.input = input.p;
		row.facts = facts.p;
		row.out = out.p;
		row.err = err.p;
		(void)code_call_put(env->db, &env->caller->owner, &row, now,
		    now + env->conf->sandbox_lifetime_s * 1000 + AFTER_MS);
	} else
		log_warn("call %s is not kept: it is too large", id);
	buf_free(&facts);
	buf_free(&input);
	buf_free(&out);
	buf_free(&err);
}

/* ---- Reading */

static void
set_number(struct outcome *o, const struct fact *f, uint64_t n)
{
	const unsigned int narrow = (unsigned int)n;

	if (f->size == sizeof(n))
		memcpy((char *)o + f->at, &n, sizeof(n));
	else
		memcpy((char *)o + f->at, &narrow, sizeof(narrow));
}

static const char *
keep(const struct run_env *env, const char *s)
{

	return (arena_strndup(env->mem, s, strlen(s)));
}

static int
take_file(const struct run_env *env, json_object *v, struct outcome *o)
{
	const char *id, *path;
	struct outcome_file *f;

	if ((f = arena_alloc(env->mem, sizeof(*f))) == NULL)
		return (-1);
	*f = (struct outcome_file){0};
	if (jget_str(v, "id", &id) != JGET_OK ||
	    jget_str(v, "path", &path) != JGET_OK ||
	    jget_u64(v, "bytes", 0, INT64_MAX, &f->bytes) != JGET_OK ||
	    (f->id = keep(env, id)) == NULL)
		return (-1);
	if (*path != '\0')
		f->path = keep(env, path);
	*o->files_end = f;
	o->files_end = &f->next;
	return (0);
}

static int
take_facts(const struct run_env *env, json_object *facts, struct outcome *o)
{
	const char *message;
	json_object *files;
	uint64_t n;
	size_t i;

	for (i = 0; i < NNUMBERS; i++)
		if (jget_u64(facts, numbers[i].name, 0, INT64_MAX, &n) ==
		    JGET_OK)
			set_number(o, &numbers[i], n);
	if (jget_str(facts, "message", &message) == JGET_OK)
		o->message = keep(env, message);
	if (jget_array(facts, "files", &files) != JGET_OK)
		return (-1);
	for (i = 0; i < json_object_array_length(files); i++)
		if (take_file(env, json_object_array_get_idx(files, i), o))
			return (-1);
	return (0);
}

static int
read_row(const struct run_env *env, const struct code_call *row, struct call *c,
    struct outcome *o)
{
	json_object *facts = NULL;
	size_t at;
	int rc = -1;

	if (row->tool >= OUR_COUNT || row->kind > OUTCOME_REPLACE)
		return (-1);
	*o = (struct outcome){.tool = (enum our_tool)row->tool,
	    .kind = (enum outcome_kind)row->kind,
	    .out = {row->out, strlen(row->out)},
	    .err = {row->err, strlen(row->err)},
	    .files_end = &o->files};
	if (jget_parse(row->facts, strlen(row->facts), &facts, &at) ==
		JGET_PARSE_OK &&
	    json_object_is_type(facts, json_type_object))
		rc = take_facts(env, facts, o);
	json_object_put(facts);
	if (rc == 0 && c != NULL)
		*c = (struct call){
		    .tool = o->tool, .args = {row->input, strlen(row->input)}};
	return (rc);
}

int
remember_find(const struct run_env *env, const char *id, uint64_t nth,
    struct call *c, struct outcome *o)
{
	struct code_call row;

	switch (code_call_find(env->db, env->mem, &env->caller->owner, id, nth,
	    env->caller->now, &row)) {
	case DATA_OK:
		break;
	case DATA_NONE:
		return (0);
	default:
		return (-1);
	}
	if (read_row(env, &row, c, o) == 0)
		return (1);
	log_err("call %.128s: bad row", id);
	return (-1);
}
