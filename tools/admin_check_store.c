#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "data/policy.h"
#include "data/schema.h"
#include "data/setting.h"

#include "tools/admin_check.h"

#define SKEW_MS 2000
#define MIB (1024 * 1024)
#define SWEEP_LATE_MS (24 * 3600 * 1000ULL)

static enum check_state
look_publish(const struct check *k, struct buf *said)
{

	buf_printf(said, "%s", k->c->files_root);
	if (!check_mark_fits(k) && k->mark != BLOB_AWAY)
		return (CHECK_SKIP); /* See store.mark. */
	if (k->store != BLOB_OK) {
		buf_puts(said,
		    k->store == BLOB_FULL
			? " is full"
			: " is missing, read-only or not ours");
		return (CHECK_FAIL);
	}
	buf_printf(said, " publishes by %s", publish_name(k->probe.how));
	if (!k->probe.dirsync)
		buf_puts(said, "; directories cannot be synced");
	return (k->probe.how == PUBLISH_RENAME || !k->probe.dirsync ? CHECK_WARN
								    : CHECK_OK);
}

static enum check_state
look_space(const struct check *k, struct buf *said)
{

	if (k->store != BLOB_OK)
		return (CHECK_SKIP);
	buf_printf(said, "%" PRIu64 " MiB free", k->probe.bytes_free / MIB);
	if (k->probe.inodes_free != UINT64_MAX)
		buf_printf(said, ", %" PRIu64 " files", k->probe.inodes_free);
	return (k->probe.bytes_free < k->c->files_max_bytes ||
		    k->probe.inodes_free < 1000
		? CHECK_WARN
		: CHECK_OK);
}

static enum check_state
look_store_clock(const struct check *k, struct buf *said)
{

	if (k->store != BLOB_OK)
		return (CHECK_SKIP);
	buf_printf(said, "%" PRId64 " ms off ours", k->probe.skew_ms);
	return (k->probe.clock_ok ? CHECK_OK : CHECK_WARN);
}

static enum check_state
look_database(const struct check *k, struct buf *said)
{
	const struct conf *c = k->c;

	if (c->db_host != NULL)
		buf_printf(said, "%s:%" PRIu64, c->db_host, c->db_port);
	else
		buf_puts(said, c->db_socket);
	if (k->facts_rc != DATA_OK) {
		buf_printf(said, " cannot be used by %s in %s", c->db_user,
		    c->db_name);
		if (*k->down != '\0')
			buf_printf(said, ": %s", k->down);
		return (CHECK_FAIL);
	}
	buf_printf(said, ": %s%s", k->facts.version,
	    k->facts.read_only ? ", read-only" : "");
	return (k->facts.read_only ? CHECK_FAIL : CHECK_OK);
}

static enum check_state
look_schema(const struct check *k, struct buf *said)
{

	if (k->facts_rc != DATA_OK)
		return (CHECK_SKIP);
	switch (k->schema) {
	case DATA_OK:
		buf_printf(said, "number %d", SCHEMA_NUMBER);
		return (CHECK_OK);
	case DATA_STATE:
		buf_printf(said, "is not number %d, that of this program",
		    SCHEMA_NUMBER);
		return (CHECK_FAIL);
	default:
		buf_puts(said, "cannot be read");
		return (CHECK_FAIL);
	}
}

int
check_mark_fits(const struct check *k)
{

	return (k->marked != DATA_OK ||
	    (k->mark == BLOB_OK && strcmp(k->have, k->want) == 0));
}

static enum check_state
look_mark(const struct check *k, struct buf *said)
{

	buf_printf(said, "%s ", k->c->files_root);
	if (k->marked == DATA_NONE) {
		buf_puts(said, "is not marked as the store of this database");
		return (CHECK_WARN);
	}
	if (k->marked != DATA_OK || k->mark == BLOB_AWAY)
		return (CHECK_SKIP);
	if (check_mark_fits(k)) {
		buf_puts(said, "is the store of this database");
		return (CHECK_OK);
	}
	buf_puts(said,
	    k->mark == BLOB_OK ? "is the store of another database"
			       : "does not bear the mark of this database");
	return (CHECK_FAIL);
}

static enum check_state
look_charset(const struct check *k, struct buf *said)
{

	if (k->facts_rc != DATA_OK)
		return (CHECK_SKIP);
	buf_printf(said, "%s", k->facts.charset);
	return (
	    strcmp(k->facts.charset, "utf8mb4") == 0 ? CHECK_OK : CHECK_WARN);
}

static enum check_state
look_db_clock(const struct check *k, struct buf *said)
{
	int64_t skew = (int64_t)k->facts.now - (int64_t)k->asked;

	if (k->facts_rc != DATA_OK)
		return (CHECK_SKIP);
	buf_printf(said, "%" PRId64 " ms off ours", skew);
	return (skew > SKEW_MS || skew < -SKEW_MS ? CHECK_WARN : CHECK_OK);
}

/* Both pools of this machine, and as many again for sweep and people. */
static enum check_state
look_connections(const struct check *k, struct buf *said)
{
	uint64_t want = 2 * k->c->processes * k->c->db_pool + 8;

	if (k->facts_rc != DATA_OK)
		return (CHECK_SKIP);
	buf_printf(said,
	    "the server takes %" PRIu64 ", this machine can ask for %" PRIu64,
	    k->facts.connections, want);
	return (k->facts.connections < want ? CHECK_WARN : CHECK_OK);
}

static enum check_state
look_flush(const struct check *k, struct buf *said)
{

	if (k->facts_rc != DATA_OK)
		return (CHECK_SKIP);
	buf_printf(
	    said, "innodb_flush_log_at_trx_commit is %" PRIu64, k->facts.flush);
	return (k->facts.flush == 1 ? CHECK_OK : CHECK_WARN);
}

/* Whose word holds, where a row can override the file's. */
static enum check_state
look_executor(const struct check *k, struct buf *said)
{
	const char *file = policy_word((enum conf_executor)k->c->executor);
	struct setting s;

	if (k->facts_rc != DATA_OK)
		return (CHECK_SKIP);
	switch (setting_find(k->db, k->mem, SETTING_EXECUTOR, &s)) {
	case DATA_OK:
		buf_printf(said,
		    "%s, by the database; the configuration says %s", s.value,
		    file);
		return (CHECK_OK);
	case DATA_NONE:
		buf_printf(said, "%s, by the configuration", file);
		return (CHECK_OK);
	default:
		return (CHECK_SKIP); /* The schema is not right, as it says. */
	}
}

/* When did a sweep last do all there was to do? */
static enum check_state
look_sweep(const struct check *k, struct buf *said)
{
	struct setting s;
	uint64_t ago;

	if (k->facts_rc != DATA_OK)
		return (CHECK_SKIP);
	switch (setting_find(k->db, k->mem, SETTING_SWEPT, &s)) {
	case DATA_OK:
		ago = k->facts.now > s.updated ? k->facts.now - s.updated : 0;
		buf_printf(said, "last done %" PRIu64 " min ago", ago / 60000);
		return (ago > SWEEP_LATE_MS ? CHECK_WARN : CHECK_OK);
	case DATA_NONE:
		buf_puts(said, "never done yet");
		return (CHECK_WARN);
	default:
		return (CHECK_SKIP); /* The schema is not right, as it says. */
	}
}

/* clang-format off */
const struct check_item check_store[] = {
	{ "store.publish", look_publish,
	  "make files.root a directory that the workers' account may write, on "
	  "a filesystem with hard links" },
	{ "store.space", look_space, "make room in files.root" },
	{ "store.clock", look_store_clock,
	  "synchronise the clocks of this machine and the file server" },
	{ "database", look_database,
	  "start it, create user and schema as INSTALL says, see database.*" },
	{ "database.schema", look_schema, "satchel-admin migrate" },
	{ "store.mark", look_mark,
	  "mount the store at files.root; if that is it, satchel-admin store "
	  "adopt" },
	{ "database.charset", look_charset,
	  "ALTER DATABASE ... CHARACTER SET utf8mb4" },
	{ "database.clock", look_db_clock,
	  "synchronise the clocks of this machine and the database" },
	{ "database.connections", look_connections,
	  "raise max_connections, or lower database.pool" },
	{ "database.durability", look_flush,
	  "set it to 1, or accept losing the last second at a power cut" },
	{ "executor", look_executor, "" },
	{ "sweep", look_sweep,
	  "let cron run satchel-sweep (conf/cron/satchel), and look at what it "
	  "prints" },
	{ NULL, NULL, NULL }
};
/* clang-format on */
