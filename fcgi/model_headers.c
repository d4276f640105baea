#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"

#include "run/env.h"

#include "fcgi/io.h"
#include "fcgi/model.h"
#include "fcgi/model_headers.h"
#include "fcgi/req.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define VALUE_MAX 8192 /* Of a forwarded header. */

/* What a header is to a turn that is answered here. */
enum here { KEPT, BETAS, DROPPED };

/* clang-format off */
static const struct {
	enum conf_wire wire;
	const char *name, *param;
	enum here here;
} rows[] = {
	{ WIRE_MESSAGES, "anthropic-version", "HTTP_ANTHROPIC_VERSION", KEPT },
	{ WIRE_MESSAGES, "anthropic-beta", "HTTP_ANTHROPIC_BETA", BETAS },
	{ WIRE_RESPONSES, "OpenAI-Beta", "HTTP_OPENAI_BETA", KEPT },
	{ WIRE_CHAT, "OpenAI-Beta", "HTTP_OPENAI_BETA", KEPT },
	{ WIRE_MESSAGES, "Accept", "HTTP_ACCEPT", DROPPED },
	{ WIRE_RESPONSES, "Accept", "HTTP_ACCEPT", DROPPED },
	{ WIRE_CHAT, "Accept", "HTTP_ACCEPT", DROPPED },
};

/* Betas of the vendor's that are this gateway's own business in such a turn. */
static const char *const ours[] = {
	"code-execution-", "files-api-", "skills-",
};
/* clang-format on */

/* All the values of one header, in the order they came. */
struct values {
	const char *name; /* As the transport has it. */
	struct buf all;
};

static void
see_value(void *cookie, const char *name, const char *value)
{
	struct values *v = cookie;

	if (strcmp(name, v->name) != 0 || *value == '\0')
		return;
	if (v->all.len > 0)
		buf_puts(&v->all, ",");
	buf_puts(&v->all, value);
}

static int
is_ours(const char *beta)
{
	size_t i;

	for (i = 0; i < NELEM(ours); i++)
		if (strncmp(beta, ours[i], strlen(ours[i])) == 0)
			return (1);
	return (0);
}

/* Take out of the list ${s}, in its place, what is ours. */
static void
take_out(char *s)
{
	char *word, *rest = s, *to = s;
	size_t len;

	while ((word = strsep(&rest, ",")) != NULL) {
		word += strspn(word, " \t");
		if (*word == '\0' || is_ours(word))
			continue;
		if (to != s)
			*to++ = ',';
		len = strlen(word);
		memmove(to, word, len);
		to += len;
	}
	*to = '\0';
}

/* The value of a row's header in ${mem}; "" if it is not to be sent. */
static const char *
value_of(const struct model_req *m, struct arena *mem, size_t row, int local)
{
	struct values v = {rows[row].param, BUF_INIT(VALUE_MAX)};
	const char *s = NULL;

	if (local && rows[row].here == DROPPED)
		return ("");
	io_param_each(m->r->io, see_value, &v);
	if (v.all.len > 0 && local && rows[row].here == BETAS)
		take_out(v.all.p);
	if (buf_ok(&v.all))
		s = v.all.len == 0
		    ? ""
		    : arena_strndup(mem, v.all.p, strlen(v.all.p));
	buf_free(&v.all);
	return (s);
}

const struct run_header *
model_headers(const struct model_req *m, struct arena *mem, int local)
{
	struct run_header *list;
	const char *value;
	size_t i, n = 0;

	list = arena_alloc(mem, (NELEM(rows) + 1) * sizeof(*list));
	if (list == NULL ||
	    m->dialect->wire != (enum conf_wire)m->provider->wire)
		return (list);
	for (i = 0; i < NELEM(rows); i++) {
		if (rows[i].wire != m->dialect->wire)
			continue;
		if ((value = value_of(m, mem, i, local)) == NULL)
			return (NULL);
		if (*value != '\0')
			list[n++] = (struct run_header){rows[i].name, value};
	}
	return (list);
}
