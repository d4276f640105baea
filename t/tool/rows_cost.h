#ifndef TOOL_ROWS_COST_H_
#define TOOL_ROWS_COST_H_

#include "t/tool/rows.h"

/* What a statement costs, which the server's own counters of rows tell. */

static inline int
add_up(void *cookie, char *const *cols)
{
	uint64_t n;

	/* Reading the counters itself reads through a temporary table. */
	if (strcmp(cols[0], "Handler_read_rnd_next") == 0 ||
	    strcmp(cols[0], "Handler_read_rnd") == 0)
		return (0);
	if (num_u64(cols[1], 0, UINT64_MAX, &n))
		return (-1);
	*(uint64_t *)cookie += n;
	return (0);
}

/* Rows this connection, the only one, has read by index so far. */
static inline uint64_t
rows_read(void)
{
	uint64_t n = 0;

	if (db_rows(db, "SHOW SESSION STATUS LIKE 'Handler_read%'", NULL, 0, 2,
		add_up, &n) != DB_OK)
		exit(3);
	return (n);
}

static inline int
ignore(void *cookie, char *const *cols)
{

	(void)cookie;
	(void)cols;
	return (0);
}

/* Let the optimizer know what is in the table. */
static inline void
analyze(void)
{

	if (db_rows(db, "ANALYZE TABLE file", NULL, 0, 4, ignore, NULL) !=
	    DB_OK)
		exit(3);
}

#endif /* !TOOL_ROWS_COST_H_ */
