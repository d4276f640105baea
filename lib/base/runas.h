#ifndef BASE_RUNAS_H_
#define BASE_RUNAS_H_

/**
 * runas_owner(program, dir):
 * If we are root and ${dir} belongs to somebody else, go on as that user for
 * good, in their groups: what is made then is theirs, and a database that knows
 * its accounts by who they are lets us in.  Return 0, also where nothing is to
 * be done or we are root in a namespace without other users; or -1 after a line
 * on standard error.
 */
int runas_owner(const char *, const char *);

#endif /* !BASE_RUNAS_H_ */
