#ifndef BASE_CONF_ROW_H_
#define BASE_CONF_ROW_H_

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/conf.h"

/*
 * Inside conf: what the table of settings (conf_table.c), the kinds of value
 * (conf_kind.c), the assignment (conf_set.c), the reader of YAML (conf.c) and
 * the printer (conf_doc.c) say to each other.
 */

#define CONF_NAMEMAX 96        /* A dotted name, its NUL included. */
#define CONF_FILEMAX (1 << 20) /* Bytes of one file. */
#define CONF_KEYSMAX 1024      /* Keys in one file. */
#define CONF_PROVIDERS 64
#define CONF_ROWS 128 /* Rows of one table at most. */

enum conf_rc {
	CONF_OK,
	CONF_BAD,   /* Not such a value. */
	CONF_LATER, /* A value that a later version will know. */
	CONF_NOMEM
};

struct row;
struct yaml_parser_s;

/* A kind of value.  A field is where offset says in the row's struct. */
struct kind {
	/* Parse text into the field, freeing what was there. */
	enum conf_rc (*set)(const struct row *, const char *, void *);
	/* Append what would be right, as in "it takes ...". */
	void (*want)(const struct row *, struct buf *);
	/* Append the field's value as the file would have it. */
	void (*show)(const struct row *, const void *, struct buf *);
	/* Free what the field holds. */
	void (*drop)(void *);
};

/* One setting: everything there is to know about it is on its row. */
struct row {
	const char *name;
	const struct kind *kind;
	size_t offset;
	const char *dflt;  /* NULL: it must be given. */
	uint64_t min, max; /* Bounds of a number; of a text's length. */
	const char *words; /* "a|b|c!"; '!' marks one that is not built yet. */
	const char *help;  /* One line. */
};

extern const struct kind conf_bool, conf_num, conf_price, conf_word,
    conf_executor, conf_choice, conf_text, conf_path, conf_url, conf_base_url,
    conf_public_url, conf_origin, conf_name, conf_label, conf_secret, conf_list,
    conf_choices, conf_cidrs, conf_providers;

/* The settings, and those of one provider; each ends with a NULL name. */
extern const struct row conf_rows[], conf_provider_rows[];

/**
 * conf_takes_list(r):
 * May the value of ${r} be a list of texts?
 */
int conf_takes_list(const struct row *);

/* A struct being filled in by the rows that describe it. */
struct scope {
	const struct row *rows;
	void *base;
	char **at; /* Per row, where its value came from; NULL: nowhere. */
	char prefix[32]; /* What a message puts before a name. */
};

/* Where each row's value came from; struct conf's src. */
struct conf_src {
	char *at[CONF_ROWS];
	struct conf_provider_src {
		char *at[CONF_ROWS];
	} * provider;
};

/* One source of settings being read. */
struct conf_in {
	struct conf *c;
	const char *file; /* As given; "-s" for the command line. */
	size_t line;      /* 0: not a file. */
	struct buf *err;  /* Receives the one line. */
	int partial;      /* As conf_args have it. */
};

/**
 * conf_fail(in, scope, key, fmt, ...):
 * Put "FILE:LINE: KEY: text" into ${in}'s err, unless one is there already.
 * ${scope} may be NULL.  Return -1.
 */
int conf_fail(const struct conf_in *, const struct scope *, const char *,
    const char *, ...) __attribute__((format(printf, 4, 5)));

/**
 * conf_broken(in, key, ps, text, len):
 * conf_fail() for what the parser ${ps} cannot read of the ${len} bytes at
 * ${text}; ${key} was read last.
 */
int conf_broken(struct conf_in *, const char *, const struct yaml_parser_s *,
    const char *, size_t);

/**
 * conf_scope(c):
 * The scope of ${c} itself, whose src must be there.
 */
struct scope conf_scope(struct conf *);

/**
 * conf_provider_scope(c, i):
 * The scope of the provider numbered ${i} from 0.
 */
struct scope conf_provider_scope(struct conf *, size_t);

/**
 * conf_group(s, name):
 * Do settings of ${s} begin with ${name} and a dot?
 */
int conf_group(const struct scope *, const char *);

/**
 * conf_row(s, name):
 * The row of ${s} named ${name}, or NULL.
 */
const struct row *conf_row(const struct scope *, const char *);

/**
 * conf_unknown(in, s, name):
 * conf_fail() for a name that ${s} does not know, with the nearest it does.
 */
int conf_unknown(const struct conf_in *, const struct scope *, const char *);

/**
 * conf_put(in, s, name, value):
 * Set ${name}, which may be a secret's KEY_file or KEY_env, from ${value}.
 * Return 0, or -1 after conf_fail().
 */
int conf_put(
    const struct conf_in *, const struct scope *, const char *, const char *);

/**
 * conf_base(s, name, base):
 * Write to ${base} the name of the setting that ${name} sets: itself, or what a
 * secret's _file or _env stands for.
 */
void conf_base(const struct scope *, const char *, char[static CONF_NAMEMAX]);

/**
 * conf_new_provider(c):
 * Add a provider to ${c}.  Return 0; or -1 if there are CONF_PROVIDERS already
 * or memory ran out.
 */
int conf_new_provider(struct conf *);

/**
 * conf_drop_providers(c):
 * Forget the providers that an earlier file named.
 */
void conf_drop_providers(struct conf *);

/**
 * conf_finish(in, c):
 * Give every setting that nobody set its default and check what spans several.
 * Return 0, or -1 after conf_fail().
 */
int conf_finish(const struct conf_in *, struct conf *);

/**
 * conf_load_text(name, text, len, c, err):
 * Fill in ${c} from the ${len} bytes of YAML at ${text}, called ${name} in
 * messages, as conf_load() does from a file.  Return 0; or -1 with ${c} empty
 * and one line in ${err}.
 */
int
conf_load_text(const char *, const char *, size_t, struct conf *, struct buf *);

#endif /* !BASE_CONF_ROW_H_ */
