#ifndef SPEECH_PEEK_H_
#define SPEECH_PEEK_H_

#include <stddef.h>

#include "base/jspan.h"

#include "speech/ours.h"

/*
 * What must be known of a model request before it is known who answers it; the
 * three dialects say these things alike.
 */

/* Opaque types. */
struct arena;
struct refusal;

struct peek {
	const char *model;
	struct jspan model_at; /* With its quotes. */
	int stream;

	unsigned int kinds;     /* Bits of enum declared, but for NONE. */
	enum declared declared; /* The first A, B or O; else E or NONE. */
	const char *type;       /* Its type as it was sent. */
	int native;             /* An explicit entry asks for it. */
	const char *hint;       /* purpose_hint of an entry, or NULL. */
};

/**
 * peek_read(mem, root, p, why):
 * Read the request ${root} (checked by jspan_check()) into ${p}.  Return 0, or
 * -1 with ${why} filled in.
 */
int peek_read(struct arena *, struct jspan, struct peek *, struct refusal *);

#endif /* !SPEECH_PEEK_H_ */
