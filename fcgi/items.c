#include <stdio.h>
#include <string.h>

#include "base/jget.h"
#include "base/jset.h"

#include "fcgi/items.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ID_SIZE 64

/* What a request may leave out of an item or a part, and an answer may not. */
enum empty { COMPLETED, LIST, AUTO };

/* clang-format off */
static const struct {
	const char *type, *role; /* role NULL: whatever. */
	const char *key;
	enum empty value;
} rows[] = {
	{ "message", "assistant", "status", COMPLETED },
	{ "function_call", NULL, "status", COMPLETED },
	{ "function_call_output", NULL, "status", COMPLETED },
	{ "custom_tool_call", NULL, "status", COMPLETED },
	{ "custom_tool_call_output", NULL, "status", COMPLETED },
	{ "reasoning", NULL, "summary", LIST },
	{ "output_text", NULL, "annotations", LIST },
	{ "input_image", NULL, "detail", AUTO },
};
/* clang-format on */

static json_object *
empty(enum empty value)
{

	switch (value) {
	case COMPLETED:
		return (jstr("completed"));
	case AUTO:
		return (jstr("auto"));
	case LIST:
		break;
	}
	return (json_object_new_array());
}

/* Fill in what the item or part ${o} lacks. */
static int
fill(json_object *o)
{
	const char *type, *role;
	json_object *v;
	size_t i;

	if (jget_str(o, "type", &type) != JGET_OK)
		return (0);
	if (jget_str(o, "role", &role) != JGET_OK)
		role = "";
	for (i = 0; i < NELEM(rows); i++) {
		if (strcmp(rows[i].type, type) != 0 ||
		    (rows[i].role != NULL && strcmp(rows[i].role, role) != 0))
			continue;
		if (json_object_object_get_ex(o, rows[i].key, &v) && v != NULL)
			continue;
		if (jset(o, rows[i].key, empty(rows[i].value)))
			return (-1);
	}
	return (0);
}

/* A text as the list of parts that it is short for. */
static json_object *
content_of(const char *role, json_object *text)
{
	const char *type =
	    strcmp(role, "assistant") == 0 ? "output_text" : "input_text";
	json_object *a = json_object_new_array(), *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "type", jstr(type)) ||
	    jset(o, "text", json_object_get(text))) {
		json_object_put(o);
		o = NULL;
	}
	if (a != NULL && jadd(a, o) == 0)
		return (a);
	json_object_put(a);
	return (NULL);
}

/* The list of parts ${content} in its long form. */
static int
fill_parts(json_object *content)
{
	size_t i;

	if (!json_object_is_type(content, json_type_array))
		return (0);
	for (i = 0; i < json_object_array_length(content); i++)
		if (fill(json_object_array_get_idx(content, i)))
			return (-1);
	return (0);
}

static int
spell_message(json_object *item, const char *role)
{
	json_object *content;

	if (jset(item, "type", jstr("message")))
		return (-1);
	if (!json_object_object_get_ex(item, "content", &content))
		return (0);
	if (json_object_is_type(content, json_type_string)) {
		if (jset(item, "content", content_of(role, content)))
			return (-1);
		(void)json_object_object_get_ex(item, "content", &content);
	}
	return (fill_parts(content));
}

int
items_spell_out(json_object *item, const char *response, size_t i)
{
	const char *role = NULL, *id;
	char made[ID_SIZE];

	if (!json_object_is_type(item, json_type_object))
		return (0);
	if (jget_str(item, "role", &role) == JGET_OK &&
	    spell_message(item, role))
		return (-1);
	if (fill(item))
		return (-1);
	if (jget_str(item, "id", &id) == JGET_OK)
		return (0);
	(void)snprintf(made, sizeof(made), "item_gw_%s_%zu", response, i);
	return (jset(item, "id", jstr(made)));
}
