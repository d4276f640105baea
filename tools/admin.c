#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/runas.h"
#include "base/version.h"
#include "data/schema.h"
#include "io/db.h"

#include "tools/admin.h"
#include "tools/admin_print.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define PATIENCE_S 30 /* For an answer of the database. */

/* clang-format off */
static const struct admin_cmd commands[] = {
	{ "migrate", ADMIN_DB, admin_migrate, "",
	    "Bring the database's schema up to these programs." },
	{ "workspace create", ADMIN_SCHEMA, admin_workspace_create,
	    "NAME [--tenant TENANT]",
	    "Make a workspace, shared with the JWT name space TENANT." },
	{ "workspace list", ADMIN_SCHEMA | ADMIN_LIST,
	    admin_workspace_list, "",
	    "List the workspaces." },
	{ "workspace disable", ADMIN_SCHEMA, admin_workspace_disable, "NAME",
	    "Refuse the keys of a workspace." },
	{ "workspace enable", ADMIN_SCHEMA, admin_workspace_enable, "NAME",
	    "Accept them again." },
	{ "user create", ADMIN_SCHEMA, admin_user_create, "WORKSPACE NAME",
	    "Make a user." },
	{ "user list", ADMIN_SCHEMA | ADMIN_LIST,
	    admin_user_list, "",
	    "List the users." },
	{ "user disable", ADMIN_SCHEMA, admin_user_disable, "WORKSPACE NAME",
	    "Refuse the keys of a user." },
	{ "user enable", ADMIN_SCHEMA, admin_user_enable, "WORKSPACE NAME",
	    "Accept them again." },
	{ "key create", ADMIN_SCHEMA, admin_key_create,
	    "--workspace WORKSPACE --user USER\n"
	    "      [--role user|workspace-admin|management] [--expires WHEN]"
	    " [--label TEXT]\n      [--tenant TENANT]",
	    "Make a key and print it; it is never shown again.  WORKSPACE\n"
	    "      and USER may also be given as plain words.  --tenant, which "
	    "can\n      replace --workspace, makes the user names that callers "
	    "assert\n      under the key those of the tenant's JWTs." },
	{ "key list", ADMIN_SCHEMA | ADMIN_LIST,
	    admin_key_list, "",
	    "List the keys, each by its last four characters." },
	{ "key revoke", ADMIN_SCHEMA, admin_key_revoke, "ID",
	    "End a key now; this cannot be undone." },
	{ "key expire", ADMIN_SCHEMA, admin_key_expire, "ID WHEN|never",
	    "End a key at WHEN, which may be in the past; never: remove its\n"
	    "      end." },
	{ "policy set", ADMIN_SCHEMA, admin_policy_set,
	    "WORKSPACE [--enabled yes|no] [--executor WORD]\n"
	    "      [--max-iterations N] [--exec-timeout SECONDS] [--hint TEXT]",
	    "Set what a workspace may do with code execution; where nothing\n"
	    "      is given, the deployment's settings hold." },
	{ "policy list", ADMIN_SCHEMA | ADMIN_LIST,
	    admin_policy_list, "",
	    "List the workspaces that have a policy." },
	{ "policy clear", ADMIN_SCHEMA, admin_policy_clear, "WORKSPACE",
	    "Remove the policy of a workspace." },
	{ "executor set", ADMIN_SCHEMA, admin_executor_set,
	    "auto|local|provider",
	    "Set who runs code where neither the request nor the workspace's\n"
	    "      policy says; overrides code_execution.executor." },
	{ "executor clear", ADMIN_SCHEMA, admin_executor_clear, "",
	    "Use code_execution.executor of the configuration again." },
	{ "store adopt", ADMIN_SCHEMA, admin_store_adopt, "",
	    "Mark files.root, as it is now, as the store of this database." },
	{ "fsck", ADMIN_SCHEMA, admin_fsck, "[--repair] [--force]",
	    "Compare rows with bytes, both ways; changes nothing without\n"
	    "      --repair." },
	{ "check librechat", ADMIN_CONF, admin_check_librechat,
	    "[--url BASE]",
	    "Upload, run, download and delete as LibreChat would, with the\n"
	    "      credential in $SATCHEL_KEY." },
	{ "check executor", ADMIN_CONF, admin_check_executor,
	    "--model MODEL [--forward MODEL] [--url BASE]",
	    "Upload a file, have MODEL run code on it here and, with "
	    "--forward,\n      another at its provider's, and fetch what was "
	    "written, with the\n      credential in $SATCHEL_KEY." },
	{ "check", ADMIN_CONF, admin_check, "[--config-only]",
	    "Print every setting, then look at host, store and database." },
	{ "conf", 0, admin_conf, "",
	    "Print a configuration file with every setting and its default." },
};
/* clang-format on */

static void
complain(const char *fmt, va_list ap)
{

	(void)fflush(stdout);
	fputs("satchel-admin: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

int
admin_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	return (ADMIN_NO);
}

int
admin_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	fputs("Try: satchel-admin --help\n", stderr);
	return (ADMIN_USAGE);
}

int
admin_data(enum data_rc rc)
{

	switch (rc) {
	case DATA_DOWN:
		(void)admin_fail(
		    "the database cannot be used: %s; nothing was done",
		    db_why());
		break;
	case DATA_UNSURE:
		(void)admin_fail("the database was lost at the last moment: "
				 "look whether it was done");
		break;
	default:
		(void)admin_fail("failed; the line above says why");
		break;
	}
	return (ADMIN_USAGE);
}

/* One command and what it does. */
static void
help_command(FILE *fp, const struct admin_cmd *c)
{

	fprintf(fp, "  %s%s%s\n      %s\n", c->name,
	    *c->args != '\0' ? " " : "", c->args, c->help);
}

static void
help(FILE *fp)
{
	const struct admin_cmd *c;

	fputs("usage: satchel-admin [-c FILE]... [-s KEY=VALUE]... [--json] "
	      "COMMAND\n\n"
	      "  -c FILE       settings, later files over earlier ones;\n"
	      "                $SATCHEL_CONF or /etc/satchel/satchel.yml if "
	      "none is named\n"
	      "  -s KEY=VALUE  one setting, over the files\n"
	      "  --json        print JSON: one object, or one a line of a "
	      "list\n\ncommands:\n",
	    fp);
	for (c = commands; c < commands + NELEM(commands); c++)
		help_command(fp, c);
	fputs("\nWHEN is RFC 3339 (2027-01-31T00:00:00Z) or +DAYSd (+90d).\n\n"
	      "exit status: 0 done; 1 refused, or problems were found; 2 could "
	      "not run\n(wrong words, wrong settings, no database)\n",
	    fp);
}

/* The command that ${argv} begins with; ${words} is how many words it has. */
static const struct admin_cmd *
find(int argc, char **argv, int *words)
{
	const struct admin_cmd *c;
	char two[64];

	for (c = commands; c < commands + NELEM(commands); c++) {
		(void)snprintf(two, sizeof(two), "%s %s", argv[0],
		    argc > 1 ? argv[1] : "");
		*words = (strchr(c->name, ' ') != NULL) ? 2 : 1;
		if (strcmp(c->name, *words == 2 ? two : argv[0]) == 0)
			return (c);
	}
	return (NULL);
}

/* There is no such command; name those that begin with its first word. */
static int
no_command(int argc, char **argv)
{
	const size_t len = strlen(argv[0]);
	struct buf near = BUF_INIT(1024);
	const struct admin_cmd *c;
	int rc;

	for (c = commands; c < commands + NELEM(commands); c++) {
		if (strncmp(c->name, argv[0], len) == 0 && c->name[len] == ' ')
			buf_printf(&near, "%s%s",
			    near.len > 0 ? ", " : "; there are: ", c->name);
	}
	rc = admin_usage("no such command: %s%s%s%.*s", argv[0],
	    argc > 1 ? " " : "", argc > 1 ? argv[1] : "", (int)near.len,
	    near.len > 0 ? near.p : "");
	buf_free(&near);
	return (rc);
}

/*
 * Take the options that belong to no command off ${argv}, wherever --json and
 * --help stand.  Return how many words are left, or -1.
 */
static int
globals(struct admin *a, int argc, char **argv, int *want_help)
{
	int i, n = 0;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			a->json = 1;
		else if (strcmp(argv[i], "--help") == 0 ||
		    (n == 0 && strcmp(argv[i], "-h") == 0))
			*want_help = 1;
		else if (n == 0 && argv[i][0] == '-' &&
		    (argv[i][1] == 'c' || argv[i][1] == 's')) {
			const int opt = argv[i][1];
			const char *arg = &argv[i][2];

			if (*arg == '\0' && (arg = argv[++i]) == NULL)
				return (-1);
			if (conf_args_take(&a->args, opt, arg))
				return (-1);
		} else
			argv[n++] = argv[i];
	}
	return (n);
}

/* Run ${c}; on a terminal, columns are aligned before they are shown. */
static int
run_aligned(struct admin *a, const struct admin_cmd *c, int argc, char **argv)
{
	FILE *terminal = stdout, *held;
	char *text = NULL;
	size_t len = 0;
	int status;

	if (!(c->flags & ADMIN_LIST) || a->json || !isatty(STDOUT_FILENO) ||
	    (held = open_memstream(&text, &len)) == NULL)
		return (c->run(a, argc, argv));
	stdout = held;
	status = c->run(a, argc, argv);
	(void)fclose(held);
	stdout = terminal;
	if (text != NULL)
		print_aligned(terminal, text);
	free(text);
	return (status);
}

/* Run ${c} with what its flags ask for. */
static int
run(struct admin *a, const struct admin_cmd *c, int argc, char **argv)
{
	enum data_rc rc;
	int status = ADMIN_USAGE;

	if (c->flags == 0)
		return (c->run(a, argc, argv));
	if (conf_load(&a->args, &a->conf))
		goto err0;
	if (runas_owner("satchel-admin", a->conf.files_root))
		goto err1;
	if ((c->flags & (ADMIN_DB | ADMIN_SCHEMA)) &&
	    (a->db = db_open(&a->conf)) == NULL) {
		(void)admin_fail("out of memory");
		goto err1;
	}
	if (a->db != NULL)
		db_patience(a->db, PATIENCE_S);
	rc = (c->flags & ADMIN_SCHEMA) ? schema_check(a->db) : DATA_OK;
	if (rc == DATA_OK)
		status = run_aligned(a, c, argc, argv);
	else if (rc != DATA_STATE) /* Which schema_check() has explained. */
		status = admin_data(rc);
	db_close(a->db);
err1:
	conf_free(&a->conf);
err0:
	return (status);
}

int
main(int argc, char *argv[])
{
	struct admin a = {0};
	const struct admin_cmd *c;
	int n, words, status, want_help = 0;

	if (version_asked(argc, argv))
		return (ADMIN_OK);
	(void)log_open("satchel-admin", NULL);
	if ((n = globals(&a, argc, argv, &want_help)) == -1)
		return (admin_usage("-c and -s take a word after them"));
	if (want_help) {
		if (n > 0 && (c = find(n, argv, &words)) != NULL)
			help_command(stdout, c);
		else
			help(stdout);
		return (ADMIN_OK);
	}
	if (n == 0) {
		help(stderr);
		return (ADMIN_USAGE);
	}
	if ((c = find(n, argv, &words)) == NULL)
		return (no_command(n, argv));
	status = run(&a, c, n - words, argv + words);
	if (fflush(stdout) != 0 && status == ADMIN_OK)
		status = admin_fail("cannot write the answer");
	return (status);
}
