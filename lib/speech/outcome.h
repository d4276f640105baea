#ifndef SPEECH_OUTCOME_H_
#define SPEECH_OUTCOME_H_

#include <stdint.h>

#include "base/ends.h"

#include "speech/ours.h"
#include "speech/text.h"

/*
 * What came of one call of ours: run/ makes it, the caller's dialect shows it,
 * outcome_text() tells the model.
 */

/* Opaque type. */
struct buf;

/* In the order of outcome_error_name()'s words. */
enum outcome_kind {
	OUTCOME_RAN, /* With whatever exit code. */
	OUTCOME_TIMEOUT,
	OUTCOME_UNAVAILABLE,
	OUTCOME_BAD_INPUT,
	OUTCOME_TOO_MANY,
	OUTCOME_NO_FILE, /* The editor's. */
	OUTCOME_VIEW,
	OUTCOME_CREATE,
	OUTCOME_REPLACE
};

/* One file that a run wrote. */
struct outcome_file {
	struct outcome_file *next;
	const char *id;   /* As file_id_print() wants it. */
	const char *path; /* Below /mnt/data; NULL: not known. */
	uint64_t bytes;

	/* Where the talk asks for pictures: the type of one, and it itself in
	 * base64 (p NULL: it is too large). */
	const char *image;
	struct text data;
};

struct outcome {
	enum our_tool tool;
	enum outcome_kind kind;
	const char *message; /* Of BAD_INPUT and NO_FILE; may be NULL. */
	struct text out, err;
	struct gap out_gap, err_gap; /* What is missing of them. */
	int code;
	struct outcome_file *files, **files_end;

	/* Files that were not kept, by why. */
	unsigned int over_count, over_bytes, empty, failed;
	uint64_t timeout_s; /* Of TIMEOUT. */
	int lost;           /* A new session: earlier files are gone. */

	/* The editor's: VIEW has ${out} and the lines' numbers, REPLACE the
	 * lines of the change, '-' or '+' first, in ${out}. */
	uint64_t start, lines, total, new_start, new_lines;
	int update; /* CREATE: the file was there before. */
};

/* The bounds that the text names. */
struct outcome_bounds {
	uint64_t max_files, max_bytes;
	size_t max_text; /* Bytes of output told to the model. */
};

/**
 * outcome_error_name(kind):
 * The word that all vendors' clients know for a ${kind} that is an error; NULL
 * for the others.
 */
const char *outcome_error_name(enum outcome_kind);

/**
 * outcome_text(b, o, bounds):
 * Append what the model is told of ${o} (executor contract 7.3).  Return 0, or
 * -1 with ${b} spoiled.
 */
int outcome_text(
    struct buf *, const struct outcome *, const struct outcome_bounds *);

#endif /* !SPEECH_OUTCOME_H_ */
