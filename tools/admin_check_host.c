#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "http/jwk.h"
#include "io/sandbox_client.h"
#include "jail/language.h"
#include "jail/limits.h"
#include "jail/packages.h"
#include "jail/plain.h"
#include "jail/probe.h"
#include "jail/ready.h"
#include "jail/socks.h"

#include "tools/admin_check.h"

/*
 * What the nginx/ of these programs says; a setting beyond it needs a change
 * there too.  What the operator's own server has loaded is not looked at: it
 * may run elsewhere, and its files be another account's.
 */
#define NGINX_SHIPPED "nginx/satchel.conf as shipped"
#define NGINX_UNSEEN "; not looked at: what your server loads"
#define NGINX_BODY (32ULL << 20)
#define NGINX_RUN_S 660
#define NGINX_PREFIX "/.satchel"

/* Descriptors of one model request: the client's, the upstream's, what waits
 * for either, and libcurl's pair to be woken by. */
#define FDS_PER_RUN 5
#define FDS_OTHER 64

#define BACKLOG 4096

/* A keeper that begins loads Python and its packages first. */
#define KEEPER_MS 5000
#define KEEPER_STEP_MS 50

/* Does sandbox.dir belong to somebody else, who may have what we have not? */
static int
is_others(const char *dir)
{
	struct stat st;

	return (
	    geteuid() != 0 && stat(dir, &st) == 0 && st.st_uid != geteuid());
}

/*
 * The sandbox does not start with less than it is asked for.  But the default
 * is there on machines without a sandbox too, where nobody has asked; and we
 * can be somebody, or somewhere, that the sandbox is not.
 */
static enum check_state
state_refused(const struct check *k, const struct limits *l, int rc)
{
	const int asked =
	    l->isolation != ISOLATION_NAMESPACES || *l->rootfs != '\0';

	return (asked && rc == -1 && !is_others(k->c->sandbox_dir)
		? CHECK_FAIL
		: CHECK_WARN);
}

/* Do what a sandbox session is confined by, step by step. */
static enum check_state
look_isolation(const struct check *k, struct buf *said)
{
	struct limits l;
	int rc;

	limits_of(k->c, &l);
	if (l.isolation == ISOLATION_REMOTE) {
		buf_puts(said, "remote: no session of this machine");
		return (CHECK_OK);
	}
	if ((rc = probe_level(&l, said, k->remedy)) != 0)
		return (state_refused(k, &l, rc));
	if (l.isolation != ISOLATION_LANDLOCK)
		return (CHECK_OK);
	buf_puts(k->remedy, "have namespaces where the machine allows them");
	if (strcmp(plain_path(&l), NS_WORKSPACE) != 0)
		buf_puts(k->remedy,
		    ", or at least make " NS_WORKSPACE
		    " a link to /proc/self/cwd, as root: programs find no "
		    "files at that path, which LibreChat names");
	return (CHECK_WARN);
}

/* Is there neither a sandbox for this gateway nor one on this machine? */
static int
no_sandbox(const struct check *k)
{

	return (k->c->sandbox_url == NULL && access(k->c->sandbox_dir, F_OK));
}

/* Is nginx in front, as far as the settings say? */
static int
behind_nginx(const struct check *k)
{

	return (k->c->files_sendfile == SENDFILE_XACCEL);
}

/* Append each language that ${L} has and ${root} has not; how many it has. */
static size_t
put_absent(const struct languages *L, const char *root, struct buf *said)
{
	const struct language *l;
	const char *lacking;
	size_t i, n = 0;

	for (i = 0; (l = languages_get(L, i)) != NULL; i++) {
		if ((lacking = language_absent(l, root)) == NULL) {
			n++;
			continue;
		}
		buf_printf(said, "%s%s lacks %s (Debian: %s)",
		    said->len > 0 ? "; " : "", l->name, lacking, l->packages);
	}
	return (n);
}

/* Are the toolchains of the languages there? */
static enum check_state
look_languages(const struct check *k, struct buf *said)
{
	struct buf err = BUF_INIT(1024);
	struct languages *L;
	struct limits lim;
	size_t n;

	limits_of(k->c, &lim);
	if (lim.isolation == ISOLATION_REMOTE || no_sandbox(k))
		return (CHECK_SKIP);
	if ((L = languages_load(k->c->sandbox_languages, &err)) == NULL) {
		buf_printf(said, "sandbox.languages: %s",
		    err.len > 0 ? err.p : "out of memory");
		buf_puts(k->remedy, "mend that file, or leave it out");
		buf_free(&err);
		return (CHECK_FAIL);
	}
	n = put_absent(L, lim.rootfs, said);
	languages_free(L);
	if (said->len > 0)
		return (CHECK_WARN);
	buf_printf(said, "%zu, all with what they need", n);
	return (CHECK_OK);
}

/* Is there what models expect to find? */
static enum check_state
look_packages(const struct check *k, struct buf *said)
{
	const struct package *p;
	struct limits l;
	size_t n = 0;

	limits_of(k->c, &l);
	if (l.isolation == ISOLATION_REMOTE)
		return (CHECK_SKIP);
	for (p = packages; p->name != NULL; p++) {
		if (package_is_there(p, l.rootfs)) {
			n++;
			continue;
		}
		/* What Debian does not have, few have. */
		if (p->debian != NULL)
			buf_printf(said, "%s%s (Debian: %s)",
			    said->len > 0 ? ", " : "code finds no ", p->name,
			    p->debian);
	}
	if (said->len > 0)
		return (CHECK_WARN);
	buf_printf(said, "%zu of those that models look for", n);
	return (CHECK_OK);
}

/* Can it be seen what a session's unix sockets hold? */
static enum check_state
look_sockets(const struct check *k, struct buf *said)
{
	struct limits lim;
	int fd;

	limits_of(k->c, &lim);
	if (lim.isolation == ISOLATION_REMOTE || no_sandbox(k))
		return (CHECK_SKIP);
	if ((fd = socks_open()) != -1) {
		(void)close(fd);
		buf_puts(said, "the kernel shows what unix sockets hold");
		return (CHECK_OK);
	}
	buf_printf(said,
	    "the kernel does not show what unix sockets hold: a session may"
	    " have %" PRIu64,
	    socks_most(&lim));
	return (CHECK_WARN);
}

/* May a worker open as many descriptors as its threads can need? */
static enum check_state
look_descriptors(const struct check *k, struct buf *said)
{
	uint64_t want = k->c->run_threads * FDS_PER_RUN + FDS_OTHER;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl))
		return (CHECK_SKIP);
	buf_printf(said, "%" PRIu64 " may be open, %" PRIu64 " can be needed",
	    (uint64_t)rl.rlim_max, want);
	return (rl.rlim_max < want ? CHECK_WARN : CHECK_OK);
}

/* May so many connections wait as workers ask for? */
static enum check_state
look_backlog(const struct check *k, struct buf *said)
{
	char line[32] = "";
	uint64_t n;
	FILE *f;

	if (!behind_nginx(k) ||
	    (f = fopen("/proc/sys/net/core/somaxconn", "re")) == NULL)
		return (CHECK_SKIP);
	if (fgets(line, sizeof(line), f) != NULL)
		line[strcspn(line, "\n")] = '\0';
	(void)fclose(f);
	if (num_u64(line, 0, UINT64_MAX, &n))
		return (CHECK_SKIP);
	buf_printf(said, "net.core.somaxconn is %" PRIu64, n);
	return (n < BACKLOG ? CHECK_WARN : CHECK_OK);
}

/*
 * Fill in ${h} with what sandbox.dir tells; or, if it is for other eyes than
 * ours, with what its host says of it.  Return 0, or -1 if there is nothing.
 */
static int
ask_keeper(const struct check *k, struct sandbox_host *h)
{
	const struct sandbox s = {.url = k->c->sandbox_url,
	    .token = k->c->sandbox_token,
	    .gone_fd = -1};
	int host, idle;

	memset(h, 0, sizeof(*h));
	host = open(k->c->sandbox_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (host == -1)
		return (errno == EACCES && s.url != NULL &&
			    sandbox_host(&s, h) == SANDBOX_OK && h->says
			? 0
			: -1);
	if ((idle = ready_open(host, 0)) != -1) {
		h->keeper = ready_held(idle, "keeper");
		h->served = ready_held(idle, "served");
		h->ready = ready_count(idle, NULL, NULL);
		(void)close(idle);
	}
	(void)close(host);
	return (0);
}

/* As ask_keeper(), but one that has only begun gets a moment. */
static int
await_keeper(const struct check *k, struct sandbox_host *h)
{
	const struct timespec t = {.tv_nsec = KEEPER_STEP_MS * 1000000};
	int i;

	for (i = 0; i < KEEPER_MS / KEEPER_STEP_MS; i++) {
		if (ask_keeper(k, h))
			return (-1);
		if (!h->keeper || h->served || k->c->sandbox_ready == 0)
			break;
		(void)nanosleep(&t, NULL);
	}
	return (0);
}

/* Does a keeper make sessions, if this is a sandbox host? */
static enum check_state
look_keeper(const struct check *k, struct buf *said)
{
	enum check_state state = CHECK_WARN;
	struct sandbox_host h;
	struct limits l;

	limits_of(k->c, &l);
	if (l.isolation != ISOLATION_REMOTE && !ready_able(&l)) {
		buf_printf(said,
		    "makes none at the isolation level %s: each session begins "
		    "cold",
		    limits_isolation(&l));
		return (CHECK_OK);
	}
	if (await_keeper(k, &h))
		return (CHECK_SKIP);
	if (!h.keeper) {
		buf_puts(said, "does not run: each session begins cold");
	} else if (k->c->sandbox_ready == 0) {
		buf_puts(said, "runs; sandbox.ready is 0");
		state = CHECK_OK;
	} else if (!h.served) {
		buf_printf(said,
		    "runs, but has made no session for %d s: it is starting, "
		    "or cannot",
		    KEEPER_MS / 1000);
	} else {
		buf_printf(
		    said, "runs; %" PRIu64 " sessions are ready", h.ready);
		state = CHECK_OK;
	}
	return (state);
}

/*
 * Can code in a session use up what the kernel counts for each user, such as
 * epoll watches, for the gateway or for other sessions?
 */
static enum check_state
look_users(const struct check *k, struct buf *said)
{
	const struct sandbox s = {.url = k->c->sandbox_url,
	    .token = k->c->sandbox_token,
	    .gone_fd = -1};
	struct sandbox_host h;
	struct stat dir, store;

	if (s.url == NULL || sandbox_host(&s, &h) != SANDBOX_OK || !h.says)
		return (CHECK_SKIP);
	if (stat(k->c->sandbox_dir, &dir) == 0 &&
	    stat(k->c->files_root, &store) == 0 && dir.st_uid == store.st_uid) {
		buf_puts(said,
		    "gateway and sandbox run as one user: code can use up "
		    "what the kernel counts for each user");
		return (CHECK_WARN);
	}
	buf_puts(said,
	    h.own_users ? "each session has its own"
			: "all sessions share that of the sandbox host");
	return (h.own_users ? CHECK_OK : CHECK_WARN);
}

static enum check_state
look_body(const struct check *k, struct buf *said)
{

	if (!behind_nginx(k))
		return (CHECK_SKIP);
	buf_printf(said,
	    "server.body_max_bytes is %" PRIu64 ", " NGINX_SHIPPED
	    " passes %llu" NGINX_UNSEEN,
	    k->c->body_max_bytes, NGINX_BODY);
	return (k->c->body_max_bytes > NGINX_BODY ? CHECK_WARN : CHECK_OK);
}

static enum check_state
look_budget(const struct check *k, struct buf *said)
{

	if (!behind_nginx(k))
		return (CHECK_SKIP);
	buf_printf(said,
	    "code_execution.turn_budget_s is %" PRIu64 ", " NGINX_SHIPPED
	    " waits %d s" NGINX_UNSEEN,
	    k->c->turn_budget_s, NGINX_RUN_S);
	return (k->c->turn_budget_s >= NGINX_RUN_S ? CHECK_WARN : CHECK_OK);
}

static enum check_state
look_bytes(const struct check *k, struct buf *said)
{

	if (!behind_nginx(k))
		return (CHECK_SKIP);
	buf_printf(said,
	    "to be locations below %s, alias %s/; " NGINX_SHIPPED
	    " has them below " NGINX_PREFIX NGINX_UNSEEN,
	    k->c->files_xaccel_prefix, k->c->files_root);
	return (strcmp(k->c->files_xaccel_prefix, NGINX_PREFIX) == 0
		? CHECK_OK
		: CHECK_WARN);
}

/* Can LibreChat's tokens be verified? */
static enum check_state
look_tokens(const struct check *k, struct buf *said)
{
	const struct jwk_source src = {.jwks_file = k->c->lc_jwks_file,
	    .pem_dir = k->c->lc_pem_dir,
	    .pem_file = k->c->lc_pem_file,
	    .kid = k->c->lc_kid};
	const char *why,
	    *place = src.jwks_file != NULL ? src.jwks_file
	    : src.pem_dir != NULL          ? src.pem_dir
					   : src.pem_file;
	struct jwk_set *set;

	if (place == NULL)
		return (CHECK_SKIP);
	if (jwk_set_load(&src, &set, &why)) {
		buf_printf(said, "%s: %s", place, why);
		return (CHECK_FAIL);
	}
	jwk_set_free(set);
	buf_printf(said, "keys of %s", place);
	return (CHECK_OK);
}

/* clang-format off */
const struct check_item check_host[] = {
	{ "host.isolation", look_isolation,
	  "see satchel-sandbox(8), MACHINES THAT REFUSE" },
	{ "host.languages", look_languages,
	  "install those that are wanted (tools/deps lang-NAME, or below "
	  "sandbox.rootfs), or leave them out of sandbox.languages" },
	{ "host.packages", look_packages,
	  "install them (tools/deps data, or tools/make-rootfs where "
	  "sandbox.rootfs is set)" },
	{ "host.sockets", look_sockets,
	  "take a kernel with CONFIG_UNIX_DIAG, or modprobe unix_diag" },
	{ "host.descriptors", look_descriptors,
	  "raise the limit (LimitNOFILE= in the unit), or lower "
	  "workers.run_threads" },
	{ "host.backlog", look_backlog, "sysctl net.core.somaxconn=4096" },
	{ "sandbox.users", look_users,
	  "run satchel-sandbox and satchel-keeper as a user of their own, with "
	  "a range in /etc/subuid and /etc/subgid or started as root (INSTALL, "
	  "chapter 5)" },
	{ "sandbox.keeper", look_keeper,
	  "start satchel-keeper as the user of satchel-sandbox; its log says "
	  "what hinders it" },
	{ "librechat.jwt", look_tokens,
	  "make it a place of public keys (KID.pem or a JSON Web Key Set) that "
	  "this account can read, with no private key among them" },
	{ "nginx.body", look_body,
	  "raise client_max_body_size in nginx/satchel.conf to it" },
	{ "nginx.time", look_budget,
	  "raise fastcgi_read_timeout in nginx/satchel.conf above it" },
	{ "nginx.bytes", look_bytes,
	  "rename the two locations in nginx/satchel.conf likewise" },
	{ NULL, NULL, NULL }
};
/* clang-format on */
