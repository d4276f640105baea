#include <string.h>

#include "base/num.h"
#include "http/query.h"
#include "speech/dialect.h"

#include "fcgi/page_ask.h"
#include "fcgi/req.h"

/* Set ${s} to the parameter ${name}, NULL if absent or empty. */
static int
take(struct req *r, const char *name, const char **s)
{

	*s = query_get(r->query, name, 0);
	if (query_count(r->query, name) > 1) {
		(void)reply_problem(r, P_INVALID_VALUE, name,
		    "The parameter %s is given more than once", name);
		return (-1);
	}
	if (*s != NULL && **s == '\0')
		*s = NULL;
	return (0);
}

int
page_ask_read(struct req *r, size_t def, size_t most, struct page_ask *ask)
{
	const char *limit, *order;
	uint64_t n = def;

	if (take(r, "limit", &limit) || take(r, "order", &order) ||
	    take(r, "after", &ask->after))
		return (-1);
	if (limit != NULL && num_u64(limit, 1, most, &n)) {
		(void)reply_problem(r, P_INVALID_VALUE, "limit",
		    "limit must be a whole number between 1 and %zu", most);
		return (-1);
	}
	ask->limit = (size_t)n;
	ask->ascending = order != NULL && strcmp(order, "asc") == 0;
	if (order == NULL || ask->ascending || strcmp(order, "desc") == 0)
		return (0);
	(void)reply_problem(
	    r, P_INVALID_VALUE, "order", "order must be asc or desc");
	return (-1);
}
