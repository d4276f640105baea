#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/admin_check.h"

/* What this machine has for the settings: memory, threads, programs, a log. */

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define GIB (1ULL << 30)

/* Is this a sandbox host, or one whose code runs elsewhere or nowhere? */
static int
runs_code(const struct check *k)
{

	return (k->c->sandbox_isolation != ISOLATION_REMOTE &&
	    access(k->c->sandbox_dir, F_OK) == 0);
}

/* What reads documents for models that cannot. */
static enum check_state
look_documents(const struct check *k, struct buf *said)
{
	static const struct {
		const char *path, *for_what, *package;
	} programs[] = {{"/usr/bin/pdftotext", "PDF", "poppler-utils"},
	    {"/usr/bin/pandoc", "DOCX, ODT, RTF, EPUB and HTML", "pandoc"},
	    {"/usr/lib/python3/dist-packages/openpyxl", "XLSX",
		"python3-openpyxl"},
	    {"/usr/bin/tesseract", "text in pictures", "tesseract-ocr"}};
	const char *root =
	    k->c->sandbox_rootfs != NULL ? k->c->sandbox_rootfs : "";
	char path[PATH_MAX];
	size_t i;

	if (!runs_code(k))
		return (CHECK_SKIP);
	for (i = 0; i < NELEM(programs); i++) {
		(void)snprintf(
		    path, sizeof(path), "%s%s", root, programs[i].path);
		if (access(path, F_OK) != 0)
			buf_printf(said, "%s%s needs %s",
			    said->len > 0 ? "; " : "", programs[i].for_what,
			    programs[i].package);
	}
	if (said->len > 0)
		return (CHECK_WARN);
	buf_puts(said, "PDF, office files and pictures can be read");
	return (CHECK_OK);
}

/* Bytes of memory that this machine has. */
static uint64_t
machine_memory(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES),
		   size = sysconf(_SC_PAGESIZE);

	return (pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0);
}

/* Can all sessions that may be there use what each of them may? */
static enum check_state
look_memory(const struct check *k, struct buf *said)
{
	const uint64_t have = machine_memory(),
		       each = k->c->sandbox_session_memory,
		       bound = k->c->sandbox_host_memory;
	uint64_t want = k->c->sandbox_sessions * each;

	if (!runs_code(k) || have == 0)
		return (CHECK_SKIP);
	buf_printf(said,
	    "%" PRIu64 " sessions of %" PRIu64 " MiB can ask for %.1f GiB of "
	    "%.1f",
	    k->c->sandbox_sessions, each >> 20, (double)want / GIB,
	    (double)have / GIB);
	if (bound != 0 && bound < want) {
		buf_printf(
		    said, "; unused ones end above %.1f", (double)bound / GIB);
		want = bound;
	}
	if (want <= have)
		return (CHECK_OK);
	buf_printf(k->remedy,
	    "set sandbox.host_memory_bytes to %" PRIu64
	    " or so, or lower sandbox.sessions_max",
	    have / 4 * 3 / (1 << 20) * (1 << 20));
	return (CHECK_WARN);
}

/* May this account have as many threads as the pools can start? */
static enum check_state
look_threads(const struct check *k, struct buf *said)
{
	const uint64_t want =
	    k->c->processes * (k->c->files_threads + k->c->run_threads);
	struct rlimit rl;

	if (getrlimit(RLIMIT_NPROC, &rl))
		return (CHECK_SKIP);
	if (rl.rlim_cur == RLIM_INFINITY)
		buf_puts(said, "no limit on threads");
	else
		buf_printf(
		    said, "%" PRIu64 " threads may run", (uint64_t)rl.rlim_cur);
	buf_printf(said, ", the pools can start %" PRIu64, want);
	return (rl.rlim_cur < want ? CHECK_WARN : CHECK_OK);
}

/* Can the log be written?  A file that is not there yet is made later. */
static enum check_state
look_log(const struct check *k, struct buf *said)
{
	const char *path = k->c->log_file;
	char dir[PATH_MAX];
	char *slash;
	int fd;

	if (path == NULL)
		return (CHECK_SKIP);
	buf_puts(said, path);
	fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
	if (fd != -1) {
		(void)close(fd);
		return (CHECK_OK);
	}
	(void)snprintf(dir, sizeof(dir), "%s", path);
	if ((slash = strrchr(dir, '/')) != NULL)
		slash[slash == dir] = '\0';
	if (errno == ENOENT && access(dir, W_OK | X_OK) == 0) {
		buf_puts(said, ": not there yet, can be made");
		return (CHECK_OK);
	}
	buf_printf(said, ": %s", strerror(errno));
	return (CHECK_FAIL);
}

/* clang-format off */
const struct check_item check_machine[] = {
	{ "host.documents", look_documents,
	  "install what is wanted (tools/deps documents, or below "
	  "sandbox.rootfs); without it such a file cannot be read to a model "
	  "that cannot read it itself" },
	{ "host.memory", look_memory, "" },
	{ "host.threads", look_threads,
	  "raise the limit (ulimit -u, LimitNPROC= in the unit), or lower "
	  "workers.run_threads" },
	{ "log.file", look_log,
	  "name a file in a directory that the workers' account may write" },
	{ NULL, NULL, NULL }
};
/* clang-format on */
