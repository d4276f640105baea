#include <stddef.h>
#include <stdint.h>

#include "base/conf_row.h"

/* One macro a kind keeps a setting on its row. */
#define AT(f) offsetof(struct conf, f)
#define PAT(f) offsetof(struct conf_provider, f)
#define BOOL(n, at, d, h)                           \
	{                                           \
		n, &conf_bool, at, d, 0, 0, NULL, h \
	}
#define NUM(n, at, d, lo, hi, h)                     \
	{                                            \
		n, &conf_num, at, d, lo, hi, NULL, h \
	}
#define WORD(n, at, d, w, h)                     \
	{                                        \
		n, &conf_word, at, d, 0, 0, w, h \
	}
#define TEXT(n, k, at, d, h)                          \
	{                                             \
		n, &conf_##k, at, d, 1, 1024, NULL, h \
	}
#define LATER(n)                                        \
	{                                               \
		n, &conf_later, 0, "", 0, 0, NULL, NULL \
	}

#define YEARS 3153600000ULL /* A hundred of them, in seconds. */
#define TIB (1ULL << 40)

/* clang-format off */
const struct row conf_rows[] = {
	TEXT("database.socket", path, AT(db_socket), "/run/mysqld/mysqld.sock",
	    "Unix socket of MySQL or MariaDB, used while host is empty."),
	TEXT("database.host", text, AT(db_host), "",
	    "Host to reach it by TCP instead."),
	NUM("database.port", AT(db_port), "3306", 1, 65535,
	    "Port on that host."),
	TEXT("database.user", text, AT(db_user), "satchel",
	    "Account."),
	TEXT("database.password", secret, AT(db_password), "",
	    "Its password."),
	{ "database.name", &conf_name, AT(db_name), "satchel", 1, 64, NULL,
	    "Schema that holds Satchel's tables." },
	NUM("database.pool", AT(db_pool), "16", 1, 1024,
	    "Connections a process may hold."),

	BOOL("files.enabled", AT(files_enabled), "true",
	    "false: every files route answers 404."),
	{ "files.root", &conf_path, AT(files_root), NULL, 1, 1024,
	    "/srv/satchel/files",
	    "Directory of the bytes, shared by all workers of all machines." },
	NUM("files.max_bytes", AT(files_max_bytes), "536870912", 1, TIB,
	    "Largest file that may be uploaded, in bytes."),
	NUM("files.retention_seconds", AT(files_retention_s), "0", 0, YEARS,
	    "Life of a file unless it asks for less; 0 = until deleted."),
	NUM("files.tombstone_seconds", AT(files_tombstone_s), "86400", 0, YEARS,
	    "How long a dead file's row stays, so that cursors resolve."),
	NUM("files.min_upload_bytes_per_second", AT(files_min_rate), "1024",
	    0, TIB,
	    "Slower than this ends an upload with 408; 0 = no minimum."),
	NUM("files.upload_window_seconds", AT(files_upload_window_s), "30",
	    1, 3600,
	    "Seconds over which that speed is averaged."),
	NUM("files.grace_seconds", AT(files_grace_s), "600", 0, YEARS,
	    "Between a file's death and the removal of its bytes."),
	NUM("files.abandon_seconds", AT(files_abandon_s), "3600", 1, YEARS,
	    "An unfinished upload that stood still this long is swept away."),
	BOOL("files.uploads_downloadable", AT(files_uploads_downloadable),
	    "true",
	    "false: only produced files can be downloaded."),
	BOOL("files.strict_names", AT(files_strict_names), "false",
	    "true: refuse file names with any of < > : \" | ? *"),
	NUM("files.quota_user_bytes", AT(files_quota_user_bytes), "0",
	    0, 1ULL << 50,
	    "Live bytes a user may hold; 0 = no quota."),
	NUM("files.output_max_files", AT(files_output_max_files), "20", 0, 1000,
	    "Files kept of what one run of code produced."),
	NUM("files.output_max_bytes", AT(files_output_max_bytes), "67108864",
	    0, TIB,
	    "Bytes kept of what one run of code produced, in all."),
	{ "files.openai_output_purpose", &conf_choice,
	    AT(files_openai_output_purpose), "code_execution_output", 0, 0,
	    "code_execution_output|assistants_output",
	    "Purpose that OpenAI callers see on produced files." },
	NUM("files.page_max", AT(files_page_max), "10000", 20, 10000,
	    "Largest page of an OpenAI listing, and its default."),
	WORD("files.sendfile", AT(files_sendfile), "x-accel",
	    "x-accel|x-sendfile|stream",
	    "Who sends a file's bytes: nginx, another front, or the worker."),
	TEXT("files.xaccel_prefix", path, AT(files_xaccel_prefix),
	    "/.satchel",
	    "Where nginx/ has its two internal locations of bytes."),
	LATER("files.provider_copy"),

	WORD("store.kind", AT(store_kind), "fs", "fs|s3!",
	    "Where bytes lie."),

	WORD("code_execution.executor", AT(executor), "auto",
	    "auto|local|provider",
	    "Who runs code when a request does not say."),
	NUM("code_execution.max_iterations", AT(max_iterations), "10", 1, 25,
	    "Rounds with the model in one request."),
	NUM("code_execution.exec_timeout_s", AT(exec_timeout_s), "60", 1, 3600,
	    "Seconds one run of code may take."),
	NUM("code_execution.turn_budget_s", AT(turn_budget_s), "540", 1, 86400,
	    "Seconds one request may take in all."),
	TEXT("code_execution.purpose_hint", text, AT(purpose_hint), "",
	    "Added to what the model is told when it is offered code."),
	LATER("code_execution.price_per_run"),

	TEXT("sandbox.url", url, AT(sandbox_url), "",
	    "Base of the code-execution protocol; empty = no sandbox."),
	TEXT("sandbox.token", secret, AT(sandbox_token), "",
	    "Credential sent to the sandbox, and asked for by it."),
	TEXT("sandbox.dir", path, AT(sandbox_dir), "/run/satchel/sandbox",
	    "Where the sandbox host keeps its sessions."),
	WORD("sandbox.isolation", AT(sandbox_isolation), "namespaces",
	    "namespaces|namespaces+cgroup|bwrap!|landlock!|remote!",
	    "What keeps a session apart from its host."),
	{ "sandbox.rootfs", &conf_path, AT(sandbox_rootfs), "", 1, 255, NULL,
	    "Root that tools/make-rootfs made; empty = a view of our /usr." },
	{ "sandbox.cgroup", &conf_path, AT(sandbox_cgroup), "", 1, 255, NULL,
	    "Control group given to us, for namespaces+cgroup." },
	NUM("sandbox.cpu_seconds", AT(sandbox_cpu_s), "0", 0, 604800,
	    "CPU time of one call, all its processes; 0 = no limit."),
	NUM("sandbox.session_memory_bytes", AT(sandbox_session_memory),
	    "536870912", 1 << 25, TIB,
	    "Memory of one session."),
	NUM("sandbox.workspace_bytes", AT(sandbox_workspace), "268435456",
	    1 << 20, TIB,
	    "Disk space of one session."),
	NUM("sandbox.processes", AT(sandbox_processes), "128", 4, 32768,
	    "Processes of one session."),
	NUM("sandbox.idle_seconds", AT(sandbox_idle_s), "1200", 1, 604800,
	    "A session unused this long ends."),
	NUM("sandbox.lifetime_seconds", AT(sandbox_lifetime_s), "86400",
	    1, 604800,
	    "A session this old ends."),
	NUM("sandbox.sessions_max", AT(sandbox_sessions), "256", 1, 100000,
	    "Sessions of one host; one more is answered 503."),
	TEXT("sandbox.languages", path, AT(sandbox_languages), "",
	    "Table of languages, as conf/languages.yml; empty = that one."),
	LATER("sandbox.ready"),
	LATER("sandbox.host_memory_bytes"),

	TEXT("server.public_url", url, AT(public_url), "",
	    "Address that callers use, where an answer must hold one."),
	TEXT("server.cors_origin", text, AT(cors_origin), "",
	    "Origin that browsers may call from, or *; empty = none."),
	NUM("server.body_max_bytes", AT(body_max_bytes), "33554432",
	    1 << 16, 1 << 30,
	    "Largest JSON request, in bytes; nginx/ names it too."),
	BOOL("auth.lenient_user", AT(auth_lenient_user), "false",
	    "true: a user's key that names another user is not refused."),
	TEXT("log.file", path, AT(log_file), "",
	    "Append the log here; empty = standard error."),
	NUM("workers.files_threads", AT(files_threads), "64", 1, 4096,
	    "Threads of a process in the pool for short requests."),
	NUM("workers.run_threads", AT(run_threads), "512", 1, 4096,
	    "Threads of a process in the pool for model requests."),
	NUM("workers.processes", AT(processes), "2", 1, 64,
	    "Processes of a pool, unless the command line says."),

	TEXT("librechat.jwt.jwks_file", path, AT(lc_jwks_file), "",
	    "JSON Web Key Set by which LibreChat's tokens are verified;"
	    " or:"),
	TEXT("librechat.jwt.pem_dir", path, AT(lc_pem_dir), "",
	    "Directory of public keys, each named KID.pem; or:"),
	TEXT("librechat.jwt.pem_file", path, AT(lc_pem_file), "",
	    "One public key in PEM.  None of the three: no tokens."),
	TEXT("librechat.jwt.kid", text, AT(lc_kid), "",
	    "Key id of pem_file; empty = whatever a token says."),
	TEXT("librechat.jwt.issuer", text, AT(lc_issuer), "librechat",
	    "What a token's iss must be."),
	TEXT("librechat.jwt.audience", text, AT(lc_audience), "codeapi",
	    "What its aud must be or hold."),
	{ "librechat.jwt.algorithms", &conf_choices, AT(lc_algorithms),
	    "EdDSA, RS256", 1, 64, "EdDSA|RS256",
	    "Signatures that are believed." },
	NUM("librechat.jwt.skew_seconds", AT(lc_skew_s), "30", 0, 30,
	    "By which LibreChat's clock may differ from ours."),
	NUM("librechat.jwt.lifetime_seconds", AT(lc_lifetime_s), "300", 1, 300,
	    "Longest life of a token."),
	TEXT("librechat.jwt.single_tenant", text, AT(lc_tenant), "legacy",
	    "Tenant of tokens that name none."),
	BOOL("librechat.jwt.tenant_required", AT(lc_tenant_required), "false",
	    "true: a token must name its tenant."),
	BOOL("librechat.key_with_jwt", AT(lc_key_with_jwt), "false",
	    "true: a proxy adds an API key; it and the token must both hold."),
	{ "librechat.trusted_cidrs", &conf_cidrs, AT(lc_trusted), "", 1, 64,
	    NULL,
	    "Networks whose LibreChat calls need no credential." },
	NUM("librechat.retention_seconds", AT(lc_retention_s), "604800",
	    86400, YEARS,
	    "LibreChat's files die when unused for so long."),
	BOOL("librechat.share_in_tenant", AT(lc_share), "true",
	    "Skills and agents belong to a tenant; false: to each user."),
	NUM("librechat.max_bytes", AT(lc_max_bytes), "157286400", 1, TIB,
	    "Largest file that LibreChat may upload, in bytes."),
	NUM("librechat.exec_timeout_s", AT(lc_exec_timeout_s), "30", 1, 300,
	    "Seconds a run for LibreChat may take."),
	NUM("librechat.output_max_files", AT(lc_output_max_files), "50",
	    1, 1000,
	    "Files kept of what one such run produced."),
	NUM("librechat.output_max_bytes", AT(lc_output_max_bytes), "67108864",
	    1, TIB,
	    "Largest of them, in bytes."),
	BOOL("librechat.echo_inherited", AT(lc_echo), "true",
	    "false: inputs that a run left alone are not listed again."),
	NUM("librechat.execs_per_30s", AT(lc_rate[0]), "20", 0, 1000000,
	    "Runs a user may start in 30 seconds; 0 = no limit."),
	NUM("librechat.uploads_per_5min", AT(lc_rate[1]), "120", 0, 1000000,
	    "Uploads a user may send in 5 minutes; 0 = no limit."),
	NUM("librechat.downloads_per_min", AT(lc_rate[2]), "60", 0, 1000000,
	    "Downloads a user may ask for in a minute; 0 = no limit."),
	NUM("librechat.reads_per_min", AT(lc_rate[3]), "120", 0, 1000000,
	    "Other questions a user may ask in a minute; 0 = no limit."),

	{ "providers", &conf_providers, 0, "", 0, 0, NULL,
	    "Model servers; the first one also answers names without a colon."
	},
	{ NULL, NULL, 0, NULL, 0, 0, NULL, NULL }
};

const struct row conf_provider_rows[] = {
	{ "name", &conf_name, PAT(name), NULL, 1, 64, "ollama",
	    "Callers ask for model \"NAME:MODEL\"." },
	WORD("wire", PAT(wire), "openai-chat",
	    "openai-chat|openai-responses|anthropic-messages",
	    "Protocol it speaks."),
	{ "base_url", &conf_url, PAT(base_url), NULL, 1, 1024,
	    "http://127.0.0.1:11434/v1",
	    "Its address, up to but without /chat/completions." },
	TEXT("api_key", secret, PAT(api_key), "",
	    "Credential it wants."),
	BOOL("native_code", PAT(native_code), "false",
	    "true: it runs its vendor's code tool itself."),
	BOOL("forward_other", PAT(forward_other), "false",
	    "true: embeddings and the like go to it too."),
	{ "models", &conf_list, PAT(models), "*", 1, 256, NULL,
	    "Models it serves; * stands for anything." },
	NUM("timeout_s", PAT(timeout_s), "600", 1, 86400,
	    "Seconds to wait for one answer."),
	{ NULL, NULL, 0, NULL, 0, 0, NULL, NULL }
};
/* clang-format on */
