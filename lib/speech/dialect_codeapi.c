#include "base/jset.h"

#include "speech/dialect.h"

/* What LibreChat's client reads of an error; the rest is in the status. */
static json_object *
codeapi_error(const struct problem_row *row, const char *message,
    const char *param, const char *request_id)
{
	json_object *o;

	(void)row;
	(void)param;
	(void)request_id;
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "error", jstr(message))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* Its routes write their own answers. */
const struct dialect dialect_codeapi = {
    .name = "codeapi",
    .error = codeapi_error,
};
