#ifndef FCGI_UPLOADS_H_
#define FCGI_UPLOADS_H_

#include <json.h>

#include "data/upload.h"

/* What the handlers of /v1/uploads share. */

/* Opaque type. */
struct req;

#define UPLOAD_PART_MAX 67108864ULL /* Bytes of one part. */

/**
 * uploads_find(r, u):
 * Look up the upload that ${r}'s path names and see that it is pending.
 * Return 0, or -1 after answering.
 */
int uploads_find(struct req *, struct upload *);

/**
 * uploads_closed(r, u):
 * Answer that ${u} has ended, as ${u}->state says.  Returns as reply_json().
 */
int uploads_closed(struct req *, const struct upload *);

/**
 * uploads_object(r, u, status, file):
 * The upload object of ${u} in this state, with the file ${file} that it made,
 * NULL for none.  A new reference, or NULL.
 */
json_object *uploads_object(
    struct req *, const struct upload *, const char *, const struct file *);

#endif /* !FCGI_UPLOADS_H_ */
