#ifndef DATA_SETTING_H_
#define DATA_SETTING_H_

#include <stdint.h>

#include "data/rc.h"

/*
 * Settings that are changed while the programs run: a row overrides the setting
 * of the same name in the configuration.
 */

/* Opaque types. */
struct arena;
struct db;

/* The executor of requests that say nothing, of workspaces with no pin. */
#define SETTING_EXECUTOR "code_execution.executor"

/* When a sweep last did all there was to do; its value says nothing. */
#define SETTING_SWEPT "sweep.done"

struct setting {
	const char *value;
	uint64_t updated; /* Unix ms. */
};

/**
 * setting_find(db, mem, name, s):
 * Fill in ${s}.  DATA_OK; DATA_NONE: the configuration holds; DATA_DOWN;
 * DATA_FAIL.
 */
enum data_rc
setting_find(struct db *, struct arena *, const char *, struct setting *);

/**
 * setting_put(db, name, value, now):
 * Make ${value} the setting's.  DATA_OK, DATA_DOWN, DATA_UNSURE or DATA_FAIL.
 */
enum data_rc setting_put(struct db *, const char *, const char *, uint64_t);

/**
 * setting_drop(db, name):
 * Let the configuration hold again.  DATA_OK, also if it did already.
 */
enum data_rc setting_drop(struct db *, const char *);

#endif /* !DATA_SETTING_H_ */
