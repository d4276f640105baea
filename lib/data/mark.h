#ifndef DATA_MARK_H_
#define DATA_MARK_H_

#include "data/rc.h"
#include "io/store_mark.h"

/* The mark that the database expects of its store, see io/store_mark.h. */

/* Opaque types. */
struct db;
struct store;

/**
 * mark_find(db, mark):
 * Set ${mark} to the mark of the store.  DATA_NONE if none was ever given:
 * then any directory will do; DATA_DOWN; DATA_FAIL.
 */
enum data_rc mark_find(struct db *, char[static STORE_MARKLEN + 1]);

/**
 * mark_set(db, mark):
 * Record ${mark} as the store's.  DATA_TAKEN if there is one already;
 * DATA_DOWN; DATA_UNSURE; DATA_FAIL.
 */
enum data_rc mark_set(struct db *, const char *);

/**
 * mark_unused(db):
 * Is there certainly no file in the database that could have bytes?
 */
int mark_unused(struct db *);

/**
 * mark_learn(db, S):
 * Let ${S} expect the mark, if there is one and it does not yet: a mark never
 * changes.  DATA_OK, DATA_DOWN or DATA_FAIL.
 */
enum data_rc mark_learn(struct db *, struct store *);

#endif /* !DATA_MARK_H_ */
