#ifndef JAIL_PACKAGES_H_
#define JAIL_PACKAGES_H_

#include <stddef.h>

/*
 * What programs in sandboxes look for besides Python itself: packages that
 * models try as if they were there, and fonts that plots need.
 */

struct package {
	const char *name; /* As programs import it; what fonts are for. */
	const char *path; /* Below a directory of packages, or a whole path. */
	const char *debian; /* Where it comes from; NULL: make-rootfs -r. */
};

/* Ends with a NULL name. */
extern const struct package packages[];

/**
 * package_is_there(p, root):
 * Is ${p} installed below the root directory ${root}, "" being the machine's?
 */
int package_is_there(const struct package *, const char *);

/**
 * package_is_python(p):
 * Is it a package of Python's?
 */
int package_is_python(const struct package *);

#endif /* !JAIL_PACKAGES_H_ */
