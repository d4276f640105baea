#include <stddef.h>
#include <string.h>

#include "speech/container_ask.h"
#include "speech/pick.h"
#include "speech/reader.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define GIB (UINT64_C(1) << 30)

/* From the least on. */
static const struct {
	const char *word;
	uint64_t bytes;
} sizes[] = {
    {"1g", GIB}, {"4g", 4 * GIB}, {"16g", 16 * GIB}, {"64g", 64 * GIB}};

const char *
container_memory(const char *word, uint64_t bytes)
{
	size_t i;

	for (i = 0; i < NELEM(sizes) - 1; i++)
		if (strcmp(sizes[i].word, word) == 0 || sizes[i].bytes >= bytes)
			break;
	return (sizes[i].word);
}

static const char *
memory_wrong(struct jspan v)
{
	size_t i;

	for (i = 0; i < NELEM(sizes); i++)
		if (jspan_is(v, sizes[i].word))
			return (NULL);
	return ("must be 1g, 4g, 16g or 64g");
}

/* There is no network, whatever list is given; but it must be one. */
static const char *
network_wrong(struct jspan v)
{
	struct jspan_iter it;
	struct jspan x;

	if (reader_member(v, "type", &x) && jspan_is(x, "disabled"))
		return (NULL);
	if (reader_member(v, "type", &x) && jspan_is(x, "allowlist") &&
	    reader_member(v, "allowed_domains", &x) &&
	    jspan_iter(&it, x) == 0 && !it.object && jspan_next(&it, NULL, &x))
		return (NULL);
	return ("must be of type disabled, or an allowlist with "
		"allowed_domains");
}

static const char *
skills_wrong(struct jspan v)
{
	struct jspan_iter it;
	struct jspan x;

	if (jspan_iter(&it, v) == 0 && !it.object && !jspan_next(&it, NULL, &x))
		return (NULL);
	return ("skills are not available here");
}

/* clang-format off */
static const struct {
	const char *key;
	const char *(*wrong)(struct jspan);
} members[] = {
	{ "memory_limit", memory_wrong },
	{ "network_policy", network_wrong },
	{ "skills", skills_wrong },
};
/* clang-format on */

const char *
container_ask_wrong(struct jspan o, const char **member)
{
	const char *why = NULL;
	struct jspan v;
	size_t i;

	for (i = 0; i < NELEM(members) && why == NULL; i++)
		if (reader_member(o, members[i].key, &v)) {
			*member = members[i].key;
			why = members[i].wrong(v);
		}
	return (why);
}
