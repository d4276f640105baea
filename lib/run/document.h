#ifndef RUN_DOCUMENT_H_
#define RUN_DOCUMENT_H_

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "run/env.h"
#include "speech/text.h"

/*
 * Reading documents for models that cannot: text in UTF-8, everything else by
 * the programs of document_way.h, which run in the sandbox and nowhere else.
 * What was read is kept by the hash of the bytes.
 */

/* Opaque type. */
struct refusal;

/* A document and where its bytes are. */
struct document {
	const char *name, *mime; /* As it was called; may have parameters. */
	const char *type;        /* What it is, by document_look()... */
	int text;                /* ...as in struct document_kind. */
	char sha256[HASH_SIZE];
	uint64_t bytes;

	const char *key;        /* In the store... */
	const unsigned char *p; /* ...or, if that is NULL, here. */
};

enum document_rc {
	DOCUMENT_OK,
	DOCUMENT_EMPTY,   /* There is no text in it. */
	DOCUMENT_UNKNOWN, /* Nothing reads such a file. */
	DOCUMENT_ABSENT,  /* What reads it is not installed or turned off. */
	DOCUMENT_LOCKED,  /* A password is needed. */
	DOCUMENT_FAILED,  /* It is broken or too large. */
	DOCUMENT_REFUSED, /* It is not for now, as a refusal says. */
	DOCUMENT_GONE     /* The client has left. */
};

/**
 * document_look(env, d):
 * Find out what ${d} is, whose other members are filled in: by its bytes, if
 * they can be had.
 */
void document_look(const struct run_env *, struct document *);

/**
 * document_read(env, d, said, why):
 * Set ${said} to the text of ${d}, in ${env}->mem.  DOCUMENT_REFUSED, as ${why}
 * says, if no sandbox session can be had for it, or its user has too many.
 */
enum document_rc document_read(const struct run_env *, const struct document *,
    struct text *, struct refusal *);

/**
 * document_bytes(env, d):
 * The bytes of ${d} in ${env}->mem; NULL, after logging why unless memory ran
 * out, if they cannot be had.
 */
const unsigned char *
document_bytes(const struct run_env *, const struct document *);

/**
 * Take one page.  Return DOCUMENT_OK to go on.
 */
typedef enum document_rc document_fn(void *, const struct document *);

/**
 * document_pages(env, d, fn, cookie, why):
 * Call ${fn}(${cookie}, ...) with an image of each of the first pages of the
 * PDF ${d}, if there is no text in it.  DOCUMENT_EMPTY if there is;
 * DOCUMENT_REFUSED as above.
 */
enum document_rc document_pages(const struct run_env *, const struct document *,
    document_fn *, void *, struct refusal *);

#endif /* !RUN_DOCUMENT_H_ */
