#include <stdio.h>
#include <string.h>

#include "base/conf_row.h"

typedef void
each_fn(void *, const char *, const char *, const char *, const char *);

/* Is ${r} a setting with a value of its own? */
static int
has_value(const struct row *r)
{

	return (r->kind != &conf_providers);
}

/* Call ${fn} for the settings of ${s}. */
static void
each_of(const struct scope *s, each_fn *fn, void *cookie)
{
	const struct row *r;
	const char *at;
	char name[CONF_NAMEMAX + 32];

	for (r = s->rows; r->name != NULL; r++) {
		struct buf v = BUF_INIT(65536);

		if (!has_value(r))
			continue;
		r->kind->show(r, (const char *)s->base + r->offset, &v);
		at = s->at[r - s->rows];
		(void)snprintf(name, sizeof(name), "%s%s", s->prefix, r->name);
		fn(cookie, name, buf_ok(&v) && v.p != NULL ? v.p : "",
		    at == NULL ? "default" : at, r->help);
		buf_free(&v);
	}
}

void
conf_each(const struct conf *c, each_fn *fn, void *cookie)
{
	struct conf view = *c;
	struct scope s = conf_scope(&view);
	size_t i;

	each_of(&s, fn, cookie);
	for (i = 0; i < c->nproviders; i++) {
		s = conf_provider_scope(&view, i);
		each_of(&s, fn, cookie);
	}
}

/* Print "files:" where the group of ${name} differs from the one before. */
static void
print_group(const char *name, const char **group, size_t *len)
{
	size_t n = strcspn(name, ".");

	if (*group != NULL && n == *len && strncmp(name, *group, n) == 0)
		return;
	printf("\n%.*s:\n", (int)n, name);
	*group = name;
	*len = n;
}

/* Print the help of ${r} and what it takes, each line after ${lead}. */
static void
print_help(const struct row *r, const char *lead)
{
	struct buf want = BUF_INIT(1024);

	printf("%s# %s\n", lead, r->help);
	if (r->kind == &conf_num || r->kind == &conf_word ||
	    r->kind == &conf_executor || r->kind == &conf_choice) {
		r->kind->want(r, &want);
		printf("%s# Takes %s.\n", lead, buf_ok(&want) ? want.p : "");
		buf_free(&want);
	}
}

/* Print a value; a text in quotes, so that YAML cannot take it for other. */
static void
print_value(const struct row *r, const char *v)
{
	int bare;

	if (r->kind == &conf_choices || r->kind == &conf_cidrs) {
		printf("[%s]\n", v);
		return;
	}
	bare = r->kind == &conf_num || r->kind == &conf_bool ||
	    r->kind == &conf_word || r->kind == &conf_executor ||
	    r->kind == &conf_choice;
	printf(bare ? "%s\n" : "\"%s\"\n", v);
}

/* Print one setting of the top table. */
static void
print_row(const struct row *r)
{
	const char *leaf = strchr(r->name, '.') + 1;

	print_help(r, "  ");
	if (r->kind == &conf_secret) {
		printf("  # Also %s_file: PATH or %s_env: VARIABLE.\n", leaf,
		    leaf);
		printf("  #%s: \"\"\n", leaf);
		return;
	}
	printf("  %s: ", leaf);
	print_value(r, r->dflt != NULL ? r->dflt : r->words);
}

/* Print a provider as an example, commented out. */
static void
print_provider(const char *help)
{
	const struct row *r;

	printf("\n# %s\n#providers:\n", help);
	for (r = conf_provider_rows; r->name != NULL; r++) {
		print_help(r, "#    ");
		printf(
		    "#  %s %s: ", r == conf_provider_rows ? "-" : " ", r->name);
		if (r->kind == &conf_list)
			printf(
			    *r->dflt != '\0' ? "[\"%s\"]\n" : "[]\n", r->dflt);
		else
			print_value(r, r->dflt != NULL ? r->dflt : r->words);
	}
}

void
conf_document(void)
{
	const struct row *r;
	const char *group = NULL;
	size_t len = 0;

	printf("# Satchel's settings, each with its default.  Printed by\n"
	       "# `satchel-admin conf`; `satchel-admin check` says what a\n"
	       "# configuration comes to.  Unknown and repeated keys are "
	       "errors.\n");
	for (r = conf_rows; r->name != NULL; r++) {
		if (!has_value(r))
			continue;
		print_group(r->name, &group, &len);
		print_row(r);
	}
	for (r = conf_rows; r->name != NULL; r++)
		if (r->kind == &conf_providers)
			print_provider(r->help);
}
