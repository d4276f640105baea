#ifndef DATA_SCHEMA_H_
#define DATA_SCHEMA_H_

#include <stddef.h>

#include "data/rc.h"
#include "io/db.h"

/*
 * The schema's number and the steps that lead to it.  Steps are the files of
 * schema/, one statement each, forward only, carried inside satchel-admin; what
 * has been done is recorded one by one in the table migration.
 */

/* The number of the last file in schema/ that this code was written for. */
#define SCHEMA_NUMBER 28

/* Opaque type. */
struct arena;

/* The step that lets the table migration say who may go on. */
#define SCHEMA_OLDEST_KNOWN 26

struct migration {
	unsigned int number;
	unsigned int oldest; /* Programs that know this step may go on. */
	const char *name;
	const char *sql;
};

/* The files of schema/, in order; made by tools/embed-schema. */
extern const struct migration migrations[];
extern const size_t nmigrations;

/**
 * schema_check(db):
 * Is the schema the one this code was written for, or a newer one, even one
 * that is being made, that says this code may go on?  DATA_OK; DATA_STATE after
 * one log line that says what is there, what is wanted and which command to
 * run; DATA_DOWN; DATA_FAIL.
 */
enum data_rc schema_check(struct db *);

/**
 * schema_begun(db, mem, begun):
 * Is there a table migration in the schema at all?
 */
enum db_rc schema_begun(struct db *, struct arena *, int *);

/**
 * schema_migrate(db, steps, n, told, cookie):
 * Bring the schema from whatever step it is at to the last of the ${n}
 * ${steps}, calling ${told}(${cookie}, step) after each one done here.  Any
 * number of programs may do so at once, and one that was killed is made good by
 * the next.  DATA_OK; DATA_STATE after one log line if the schema is newer than
 * ${steps}, is not made by them, or a table of that name is somebody else's;
 * DATA_DOWN; DATA_FAIL.
 */
enum data_rc schema_migrate(struct db *, const struct migration *, size_t,
    void (*)(void *, const struct migration *), void *);

#endif /* !DATA_SCHEMA_H_ */
