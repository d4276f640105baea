#ifndef DATA_CALLER_H_
#define DATA_CALLER_H_

#include <stdint.h>

#include "data/file.h"
#include "data/rc.h"

/*
 * Who is calling: an API key's row, joined with its user and workspace.  A key
 * is "sk-satchel-" and 43 characters; only its SHA-256 is stored.
 */

/* Opaque types. */
struct arena;
struct db;

enum role { ROLE_USER, ROLE_WORKSPACE_ADMIN, ROLE_MANAGEMENT };

struct caller {
	uint64_t key; /* Row id; of a known key that is refused too. */
	struct owner owner;
	uint64_t names; /* Name space of names it asserts, as in table user. */
	enum role role;
	const char *workspace, *user; /* Their names. */
	uint64_t now;                 /* The database's clock, Unix ms. */
	const char *refused;          /* Why a known key is; NULL: it is not. */
};

/**
 * caller_why(db, mem, token, c):
 * Why caller_find() has said DATA_NONE of ${token}, for the log: "malformed",
 * "unknown", "revoked", "expired", "its workspace is disabled" or "its user is
 * disabled".  ${c} is as it left it.
 */
const char *
caller_why(struct db *, struct arena *, const char *, const struct caller *);

/**
 * caller_find(db, mem, token, id, c, f, have):
 * Look up the key ${token} and, in the same statement, the file ${id} of its
 * owner unless ${id} is NULL.  DATA_OK with ${c} filled in, and ${have} set to
 * what file_find() would say of ${f} (not touched if ${id} is NULL); DATA_NONE
 * if the key is unknown, revoked or expired, or its user or workspace disabled;
 * DATA_DOWN; DATA_FAIL.
 */
enum data_rc caller_find(struct db *, struct arena *, const char *,
    const char *, struct caller *, struct file *, enum data_rc *);

/**
 * caller_act_as(db, mem, c, user, workspace):
 * Make the management key ${c} act for the user named ${user}, in the workspace
 * named ${workspace} unless that is NULL.  DATA_OK; DATA_NONE if there is no
 * such user; DATA_STATE if several workspaces have one and none was named.
 */
enum data_rc caller_act_as(
    struct db *, struct arena *, struct caller *, const char *, const char *);

/**
 * caller_of_tenant(db, mem, tenant, user, c):
 * Fill in ${c} for the ${user} whom a token of ${tenant} names; the workspace
 * of the tenant and the user are made when they are first seen.  Both must have
 * passed admin_name_ok().  DATA_OK; DATA_NONE if either has been disabled;
 * DATA_DOWN; DATA_FAIL.
 */
enum data_rc caller_of_tenant(
    struct db *, struct arena *, const char *, const char *, struct caller *);

/**
 * caller_local(db, mem, user, c):
 * The same for a caller of a trusted network, in the workspace "local".
 */
enum data_rc
caller_local(struct db *, struct arena *, const char *, struct caller *);

/**
 * caller_assert(db, mem, c, user):
 * The key ${c} says that it asks for ${user}: make ${c} that user of the key's
 * name space, made when first seen.  Its own user's name changes nothing.
 * Returns as caller_of_tenant().
 */
enum data_rc
caller_assert(struct db *, struct arena *, struct caller *, const char *);

#endif /* !DATA_CALLER_H_ */
