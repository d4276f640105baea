#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/log.h"
#include "base/num.h"
#include "base/runas.h"
#include "base/version.h"
#include "data/mark.h"
#include "data/schema.h"
#include "data/setting.h"
#include "data/sweep.h"
#include "io/blob.h"
#include "io/db.h"

/*
 * satchel-sweep: reclaim what has expired or was left behind, then end.  For
 * cron, on as many hosts as you like.
 */

#define PATIENCE_S 30 /* For an answer of the database. */

/* What the program exits with. */
#define EXIT_ALL 0    /* Everything that was due is done. */
#define EXIT_FAILED 1 /* Some removals failed; the next run tries again. */
#define EXIT_NORUN 2  /* Words, settings, database or store. */
#define EXIT_CUT 75   /* --max-seconds or a signal came first. */

struct options {
	struct conf_args args;
	uint64_t batch, max_seconds; /* 0 = as long as it takes. */
	int dry_run, orphans;
};

/* What the callbacks of a run need. */
struct view {
	uint64_t start, end; /* By clock_ms(); end 0 = never. */
	uint64_t shown;      /* When the progress line was last written. */
	int tty;
};

static volatile sig_atomic_t stopping;

static void
on_signal(int sig)
{

	(void)sig;
	stopping = 1;
}

static void
usage(FILE *f)
{

	(void)fprintf(f,
	    "usage: satchel-sweep [-c FILE]... [-s KEY=VALUE]... [--dry-run]\n"
	    "                     [--max-seconds N] [--batch N] [--orphans]\n"
	    "\n"
	    "Removes what has expired, was deleted or was left behind: bytes"
	    " in the store\nand rows in the database.  For cron; two at once"
	    " are harmless.\n"
	    "\n"
	    "  -c FILE          settings; may be given several times\n"
	    "  -s KEY=VALUE     one setting\n"
	    "  --dry-run        change nothing; list on standard error what"
	    " would go\n"
	    "  --max-seconds N  end after the batch that passes N seconds\n"
	    "  --batch N        rows at a time, 1 to 200 (200)\n"
	    "  --orphans        look for bytes without a row now, not once a"
	    " day, and\n"
	    "                   remove them however many there are\n"
	    "\n"
	    "Standard output is one line of JSON, or a line of progress on a"
	    " terminal.\n"
	    "Exit: 0 done; 1 some removals failed and are left for the next"
	    " run; 2 could\nnot run (words, settings, database, store); 75"
	    " ended early by --max-seconds\nor a signal, the rest is left"
	    " for the next run.\n");
}

/* Read the command line.  0: go on; else exit with that less one. */
static int
read_words(int argc, char **argv, struct options *o)
{
	/* clang-format off */
	static const struct option longs[] = {
		{ "dry-run", no_argument, NULL, 'd' },
		{ "max-seconds", required_argument, NULL, 'm' },
		{ "batch", required_argument, NULL, 'b' },
		{ "orphans", no_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	/* clang-format on */
	int c, bad = 0;

	while (
	    !bad && (c = getopt_long(argc, argv, "c:s:h", longs, NULL)) != -1)
		switch (c) {
		case 'c':
		case 's':
			bad = conf_args_take(&o->args, c, optarg);
			break;
		case 'd':
			o->dry_run = 1;
			break;
		case 'o':
			o->orphans = 1;
			break;
		case 'm':
			bad = num_u64(optarg, 1, 1000000000, &o->max_seconds);
			break;
		case 'b':
			bad = num_u64(optarg, 1, SWEEP_BATCH, &o->batch);
			break;
		case 'h':
			usage(stdout);
			return (1 + EXIT_ALL);
		default:
			bad = 1;
		}
	if (!bad && optind == argc)
		return (0);
	usage(stderr);
	return (1 + EXIT_NORUN);
}

static int
stop(void *cookie)
{
	const struct view *v = cookie;

	return (stopping || (v->end != 0 && clock_ms() >= v->end));
}

static void
progress(void *cookie, const struct sweep_count *n)
{
	struct view *v = cookie;
	uint64_t now = clock_ms();

	if (!v->tty || now - v->shown < 100)
		return;
	v->shown = now;
	(void)printf(
	    "\r%6.1f s: %ju expired, %ju files, %ju bytes, %ju other rows, "
	    "%ju other names, %ju failed ",
	    (double)(now - v->start) / 1000, (uintmax_t)n->expired,
	    (uintmax_t)n->files, (uintmax_t)n->bytes,
	    (uintmax_t)(n->uploads + n->parts + n->tombstones + n->keys +
		n->containers + n->calls + n->usage),
	    (uintmax_t)(n->temp + n->orphans), (uintmax_t)n->failed);
	(void)fflush(stdout);
}

static void
found(void *cookie, const char *what, const char *name, uint64_t bytes)
{

	const char *sep = strcmp(what, "file") == 0 ? "-" : " ";

	(void)cookie;
	(void)fprintf(stderr, "would remove: %s%s%s, %ju bytes\n", what, sep,
	    name, (uintmax_t)bytes);
}

static void
expired(void *cookie, const char *name)
{

	(void)cookie;
	(void)fprintf(stderr, "would expire: file-%s\n", name);
}

/* What a full disk needs to know: what would go, were it not so young. */
static void
tell_held(const struct sweep *s)
{
	uint64_t files, bytes;

	if (s->grace_s == 0 || sweep_held(s, &files, &bytes) || files == 0)
		return;
	(void)fprintf(stderr,
	    "held back for files.grace_seconds (%ju s): %ju files, %ju bytes; "
	    "to free\nthem now: satchel-sweep -s files.grace_seconds=0\n",
	    (uintmax_t)s->grace_s, (uintmax_t)files, (uintmax_t)bytes);
}

/* The one line, or on a terminal the same a line each. */
static void
summary(const struct view *v, const struct sweep_count *n, enum sweep_rc rc,
    int dry_run)
{
	const struct {
		const char *name;
		uint64_t n;
	} rows[] = {{"expired", n->expired}, {"files", n->files},
	    {"bytes", n->bytes}, {"uploads", n->uploads}, {"parts", n->parts},
	    {"temp", n->temp}, {"orphans", n->orphans},
	    {"tombstones", n->tombstones}, {"keys", n->keys},
	    {"containers", n->containers}, {"calls", n->calls},
	    {"usage", n->usage}, {"failed", n->failed}};
	const char *sep = v->tty ? "\n " : ",";
	size_t i;

	(void)printf(v->tty ? "\r\033[K{" : "{");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		(void)printf(
		    "\"%s\":%ju%s", rows[i].name, (uintmax_t)rows[i].n, sep);
	(void)printf("\"seconds\":%.3f%s\"complete\":%s%s\"dry_run\":%s}\n",
	    (double)(clock_ms() - v->start) / 1000, sep,
	    rc == SWEEP_DONE ? "true" : "false", sep,
	    dry_run ? "true" : "false");
}

static int
exit_code(enum sweep_rc rc, const struct sweep_count *n)
{

	switch (rc) {
	case SWEEP_DONE:
		return (n->failed > 0 ? EXIT_FAILED : EXIT_ALL);
	case SWEEP_CUT:
		return (n->failed > 0 ? EXIT_FAILED : EXIT_CUT);
	case SWEEP_DOUBT:
		return (EXIT_FAILED);
	case SWEEP_DB:
		(void)fprintf(stderr, "satchel-sweep: the database failed\n");
		break;
	case SWEEP_STORE:
		(void)fprintf(stderr, "satchel-sweep: the store failed\n");
		break;
	}
	return (EXIT_NORUN);
}

/* Sweep with the settings ${c}.  Return what to exit with. */
static int
run(const struct conf *c, const struct options *o)
{
	struct view v = {.start = clock_ms(), .tty = isatty(STDOUT_FILENO)};
	struct sweep s = {.grace_s = c->files_grace_s,
	    .tombstone_s = c->files_tombstone_s,
	    .answer_s = c->responses_retention_s,
	    .abandon_s = c->files_abandon_s,
	    .usage_s = c->usage_retention_s,
	    .batch = o->batch,
	    .dry_run = o->dry_run,
	    .orphans = o->orphans,
	    .stop = stop,
	    .progress = progress,
	    .found = found,
	    .expired = expired,
	    .cookie = &v};
	struct sweep_count n;
	enum sweep_rc rc;
	uint64_t now;
	int code = EXIT_NORUN;

	if (o->max_seconds > 0)
		v.end = v.start + o->max_seconds * 1000;
	if ((s.db = db_open(c)) == NULL ||
	    (s.store = store_open(c->files_root)) == NULL)
		goto done;
	db_patience(s.db, PATIENCE_S);
	switch (schema_check(s.db)) {
	case DATA_OK:
		break;
	case DATA_STATE:
		goto done; /* It has said so. */
	default:
		(void)fprintf(stderr, "satchel-sweep: no database\n");
		goto done;
	}
	if (mark_learn(s.db, s.store) != DATA_OK) {
		(void)fprintf(stderr, "satchel-sweep: no database\n");
		goto done;
	}
	rc = sweep_run(&s, &n);
	/* For satchel-admin check: that nobody sweeps is seen nowhere else. */
	if (rc == SWEEP_DONE && !o->dry_run && db_now(s.db, &now) == DB_OK)
		(void)setting_put(s.db, SETTING_SWEPT, "1", now);
	if (o->dry_run)
		tell_held(&s);
	summary(&v, &n, rc, o->dry_run);
	code = exit_code(rc, &n);

done:
	store_close(s.store);
	db_close(s.db);
	return (code);
}

int
main(int argc, char **argv)
{
	const struct sigaction sa = {.sa_handler = on_signal};
	struct options o = {.batch = SWEEP_BATCH};
	struct conf c;
	int code;

	if (version_asked(argc, argv))
		return (EXIT_ALL);
	if ((code = read_words(argc, argv, &o)) != 0)
		return (code - 1);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGINT, &sa, NULL);
	if (conf_load(&o.args, &c))
		return (EXIT_NORUN);
	if (runas_owner("satchel-sweep", c.files_root) ||
	    log_open("satchel-sweep", c.log_file))
		code = EXIT_NORUN;
	else
		code = run(&c, &o);
	conf_free(&c);
	return (code);
}
