/* Keys, and who is calling with them. */

#include "data/caller.h"

#include "t/tool/rows.h"

static uint64_t id;

/* Make a key; the token lives in ${mem}. */
static const char *
make(const char *workspace, const char *user, enum role role)
{
	struct key_new k = {.workspace = workspace, .user = user, .role = role};
	char *token = arena_alloc(mem, KEY_LEN + 1);

	if (token == NULL || key_create(db, &k, token, &id) != DATA_OK)
		exit(3);
	return (token);
}

static enum data_rc
find(const char *token, struct caller *c)
{
	enum data_rc have = DATA_FAIL;
	struct file f;

	return (caller_find(db, mem, token, NULL, c, &f, &have));
}

/* What caller_find() says of the file ${fid}. */
static enum data_rc
file_of(const char *token, const char *fid, struct file *f)
{
	enum data_rc have = DATA_FAIL;
	struct caller c;

	if (caller_find(db, mem, token, fid, &c, f, &have) != DATA_OK)
		return (DATA_FAIL);
	return (have);
}

/* Does the one key there end as the token ${cookie} does? */
static int
same_hint(void *cookie, const struct key *k)
{
	const char *token = cookie;

	return (strcmp(k->hint, token + KEY_LEN - 4) == 0 ? 0 : -1);
}

static void
test_key(void)
{
	struct caller c;
	const char *token = make("w", "alice", ROLE_WORKSPACE_ADMIN);
	uint64_t key = id;
	char bad[KEY_LEN + 2];

	ok(strlen(token) == 54 && strncmp(token, "sk-satchel-", 11) == 0,
	    "a key is sk-satchel- and 43 characters");
	ok(find(token, &c) == DATA_OK && c.key == key &&
		c.role == ROLE_WORKSPACE_ADMIN &&
		strcmp(c.workspace, "w") == 0 && strcmp(c.user, "alice") == 0 &&
		c.owner.workspace == owner("w", "alice").workspace &&
		c.owner.user == owner("w", "alice").user,
	    "it says who is calling");
	ok(c.now > 1700000000000 && now() - c.now < 5000,
	    "and what time the database has");
	ok(number("SELECT LENGTH(sha256) FROM api_key WHERE id = ?", key) ==
		    32 &&
		key_each(db, same_hint, arena_strndup(mem, token, KEY_LEN)) ==
		    DATA_OK,
	    "only its hash and last four characters are kept");
	(void)snprintf(bad, sizeof(bad), "%s", token);
	bad[20] = (char)(bad[20] == 'x' ? 'y' : 'x');
	ok(find(bad, &c) == DATA_NONE, "one wrong character");
	(void)snprintf(bad, sizeof(bad), "%sx", token);
	ok(find(bad, &c) == DATA_NONE, "one too many");
	(void)snprintf(bad, sizeof(bad), "%.53s", token);
	ok(find(bad, &c) == DATA_NONE, "one too few");
	(void)snprintf(bad, sizeof(bad), "Sk-satchel-%s", token + 11);
	ok(find(bad, &c) == DATA_NONE, "another prefix");
	ok(find("", &c) == DATA_NONE, "nothing at all");
}

static void
test_end(void)
{
	struct caller c;
	const char *token = make("w", "alice", ROLE_USER);

	ok(key_expire(db, id, now() + 3600000) == DATA_OK &&
		find(token, &c) == DATA_OK,
	    "a key that will expire works");
	ok(key_expire(db, id, now() - 1) == DATA_OK &&
		find(token, &c) == DATA_NONE,
	    "one that has does not");
	ok(key_expire(db, id, 0) == DATA_OK && find(token, &c) == DATA_OK,
	    "its expiry can be taken back");
	ok(key_revoke(db, id, now()) == DATA_OK && find(token, &c) == DATA_NONE,
	    "a revoked key does not work");
	ok(key_revoke(db, id, now()) == DATA_STATE &&
		key_expire(db, id, 0) == DATA_STATE,
	    "and revoking cannot be taken back");
	ok(key_revoke(db, 999999, now()) == DATA_NONE &&
		key_expire(db, 999999, 5) == DATA_NONE,
	    "no such key");
}

static void
test_disabled(void)
{
	struct caller c;
	const char *token, *later;

	(void)owner("shut", "dave");
	token = make("shut", "dave", ROLE_USER);
	ok(user_enable(db, "shut", "dave", 0) == DATA_OK &&
		find(token, &c) == DATA_NONE,
	    "a disabled user's key");
	later = make("shut", "dave", ROLE_USER);
	ok(find(later, &c) == DATA_NONE, "... one made after that, too");
	ok(workspace_enable(db, "shut", 0) == DATA_OK &&
		user_enable(db, "shut", "dave", 1) == DATA_OK &&
		find(token, &c) == DATA_NONE,
	    "an enabled user of a disabled workspace");
	ok(workspace_enable(db, "shut", 1) == DATA_OK &&
		find(token, &c) == DATA_OK && find(later, &c) == DATA_OK,
	    "both enabled");
	ok(workspace_enable(db, "shut", 1) == DATA_STATE &&
		workspace_enable(db, "none", 1) == DATA_NONE &&
		user_enable(db, "shut", "dave", 1) == DATA_STATE &&
		user_enable(db, "shut", "none", 0) == DATA_NONE &&
		user_enable(db, "none", "dave", 0) == DATA_NONE,
	    "what is so already, and what is not there");
	token = make("w", "alice", ROLE_USER);
	ok(workspace_enable(db, "shut", 0) == DATA_OK &&
		find(token, &c) == DATA_OK,
	    "other workspaces do not mind");
}

static void
test_file(void)
{
	const char *token = make("w", "alice", ROLE_USER),
		   *stranger = make("other", "alice", ROLE_USER);
	struct file f = {0};

	sql("INSERT INTO file (pid, workspace_id, user_id, state, origin, name,"
	    " mime, purpose, created, expires, sweep_at, bytes)"
	    " SELECT x.pid, u.workspace_id, u.id, x.state, 'upload', 'n', 'm',"
	    "  'p', 5, x.expires, x.sweep_at, 9 FROM user u"
	    "  JOIN workspace w ON w.id = u.workspace_id AND w.name = 'w'"
	    "  JOIN (SELECT 'live' AS pid, 'live' AS state, NULL AS expires,"
	    "   NULL AS sweep_at UNION ALL"
	    "  SELECT 'past', 'live', 6, 6 UNION ALL"
	    "  SELECT 'swept', 'gone', 6, 6 UNION ALL"
	    "  SELECT 'dead', 'dead', NULL, 6 UNION ALL"
	    "  SELECT 'future', 'live', 99999999999999, 99999999999999) x"
	    " WHERE u.name = 'alice'");
	ok(file_of(token, "live", &f) == DATA_OK && strcmp(f.id, "live") == 0 &&
		f.bytes == 9 && f.created == 5,
	    "caller and file in one statement");
	ok(file_of(token, "future", &f) == DATA_OK, "one that will expire");
	ok(file_of(token, "past", &f) == DATA_EXPIRED, "one that has");
	ok(file_of(token, "swept", &f) == DATA_EXPIRED, "one swept since");
	ok(file_of(token, "dead", &f) == DATA_NONE, "one deleted");
	ok(file_of(token, "none", &f) == DATA_NONE, "none");
	ok(file_of(stranger, "live", &f) == DATA_NONE,
	    "none of the same user name elsewhere");
}

static void
test_act_as(void)
{
	struct caller c, was;
	const char *token = make("w", "alice", ROLE_MANAGEMENT);

	(void)owner("other", "bob");
	(void)owner("other", "carol");
	(void)owner("w", "carol");
	if (find(token, &was) != DATA_OK)
		exit(3);
	c = was;
	ok(caller_act_as(db, mem, &c, "bob", NULL) == DATA_OK &&
		c.owner.user == owner("other", "bob").user &&
		c.owner.workspace == owner("other", "bob").workspace &&
		strcmp(c.user, "bob") == 0 && strcmp(c.workspace, "other") == 0,
	    "a management key acts for a user");
	ok(c.key == was.key && c.role == ROLE_MANAGEMENT && c.now == was.now,
	    "... and stays what it is");
	c = was;
	ok(caller_act_as(db, mem, &c, "nobody", NULL) == DATA_NONE &&
		caller_act_as(db, mem, &c, "bob", "w") == DATA_NONE &&
		caller_act_as(db, mem, &c, "BOB", NULL) == DATA_NONE &&
		caller_act_as(db, mem, &c, "bob ", NULL) == DATA_NONE &&
		memcmp(&c, &was, sizeof(c)) == 0,
	    "no such user: nothing changes");
	ok(caller_act_as(db, mem, &c, "carol", NULL) == DATA_STATE &&
		memcmp(&c, &was, sizeof(c)) == 0,
	    "two of that name: which?");
	ok(caller_act_as(db, mem, &c, "carol", "w") == DATA_OK &&
		c.owner.user == owner("w", "carol").user,
	    "... the one of this workspace");
	sql("INSERT INTO user (workspace_id, key_id, name, created)"
	    " SELECT id, 5, 'asserted', 1 FROM workspace WHERE name = 'w'");
	ok(caller_act_as(db, mem, &c, "asserted", NULL) == DATA_NONE,
	    "a name asserted under a key is not a workspace's user");
	(void)user_enable(db, "other", "bob", 0);
	ok(caller_act_as(db, mem, &c, "bob", NULL) == DATA_NONE,
	    "nor is a disabled one");
}

static void
test_create(void)
{
	struct key_new k = {.user = "erin", .role = ROLE_USER};
	char token[KEY_LEN + 1];
	uint64_t n;

	ok(workspace_create(db, "tw", "T", &n) == DATA_OK &&
		workspace_create(db, "tw", NULL, &n) == DATA_TAKEN &&
		workspace_create(db, "tx", "T", &n) == DATA_TAKEN &&
		workspace_create(db, "TW", "t", &n) == DATA_OK &&
		workspace_create(db, "tw ", NULL, &n) == DATA_OK,
	    "names are taken as they are written, byte by byte");
	ok(user_create(db, "tw", "erin", &n) == DATA_OK &&
		user_create(db, "tw", "erin", &n) == DATA_TAKEN &&
		user_create(db, "TW", "erin", &n) == DATA_OK &&
		user_create(db, "nowhere", "erin", &n) == DATA_NONE,
	    "users likewise, each in a workspace");
	k.tenant = "T";
	ok(key_create(db, &k, token, &n) == DATA_OK &&
		number("SELECT name_space = 'workspace' FROM api_key"
		       " WHERE id = ?",
		    n) == 1,
	    "a key for a tenant asserts names in its workspace");
	k.workspace = "TW";
	ok(key_create(db, &k, token, &n) == DATA_STATE, "not in another's");
	k.tenant = NULL;
	ok(key_create(db, &k, token, &n) == DATA_OK &&
		number("SELECT name_space = 'key' FROM api_key WHERE id = ?",
		    n) == 1,
	    "without a tenant, among its own");
	k.user = "nobody";
	ok(key_create(db, &k, token, &n) == DATA_NONE, "no such user");
	k.workspace = "nowhere";
	ok(key_create(db, &k, token, &n) == DATA_NONE, "no such workspace");
	ok(admin_name_ok("Zoë") && admin_name_ok("a b") && admin_name_ok("-") &&
		!admin_name_ok("") && !admin_name_ok(" a") &&
		!admin_name_ok("a ") && !admin_name_ok("a\tb") &&
		!admin_name_ok("a\x7f") && !admin_name_ok("\xff"),
	    "what may be a name");
}

int
main(int argc, char *argv[])
{

	rows_open(argc, argv, 2);
	(void)owner("w", "alice");
	(void)owner("other", "alice");
	test_key();
	test_end();
	test_disabled();
	test_file();
	test_act_as();
	test_create();
	return (rows_close());
}
