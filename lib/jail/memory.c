#include <sys/prctl.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/memory.h"
#include "jail/ns.h"
#include "jail/proc.h"
#include "jail/socks.h"

#define FIRST_TO_GO "1000"

/* A sum of what processes use. */
struct use {
	uint64_t n;
	int exact;    /* Pages that several have count once. */
	int may_hide; /* They can take back memory_offer(). */
};

/*
 * What is neither a file's nor shared with others.  A process may have
 * forbidden us to look: then all that it has counts.
 */
static uint64_t
exactly(int proc, pid_t tid, uint64_t all)
{
	char path[64], text[2048];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/smaps_rollup", (int)tid);
	if ((n = proc_read(proc, path, text, sizeof(text))) <= 0)
		return (n == 0 ? 0 : all);
	return (proc_line(text, "\nPss_Anon:") +
	    proc_line(text, "\nPss_Shmem:") + proc_line(text, "\nSwapPss:"));
}

/* Offer it again if it has thought otherwise. */
static void
keep_offered(int proc, pid_t tid)
{
	char path[64], text[16];

	(void)snprintf(path, sizeof(path), "%d/oom_score_adj", (int)tid);
	if (proc_read(proc, path, text, sizeof(text)) > 0 &&
	    strcmp(text, FIRST_TO_GO "\n") != 0)
		(void)ns_write(proc, path, FIRST_TO_GO);
}

static void
add(void *cookie, int proc, pid_t pid)
{
	char text[4096];
	struct use *u = cookie;
	uint64_t all;
	pid_t tid;
	int rc;

	if ((rc = proc_alive(proc, pid, text, sizeof(text), &tid)) == 0)
		return;
	if (rc == -1) {
		u->n = PROC_BLIND;
		return;
	}
	all = proc_line(text, "\nVmRSS:") + proc_line(text, "\nVmSwap:");
	if (u->exact)
		all = exactly(proc, tid, all);
	if (u->may_hide)
		keep_offered(proc, tid);
	u->n = proc_sum(u->n, all + proc_line(text, "\nVmPTE:"));
}

static uint64_t
sum(const struct jail *J, int exact)
{
	struct use u = {.exact = exact,
	    .may_hide = J->lim.isolation == ISOLATION_BWRAP && !exact};

	return (guests_each(add, &u) ? PROC_BLIND : u.n);
}

uint64_t
memory_use(const struct jail *J, uint64_t limit)
{
	uint64_t n, kernel;

	kernel = proc_sum(J->held.bytes, socks_bytes(J));
	n = proc_sum(sum(J, 0), kernel);
	if (n > limit && n != PROC_BLIND)
		n = proc_sum(sum(J, 1), kernel);
	return (n);
}

void
memory_offer(int proc)
{
	const char *path =
	    proc == -1 ? "/proc/self/oom_score_adj" : "self/oom_score_adj";

	/* No other guest runs now that could look at us meanwhile. */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	(void)ns_write(proc, path, FIRST_TO_GO);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
