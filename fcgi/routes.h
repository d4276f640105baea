#ifndef FCGI_ROUTES_H_
#define FCGI_ROUTES_H_

/* Opaque type. */
struct req;

/* Which worker pool answers: short byte work, or work that can take minutes. */
enum pool { POOL_FILES = 1, POOL_RUN = 2 };

/* Who may call. */
enum who { WHO_ANY, WHO_KEY, WHO_MANAGEMENT };

/* Flags of a route. */
#define R_FILES 1  /* 404 where files.enabled is false. */
#define R_UPLOAD 2 /* Streams its body: nginx must not buffer the request. */

/**
 * A handler answers one request.  It returns 0 once it has answered (an error
 * answer included), or -1 when it could not, after logging why; dispatch then
 * answers 500 in the caller's dialect.
 */
typedef int handler(struct req *);

/*
 * A path is the part after the mount point and /v1 (or /api/v1); a route whose
 * path begins '=' is at the root only.  Segments in braces are typed and land in
 * r->arg[] percent-decoded:
 *   {file}    a file id in any spelling (see file_id_parse()); r->file is found
 *             together with the key
 *   {lcid}    21 of [A-Za-z0-9_-] that is no file id (a LibreChat id)
 *   {id}      1 to 128 of [A-Za-z0-9_-]
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
 * dispatch(r):
 * Find ${r}'s route, choose the dialect, check the caller, run the handler.
 * Always answers, and writes the access line.
 */
void dispatch(struct req *);

/* Handlers, by the file they live in. */
handler files_create, files_list, files_retrieve, files_content, files_delete;
handler uploads_create, uploads_part, uploads_complete, uploads_cancel;
handler messages_create;
handler responses_create;
handler chat_create;
handler healthz, readyz, metrics;

#endif /* !FCGI_ROUTES_H_ */
