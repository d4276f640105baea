#ifndef BASE_CONF_H_
#define BASE_CONF_H_

#include <stddef.h>
#include <stdint.h>

/*
 * The deployment's settings.  conf.c's table has one row a setting (dotted
 * name, parser, field, default, bounds, one line of help), and from it come the
 * parser, its errors, `satchel-admin check`, and conf/satchel.yml.  A setting
 * comes from, later wins: the row's default, the files given with -c in their
 * order, the -s key=value words in theirs.  Within one file a key may stand
 * once.  A secret may be given as KEY_file (a path) or KEY_env (a variable).
 * A text that is empty or not given is NULL in struct conf.
 */

/* How the bytes of a file reach the client (files.sendfile). */
enum conf_sendfile { SENDFILE_XACCEL, SENDFILE_XSENDFILE, SENDFILE_STREAM };

/* What keeps a session apart; the words of sandbox.isolation in their order. */
enum isolation {
	ISOLATION_NAMESPACES,
	ISOLATION_CGROUP, /* And a control group. */
	ISOLATION_BWRAP,
	ISOLATION_LANDLOCK,
	ISOLATION_REMOTE /* No session of this host. */
};

/* code_execution.executor, in the order of the setting's words. */
enum conf_executor { EXECUTOR_AUTO, EXECUTOR_LOCAL, EXECUTOR_PROVIDER };

/* The protocol an upstream speaks (providers[].wire). */
enum conf_wire { WIRE_CHAT, WIRE_RESPONSES, WIRE_MESSAGES };

/* What a provider's models can; auto: what its vendor's own can. */
enum conf_ability { ABILITY_AUTO, ABILITY_TRUE, ABILITY_FALSE };

/* providers[].reasoning_in and reasoning_out, as far as they name one place;
 * the first word is none on the way in, and either field on the way out. */
enum conf_reasoning {
	REASONING_USUAL,
	REASONING_CONTENT, /* The field reasoning_content. */
	REASONING_PLAIN,   /* The field reasoning. */
	REASONING_TAGS,    /* In the text, between <think> and </think>. */
	REASONING_NONE
};

/* providers[].effort: how a server is told how hard to think. */
enum conf_effort { EFFORT_WORD, EFFORT_SWITCH, EFFORT_NONE };

/* One entry of providers:. */
struct conf_provider {
	char *name;
	int wire;       /* enum conf_wire */
	char *base_url; /* No slash at its end. */
	char *api_key;  /* NULL: none is sent. */
	int native_code;
	int forward_other;
	int vision, pdf;      /* enum conf_ability */
	uint64_t request_max; /* Bytes, with all files in it. */

	/* What an openai-chat server takes and says; 0 is the usual. */
	int no_tools, no_parallel, no_required, no_stream_usage, no_arrays;
	int completion_tokens;           /* The newer name of max_tokens. */
	int reasoning_in, reasoning_out; /* enum conf_reasoning */
	int effort;                      /* enum conf_effort */
	int json_schema, top_k, prefill, verbosity;
	int developer_role, mid_system;
	int nine; /* Ids of calls are nine letters and digits. */

	char **models; /* Patterns with '*'; ends with NULL. */
	uint64_t timeout_s;
};

struct conf {
	/* database.*; with a host the socket is not used. */
	char *db_socket, *db_host, *db_user, *db_password, *db_name;
	uint64_t db_port, db_pool;

	/* files.* */
	int files_enabled;
	char *files_root;
	uint64_t files_max_bytes, files_retention_s, files_tombstone_s;
	uint64_t files_min_rate, files_upload_window_s;
	uint64_t files_grace_s, files_abandon_s;
	int files_uploads_downloadable, files_strict_names;
	uint64_t files_quota_user_bytes;
	uint64_t files_output_max_files, files_output_max_bytes;
	char *files_openai_output_purpose;
	uint64_t files_page_max;
	int provider_copy;  /* files.provider_copy */
	int files_sendfile; /* enum conf_sendfile */
	/* nginx/ serves PREFIX/whole/PATH without ranges and PREFIX/part/PATH
	 * with one; PATH is blob_path()'s. */
	char *files_xaccel_prefix;

	/* documents.* */
	char **converters; /* "TYPE COMMAND"; ends with NULL. */
	uint64_t documents_max_bytes, documents_max_text, documents_timeout_s;
	char *vision_model; /* NULL: none. */
	int documents_ocr;

	/* code_execution.* */
	int executor; /* enum conf_executor */
	uint64_t max_iterations, exec_timeout_s, turn_budget_s;
	char *purpose_hint;
	uint64_t price_per_run;         /* Millionths. */
	uint64_t usage_retention_s;     /* usage.* */
	uint64_t responses_retention_s; /* responses.* */

	/* sandbox.* */
	char *sandbox_url; /* "http://...", "https://..." or "unix:/PATH". */
	char *sandbox_token, *sandbox_dir, *sandbox_languages, *sandbox_label;
	char *sandbox_rootfs, *sandbox_cgroup; /* NULL = none. */
	int sandbox_isolation; /* Index of the word; 0 = namespaces. */
	uint64_t sandbox_session_memory, sandbox_workspace, sandbox_processes;
	uint64_t sandbox_watches;
	uint64_t sandbox_idle_s, sandbox_lifetime_s, sandbox_sessions;
	uint64_t sandbox_sessions_per_user;
	uint64_t sandbox_ready, sandbox_zygote_s, sandbox_host_memory;
	uint64_t sandbox_cpu_s; /* Of one call; 0 = no limit. */

	int store_kind; /* Index of the word; 0 = fs. */

	/* server.*, workers.*, log.* */
	char *public_url, *cors_origin, *log_file;
	uint64_t files_threads, run_threads, processes, bodies_bytes, drain_s;
	uint64_t body_max_bytes; /* Of a JSON body. */
	int auth_lenient_user;   /* auth.lenient_user */

	/* librechat.* */
	char *lc_jwks_file, *lc_pem_dir, *lc_pem_file, *lc_kid;
	char *lc_issuer, *lc_audience;
	char **lc_algorithms; /* Ends with NULL. */
	uint64_t lc_skew_s, lc_lifetime_s;
	char *lc_tenant;
	int lc_tenant_required, lc_key_with_jwt;
	char **lc_trusted; /* NULL or ends with NULL; cidr_parse() takes it. */
	uint64_t lc_retention_s;
	int lc_share, lc_echo;
	uint64_t lc_max_bytes, lc_exec_timeout_s;
	uint64_t lc_output_max_files, lc_output_max_bytes;
	uint64_t lc_rate[4]; /* By enum rate_kind; 0 = no limit. */

	struct conf_provider *providers;
	size_t nproviders;

	struct conf_src *src; /* Where each row's value came from. */
};

/* What a program was told on its command line; see conf_args(). */
#define CONF_FILE "/etc/satchel/satchel.yml"
#define CONF_SANDBOX "/etc/satchel/sandbox.yml" /* For its host's user too. */

struct conf_args {
	const char *file[8];
	size_t nfile;
	const char *set[64];
	size_t nset;
	int running; /* There is a log by now: what is wrong goes there. */
	int partial; /* Settings that must be given may be left out: NULL. */
};

/**
 * conf_args_take(args, opt, optarg):
 * Note one -c FILE (${opt} 'c') or -s KEY=VALUE (${opt} 's') in ${args}.
 * Return 0, or -1 after a line on standard error when there are too many or
 * there is no '='.
 */
int conf_args_take(struct conf_args *, int, const char *);

/**
 * conf_load(args, c):
 * Fill in ${c}.  With no file in ${args}, take $SATCHEL_CONF, else
 * CONF_FILE and, if it is there, CONF_SANDBOX; with ${args}->partial only the
 * latter, if it is there.  Return 0; or -1 with ${c} empty after one line on
 * standard error naming the file, the line and the key at fault (an unknown
 * key, a repeated key, a bad value and what would be right, a required key left
 * out, broken YAML).
 */
int conf_load(const struct conf_args *, struct conf *);

/**
 * conf_each(c, fn, cookie):
 * Call ${fn}(${cookie}, name, value, source, help) for every setting in the
 * table's order; secrets show as "(set)" or "(not set)".
 */
void conf_each(const struct conf *,
    void (*)(void *, const char *, const char *, const char *, const char *),
    void *);

/**
 * conf_document():
 * Print conf/satchel.yml: every key with its help, bounds and default.
 */
void conf_document(void);

/**
 * conf_free(c):
 * Free what conf_load() put into ${c}, but not ${c}.
 */
void conf_free(struct conf *);

#endif /* !BASE_CONF_H_ */
