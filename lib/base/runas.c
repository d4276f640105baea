#include <sys/stat.h>

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/runas.h"

static int
fail(const char *program, const char *dir)
{

	(void)fprintf(stderr, "%s: cannot go on as the owner of %s: %s\n",
	    program, dir, strerror(errno));
	return (-1);
}

int
runas_owner(const char *program, const char *dir)
{
	const struct passwd *pw;
	struct stat st;

	if (geteuid() != 0 || stat(dir, &st) || st.st_uid == 0)
		return (0);
	pw = getpwuid(st.st_uid);
	if (pw != NULL ? initgroups(pw->pw_name, pw->pw_gid)
		       : setgroups(0, NULL))
		/* Root of a user namespace that has no other users. */
		return (
		    errno == EPERM || errno == EINVAL ? 0 : fail(program, dir));
	if (setgid(pw != NULL ? pw->pw_gid : st.st_gid) || setuid(st.st_uid))
		return (fail(program, dir));
	return (0);
}
