#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf_row.h"
#include "base/log.h"
#include "base/yamlplain.h"

/* Mappings and lists inside each other. */
#define DEPTH_MAX 6

/* One key that the file has given, by its whole name. */
struct seen {
	char name[CONF_NAMEMAX + 32];
	size_t line;
};

/* A file being read. */
struct reader {
	struct conf_in in;
	yaml_parser_t ps;
	yaml_event_t ev;
	int have; /* ev must be deleted. */
	int depth;
	const char *text; /* All of it, for conf_broken(). */
	size_t len;
	struct seen *seen;
	size_t nseen;
	char last[CONF_NAMEMAX]; /* The key read last, for YAML's own errors. */
};

static int read_map(struct reader *, const struct scope *, const char *);

/* Text that one line can show: no control characters. */
static int
printable(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return (0);
	return (1);
}

/* Refuse what YAML has and settings need not. */
static int
plain_event(struct reader *R)
{
	const char *odd = yaml_odd(&R->ev);

	return (odd != NULL ? conf_fail(&R->in, NULL, R->last, "%s", odd) : 0);
}

/* Take the next event. */
static int
next(struct reader *R)
{

	if (R->have)
		yaml_event_delete(&R->ev);
	R->have = 0;
	if (!yaml_parser_parse(&R->ps, &R->ev))
		return (conf_broken(&R->in, R->last, &R->ps, R->text, R->len));
	R->have = 1;
	R->in.line = R->ev.start_mark.line + 1;
	return (plain_event(R));
}

/* The event's text, or NULL after saying what is wrong with it. */
static const char *
scalar(struct reader *R, const struct scope *s, const char *key)
{
	const char *v = (const char *)R->ev.data.scalar.value;
	const size_t line = R->ev.end_mark.line + 1;

	if (R->ev.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	    line > R->in.line) {
		conf_fail(&R->in, s, key,
		    "the value goes on until line %zu, which is indented "
		    "deeper; indent the keys of a group alike",
		    line);
		return (NULL);
	}
	if (!printable(v, R->ev.data.scalar.length)) {
		conf_fail(&R->in, s, key,
		    "the value has a control character or a line break");
		return (NULL);
	}
	if (*v == '\0' && R->ev.data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
		conf_fail(&R->in, s, key,
		    "has no value; an empty one is written \"\"");
		return (NULL);
	}
	return (v);
}

/* Read the event as a key below ${group} into ${name}. */
static int
read_key(struct reader *R, const struct scope *s, const char *group,
    char name[static CONF_NAMEMAX])
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	const char *k;

	if (R->ev.type != YAML_SCALAR_EVENT)
		return (conf_fail(&R->in, s, group,
		    "expected KEY: VALUE here, not a group or a list"));
	k = (const char *)R->ev.data.scalar.value;
	if (*k == '\0' || k[strspn(k, fine)] != '\0' ||
	    R->ev.data.scalar.length >= CONF_NAMEMAX ||
	    snprintf(name, CONF_NAMEMAX, "%s%s%s", group,
		*group == '\0' ? "" : ".", k) >= CONF_NAMEMAX)
		return (conf_fail(&R->in, s, group,
		    "a key here is not the name of any setting"));
	memcpy(R->last, name, CONF_NAMEMAX);
	return (0);
}

/* Note that the file gives ${name}, once. */
static int
once(struct reader *R, const struct scope *s, const char *name)
{
	char base[CONF_NAMEMAX], whole[sizeof(R->seen->name)];
	size_t i;

	conf_base(s, name, base);
	(void)snprintf(whole, sizeof(whole), "%s%s", s->prefix, base);
	for (i = 0; i < R->nseen; i++)
		if (strcmp(R->seen[i].name, whole) == 0)
			return (conf_fail(&R->in, s, name,
			    "is given twice, first on line %zu; keep one",
			    R->seen[i].line));
	if (R->nseen == CONF_KEYSMAX)
		return (conf_fail(&R->in, s, name, "too many keys"));
	memcpy(R->seen[i].name, whole, sizeof(whole));
	R->seen[i].line = R->in.line;
	R->nseen++;
	return (0);
}

/* Read the items of a list of texts, the event being its start. */
static int
read_texts(struct reader *R, const struct scope *s, const char *name)
{
	const char *v;

	for (;;) {
		if (next(R))
			return (-1);
		if (R->ev.type == YAML_SEQUENCE_END_EVENT)
			return (0);
		if (R->ev.type != YAML_SCALAR_EVENT)
			return (conf_fail(
			    &R->in, s, name, "every item must be a text"));
		if ((v = scalar(R, s, name)) == NULL ||
		    conf_put(&R->in, s, name, v))
			return (-1);
	}
}

/* Read the list of providers, the event being its start. */
static int
read_providers(struct reader *R, const struct scope *s, const char *name)
{
	struct scope p;

	conf_drop_providers(R->in.c);
	for (;;) {
		if (next(R))
			return (-1);
		if (R->ev.type == YAML_SEQUENCE_END_EVENT)
			return (0);
		if (R->ev.type != YAML_MAPPING_START_EVENT)
			return (conf_fail(&R->in, s, name,
			    "every item must be a group that begins with "
			    "name:"));
		if (conf_new_provider(R->in.c))
			return (conf_fail(&R->in, s, name,
			    "no room for more than %d", CONF_PROVIDERS));
		p = conf_provider_scope(R->in.c, R->in.c->nproviders - 1);
		if (read_map(R, &p, ""))
			return (-1);
	}
}

/* Read the list that is the value of ${name}. */
static int
read_list(struct reader *R, const struct scope *s, const char *name)
{
	const struct row *r = conf_row(s, name);

	if (r != NULL && conf_takes_list(r))
		return (read_texts(R, s, name));
	if (r != NULL && r->kind == &conf_providers)
		return (read_providers(R, s, name));
	/* Whatever it is, it takes no list: let its kind say what. */
	return (conf_put(&R->in, s, name, "[...]")
		? -1
		: conf_fail(&R->in, s, name, "takes no list"));
}

/* Read the value of ${name}, the event being its start. */
static int
read_value(struct reader *R, const struct scope *s, const char *name)
{
	const char *v;

	switch (R->ev.type) {
	case YAML_SCALAR_EVENT:
		if ((v = scalar(R, s, name)) == NULL)
			return (-1);
		return (conf_put(&R->in, s, name, v));
	case YAML_SEQUENCE_START_EVENT:
		return (read_list(R, s, name));
	case YAML_MAPPING_START_EVENT:
		if (conf_group(s, name))
			return (read_map(R, s, name));
		if (conf_row(s, name) == NULL)
			return (conf_unknown(&R->in, s, name));
		return (conf_fail(&R->in, s, name, "%s",
		    conf_row(s, name)->kind == &conf_providers
			? "takes a list, whose items begin with \"- name:\""
			: "is a setting, not a group"));
	default:
		return (conf_fail(&R->in, s, name, "has no value"));
	}
}

/* Read the keys and values of the group ${group}, the event being its start. */
static int
read_map(struct reader *R, const struct scope *s, const char *group)
{
	char name[CONF_NAMEMAX];

	if (++R->depth > DEPTH_MAX)
		return (conf_fail(&R->in, s, group, "nested too deep"));
	for (;;) {
		if (next(R))
			return (-1);
		if (R->ev.type == YAML_MAPPING_END_EVENT)
			break;
		if (read_key(R, s, group, name) || once(R, s, name) ||
		    next(R) || read_value(R, s, name))
			return (-1);
	}
	R->depth--;
	return (0);
}

/* Read the one document of the stream; an empty file sets nothing. */
static int
read_document(struct reader *R)
{
	struct scope s = conf_scope(R->in.c);

	if (next(R) || next(R)) /* Past the start of the stream. */
		return (-1);
	if (R->ev.type == YAML_STREAM_END_EVENT)
		return (0);
	if (R->ev.data.document_start.tag_directives.start !=
	    R->ev.data.document_start.tag_directives.end)
		return (conf_fail(
		    &R->in, &s, "%TAG", "a directive is not understood here"));
	if (next(R))
		return (-1);
	if (R->ev.type != YAML_MAPPING_START_EVENT)
		return (conf_fail(&R->in, &s, "(top)",
		    "expected groups of settings such as files:"));
	if (read_map(R, &s, "") || next(R) || next(R))
		return (-1);
	if (R->ev.type != YAML_STREAM_END_EVENT)
		return (conf_fail(&R->in, &s, "(top)",
		    "a second document begins here; only one is allowed"));
	return (0);
}

/*
 * A tab in the indent: the library refuses most of them, but names a rule of
 * YAML instead of the key that stands there.
 */
static int
find_tab(struct conf_in *in, const char *text, size_t len)
{
	const char *p = text, *end = text + len, *nl;
	char key[CONF_NAMEMAX] = "";
	size_t blank, n;

	for (in->line = 1; p < end; p = nl + 1, in->line++) {
		if ((nl = memchr(p, '\n', (size_t)(end - p))) == NULL)
			nl = end;
		for (blank = 0; p + blank < nl; blank++)
			if (p[blank] != ' ' && p[blank] != '\t')
				break;
		if (memchr(p, '\t', blank) == NULL)
			continue;
		p += blank;
		for (n = 0; p + n < nl && n < sizeof(key) - 1; n++)
			if (p[n] == ':' || !printable(p + n, 1))
				break;
		memcpy(key, p, n);
		return (conf_fail(in, NULL, n == 0 ? "(no key)" : key,
		    "the line is indented with a tab; indent with spaces"));
	}
	in->line = 0;
	return (0);
}

/* Take the settings that the ${len} bytes at ${text} give. */
static int
take_text(struct conf_in *in, const char *text, size_t len)
{
	struct reader R = {
	    .in = *in, .last = "(top)", .text = text, .len = len};
	int rc = -1;

	if (len > CONF_FILEMAX)
		return (conf_fail(in, NULL, "(top)",
		    "the file is larger than %d bytes", CONF_FILEMAX));
	if (find_tab(&R.in, text, len))
		return (-1);
	if ((R.seen = calloc(CONF_KEYSMAX, sizeof(*R.seen))) == NULL)
		goto err0;
	if (!yaml_parser_initialize(&R.ps))
		goto err1;
	yaml_parser_set_encoding(&R.ps, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&R.ps, (const unsigned char *)text, len);
	rc = read_document(&R);
	if (R.have)
		yaml_event_delete(&R.ev);
	yaml_parser_delete(&R.ps);
err1:
	free(R.seen);
err0:
	return (rc == 0 ? 0 : conf_fail(in, NULL, "(top)", "out of memory"));
}

/* Take the settings of the file ${in}->file. */
static int
take_file(struct conf_in *in)
{
	char *text;
	size_t len;
	FILE *f;
	int rc = -1;

	if ((f = fopen(in->file, "re")) == NULL) {
		conf_fail(in, NULL, "cannot read it", "%s", strerror(errno));
		goto err0;
	}
	if ((text = malloc(CONF_FILEMAX + 1)) == NULL) {
		conf_fail(in, NULL, "cannot read it", "out of memory");
		goto err1;
	}
	len = fread(text, 1, CONF_FILEMAX + 1, f);
	if (ferror(f))
		conf_fail(in, NULL, "cannot read it", "%s", strerror(errno));
	else
		rc = take_text(in, text, len);
	free(text);
err1:
	fclose(f);
err0:
	return (rc);
}

/* Take one KEY=VALUE of the command line. */
static int
take_word(struct conf_in *in, const char *word)
{
	char name[CONF_NAMEMAX];
	const char *eq = strchr(word, '=');
	struct scope s = conf_scope(in->c);
	size_t len = (size_t)(eq - word);

	if (len >= sizeof(name) || !printable(word, strlen(word)))
		return (
		    conf_fail(in, NULL, "(word)", "not of the form KEY=VALUE"));
	memcpy(name, word, len);
	name[len] = '\0';
	return (conf_put(in, &s, name, eq + 1));
}

int
conf_args_take(struct conf_args *a, int opt, const char *arg)
{

	if (opt == 'c' && a->nfile < sizeof(a->file) / sizeof(a->file[0])) {
		a->file[a->nfile++] = arg;
		return (0);
	}
	if (opt == 's' && strchr(arg, '=') == NULL) {
		fprintf(stderr, "-s %s: not of the form KEY=VALUE\n", arg);
		return (-1);
	}
	if (opt == 's' && a->nset < sizeof(a->set) / sizeof(a->set[0])) {
		a->set[a->nset++] = arg;
		return (0);
	}
	fprintf(stderr, "-%c %s: too many of them\n", opt, arg);
	return (-1);
}

/* Begin a struct conf that holds nothing yet. */
static int
begin(struct conf *c)
{

	memset(c, 0, sizeof(*c));
	return ((c->src = calloc(1, sizeof(*c->src))) == NULL ? -1 : 0);
}

int
conf_load_text(const char *name, const char *text, size_t len, struct conf *c,
    struct buf *err)
{
	struct conf_in in = {.c = c, .file = name, .err = err};

	if (begin(c))
		return (conf_fail(&in, NULL, "(top)", "out of memory"));
	if (take_text(&in, text, len) || conf_finish(&in, c)) {
		conf_free(c);
		return (-1);
	}
	return (0);
}

/* Take what there is where nobody has named a file. */
static int
take_usual(const struct conf_args *a, struct conf_in *in)
{
	const int apart = access(CONF_SANDBOX, F_OK) == 0;

	if ((in->file = getenv("SATCHEL_CONF")) != NULL)
		return (take_file(in));
	in->file = CONF_FILE;
	if (!(a->partial && apart) && take_file(in))
		return (-1);
	in->file = CONF_SANDBOX;
	return (apart ? take_file(in) : 0);
}

/* Take all that ${a} names. */
static int
take_all(const struct conf_args *a, struct conf_in *in)
{
	size_t i;

	if (a->nfile == 0 && take_usual(a, in))
		return (-1);
	for (i = 0; i < a->nfile; i++) {
		in->file = a->file[i];
		if (take_file(in))
			return (-1);
	}
	for (i = 0; i < a->nset; i++) {
		struct conf_in word = {
		    .c = in->c, .file = "-s", .err = in->err};

		if (take_word(&word, a->set[i]))
			return (-1);
	}
	return (conf_finish(in, in->c));
}

int
conf_load(const struct conf_args *a, struct conf *c)
{
	struct buf err = BUF_INIT(8192);
	struct conf_in in = {.c = c, .err = &err, .partial = a->partial};
	const char *said;

	if (begin(c) == 0 && take_all(a, &in) == 0) {
		buf_free(&err);
		return (0);
	}
	said = buf_ok(&err) && err.len > 0 ? err.p : "out of memory";
	if (a->running)
		log_err("%s", said);
	else
		fprintf(stderr, "%s\n", said);
	buf_free(&err);
	conf_free(c);
	return (-1);
}
