#ifndef TOOLS_ADMIN_STORE_H_
#define TOOLS_ADMIN_STORE_H_

/* Opaque type. */
struct admin;

/**
 * admin_store_settle(a):
 * Give the store and the database the same mark (io/store_mark.h) if neither
 * has one.  Return ADMIN_OK, also after a note that the root is not there yet;
 * ADMIN_NO after saying that the root is not this database's; ADMIN_USAGE.
 */
int admin_store_settle(struct admin *);

#endif /* !TOOLS_ADMIN_STORE_H_ */
