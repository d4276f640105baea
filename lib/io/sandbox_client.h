#ifndef IO_SANDBOX_CLIENT_H_
#define IO_SANDBOX_CLIENT_H_

#include <stddef.h>
#include <stdint.h>

#include "base/ends.h"
#include "base/jspan.h"

#include "io/upstream.h"

/*
 * The code-execution protocol, version 1, from its client's side (sandbox
 * protocol contract, sections 1 and 2).  Every call ends early when the
 * caller's own client leaves; dropping an execution kills what it started.
 */

/* Opaque type. */
struct arena;

#define SANDBOX_IDMAX 128

enum sandbox_rc {
	SANDBOX_OK,
	SANDBOX_NONE, /* No such session, file or directory. */
	SANDBOX_BAD,  /* Refused as malformed, or outside the workspace. */
	SANDBOX_NO_LANGUAGE,  /* It does not know this one, */
	SANDBOX_NO_TOOLCHAIN, /* or lacks what that needs. */
	SANDBOX_BUSY,         /* No capacity. */
	SANDBOX_TOO_BIG, /* Over the sandbox's cap, or over the given one. */
	SANDBOX_GONE,    /* Our own client has gone. */
	SANDBOX_STOPPED, /* The sink said so. */
	SANDBOX_SLOW,    /* No answer in time. */
	SANDBOX_DOWN     /* Away, or not speaking the protocol; logged. */
};

/* Which sandbox, and for whom we ask. */
struct sandbox {
	const char *url;           /* "http://HOST:PORT" or "unix:PATH" */
	const char *token;         /* Bearer credential, or NULL. */
	int gone_fd;               /* See struct upstream_call... */
	upstream_wait_fn *on_wait; /* ...and this too. */
	void *wait_cookie;
};

/* A file that a call wrote. */
struct sandbox_file {
	const char *path; /* For sandbox_get(). */
	uint64_t bytes;   /* SANDBOX_UNKNOWN: it is not told. */
};
#define SANDBOX_UNKNOWN UINT64_MAX

/* What a call printed and wrote.  Lives in the arena given. */
struct sandbox_result {
	const char *out, *err; /* UTF-8, NUL-terminated, may hold NULs. */
	size_t outlen, errlen;
	struct gap out_gap, err_gap; /* What is missing of them. */
	int return_code;
	uint64_t ms; /* How long it ran, as the sandbox or we saw it. */
	struct sandbox_file *files; /* New or changed. */
	size_t nfiles;
	int truncated; /* There were more. */
};

/* What a sandbox offers beyond version 1, as bits. */
#define SANDBOX_HAS_RUN 0x1U
#define SANDBOX_HAS_MANIFEST 0x2U
#define SANDBOX_HAS_CALLS 0x4U
#define SANDBOX_HAS_STREAM 0x8U
#define SANDBOX_HAS_EDIT 0x10U
#define SANDBOX_HERE 0x20U /* Code finds no /mnt/data, only where it begins. */

/* A file that we have put into the session. */
struct sandbox_input {
	const char *path, *sha256; /* 64 small hex digits. */
	int read_only;
};

/* A program to run.  0 or NULL where the sandbox's default will do. */
struct sandbox_program {
	const char *language; /* Or an alias. */
	const char *source;   /* UTF-8. */
	const char *const *args;
	size_t nargs;
	const char *const *env; /* Name, value, name, value ... */
	size_t nenv;            /* Of the pairs. */
	uint64_t timeout_s; /* Needed; of the program once it is compiled. */
	uint64_t compile_s, memory_bytes;
	uint64_t output_bytes; /* Kept of each stream. */

	/*
	 * With SANDBOX_HAS_CALLS: it may ask for tool calls.  It writes each on
	 * its descriptor 3, 4 bytes of length (big endian) and a JSON object,
	 * and then a length of 0.  That ends it, as do ${settle_ms} without
	 * another call, for who cannot tell which is the last.
	 */
	int calls;
	uint64_t settle_ms;

	/* Its workspace is compared with these. */
	const struct sandbox_input *input;
	size_t ninputs;
};

/* How a program has ended. */
enum sandbox_end {
	SANDBOX_EXIT,
	SANDBOX_SIGNAL,
	SANDBOX_TIMEOUT,
	SANDBOX_MEMORY,
	SANDBOX_CPU,   /* More time of the processors than it may use. */
	SANDBOX_FILES, /* More files than a session may have. */
	SANDBOX_ASKED, /* For tool calls. */
	SANDBOX_UNSTARTED,
	SANDBOX_PROCESSES /* More of them than a session may have. */
};

/* A file that is not as it was: an input by its hash, others by their time. */
struct sandbox_change {
	const char *path;
	enum { SANDBOX_NEW, SANDBOX_CHANGED, SANDBOX_DELETED } state;
	uint64_t bytes;
	const char *sha256; /* "" if deleted, or too large to be hashed. */
};

/* What became of a program.  Lives in the arena given. */
struct sandbox_ran {
	struct sandbox_result res; /* Its stderr is the program's alone. */
	int compiling;             /* It ended there, which is no error. */
	enum sandbox_end end;
	int signal;       /* That ended it, or 0. */
	const char *note; /* A line by the sandbox on what ended it, or NULL. */
	struct sandbox_change *change; /* In the order of their paths. */
	size_t nchanges;
	struct jspan *call; /* JSON objects, in the order it asked for them. */
	size_t ncalls;
	const char *broken; /* Why none is told although it asked, or NULL. */
	const char *why;    /* The sandbox's word on a refusal, or NULL. */
};

/* One entry of a directory. */
struct sandbox_entry {
	const char *path;
	uint64_t bytes;
};

/**
 * sandbox_health(s):
 * Ask whether the sandbox is there.
 */
enum sandbox_rc sandbox_health(const struct sandbox *);

#define SANDBOX_PACKAGES 2048

/* What a sandbox host of ours says of itself; others say nothing. */
struct sandbox_host {
	int says;       /* It does. */
	int own_users;  /* Its sessions each have a user of their own. */
	int keeper;     /* A keeper runs there, */
	int served;     /* it has made sessions, */
	uint64_t ready; /* and so many wait. */
	int here;       /* As SANDBOX_HERE. */
	char packages[SANDBOX_PACKAGES]; /* Of Python; "numpy, pandas". */
};

/**
 * sandbox_host(s, h):
 * Fill in ${h}.
 */
enum sandbox_rc sandbox_host(const struct sandbox *, struct sandbox_host *);

/**
 * sandbox_extensions(s, bits):
 * Ask what it offers beyond version 1: none, for a sandbox that does not say;
 * and whether SANDBOX_HERE.
 */
enum sandbox_rc sandbox_extensions(const struct sandbox *, unsigned int *);

/**
 * sandbox_create(s, idle_s, lifetime_s, id):
 * Start a session that is reclaimed after ${idle_s} seconds unused and
 * ${lifetime_s} in all, and write its id.
 */
enum sandbox_rc sandbox_create(
    const struct sandbox *, uint64_t, uint64_t, char[static SANDBOX_IDMAX + 1]);

/**
 * sandbox_exec(s, mem, id, tool, input, timeout_s, max, res):
 * Run ${tool} with ${input}, a JSON object, for at most ${timeout_s} seconds,
 * and fill in ${res}, each stream cut at ${max} bytes on a character's end.  A
 * failing program is SANDBOX_OK.
 */
enum sandbox_rc
sandbox_exec(const struct sandbox *, struct arena *, const char *, const char *,
    struct jspan, uint64_t, size_t, struct sandbox_result *);

/**
 * sandbox_run(s, mem, id, p, max, ran):
 * Run the program ${p} in a process of its own, each stream cut at ${max} bytes
 * on a character's end, and fill in ${ran}.  Needs SANDBOX_HAS_RUN and
 * SANDBOX_HAS_MANIFEST.  A program that fails, or that does not compile, is
 * SANDBOX_OK.  SANDBOX_NO_LANGUAGE or SANDBOX_BAD with ${ran}->why;
 * SANDBOX_BAD also where an input is not in the workspace.
 */
enum sandbox_rc sandbox_run(const struct sandbox *, struct arena *,
    const char *, const struct sandbox_program *, size_t, struct sandbox_ran *);

/**
 * sandbox_put(s, id, path, read, cookie, len):
 * Write the ${len} bytes that ${read}(${cookie}, ...) gives to the file
 * ${path}.
 */
enum sandbox_rc sandbox_put(const struct sandbox *, const char *, const char *,
    upstream_read_fn *, void *, uint64_t);

/**
 * sandbox_get(s, id, path, max, sink, cookie):
 * Give the bytes of ${path}, at most ${max}, to ${sink}(${cookie}, ...) as they
 * come.  Only after SANDBOX_OK has the sink had the whole file.
 */
enum sandbox_rc sandbox_get(const struct sandbox *, const char *, const char *,
    uint64_t, upstream_body_fn *, void *);

/**
 * sandbox_list(s, mem, id, path, entries, n):
 * List the files of the directory ${path} into ${mem}.
 */
enum sandbox_rc sandbox_list(const struct sandbox *, struct arena *,
    const char *, const char *, struct sandbox_entry **, size_t *);

/**
 * sandbox_destroy(s, id):
 * End a session.  Does not watch the client: it is also the way to clean up
 * after one who left.  A session that is gone already is SANDBOX_OK.
 */
enum sandbox_rc sandbox_destroy(const struct sandbox *, const char *);

#endif /* !IO_SANDBOX_CLIENT_H_ */
