#ifndef TOOLS_ADMIN_H_
#define TOOLS_ADMIN_H_

#include <stdint.h>

#include "base/conf.h"
#include "data/rc.h"

/*
 * satchel-admin: one row of admin.c's table a command.  A command is a word or
 * two; its handler gets the words after it.
 */

/* Opaque type. */
struct db;

/* What the program exits with. */
enum admin_exit {
	ADMIN_OK = 0,
	ADMIN_NO = 1,   /* Refused, or problems were found. */
	ADMIN_USAGE = 2 /* Could not run: words, settings, database. */
};

/* What a command may use. */
struct admin {
	struct conf_args args; /* The -c and -s words. */
	struct conf conf;      /* Loaded if the row says ADMIN_CONF. */
	struct db *db;         /* Open if the row says ADMIN_DB. */
	int json; /* --json was given, before or after the command. */
};

/* What must be there before a handler runs. */
#define ADMIN_CONF 1   /* The settings. */
#define ADMIN_DB 2     /* A database handle; implies ADMIN_CONF. */
#define ADMIN_SCHEMA 4 /* The schema at our number; implies ADMIN_DB. */
#define ADMIN_LIST 8   /* It prints columns, with tabs between them. */

/**
 * A command, given the words after its name.  Returns an enum admin_exit, after
 * saying why on standard error unless it is ADMIN_OK.
 */
typedef int admin_handler(struct admin *, int, char **);

struct admin_cmd {
	const char *name; /* "check", "key create". */
	int flags;
	admin_handler *run;
	const char *args; /* "WORKSPACE NAME"; "" if it takes none. */
	const char *help; /* One line. */
};

/**
 * admin_fail(fmt, ...):
 * Print "satchel-admin: " and the text on standard error; return ADMIN_NO.
 */
int admin_fail(const char *, ...) __attribute__((format(printf, 1, 2)));

/**
 * admin_usage(fmt, ...):
 * The same with a pointer to --help; return ADMIN_USAGE.
 */
int admin_usage(const char *, ...) __attribute__((format(printf, 1, 2)));

/**
 * admin_data(rc):
 * Say what a data_rc that means "not your fault" came to; return ADMIN_USAGE.
 */
int admin_data(enum data_rc);

/* An option of a command: "--name VALUE", or "--name" alone if flag is set. */
struct admin_opt {
	const char *name; /* Without its dashes. */
	const char **value;
	int *flag;
};

/**
 * admin_options(argc, argv, opts, nopts, words, nwords):
 * Sort the words after a command into the options of ${opts} and exactly
 * ${nwords} others, in any order.  Return 0; or -1 after admin_usage() for an
 * unknown or repeated option, a missing value, too few or too many words.
 */
int admin_options(
    int, char **, const struct admin_opt *, size_t, const char **, size_t);

/* Handlers, by the file they live in. */
admin_handler admin_migrate; /* admin_migrate.c */
admin_handler admin_workspace_create, admin_workspace_list; /* admin_owner.c */
admin_handler admin_workspace_disable, admin_workspace_enable;
admin_handler admin_user_create, admin_user_list;
admin_handler admin_user_disable, admin_user_enable;
admin_handler admin_key_create, admin_key_list; /* admin_key.c */
admin_handler admin_key_revoke, admin_key_expire;
admin_handler admin_policy_set, admin_policy_clear; /* admin_policy.c */
admin_handler admin_policy_list;
admin_handler admin_executor_set, admin_executor_clear;
admin_handler admin_store_adopt;       /* admin_store.c */
admin_handler admin_fsck;              /* admin_fsck.c */
admin_handler admin_check, admin_conf; /* admin_check.c */
admin_handler admin_check_executor;    /* admin_executor.c */
admin_handler admin_check_librechat;   /* admin_librechat.c */

#endif /* !TOOLS_ADMIN_H_ */
