#ifndef FCGI_CONTAINERS_H_
#define FCGI_CONTAINERS_H_

#include <json.h>

#include "data/container.h"

/* What the routes of containers and of their files share. */

/* Opaque types. */
struct refusal;
struct req;
struct run_env;

#define CONTAINERS_PAGE 100 /* Largest page of a list. */
#define CONTAINERS_DEFAULT 20

/**
 * containers_find(r, c):
 * Find the container that ${r}'s path names.  Return 0, also for an expired
 * one, which has c->expires in the past; or -1 after answering.
 */
int containers_find(struct req *, struct container *);

/**
 * containers_none(r):
 * Answer that there is no such container.  Returns as a handler.
 */
int containers_none(struct req *);

/**
 * containers_refused(r, why):
 * Answer with ${why}.  Returns as a handler.
 */
int containers_refused(struct req *, const struct refusal *);

/**
 * containers_env(r, env):
 * Fill in what a step of a run needs.
 */
void containers_env(struct req *, struct run_env *);

/**
 * containers_page(objects, first, last, more):
 * The envelope of a list, which consumes ${objects}; ids may be NULL.
 */
json_object *containers_page(json_object *, const char *, const char *, int);

#endif /* !FCGI_CONTAINERS_H_ */
