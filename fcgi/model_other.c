#include "base/conf.h"

#include "fcgi/model.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

/*
 * POST /v1/embeddings and other paths of OpenAI's that are none of ours
 *
 * What the model's provider answers, if it is flagged for this.
 * 404: it is not.
 */
int
other_create(struct req *r)
{
	const struct relay_to to = {.path = r->route->path, .any_type = 1};
	struct model_req m = {.r = r, .dialect = &model_chat};

	if (model_open(&m))
		return (0);
	if (!m.provider->forward_other || m.provider->wire == WIRE_MESSAGES)
		return (reply_problem(r, P_UNKNOWN_URL, NULL,
		    "There is no such endpoint for the model '%.200s': its "
		    "provider %s",
		    m.peek.model,
		    m.provider->wire == WIRE_MESSAGES
			? "speaks Anthropic's protocol"
			: "does not have forward_other set"));
	return (model_relay(&m, &to));
}
