#ifndef FCGI_REQ_PATH_H_
#define FCGI_REQ_PATH_H_

/* Opaque type. */
struct req;

/**
 * req_path(r):
 * Set r->path to what the caller asked for below the mount point, undecoded as
 * it was sent, and r->decoded if only a decoded path was to be had.  The mount
 * point is the web server's parameter SATCHEL_MOUNT, else the path of
 * server.public_url, else the program's own (SCRIPT_NAME before a PATH_INFO).
 * Return 0, or -1 if memory ran out.
 */
int req_path(struct req *);

/**
 * req_base(r):
 * The address that the caller knows this gateway by, without a slash at its
 * end: server.public_url, else what he used himself; "" if that is not to be
 * had.  NULL if memory ran out.
 */
const char *req_base(struct req *);

#endif /* !FCGI_REQ_PATH_H_ */
