#ifndef SPEECH_STORED_H_
#define SPEECH_STORED_H_

#include <stddef.h>

#include "base/jspan.h"
#include "data/file.h"

#include "speech/shown.h"

/*
 * Files that a request of any dialect names, wherever it does: the member
 * "file_id", or the list "file_ids".  An id says nothing of whose the file is:
 * that is for its row to tell.  A provider does not know the ids of files that
 * are stored here, so the text of a request that is passed on gets the file
 * itself in its place.  What a caller's own function is given or takes names no
 * file of anybody's.
 *
 * A provider that takes no images or documents gets text in place of those that
 * came inside the request, too.
 */

/* Opaque type. */
struct buf;

#define STORED_WHERE 160

enum stored_form {
	STORED_IMAGE,    /* The source of Anthropic's block "image"... */
	STORED_DOCUMENT, /* ...and "document". */
	STORED_UPLOAD,   /* The block "container_upload". */
	STORED_INPUT_IMAGE,
	STORED_INPUT_FILE, /* OpenAI's parts of that name. */
	STORED_CHAT_IMAGE, /* Its parts "image_url"... */
	STORED_CHAT_FILE,  /* ...and "file". */
	STORED_CITED,      /* A citation in an answer given back. */
	STORED_MADE,       /* What a run wrote, in an answer given back. */
	STORED_OTHER       /* Where a provider cannot be given a file. */
};

struct stored {
	char id[FILE_IDMAX + 1];  /* As file_find() wants it; "": none. */
	int ours;                 /* Of the form that only we give out. */
	char where[STORED_WHERE]; /* "messages[0].content[1].file_id" */
	enum stored_form form;
	struct jspan block;  /* The whole block or part; the list of the
			      * citations, or of what was written. */
	struct jspan source; /* IMAGE, DOCUMENT: the value of "source". */
	struct jspan member; /* The key "file_id" with its value. */
	int named;           /* A "filename" stands beside it. */
	int result;          /* A call's result holds it. */

	/* Strings: what holds its bytes or their address, and what is beside
	 * that.  p NULL: there is none, and of data: a stored file is named. */
	struct jspan data, mime, name;
	int bare; /* The data may be mere base64. */
};

/**
 * Take one.  Return 0 to go on.
 */
typedef int stored_fn(void *, const struct stored *);

/**
 * stored_each(root, media, fn, cookie):
 * Call ${fn}(${cookie}, ...) for each such name in ${root} (checked by
 * jspan_check()), and with ${media} for each image and document without one, in
 * its order.  Return 0, or what ${fn} returned to stop.
 */
int stored_each(struct jspan, int, stored_fn *, void *);

/**
 * stored_media(v, s):
 * Is the object ${v} an image or a document with its bytes or their address?
 * Then fill in ${s} but for its place in the request.
 */
int stored_media(struct jspan, struct stored *);

/**
 * stored_is_image(s):
 * Does the request call it an image?
 */
int stored_is_image(const struct stored *);

/**
 * stored_put(s, name, shown, b, at):
 * Append to ${b} what stands in the place ${at} of the request once the file
 * ${name} is ${shown}.  Return 0 or -1.
 */
int stored_put(const struct stored *, const char *, const struct shown *,
    struct buf *, struct jspan *);

/**
 * stored_put_text(s, text, b, at):
 * The same for a file in whose place ${text} is said.
 */
int stored_put_text(
    const struct stored *, const char *, struct buf *, struct jspan *);

/**
 * stored_fits(s, image):
 * Can what is named there be an image, or can it be none?
 */
int stored_fits(const struct stored *, int);

#endif /* !SPEECH_STORED_H_ */
