#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jget.h"
#include "base/jset.h"

#include "io/sandbox_client.h"

#include "speech/talk.h"

#include "run/ptc_offer.h"
#include "run/ptc_tools.h"

#define SAYS_MAX (1U << 20) /* All that is said of the functions. */
#define WHY_SIZE 256
#define NEEDS (SANDBOX_HAS_RUN | SANDBOX_HAS_MANIFEST | SANDBOX_HAS_CALLS)

#define ABOUT(at, under)                                                     \
	"Run Python code in the sandbox. " at "Files written " under         \
	" are given back to the user and stay between "                      \
	"calls; variables do not. No network. The code can call the "        \
	"asynchronous functions below: use \"await\" at top level (never "   \
	"asyncio.run()), and asyncio.gather() for calls that do not depend " \
	"on each other. Each returns its result as a string, or raises "     \
	"ToolExecutionError. The code is run from its beginning again "      \
	"whenever results have come, so the arguments of calls must not "    \
	"depend on time or chance. Only what the code prints is seen.\n"

/* ---- What the program may call */

static json_object *
one_json(const struct tool *x)
{
	json_object *e, *schema = NULL;
	size_t at;

	if (x->schema.p != NULL &&
	    jget_parse(x->schema.p, x->schema.len, &schema, &at) !=
		JGET_PARSE_OK)
		return (NULL);
	if ((e = json_object_new_object()) == NULL ||
	    jset(e, "name", jstr(x->name))) {
		json_object_put(schema);
		json_object_put(e);
		return (NULL);
	}
	if (schema == NULL || jset(e, "parameters", schema) == 0)
		return (e);
	json_object_put(e);
	return (NULL);
}

/* NULL: no program can be given them. */
static json_object *
read_tools(const struct talk *t)
{
	json_object *list, *tools = NULL;
	const struct tool *x;
	char why[WHY_SIZE];

	if ((list = json_object_new_array()) == NULL)
		return (NULL);
	for (x = t->tools; x != NULL; x = x->next)
		if (x->caller != NULL && jadd(list, one_json(x)))
			goto done;
	if (ptc_tools_read(list, PTC_PYTHON, &tools, why, sizeof(why)))
		tools = NULL;

done:
	json_object_put(list);
	return (tools);
}

/* ---- What the model is told of them */

static void
put_signature(struct buf *b, json_object *tool)
{
	json_object *params, *e;
	const char *ident = "";
	int required;

	(void)jget_str(tool, "ident", &ident);
	buf_printf(b, "\nasync def %s(", ident);
	if (jget_array(tool, "params", &params) == JGET_OK)
		for (size_t i = 0; i < json_object_array_length(params); i++) {
			e = json_object_array_get_idx(params, i);
			required = 0;
			(void)jget_str(e, "ident", &ident);
			(void)jget_bool(e, "required", &required);
			buf_printf(b, "%s%s%s", i > 0 ? ", " : "", ident,
			    required ? "" : "=None");
		}
	buf_puts(b, ") -> str\n");
}

static int
describe(struct talk *t, json_object *tools)
{
	struct buf b = BUF_INIT(SAYS_MAX);
	const struct tool *x;
	size_t i = 0;
	int rc;

	buf_puts(&b,
	    t->here ? ABOUT(OUR_HERE, OUR_IN_HERE) : ABOUT(OUR_AT, OUR_UNDER));
	if (t->our_facts.len > 0) {
		buf_put(&b, t->our_facts.p, t->our_facts.len);
		buf_puts(&b, "\n");
	}
	for (x = t->tools; x != NULL; x = x->next) {
		if (x->caller == NULL)
			continue;
		put_signature(&b, json_object_array_get_idx(tools, i++));
		buf_put(&b, x->description.p, x->description.len);
		buf_puts(&b, "\nParameters: ");
		if (x->schema.p != NULL)
			buf_put(&b, x->schema.p, x->schema.len);
		buf_puts(&b, "\n");
	}
	rc = buf_ok(&b) ? talk_text(t, b.p, b.len, &t->code_says) : -1;
	buf_free(&b);
	return (rc);
}

/* ---- Who may call them */

/* A choice that names what the model cannot call means the code that can. */
static void
choose(struct talk *t, const struct tool *x)
{

	if (t->choice == CHOICE_NAMED && x->indirect &&
	    strcmp(t->choice_name, x->name) == 0)
		t->choice_name = t->our_name[OUR_CODE];
}

static int
split(struct talk *t)
{
	struct tool **pp = &t->tools, **end = &t->code_tools, *x, *copy;

	while ((x = *pp) != NULL) {
		if (x->caller == NULL) {
			pp = &x->next;
			continue;
		}
		if ((copy = arena_alloc(t->mem, sizeof(*copy))) == NULL)
			return (-1);
		*copy = *x;
		copy->next = NULL;
		*end = copy;
		end = &copy->next;
		choose(t, x);
		if (x->indirect) {
			*pp = x->next;
			t->ntools--;
		} else
			pp = &x->next;
	}
	t->tools_end = pp;
	return (0);
}

static void
put_json(void *o)
{

	json_object_put(o);
}

static int
can_serve(const struct talk *t, const struct sandbox *s)
{
	unsigned int has;

	return (!t->quiet && t->our_name[OUR_CODE] != NULL &&
	    sandbox_extensions(s, &has) == SANDBOX_OK &&
	    (has & NEEDS) == NEEDS);
}

int
ptc_offer(struct talk *t, const struct sandbox *s, json_object **tools)
{
	const struct tool *x = t->tools;

	*tools = NULL;
	while (x != NULL && x->caller == NULL)
		x = x->next;
	if (x == NULL || !can_serve(t, s) || (*tools = read_tools(t)) == NULL)
		return (0);
	if (arena_cleanup(t->mem, put_json, *tools)) {
		json_object_put(*tools);
		return (-1);
	}
	if (describe(t, *tools) == 0)
		return (split(t));
	*tools = NULL;
	t->code_says.p = NULL;
	return (0);
}
