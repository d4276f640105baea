#ifndef TOOLS_ADMIN_CHECK_H_
#define TOOLS_ADMIN_CHECK_H_

#include "base/buf.h"
#include "base/conf.h"
#include "data/facts.h"
#include "data/rc.h"
#include "io/blob_probe.h"
#include "io/store_mark.h"

/*
 * satchel-admin check, past the settings: one row of a table an item, each with
 * a function that looks and says what it saw.
 */

/* Opaque types. */
struct arena;
struct db;

enum check_state { CHECK_OK, CHECK_WARN, CHECK_FAIL, CHECK_SKIP };

/* What the items share; looked up once. */
struct check {
	const struct conf *c;
	struct arena *mem;
	struct db *db;
	enum blob_rc store;
	struct store_probe probe; /* If store is BLOB_OK. */

	/* The mark that the database expects, and what files.root bears. */
	enum data_rc marked;
	enum blob_rc mark;
	char want[STORE_MARKLEN + 1], have[STORE_MARKLEN + 1];
	enum data_rc facts_rc;
	struct facts facts; /* If facts_rc is DATA_OK. */
	enum data_rc schema;
	uint64_t asked;     /* Our clock when facts were asked for. */
	char down[320];     /* Why the database cannot be used; or "". */
	struct buf *remedy; /* What to do, where an item knows better. */
};

struct check_item {
	const char *name;
	/* Append what was seen; CHECK_SKIP: not worth a line. */
	enum check_state (*look)(const struct check *, struct buf *);
	const char *remedy; /* What to do unless it is CHECK_OK. */
};

/**
 * check_mark_fits(k):
 * May files.root be the store of this database, as far as can be known?
 */
int check_mark_fits(const struct check *);

/* Ends with a NULL name. */
extern const struct check_item check_host[], check_machine[], check_peers[];
extern const struct check_item check_store[];

#endif /* !TOOLS_ADMIN_CHECK_H_ */
