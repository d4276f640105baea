#ifndef DATA_FACTS_H_
#define DATA_FACTS_H_

#include <stdint.h>

#include "data/rc.h"

/* What `satchel-admin check` wants to know of the database server. */

/* Opaque types. */
struct arena;
struct db;

struct facts {
	const char *version;  /* As the server says it. */
	const char *charset;  /* Of the schema. */
	uint64_t connections; /* It takes so many at once. */
	uint64_t flush;       /* innodb_flush_log_at_trx_commit */
	int read_only;
	uint64_t now; /* Its clock, Unix milliseconds. */
};

/**
 * facts_find(db, mem, f):
 * Ask the server and fill in ${f}.  DATA_OK, DATA_DOWN or DATA_FAIL.
 */
enum data_rc facts_find(struct db *, struct arena *, struct facts *);

#endif /* !DATA_FACTS_H_ */
