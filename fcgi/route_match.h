#ifndef FCGI_ROUTE_MATCH_H_
#define FCGI_ROUTE_MATCH_H_

#include <stddef.h>

/* Opaque types. */
struct req;
struct route;

#define MATCH_SEGMENTS 8
#define MATCH_ALLOW 64

/* A request's path, cut into decoded segments; NULL for one that cannot be. */
struct match_path {
	const char *segment[MATCH_SEGMENTS];
	size_t n;
	size_t base; /* So many are /v1 or /api/v1; 0: at the root. */
	int slash;   /* It ends in a slash. */
};

/* What the table of routes has to say of a path. */
struct match {
	const struct route *route;  /* For the method too, or NULL. */
	const struct route *first;  /* The first one of that path, or NULL. */
	const struct route *misfit; /* Same, but for an id that is none. */
	char allow[MATCH_ALLOW]; /* Methods of that path, as Allow has them. */
};

/**
 * match_find(r, m):
 * Look up r->method and r->path; fill in r->arg and r->file_id for a route that
 * was found.
 */
void match_find(struct req *, struct match *);

/**
 * match_meant(r):
 * Does r->path, which has no route, have one with exactly one /v1 before it, so
 * that the caller's base URL has one too many or none?
 */
int match_meant(struct req *);

#endif /* !FCGI_ROUTE_MATCH_H_ */
