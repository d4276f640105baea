#ifndef FCGI_AUTH_H_
#define FCGI_AUTH_H_

/* Opaque type. */
struct req;

/**
 * auth_check(r):
 * Find who calls ${r}, whose route is known, and whether that route is for
 * them; fill in r->caller and, where the route names a file, r->file and
 * r->file_rc, all by one statement unless the key acts for somebody else.
 * Return 0, or -1 after answering.
 */
int auth_check(struct req *);

/**
 * auth_schema(r):
 * See that the database has the schema that this program was written for,
 * before a row is touched.  Return 0, or -1 after answering.
 */
int auth_schema(struct req *);

#endif /* !FCGI_AUTH_H_ */
