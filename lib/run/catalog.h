#ifndef RUN_CATALOG_H_
#define RUN_CATALOG_H_

#include <stddef.h>

#include "speech/model_card.h"

/*
 * Which models there are and who serves them: what the configuration names,
 * and where it names patterns, what the provider itself lists.
 */

/* Opaque types. */
struct arena;
struct conf;
struct conf_provider;

#define CATALOG_MAX 2000     /* Models of all providers. */
#define CATALOG_NAME_MAX 512 /* Bytes of a name that can be asked for. */

struct catalog {
	struct model_card *cards; /* In the providers' order. */
	size_t n;
};

/**
 * catalog_serves(p, model):
 * Does ${p} serve the ${model} that it knows by this name?
 */
int catalog_serves(const struct conf_provider *, const char *);

/**
 * catalog_choose(c, model, name):
 * The provider that answers for ${model}, which a caller asks for, and the
 * ${name} it knows it by: for "NAME:MODEL" the provider NAME if there is one,
 * else the first that serves it.  NULL if none does, as none does for a name of
 * over CATALOG_NAME_MAX bytes.
 */
const struct conf_provider *
catalog_choose(const struct conf *, const char *, const char **);

/**
 * catalog_read(c, mem, gone_fd, all):
 * List every model into ${mem}, asking the providers that must be.  Return 0,
 * or -1 if memory ran out or the client has gone.
 */
int catalog_read(const struct conf *, struct arena *, int, struct catalog *);

#endif /* !RUN_CATALOG_H_ */
