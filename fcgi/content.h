#ifndef FCGI_CONTENT_H_
#define FCGI_CONTENT_H_

/* Opaque type. */
struct req;

/**
 * content_send(r):
 * Answer with the bytes of r->file, which is live and the caller's to read, or
 * with what the request's conditions and range come to: 200, 206, 304, 412,
 * 416; 500 if the bytes are not there.  Returns as a handler.
 */
int content_send(struct req *);

/**
 * content_held(r):
 * The same for a file whose bytes its provider has: they are passed on as they
 * come, without ranges.  200; 404 if the provider has dropped it; 502 if it
 * does not give it out.
 */
int content_held(struct req *);

#endif /* !FCGI_CONTENT_H_ */
