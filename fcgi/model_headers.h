#ifndef FCGI_MODEL_HEADERS_H_
#define FCGI_MODEL_HEADERS_H_

/* Opaque types. */
struct arena;
struct model_req;
struct run_header;

/**
 * model_headers(m, mem, local):
 * The headers of the caller's that mean something to his vendor's own servers,
 * for a provider who speaks his protocol (none for another), ended by a NULL
 * name, in ${mem}.  With ${local} the turn is ours: what asks the vendor for
 * code execution or files is taken out.  NULL if memory ran out.
 */
const struct run_header *
model_headers(const struct model_req *, struct arena *, int);

#endif /* !FCGI_MODEL_HEADERS_H_ */
