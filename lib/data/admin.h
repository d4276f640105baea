#ifndef DATA_ADMIN_H_
#define DATA_ADMIN_H_

#include <stddef.h>
#include <stdint.h>

#include "data/caller.h"
#include "data/rc.h"

/*
 * Workspaces, users and keys as an operator manages them.  Names are 1 to 255
 * bytes of UTF-8 without control characters and without a space at either end
 * (admin_name_ok()); functions are given names that have passed it.
 */

/* Opaque types. */
struct arena;
struct db;

#define KEY_PREFIX "sk-satchel-"
#define KEY_RANDOM 43 /* Characters of [0-9A-Za-z] after the prefix. */
#define KEY_LEN (sizeof(KEY_PREFIX) - 1 + KEY_RANDOM)

struct workspace {
	uint64_t id;
	const char *name;
	const char *tenant;         /* NULL: none. */
	uint64_t created, disabled; /* Unix ms; 0 = in use. */
};

struct user {
	uint64_t id;
	const char *workspace, *name;
	uint64_t key; /* Name space: 0 = the workspace's, else this key's. */
	uint64_t created, disabled;
};

struct key {
	uint64_t id;
	const char *hint, *workspace, *user, *label;
	enum role role;
	int shared; /* Asserts names in the workspace's name space. */
	/* Unix ms; 0 = never.  Disabled: with its user or workspace. */
	uint64_t created, expires, revoked, disabled;
};

/* What key_create() is told. */
struct key_new {
	const char *workspace; /* NULL: the one of ${tenant}. */
	const char *user, *label;
	const char *tenant; /* NULL: the key's names are its own. */
	enum role role;
	uint64_t expires; /* Unix ms; 0 = never. */
};

/**
 * admin_name_ok(s):
 * May ${s} name a workspace, a tenant or a user?
 */
int admin_name_ok(const char *);

/**
 * role_name(role), role_parse(s, role):
 * The word for ${role} ("user", "workspace-admin", "management"); and back,
 * which returns 0, or -1 if ${s} is none of them.
 */
const char *role_name(enum role);
int role_parse(const char *, enum role *);

/**
 * workspace_create(db, name, tenant, id):
 * Make a workspace, which shares the JWT name space ${tenant} unless that is
 * NULL, and set ${id}.  DATA_TAKEN if either is in use; DATA_DOWN; DATA_UNSURE;
 * DATA_FAIL.
 */
enum data_rc
workspace_create(struct db *, const char *, const char *, uint64_t *);

/**
 * workspace_enable(db, name, on), user_enable(db, workspace, name, on):
 * Switch a workspace, or a user in its own name space, on or off: nobody is let
 * in with the keys of what is off.  DATA_NONE: no such thing; DATA_STATE: it
 * was so already.
 */
enum data_rc workspace_enable(struct db *, const char *, int);
enum data_rc user_enable(struct db *, const char *, const char *, int);

/**
 * user_create(db, workspace, name, id):
 * Make a user in ${workspace}'s own name space and set ${id}.  DATA_NONE if
 * there is no such workspace; DATA_TAKEN; DATA_DOWN; DATA_UNSURE; DATA_FAIL.
 */
enum data_rc user_create(struct db *, const char *, const char *, uint64_t *);

/**
 * key_create(db, k, token, id):
 * Make a key for the user ${k} names, write it to ${token} and set ${id}.
 * DATA_NONE if there is no such user or workspace; DATA_STATE if the workspace
 * has another tenant than ${k} asks for; DATA_DOWN; DATA_UNSURE; DATA_FAIL.
 */
enum data_rc key_create(
    struct db *, const struct key_new *, char[static KEY_LEN + 1], uint64_t *);

/**
 * key_revoke(db, id, now), key_expire(db, id, when):
 * End the key ${id} now, or at ${when} (Unix ms; 0 = never).  DATA_NONE: no
 * such key; DATA_STATE: it was revoked before.
 */
enum data_rc key_revoke(struct db *, uint64_t, uint64_t);
enum data_rc key_expire(struct db *, uint64_t, uint64_t);

/**
 * workspace_each(db, fn, cookie), user_each(...), key_each(...):
 * Call ${fn}(${cookie}, x) for every one, by id; ${x} lives only during the
 * call.  DATA_OK, DATA_DOWN, DATA_FAIL (also when ${fn} returned -1).
 */
enum data_rc
workspace_each(struct db *, int (*)(void *, const struct workspace *), void *);
enum data_rc
user_each(struct db *, int (*)(void *, const struct user *), void *);
enum data_rc key_each(struct db *, int (*)(void *, const struct key *), void *);

#endif /* !DATA_ADMIN_H_ */
