#include "speech/model_dialect.h"

#include "fcgi/model.h"
#include "fcgi/routes.h"

int
responses_create(struct req *r)
{

	return (model_handle(r, &model_responses));
}
