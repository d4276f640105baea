#include <sys/stat.h>
#include <sys/syscall.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/landlock.h>

#include "jail/landlock.h"
#include "jail/root.h"

/* Younger than the kernel headers we may be compiled with. */
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define NET_TCP 3ULL /* To bind and to connect. */
#define SCOPES 3ULL  /* Abstract unix sockets and signals. */

struct ruleset {
	uint64_t fs, net, scoped;
};

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)
#define RUN (READ | LANDLOCK_ACCESS_FS_EXECUTE)
#define MAKE                                                              \
	(LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
	    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |   \
	    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SOCK | \
	    LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER)
#define DEVICES (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)
#define OWN (RUN | WRITE | MAKE)
#define ALL (OWN | DEVICES | FS_IOCTL_DEV)

/* What of a rule a file can have. */
#define OF_FILES \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE | WRITE)

/* What each version of the interface has brought; the last came with 6.12. */
static const char *const history[] = {
    "files",
    "moves between directories",
    "the cutting of files",
    "TCP",
    "orders to devices",
    "signals and abstract unix sockets",
};
#define NEEDED ((int)(sizeof(history) / sizeof(history[0])))

int
landlock_abi(void)
{

	return ((int)syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION));
}

const char *
landlock_lacks(int abi)
{

	return (abi >= NEEDED ? NULL : history[abi < 0 ? 0 : abi]);
}

int
landlock_can(const struct limits *l, struct ns_fail *f)
{
	int abi;

	if (*l->rootfs != '\0') {
		errno = EOPNOTSUPP;
		return (ns_failed(f, "sandbox.rootfs"));
	}
	if ((abi = landlock_abi()) == -1)
		return (ns_failed(f, "landlock"));
	if (landlock_lacks(abi) != NULL) {
		errno = ENOSYS;
		return (ns_failed(f, "landlock ABI"));
	}
	return (0);
}

static int
make(const struct ruleset *r)
{

	return ((int)syscall(SYS_landlock_create_ruleset, r, sizeof(*r), 0));
}

/* Allow ${access} to the file or directory ${path} and all below it. */
static int
allow(int rules, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr at;
	struct stat st;
	int rc = -1, err;

	at.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (at.parent_fd == -1)
		return (-1);
	if (fstat(at.parent_fd, &st) == 0) {
		at.allowed_access =
		    S_ISDIR(st.st_mode) ? access : access & OF_FILES;
		rc = (int)syscall(SYS_landlock_add_rule, rules,
		    LANDLOCK_RULE_PATH_BENEATH, &at, 0);
	}
	err = errno;
	(void)close(at.parent_fd);
	errno = err;
	return (rc);
}

/* Is ${path} (1) what is covered in a root of one's own, or above it (2)? */
static int
covers(const char *path)
{
	size_t i, len = strlen(path + 1);

	for (i = 0; root_covered[i] != NULL; i++) {
		if (strcmp(root_covered[i], path + 1) == 0)
			return (1);
		if (strncmp(root_covered[i], path + 1, len) == 0 &&
		    root_covered[i][len] == '/')
			return (2);
	}
	return (0);
}

/*
 * A rule cannot leave out a part of a tree: allow what is in ${path}, one by
 * one, down to where nothing is left out.
 */
static int
allow_tree(int rules, const char *path)
{
	char name[512];
	struct dirent *d;
	int rc = 0;
	DIR *D;

	if (covers(path) == 0)
		return (allow(rules, path, RUN));
	if ((D = opendir(path)) == NULL)
		return (-1);
	while (rc == 0 && (d = readdir(D)) != NULL) {
		(void)snprintf(name, sizeof(name), "%s/%s", path, d->d_name);
		if (*d->d_name == '.' || d->d_type == DT_LNK ||
		    covers(name) == 1)
			continue;
		rc = covers(name) == 2 ? allow_tree(rules, name)
				       : allow(rules, name, RUN);
	}
	(void)closedir(D);
	return (rc);
}

static int
allow_lent(int rules, const struct root_lent *l)
{

	if (l->kind == LEND_ADDED)
		return (0);
	if (access(l->from, F_OK))
		return (l->needed ? -1 : 0);
	if (l->kind == LEND_DEVICE)
		return (allow(rules, l->from, READ | WRITE));
	if (l->kind == LEND_FILE)
		return (allow(rules, l->from, READ));
	return (allow_tree(rules, l->from));
}

/* What programs can do without where it is not there, but not if refused. */
static const struct root_lent missed[] = {
    {"/etc/ssl/openssl.cnf", NULL, LEND_FILE, 0},
    {"/etc/nsswitch.conf", NULL, LEND_FILE, 0},
    {"/etc/localtime", NULL, LEND_FILE, 0},
    {"/dev/zero", NULL, LEND_DEVICE, 0}, /* Elsewhere another is there. */
    {NULL, NULL, 0, 0},
};

/* Allow what ${all} says. */
static int
allow_all(int rules, const struct root_lent *all, struct ns_fail *f)
{

	for (; all->from != NULL; all++)
		if (allow_lent(rules, all))
			return (ns_failed(f, all->from));
	return (0);
}

static int
rules_of(const struct land *land, struct ns_fail *f)
{
	const struct ruleset r = {ALL, NET_TCP, SCOPES};
	int rules;

	if ((rules = make(&r)) == -1)
		return (ns_failed(f, "landlock"));
	if (allow_all(rules, root_lent, f) || allow_all(rules, missed, f))
		goto err1;
	if (allow(rules, land->work, OWN) || allow(rules, land->tmp, OWN)) {
		(void)ns_failed(f, "workspace");
		goto err1;
	}
	return (rules);

err1:
	(void)close(rules);
	return (-1);
}

int
landlock_guest(const struct land *land, struct ns_fail *f)
{

	return (rules_of(land, f));
}

int
landlock_keeper(const struct land *land, struct ns_fail *f)
{
	int rules;

	if ((rules = rules_of(land, f)) != -1 &&
	    allow(rules, "/proc", READ | WRITE)) {
		(void)ns_failed(f, "proc");
		(void)close(rules);
		rules = -1;
	}
	return (rules);
}

int
landlock_enter(int rules)
{

	return ((int)syscall(SYS_landlock_restrict_self, rules, 0));
}

int
landlock_apart(struct ns_fail *f)
{
	/* Moves between directories are forbidden by all that does not allow
	 * them, even by what speaks of no files. */
	const struct ruleset r = {LANDLOCK_ACCESS_FS_REFER, 0, SCOPES};
	int rules, rc = 0;

	if ((rules = make(&r)) == -1)
		return (ns_failed(f, "landlock"));
	if (allow(rules, "/", LANDLOCK_ACCESS_FS_REFER) ||
	    landlock_enter(rules))
		rc = ns_failed(f, "landlock");
	(void)close(rules);
	return (rc);
}
