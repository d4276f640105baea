#include <stdio.h>

#include "fcgi/routes.h"

/* Shorthands that keep a route on one line. */
#define FILES POOL_FILES
#define RUN POOL_RUN
#define KEY WHO_KEY
#define ADMIN WHO_ADMIN
#define MANAGEMENT WHO_MANAGEMENT
#define ANY WHO_ANY
#define LC WHO_LIBRECHAT
#define CODE R_CODEAPI

/* clang-format off */
const struct route routes[] = {
	{ "POST",   "/upload",			FILES, LC, CODE | R_UPLOAD,
	    lc_upload },
	{ "POST",   "/upload/batch",		FILES, LC, CODE | R_UPLOAD,
	    lc_upload_batch },
	{ "POST",   "/exec",			RUN, LC, CODE | R_BODY_KEY,
	    lc_exec },
	{ "POST",   "/exec/programmatic",	RUN, LC, CODE | R_BODY_KEY,
	    lc_programmatic },
	{ "POST",   "/exec/programmatic/cancel", FILES, LC,
	    CODE | R_BODY_KEY, lc_cancel },
	{ "GET",    "/files/{lcid}",		FILES, LC, CODE, lc_list },
	{ "DELETE", "/files/{lcid}/{lcid}",	FILES, LC, CODE, lc_delete },
	{ "GET",    "/sessions/{lcid}/objects/{lcid}", FILES, LC, CODE,
	    lc_metadata },
	{ "DELETE", "/sessions/{lcid}/objects/{lcid}", FILES, LC, CODE,
	    lc_delete },
	{ "GET",    "/download/{lcid}/{lcid}",	FILES, LC, CODE, lc_download },

	{ "GET",    "/files",			FILES, KEY, R_FILES,
	    files_list },
	{ "POST",   "/files",			FILES, KEY,
	    R_FILES | R_UPLOAD | R_FORM_USER, files_create },
	{ "GET",    "/files/{file}",		FILES, KEY, R_FILES,
	    files_retrieve },
	{ "DELETE", "/files/{file}",		FILES, KEY, R_FILES,
	    files_delete },
	{ "GET",    "/files/{file}/content",	FILES, KEY, R_FILES,
	    files_content },

	{ "POST",   "/uploads",			FILES, KEY, R_FILES,
	    uploads_create },
	{ "POST",   "/uploads/{id}/parts",	FILES, KEY, R_FILES | R_UPLOAD,
	    uploads_part },
	{ "POST",   "/uploads/{id}/complete",	FILES, KEY, R_FILES,
	    uploads_complete },
	{ "POST",   "/uploads/{id}/cancel",	FILES, KEY, R_FILES,
	    uploads_cancel },

	{ "POST",   "/messages",		RUN, KEY, R_ANTHROPIC,
	    messages_create },
	{ "POST",   "/responses",		RUN, KEY, R_OPENAI,
	    responses_create },
	{ "GET",    "/responses/{id}",		RUN, KEY, R_OPENAI,
	    responses_get },
	{ "DELETE", "/responses/{id}",		RUN, KEY, R_OPENAI,
	    responses_delete },
	{ "GET",    "/responses/{id}/input_items",	RUN, KEY, R_OPENAI,
	    responses_items },
	{ "POST",   "/messages/count_tokens",	RUN, KEY, R_ANTHROPIC,
	    messages_count },
	{ "POST",   "/responses/input_tokens",	RUN, KEY, R_OPENAI,
	    responses_count },
	{ "GET",    "/models",			RUN, KEY, 0, models_list },
	{ "GET",    "/models/{model}",		RUN, KEY, 0, models_retrieve },
	{ "GET",    "/models/{model}/{model}",	RUN, KEY, 0, models_retrieve },
	{ "POST",   "/completions",		RUN, KEY, R_OPENAI,
	    other_create },
	{ "POST",   "/embeddings",		RUN, KEY, R_OPENAI,
	    other_create },
	{ "POST",   "/moderations",		RUN, KEY, R_OPENAI,
	    other_create },
	{ "POST",   "/rerank",			RUN, KEY, R_OPENAI,
	    other_create },
	{ "POST",   "/images/generations",	RUN, KEY, R_OPENAI,
	    other_create },
	{ "POST",   "/audio/speech",		RUN, KEY, R_OPENAI,
	    other_create },
	{ "POST",   "/chat/completions",	RUN, KEY, R_OPENAI,
	    chat_create },

	{ "GET",    "/containers",		FILES, KEY,
	    R_FILES | R_OPENAI, containers_list },
	{ "POST",   "/containers",		FILES, KEY,
	    R_FILES | R_OPENAI, containers_create },
	{ "GET",    "/containers/{id}",		FILES, KEY,
	    R_FILES | R_OPENAI, containers_get },
	{ "DELETE", "/containers/{id}",		FILES, KEY,
	    R_FILES | R_OPENAI, containers_delete },
	{ "GET",    "/containers/{id}/files",	FILES, KEY,
	    R_FILES | R_OPENAI, container_files_list },
	{ "POST",   "/containers/{id}/files",	FILES, KEY,
	    R_FILES | R_UPLOAD | R_OPENAI, container_files_create },
	{ "GET",    "/containers/{id}/files/{file}",	FILES, KEY,
	    R_FILES | R_OPENAI, container_files_get },
	{ "DELETE", "/containers/{id}/files/{file}",	FILES, KEY,
	    R_FILES | R_OPENAI, container_files_delete },
	{ "GET",    "/containers/{id}/files/{file}/content",	FILES, KEY,
	    R_FILES | R_OPENAI, container_files_content },

	{ "GET",    "/usage",			FILES, ADMIN, R_OPENAI,
	    usage_get },
	{ "GET",    "/tools",			FILES, KEY, 0, tools_list },
	{ "GET",    "/workspaces/{name}/code-execution-policy",
	    FILES, ADMIN, 0, policy_get },
	{ "PUT",    "/workspaces/{name}/code-execution-policy",
	    FILES, ADMIN, 0, policy_set },
	{ "DELETE", "/workspaces/{name}/code-execution-policy",
	    FILES, ADMIN, 0, policy_unset },
	{ "GET",    "/settings/code-execution",	FILES, MANAGEMENT, 0,
	    executor_get },
	{ "PUT",    "/settings/code-execution",	FILES, MANAGEMENT, 0,
	    executor_set },
	{ "DELETE", "/settings/code-execution",	FILES, MANAGEMENT, 0,
	    executor_unset },

	{ "GET",    "/health",		FILES, ANY, CODE, healthz },
	{ "GET",    "/ready",			FILES, ANY, CODE, readyz },
	{ "GET",    "=/",			FILES, ANY, 0, root },
	{ "GET",    "=/healthz",		FILES, ANY, 0, healthz },
	{ "GET",    "=/readyz",			FILES, ANY, 0, readyz },
	{ "GET",    "=/metrics",		FILES, ANY, 0, metrics },
	{ "GET",    "=/metrics/run",		RUN, ANY, 0, metrics },
	{ NULL, NULL, 0, 0, 0, NULL }
};
/* clang-format on */

_Static_assert(sizeof(routes) / sizeof(routes[0]) <= ROUTES_NONE,
    "a counter for each route, and one for none");

size_t
routes_index(const struct route *rt)
{

	return (rt != NULL ? (size_t)(rt - routes) : ROUTES_NONE);
}

void
routes_name(const struct route *rt, char name[static ROUTES_NAMEMAX])
{
	const char *path = rt != NULL ? rt->path : "=-";
	const int root = path[0] == '=';

	(void)snprintf(
	    name, ROUTES_NAMEMAX, "%s%s", root ? "" : "/v1", path + root);
}
