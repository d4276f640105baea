/* Settings: what a file may say, what is said of one that may not. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf_row.h"

#include "tap.h"

#define NELEM(x) (sizeof(x) / sizeof((x)[0]))
#define ROOT "files: {root: /srv}\n"

/* A file, and the line about it; ${says} NULL: it is fine. */
struct trap {
	const char *what, *text, *says;
};

/* clang-format off */
static const struct trap traps[] = {
	{ "smallest file", ROOT, NULL },
	{ "groups", "files:\n  root: /srv\n  max_bytes: 5\n", NULL },
	{ "dotted names", "files.root: /srv\nfiles.max_bytes: 5\n", NULL },
	{ "comments and CRLF", "# x\r\nfiles:\r\n  root: /srv # y\r\n", NULL },
	{ "a tab within a line", "files: {root: /srv,\tmax_bytes: 5}\n", NULL },
	{ "quoted number", ROOT "workers: {processes: \"3\"}\n", NULL },
	{ "provider", ROOT "providers:\n  - name: a\n"
	    "    base_url: http://h/v1\n    models: [\"x*\", y]\n", NULL },
	{ "no providers", ROOT "providers: []\n", NULL },

	/* cfg-yaml-traps */
	{ "repeated key", "files:\n  root: /srv\n  max_bytes: 5\n"
	    "  max_bytes: 6\n",
	    "f:4: files.max_bytes: is given twice, first on line 3; keep one" },
	{ "tab indent", "files:\n  root: /srv\n\tmax_bytes: 5\n",
	    "f:3: max_bytes: the line is indented with a tab; indent with "
	    "spaces" },
	{ "tab that indents nothing", ROOT "\t\n",
	    "f:2: (no key): the line is indented with a tab; indent with "
	    "spaces" },
	{ "tab after spaces", "files:\n  \troot: /srv\n",
	    "f:2: root: the line is indented with a tab; indent with spaces" },
	{ "unknown key", "files:\n  root: /srv\n  max_byte: 5\n",
	    "f:3: files.max_byte: there is no such setting; the nearest is "
	    "files.max_bytes" },
	{ "size with a unit", "files:\n  root: /srv\n  max_bytes: 64MB\n",
	    "f:3: files.max_bytes: \"64MB\" is not valid; use a whole "
	    "number from 1 to 1099511627776, without a unit" },

	{ "repeated group", ROOT "log: {file: /x}\nlog: {file: /y}\n",
	    "f:3: log: is given twice, first on line 2; keep one" },
	{ "the same key nested and dotted",
	    "files:\n  root: /srv\nfiles.root: /tmp\n",
	    "f:3: files.root: is given twice, first on line 2; keep one" },
	{ "secret twice in two forms", ROOT
	    "sandbox:\n  token: a\n  token_env: HOME\n",
	    "f:4: sandbox.token_env: is given twice, first on line 3; keep "
	    "one" },
	{ "key of a provider twice", ROOT "providers:\n - name: a\n"
	    "   name: b\n",
	    "f:4: providers[0].name: is given twice, first on line 3; keep "
	    "one" },
	{ "unknown group", ROOT "fils: {max_bytes: 5}\n",
	    "f:2: fils: there is no such setting; the nearest is files" },
	{ "key in no group", ROOT "max_bytes: 5\n",
	    "f:2: max_bytes: there is no such setting; the nearest is "
	    "files.max_bytes" },
	{ "unknown key like no other", ROOT "wibbleflop: 5\n",
	    "f:2: wibbleflop: there is no such setting" },
	{ "unknown key of a provider", ROOT "providers:\n - nam: a\n",
	    "f:3: providers[0].nam: there is no such setting; the nearest is "
	    "providers[0].name" },
	{ "secret's form of what is no secret", ROOT
	    "database: {user_file: /etc/hostname}\n",
	    "f:2: database.user_file: there is no such setting; the "
	    "nearest is database.user" },

	{ "required key left out", "log: {file: /x}\n",
	    "f: files.root: must be set; use a path that begins with "
	    "a slash and ends without one" },
	{ "empty file", "", "f: files.root: must be set; use a path "
	    "that begins with a slash and ends without one" },
	{ "required key empty", "files: {root: \"\"}\n",
	    "f:1: files.root: \"\" is not valid; use a path that begins "
	    "with a slash and ends without one" },
	{ "provider without an address", ROOT "providers:\n - name: a\n",
	    "f: providers[0].base_url: must be set; use an address "
	    "such as http://HOST:PORT, without a slash at its end, user name "
	    "or query, and without /chat/completions or another route" },
	{ "two providers of one name", ROOT "providers:\n"
	    " - {name: a, base_url: http://h}\n"
	    " - {name: a, base_url: http://i}\n",
	    "f: providers[1].name: \"a\" is the name of providers[0] too" },

	{ "relative path", "files: {root: srv}\n",
	    "f:1: files.root: \"srv\" is not valid; use a path that "
	    "begins with a slash and ends without one" },
	{ "yes for a boolean", ROOT "auth: {lenient_user: yes}\n",
	    "f:2: auth.lenient_user: \"yes\" is not valid; use true or "
	    "false" },
	{ "word", ROOT "code_execution: {executor: Auto}\n",
	    "f:2: code_execution.executor: \"Auto\" is not valid; use "
	    "auto or local or provider" },
	{ "octal", ROOT "workers: {processes: 010}\n",
	    "f:2: workers.processes: \"010\" is not valid; use a whole "
	    "number from 1 to 64" },
	{ "negative", ROOT "workers: {processes: -1}\n",
	    "f:2: workers.processes: \"-1\" is not valid; use a whole "
	    "number from 1 to 64" },
	{ "too large", ROOT "workers: {processes: 65}\n",
	    "f:2: workers.processes: \"65\" is not valid; use a whole "
	    "number from 1 to 64" },
	{ "address without a scheme", ROOT "sandbox: {url: localhost:80}\n",
	    "f:2: sandbox.url: \"localhost:80\" is not valid; use an "
	    "address such as http://HOST:PORT, without a slash at its end, "
	    "user name or query" },
	{ "no value", ROOT "log:\n  file:\n",
	    "f:3: log.file: has no value; an empty one is written \"\"" },
	{ "line break in a value", ROOT "log: {file: \"/a\\nb\"}\n",
	    "f:2: log.file: the value has a control character or a line "
	    "break" },
	{ "NUL in a value", ROOT "log: {file: \"/a\\0b\"}\n",
	    "f:2: log.file: the value has a control character or a line "
	    "break" },
	{ "secret's value stays unsaid", ROOT
	    "sandbox: {token_file: /nonexistent}\n",
	    "f:2: sandbox.token_file: /nonexistent: No such file or "
	    "directory" },
	{ "variable not there", ROOT "sandbox: {token_env: NO_SUCH_THING}\n",
	    "f:2: sandbox.token_env: the environment has no variable "
	    "NO_SUCH_THING" },
	{ "one setting against another", ROOT
	    "code_execution: {exec_timeout_s: 600}\n",
	    "f: code_execution.exec_timeout_s: must not be more than "
	    "turn_budget_s" },

	/* Mistakes that the library explains by rules of YAML. */
	{ "a quote that is not closed", "files:\n  root: \"/srv\n"
	    "log: {file: \"/x\"}\n",
	    "f:2: files.root: broken YAML: a quote that begins on this line "
	    "does not end on it" },
	{ "one that the next quote closes", "files:\n  root: \"/srv\n"
	    "providers:\n  - name: a\n    base_url: http://h/v1\n"
	    "    models: [\"*\"]\n",
	    "f:2: files.root: broken YAML: a quote that begins on this line "
	    "does not end on it" },
	{ "a single quote", "files:\n  root: '/srv\n",
	    "f:2: files.root: broken YAML: a quote that begins on this line "
	    "does not end on it" },
	{ "a star without quotes", ROOT "providers:\n  - name: a\n"
	    "    models: *\n",
	    "f:4: models: a value that begins with * must be in "
	    "quotes: \"*\"" },
	{ "a star in a list", ROOT "providers:\n  - name: a\n"
	    "    models: [*]\n",
	    "f:4: models: a value that begins with * must be in "
	    "quotes: \"*\"" },
	{ "a group that is indented less than the first",
	    "# x\n  files:\n    root: /srv\nlog:\n  file: /x\n",
	    "f:4: files.root: broken YAML: line 4 is indented less than line "
	    "2, where the settings begin; indent both alike" },
	{ "a key that is indented more", ROOT "providers:\n  - name: local\n"
	    "      wire: openai-chat\n",
	    "f:3: providers[0].name: the value goes on until line 4, which is "
	    "indented deeper; indent the keys of a group alike" },
	{ "two keys on a line", ROOT "log.file: /x: /y\n",
	    "f:2: log.file: broken YAML: a key cannot begin in the middle of a "
	    "line; give each a line of its own" },
	{ "a value that goes on", ROOT "providers:\n  - name: local\n"
	    "      wire\n    base_url: http://h/v1\n",
	    "f:3: providers[0].name: the value goes on until line 4, which is "
	    "indented deeper; indent the keys of a group alike" },
	{ "providers as groups", ROOT "providers:\n  local:\n"
	    "    base_url: http://h/v1\n",
	    "f:3: providers: takes a list, whose items begin with "
	    "\"- name:\"" },

	/* Addresses. */
	{ "a provider's route", ROOT "providers:\n  - name: a\n"
	    "    base_url: http://h/v1/chat/completions\n",
	    "f:4: providers[0].base_url: \"http://h/v1/chat/completions\" is "
	    "not valid; use an address such as http://HOST:PORT, without a "
	    "slash at its end, user name or query, and without "
	    "/chat/completions or another route" },
	{ "our address with /v1", ROOT "server: {public_url: http://h/v1}\n",
	    "f:2: server.public_url: \"http://h/v1\" is not valid; use an "
	    "address such as http://HOST:PORT, without a slash at its end, "
	    "user name or query, and without /v1" },
	{ "our address", ROOT "server: {public_url: http://h/ai}\n", NULL },
	{ "any origin", ROOT "server: {cors_origin: \"*\"}\n", NULL },
	{ "an origin", ROOT "server: {cors_origin: \"https://a.example:8443\"}"
	    "\n", NULL },
	{ "two origins", ROOT "server: {cors_origin: \"https://a, https://b\"}"
	    "\n",
	    "f:2: server.cors_origin: \"https://a, https://b\" is not valid; "
	    "use * or one origin such as https://app.example, in lower case "
	    "and without a path" },
	{ "an origin with a path", ROOT "server: {cors_origin: https://a/}\n",
	    "f:2: server.cors_origin: \"https://a/\" is not valid; use * or "
	    "one origin such as https://app.example, in lower case and without "
	    "a path" },

	{ "the other name of an executor", ROOT
	    "code_execution: {executor: otari}\n", NULL },

	{ "value for a group", "files: 3\n",
	    "f:1: files: is a group of settings, not a value" },
	{ "group for a value", "files: {root: {a: 1}}\n",
	    "f:1: files.root: is a setting, not a group" },
	{ "list for a value", "files: {root: [/a]}\n",
	    "f:1: files.root: \"[...]\" is not valid; use a path that "
	    "begins with a slash and ends without one" },
	{ "value for the providers", ROOT "providers: x\n",
	    "f:2: providers: \"x\" is not valid; use a list of at most 64 "
	    "groups, each with a name, a wire and a base_url" },
	{ "text for a provider", ROOT "providers: [x]\n",
	    "f:2: providers: every item must be a group that begins with "
	    "name:" },
	{ "list at the top", "- a\n",
	    "f:1: (top): expected groups of settings such as files:" },
	{ "two documents", ROOT "---\n" ROOT,
	    "f:2: (top): a second document begins here; only one is allowed" },
	{ "anchor", "files: &a {root: /srv}\n",
	    "f:1: files: an anchor (&) is not understood here" },
	{ "alias", "files: {root: *a}\n",
	    "f:1: files.root: an alias (*) is not understood here; put a "
	    "value that begins with * in quotes" },
	{ "tag", "files: {root: !!str /srv}\n",
	    "f:1: files.root: a tag (!) is not understood here" },
	{ "directive", "%TAG ! tag:x,2000:\n---\n" ROOT,
	    "f:1: %TAG: a directive is not understood here" },
	{ "key that is no name", "\"a b\": 1\n",
	    "f:1: : a key here is not the name of any setting" },
	{ "key that is a list", "? [a]\n: b\n",
	    "f:1: : expected KEY: VALUE here, not a group or a list" },

	{ "list of networks", ROOT
	    "librechat: {trusted_cidrs: [10.0.0.0/33]}\n",
	    "f:2: librechat.trusted_cidrs: \"10.0.0.0/33\" is not valid; use a "
	    "list of networks such as 10.0.0.0/8 or fd00::/8" },
	{ "value not built yet", ROOT "store: {kind: s3}\n",
	    "f:2: store.kind: s3 is not built yet" },
};
/* clang-format on */

/* Are all files judged as they should be? */
static void
test_traps(void)
{
	struct conf c;
	char name[128];
	size_t i;
	int rc;

	for (i = 0; i < NELEM(traps); i++) {
		struct buf err = BUF_INIT(8192);
		const struct trap *t = &traps[i];

		rc = conf_load_text("f", t->text, strlen(t->text), &c, &err);
		(void)snprintf(name, sizeof(name), "%s", t->what);
		if (t->says == NULL)
			ok(rc == 0 && err.len == 0, name);
		else
			ok(rc == -1 && err.p != NULL &&
				strcmp(err.p, t->says) == 0 && c.src == NULL,
			    name);
		if (err.p != NULL &&
		    (t->says == NULL || strcmp(err.p, t->says) != 0))
			printf("# %s\n", err.p);
		if (rc == 0)
			conf_free(&c);
		buf_free(&err);
	}
}

/* Load ${text}, which must be fine. */
static struct conf
load(const char *text)
{
	struct buf err = BUF_INIT(8192);
	struct conf c;

	if (conf_load_text("f", text, strlen(text), &c, &err)) {
		printf("# %s\n", err.p);
		exit(1);
	}
	buf_free(&err);
	return (c);
}

/* The defaults are those that design and contract promise. */
static void
test_defaults(void)
{
	struct conf c = load(ROOT);

	ok(c.files_enabled == 1 && c.files_max_bytes == 536870912 &&
		c.files_retention_s == 0 && c.files_tombstone_s == 86400 &&
		c.files_min_rate == 1024 && c.files_grace_s == 600 &&
		c.files_uploads_downloadable == 1 &&
		c.files_quota_user_bytes == 0 &&
		c.files_output_max_files == 20 &&
		c.files_output_max_bytes == 67108864 &&
		c.files_sendfile == SENDFILE_XACCEL &&
		strcmp(c.files_openai_output_purpose, "assistants_output") == 0,
	    "defaults of files");
	ok(c.executor == EXECUTOR_AUTO && c.max_iterations == 10 &&
		c.exec_timeout_s == 60 && c.turn_budget_s == 540,
	    "defaults of code_execution");
	ok(c.sandbox_url == NULL && c.sandbox_token == NULL &&
		c.sandbox_session_memory == 536870912 &&
		c.sandbox_workspace == 268435456 &&
		c.sandbox_processes == 128 && c.sandbox_idle_s == 1200 &&
		c.sandbox_lifetime_s == 86400,
	    "defaults of sandbox");
	ok(c.files_threads == 64 && c.run_threads == 512 && c.db_pool == 16 &&
		c.drain_s == 600,
	    "defaults of workers and database");
	conf_free(&c);
}

static void
test_providers(void)
{
	struct conf c = load(ROOT "providers:\n"
				  "  - name: one\n"
				  "    wire: openai-chat\n"
				  "    base_url: http://127.0.0.1:1/v1\n"
				  "    api_key: test\n"
				  "    models: [\"a*\", b]\n"
				  "  - name: two\n"
				  "    base_url: https://h/v1\n"
				  "    native_code: true\n");
	const struct conf_provider *p = c.providers;

	ok(c.nproviders == 2, "two providers");
	ok(strcmp(p[0].name, "one") == 0 && p[0].wire == WIRE_CHAT &&
		strcmp(p[0].api_key, "test") == 0 && !p[0].native_code &&
		strcmp(p[0].models[0], "a*") == 0 &&
		strcmp(p[0].models[1], "b") == 0 && p[0].models[2] == NULL,
	    "what the first says");
	ok(p[1].api_key == NULL && p[1].native_code &&
		strcmp(p[1].models[0], "*") == 0 && p[1].models[1] == NULL,
	    "what the second leaves out");
	conf_free(&c);
}

/* Write ${text} to a new file and its name to ${path}. */
static void
spill(char path[static 32], const char *text)
{
	int fd;

	memcpy(path, "/tmp/conf-XXXXXX", 17);
	if ((fd = mkstemp(path)) == -1 ||
	    write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		printf("# cannot write a file\n");
		exit(1);
	}
	close(fd);
}

/* One setting as conf_each() shows it. */
struct shown {
	const char *name;
	char value[64], source[128];
};

static void catch (void *cookie, const char *name, const char *value,
    const char *source, const char *help)
{
	struct shown *s = cookie;

	(void)help;
	if (strcmp(name, s->name) != 0)
		return;
	(void)snprintf(s->value, sizeof(s->value), "%s", value);
	(void)snprintf(s->source, sizeof(s->source), "%s", source);
}

/* Does ${c} show ${name} as ${value} from ${source}? */
static int
shows(const struct conf *c, const char *name, const char *value,
    const char *source)
{
	struct shown s = {.name = name};

	conf_each(c, catch, &s);
	if (strcmp(s.value, value) == 0 && strcmp(s.source, source) == 0)
		return (1);
	printf("# %s is \"%s\" from %s\n", name, s.value, s.source);
	return (0);
}

/* Two files and two words, the later ones winning; secrets by file. */
static void
test_sources(void)
{
	char one[32], two[32], key[32], text[256], from[128];
	struct conf_args a = {0};
	struct conf c;

	spill(key, "hunter2\n");
	spill(one,
	    ROOT "workers: {processes: 3, run_threads: 5}\n"
		 "providers: [{name: a, base_url: http://h}]\n");
	(void)snprintf(text, sizeof(text),
	    "workers:\n  processes: 4\nsandbox:\n  token_file: %s\n"
	    "providers: [{name: b, base_url: http://h}]\n",
	    key);
	spill(two, text);
	ok(conf_args_take(&a, 'c', one) == 0 &&
		conf_args_take(&a, 'c', two) == 0 &&
		conf_args_take(&a, 's', "database.pool=7") == 0 &&
		conf_args_take(&a, 's', "database.pool=8") == 0,
	    "arguments are taken");
	ok(conf_load(&a, &c) == 0, "two files and two words load");
	ok(c.processes == 4 && c.run_threads == 5 && c.db_pool == 8,
	    "the later one wins, key by key");
	ok(c.nproviders == 1 && strcmp(c.providers[0].name, "b") == 0,
	    "a later list of providers replaces the earlier");
	ok(strcmp(c.sandbox_token, "hunter2") == 0, "secret from a file");
	(void)snprintf(from, sizeof(from), "%s:2", two);
	ok(shows(&c, "workers.processes", "4", from), "source: file and line");
	(void)snprintf(from, sizeof(from), "%s:4 (file %s)", two, key);
	ok(shows(&c, "sandbox.token", "(set)", from), "a secret is not shown");
	ok(shows(&c, "database.pool", "8", "-s"), "source: command line");
	ok(shows(&c, "database.password", "(not set)", "default"),
	    "source: default");
	ok(shows(&c, "providers[0].models", "[\"*\"]", "default"),
	    "providers are shown");
	conf_free(&c);
	unlink(one);
	unlink(two);
	unlink(key);
}

/* Run ${fn}(${word}) with standard error going to ${buf}. */
static void
hear(void (*fn)(const char *), const char *word, char *buf, size_t len)
{
	int fd[2], old;
	ssize_t n;

	if (pipe(fd) || (old = dup(2)) == -1)
		exit(1);
	dup2(fd[1], 2);
	fn(word);
	dup2(old, 2);
	close(fd[1]);
	n = read(fd[0], buf, len - 1);
	buf[n < 0 ? 0 : n] = '\0';
	close(fd[0]);
	close(old);
}

static void
bad_word(const char *word)
{
	struct conf_args a = {0};
	struct conf c;

	a.file[a.nfile++] = "conf/satchel.yml";
	a.set[a.nset++] = word;
	if (conf_load(&a, &c) == 0)
		conf_free(&c);
}

static void
no_equals(const char *word)
{
	struct conf_args a = {0};

	(void)conf_args_take(&a, 's', word);
}

static void
no_file(const char *word)
{
	struct conf_args a = {0};
	struct conf c;

	a.file[a.nfile++] = word;
	if (conf_load(&a, &c) == 0)
		conf_free(&c);
}

/* What goes wrong on the command line is one line on standard error. */
static void
test_words(void)
{
	char s[512];

	hear(bad_word, "files.max_bytes=64MB", s, sizeof(s));
	ok(strcmp(s,
	       "-s: files.max_bytes: \"64MB\" is not valid; use a "
	       "whole number from 1 to 1099511627776, without a unit\n") == 0,
	    "bad value on the command line");
	hear(bad_word, "providers=x", s, sizeof(s));
	ok(strncmp(s, "-s: providers: \"x\" is not valid", 31) == 0,
	    "providers cannot be set there");
	hear(no_equals, "files.root", s, sizeof(s));
	ok(strcmp(s, "-s files.root: not of the form KEY=VALUE\n") == 0,
	    "a word without =");
	hear(no_file, "/nonexistent.yml", s, sizeof(s));
	ok(strcmp(s,
	       "/nonexistent.yml: cannot read it: No such file or "
	       "directory\n") == 0,
	    "a file that is not there");
}

/* The file that is handed out says the defaults and nothing else. */
static void
test_handed_out(void)
{
	struct conf_args a = {0};
	struct conf c, d = load("files: {root: /srv/satchel/files}\n");
	size_t i, same = 0, n = 0;
	struct buf x = BUF_INIT(1024), y = BUF_INIT(1024);

	a.file[a.nfile++] = "conf/satchel.yml";
	ok(conf_load(&a, &c) == 0, "conf/satchel.yml loads");
	for (i = 0; conf_rows[i].name != NULL; i++) {
		const struct row *r = &conf_rows[i];

		if (r->kind == &conf_providers)
			continue;
		x.len = y.len = 0;
		r->kind->show(r, (char *)&c + r->offset, &x);
		r->kind->show(r, (char *)&d + r->offset, &y);
		n++;
		if (x.len == y.len &&
		    (x.len == 0 || memcmp(x.p, y.p, x.len) == 0))
			same++;
		else
			printf("# %s differs\n", r->name);
	}
	ok(same == n && n > 40, "conf/satchel.yml holds the defaults");
	buf_free(&x);
	buf_free(&y);
	conf_free(&c);
	conf_free(&d);
}

/* Many keys and deep nesting end in a line, not in trouble. */
static void
test_size(void)
{
	struct buf b = BUF_INIT(4 << 20), err = BUF_INIT(8192);
	struct conf c;
	int i;

	for (i = 0; i < 5000; i++)
		buf_puts(&b, "[");
	ok(conf_load_text("f", b.p, b.len, &c, &err) == -1, "5,000 brackets");
	b.len = 0;
	err.len = 0;
	buf_puts(&b, ROOT "providers:\n");
	for (i = 0; i < 65; i++)
		buf_printf(&b, " - {name: p%d, base_url: http://h}\n", i);
	ok(conf_load_text("f", b.p, b.len, &c, &err) == -1 &&
		strcmp(err.p, "f:67: providers: no room for more than 64") == 0,
	    "65 providers");
	b.len = 0;
	err.len = 0;
	while (b.len <= CONF_FILEMAX)
		buf_puts(&b, "# nothing\n");
	ok(conf_load_text("f", b.p, b.len, &c, &err) == -1 &&
		strcmp(err.p,
		    "f: (top): the file is larger than 1048576 "
		    "bytes") == 0,
	    "a file beyond the limit");
	buf_free(&b);
	buf_free(&err);
}

int
main(void)
{

	test_traps();
	test_defaults();
	test_providers();
	test_sources();
	test_words();
	test_handed_out();
	test_size();
	return (done_testing());
}
