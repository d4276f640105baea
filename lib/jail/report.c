#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"

#include "jail/report.h"

#define REPORT_MAX 512

/* Read what is reported until nobody can report any more. */
static int
hear(int fd, uint64_t ms, char report[REPORT_MAX])
{
	uint64_t now = clock_ms(), until = now + ms;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t len = 0;
	ssize_t n = 1;

	while (n != 0 && len < REPORT_MAX - 1) {
		if ((now = clock_ms()) >= until)
			return (-1);
		if (poll(&p, 1, (int)(until - now)) != 1)
			continue;
		if ((n = read(fd, report + len, REPORT_MAX - 1 - len)) == -1)
			return (-1);
		len += (size_t)n;
	}
	report[len] = '\0';
	return (0);
}

/* Read the lines of ${report}. */
static int
understand(char *report, long *pid, char *why, size_t size)
{
	char *line;
	int ok = 0;
	uint64_t n;

	*pid = 0;
	(void)snprintf(why, size, "it ended without a word");
	while ((line = strsep(&report, "\n")) != NULL) {
		if (strcmp(line, "ok") == 0)
			ok = 1;
		else if (strncmp(line, "fail ", 5) == 0)
			(void)snprintf(why, size, "%s", line + 5);
		else if (strncmp(line, "pid ", 4) == 0 &&
		    num_u64(line + 4, 2, INT32_MAX, &n) == 0)
			*pid = (long)n;
	}
	return (ok && *pid != 0 ? 0 : -1);
}

int
report_read(int fd, uint64_t ms, long *pid, char *why, size_t size)
{
	char report[REPORT_MAX] = "";

	if (hear(fd, ms, report)) {
		(void)snprintf(why, size, "it did not start in time");
		return (-1);
	}
	return (understand(report, pid, why, size));
}
