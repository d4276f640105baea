#include <sys/stat.h>

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/session.h"

int
host_user(const char *program, const char *dir)
{
	struct stat st;

	if (geteuid() != 0)
		return (0);
	if (stat(dir, &st)) {
		(void)fprintf(stderr,
		    "%s: sandbox.dir: %s: %s; as root I need it to see as whom"
		    " to run\n",
		    program, dir, strerror(errno));
		return (-1);
	}
	if (st.st_uid == 0) {
		(void)fprintf(stderr,
		    "%s: sandbox.dir: %s belongs to root; give it to the user"
		    " as whom I am to run\n",
		    program, dir);
		return (-1);
	}
	if (setgroups(0, NULL) || setresgid(st.st_gid, st.st_gid, st.st_gid) ||
	    setresuid(st.st_uid, st.st_uid, st.st_uid)) {
		(void)fprintf(stderr, "%s: cannot give up root: %s\n", program,
		    strerror(errno));
		return (-1);
	}
	return (0);
}
