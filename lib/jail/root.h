#ifndef JAIL_ROOT_H_
#define JAIL_ROOT_H_

#include <sys/types.h>

/*
 * What the root of a session holds, for whoever puts it together.  Paths inside
 * are without their first slash; each table ends with a NULL.
 */

struct root_dir {
	const char *path;
	mode_t mode;
};

struct root_link {
	const char *path, *to;
};

/* A file that is ours to write. */
struct root_text {
	const char *path, *text;
};

/*
 * Lent by the machine, or by sandbox.rootfs in its stead; LEND_ADDED by the
 * latter only.
 */
enum lend { LEND_TREE, LEND_FILE, LEND_DEVICE, LEND_ADDED };
struct root_lent {
	const char *from, *to;
	enum lend kind;
	int needed;
};

extern const struct root_dir root_dirs[];
extern const struct root_link root_links[];
extern const struct root_text root_texts[];
extern const struct root_lent root_lent[];

/* Below /usr, but the machine's own affair: nothing of it is shown. */
extern const char *const root_covered[];

#endif /* !JAIL_ROOT_H_ */
