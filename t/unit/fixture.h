#ifndef FIXTURE_H_
#define FIXTURE_H_

/* The contract's example files, and comparing JSON by what it means. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jspan.h"

/* The text of t/fixture/executor/NAME, NUL-terminated; never NULL. */
static inline char *
fixture_file(const char *name)
{
	char path[320], *s;
	FILE *f;
	size_t n;

	(void)snprintf(path, sizeof(path), "t/fixture/executor/%s", name);
	if ((f = fopen(path, "r")) == NULL || (s = malloc(1 << 20)) == NULL) {
		printf("# cannot read %s\n", path);
		exit(1);
	}
	n = fread(s, 1, (1 << 20) - 1, f);
	s[n] = '\0';
	fclose(f);
	return (s);
}

/* The text of t/fixture/executor/NAME.json. */
static inline char *
fixture_text(const char *name)
{
	char file[128];

	(void)snprintf(file, sizeof(file), "%s.json", name);
	return (fixture_file(file));
}

/* Keep ${o}, which the test does not put, in sight of a leak checker. */
static inline json_object *
kept(json_object *o)
{
	static json_object *volatile all[1 << 16];
	static size_t n;

	if (n < sizeof(all) / sizeof(all[0]))
		all[n++] = o;
	return (o);
}

static inline json_object *
parsed(const char *s)
{

	return (kept(json_tokener_parse(s)));
}

static inline json_object *
fixture_json(const char *name)
{
	char *s = fixture_text(name);
	json_object *o = parsed(s);

	free(s);
	return (o);
}

/* The root of JSON text that must be good. */
static inline struct jspan
checked(const char *s)
{
	struct jspan_info info;

	if (jspan_check(s, strlen(s), 200, &info) != JSPAN_OK) {
		printf("# the test's JSON is broken: %s\n", s);
		exit(1);
	}
	return (info.root);
}

/* Put objects in place of the "arguments" that are their text. */
static inline void
unfold(json_object *o)
{
	json_object *args;
	size_t i;

	if (json_object_is_type(o, json_type_array)) {
		for (i = 0; i < json_object_array_length(o); i++)
			unfold(json_object_array_get_idx(o, i));
		return;
	}
	if (!json_object_is_type(o, json_type_object))
		return;
	if (json_object_object_get_ex(o, "arguments", &args) &&
	    json_object_is_type(args, json_type_string)) {
		args = parsed(json_object_get_string(args));
		json_object_object_add(o, "arguments", args);
	}
	json_object_object_foreach(o, k, v)
	{
		(void)k;
		unfold(v);
	}
}

/* Are the two equal?  Says how not.  Takes both references. */
static inline int
same(json_object *got, json_object *want)
{
	int rc;

	unfold(got);
	unfold(want);
	rc = got != NULL && json_object_equal(got, want);
	if (!rc) {
		printf("# got  %s\n", json_object_to_json_string(got));
		printf("# want %s\n", json_object_to_json_string(want));
	}
	json_object_put(got);
	json_object_put(want);
	return (rc);
}

#endif /* !FIXTURE_H_ */
