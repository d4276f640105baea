#ifndef FCGI_ROUTES_H_
#define FCGI_ROUTES_H_

#include <stddef.h>

/* Opaque type. */
struct req;

/* Which worker pool answers: short byte work, or work that can take minutes. */
enum pool { POOL_FILES = 1, POOL_RUN = 2 };

/* Who may call. */
enum who {
	WHO_ANY,
	WHO_KEY,   /* A user, or a management key that names one. */
	WHO_ADMIN, /* Any key, for itself: the handler asks for its role. */
	WHO_MANAGEMENT,
	WHO_LIBRECHAT /* As lc.h has it. */
};

/* Flags of a route. */
#define R_FILES 1     /* 404 where files.enabled is false. */
#define R_UPLOAD 2    /* Streams its body: nginx must not buffer the request. */
#define R_FORM_USER 4 /* Its handler calls req_act_as() with a form field. */
#define R_OPENAI 8    /* Speaks this dialect whatever the headers say. */
#define R_ANTHROPIC 16
#define R_CODEAPI 32  /* LibreChat's: its errors, and at the root as well. */
#define R_BODY_KEY 64 /* ...whose credential may stand in its JSON. */

/**
 * A handler answers one request.  It returns 0 once it has answered (an error
 * answer included), or -1 when it could not, after logging why; dispatch then
 * answers 500 in the caller's dialect.
 */
typedef int handler(struct req *);

/*
 * A path is the part after the mount point and /v1 (or /api/v1); a route whose
 * path begins '=' is at the root only, one with R_CODEAPI there as well.
 * Segments in braces are typed and land in r->arg[] percent-decoded:
 *   {file}    a file id in any spelling (see file_id_parse()); r->file is found
 *             together with the key
 *   {lcid}    21 of [A-Za-z0-9_-] that is no file id (a LibreChat id)
 *   {id}      1 to 128 of [A-Za-z0-9_-]
 *   {name}    the name of a workspace
 *   {model}   1 to 256 bytes, none of them a space or a control byte
 * A segment that does not fit its type does not match that route.
 */
struct route {
	const char *method;
	const char *path;
	enum pool pool;
	enum who who;
	int flags;
	handler *handle;
};

/* Every route, most specific first; ends with a NULL method. */
extern const struct route routes[];

/**
 * routes_index(rt):
 * The place of ${rt} in the table; ROUTES_NONE for NULL.
 */
size_t routes_index(const struct route *);
#define ROUTES_MAX 64 /* Rows of the table at most. */
#define ROUTES_NONE (ROUTES_MAX - 1)

/**
 * routes_name(rt, name):
 * Write the pattern of ${rt} as logs and counters show it, from the mount point
 * on ("/v1/files/{file}"); "-" for NULL.
 */
#define ROUTES_NAMEMAX 64
void routes_name(const struct route *, char[static ROUTES_NAMEMAX]);

/**
 * dispatch(r):
 * Find ${r}'s route, choose the dialect, check the caller, run the handler.
 * Always answers, or breaks the connection off.
 */
void dispatch(struct req *);

/* Handlers, by the file they live in. */
handler files_create, files_list, files_retrieve, files_content, files_delete;
handler uploads_create, uploads_part, uploads_complete, uploads_cancel;
handler messages_create;
handler responses_create;
handler responses_get, responses_delete, responses_items;
handler chat_create;
handler containers_create, containers_list, containers_get, containers_delete;
handler container_files_create, container_files_list, container_files_get;
handler container_files_content, container_files_delete;
handler policy_get, policy_set, policy_unset;
handler executor_get, executor_set, executor_unset;
handler tools_list;
handler usage_get;
handler messages_count, responses_count;
handler models_list, models_retrieve;
handler other_create;
handler lc_upload, lc_upload_batch, lc_list, lc_metadata, lc_download;
handler lc_delete, lc_exec, lc_programmatic, lc_cancel;
handler healthz, readyz, metrics, root;

#endif /* !FCGI_ROUTES_H_ */
