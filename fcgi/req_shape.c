#include <stdio.h>

#include "base/buf.h"
#include "base/jshape.h"
#include "speech/dialect.h"

#include "fcgi/req.h"

#define NAME_SIZE 128
#define WANT_MAX 512

/* "name", or "inside.name". */
static const char *
full_name(const char *inside, const char *name, char out[static NAME_SIZE])
{

	(void)snprintf(out, NAME_SIZE, "%s%s%s", inside != NULL ? inside : "",
	    inside != NULL ? "." : "", name);
	return (out);
}

static void
reply_wrong(struct req *r, enum problem kind, const char *name,
    const struct jshape *row)
{
	struct buf b = BUF_INIT(WANT_MAX);

	(void)jshape_want(&b, row);
	(void)reply_problem(
	    r, kind, name, "%s must be %s", name, b.len > 0 ? b.p : "another");
	buf_free(&b);
}

int
reply_shape(struct req *r, const char *inside, enum jshape_rc rc,
    const struct jshape_fault *fault)
{
	char name[NAME_SIZE] = "";

	if (fault->row != NULL)
		(void)full_name(inside, fault->row->name, name);
	switch (rc) {
	case JSHAPE_ABSENT:
		(void)reply_problem(
		    r, P_MISSING_PARAMETER, name, "%s is missing", name);
		return (-1);
	case JSHAPE_TYPE:
		if (fault->row == NULL)
			break;
		reply_wrong(r, P_INVALID_TYPE, name, fault->row);
		return (-1);
	case JSHAPE_RANGE:
		reply_wrong(r, P_INVALID_VALUE, name, fault->row);
		return (-1);
	case JSHAPE_REPEATED:
		(void)reply_problem(
		    r, P_INVALID_VALUE, name, "%s appears twice", name);
		return (-1);
	case JSHAPE_UNKNOWN:
		(void)reply_problem(r, P_INVALID_VALUE, NULL,
		    "There is no field %.*s here",
		    fault->key.len < 80 ? (int)fault->key.len : 80,
		    fault->key.p);
		return (-1);
	case JSHAPE_OK:
	case JSHAPE_MEMORY:
		break;
	}
	(void)reply_problem(r, P_SERVER, NULL, "Internal server error");
	return (-1);
}

int
req_shape(struct req *r, size_t max, const struct jshape *rows, size_t n,
    int strict, void *out)
{
	struct jshape_fault fault;
	struct jspan text, root;
	enum jshape_rc rc;

	if (req_span(r, max, &text, &root))
		return (-1);
	rc = jshape_read(r->mem, root, rows, n, strict, out, &fault);
	return (rc == JSHAPE_OK ? 0 : reply_shape(r, NULL, rc, &fault));
}
