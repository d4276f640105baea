#include <stdio.h>
#include <string.h>

#include "base/version.h"

int
version_asked(int argc, char *const *argv)
{
	const char *name;

	if (argc < 2 || strcmp(argv[1], "--version") != 0)
		return (0);
	name = strrchr(argv[0], '/');
	(void)printf(
	    "%s " SATCHEL_VERSION "\n", name != NULL ? name + 1 : argv[0]);
	return (1);
}
