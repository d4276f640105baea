#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>

#include "jail/session.h"
#include "jail/users.h"

/* Have nothing that another program of our user would not have. */
static int
give_up(const char *program)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2];

	memset(none, 0, sizeof(none));
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
	    syscall(SYS_capset, &h, none) == 0 &&
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0)
		return (0);
	(void)fprintf(stderr, "%s: cannot give up its capabilities: %s\n",
	    program, strerror(errno));
	return (-1);
}

int
host_user(const char *program, const char *dir)
{
	struct stat st;

	if (geteuid() != 0) {
		users_take(geteuid(), getegid());
		return (give_up(program));
	}
	if (stat(dir, &st)) {
		(void)fprintf(stderr,
		    "%s: sandbox.dir: %s: %s; started as root, it runs as the"
		    " owner of that directory\n",
		    program, dir, strerror(errno));
		return (-1);
	}
	if (st.st_uid == 0) {
		(void)fprintf(stderr,
		    "%s: sandbox.dir: %s belongs to root; give it to the user"
		    " that the sandbox is to run as\n",
		    program, dir);
		return (-1);
	}
	users_take(st.st_uid, st.st_gid);
	if (setgroups(0, NULL) || setresgid(st.st_gid, st.st_gid, st.st_gid) ||
	    setresuid(st.st_uid, st.st_uid, st.st_uid)) {
		(void)fprintf(stderr, "%s: cannot give up root: %s\n", program,
		    strerror(errno));
		return (-1);
	}
	return (give_up(program));
}
