#ifndef SPEECH_OPENAI_READ_H_
#define SPEECH_OPENAI_READ_H_

#include "base/jspan.h"

#include "speech/reader.h"
#include "speech/talk.h"

/*
 * What requests of OpenAI's two dialects have in common (executor contract 2.3
 * and 2.5).  Functions return 0, or -1 after refusing.
 */

/* How a dialect spells what both say. */
struct openai_way {
	/* The member of a tool or of a choice that holds its name and the
	 * rest; NULL: they stand beside its type. */
	const char *function, *custom, *allowed, *schema;
};

/**
 * openai_say(rd, who, x):
 * Add the text ${x}, unless it is empty.
 */
int openai_say(struct reader *, enum speaker, struct text);

/**
 * openai_note(rd, who, fmt, ...):
 * Add a line of text in place of what cannot be told otherwise.
 */
int openai_note(struct reader *, enum speaker, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * openai_foreign(rd, who, type, v):
 * Add a line in place of ${v}, which is of a ${type} that nothing here reads.
 */
int openai_foreign(struct reader *, enum speaker, const char *, struct jspan);

/**
 * openai_instruct(rd, x, developer):
 * Add an instruction, called the ${developer}'s or the system's: to the
 * system's text as long as nobody has spoken, then where the conversation
 * stands.
 */
int openai_instruct(struct reader *, struct text, int);

/**
 * openai_text_of(rd, v, x):
 * Set ${x} to the string ${v}, or to the texts of a list of parts one after
 * the other.  A part of another kind gives its line of foreign.h.
 */
int openai_text_of(struct reader *, struct jspan, struct text *);

/**
 * openai_file(rd, v, newest):
 * Add the file that the user's part ${v} names or holds: "file_id",
 * "file_data", "file_url", with "filename".
 */
int openai_file(struct reader *, struct jspan, int);

/**
 * openai_image(rd, url, detail, newest):
 * Add the user's image at ${url}, a data URL or another.
 */
int openai_image(struct reader *, struct text, const char *, int);

/**
 * openai_result(rd, p, list, join, read, cookie):
 * Set the text of the result ${p} to what the parts in ${list} say, ${join}
 * between two.  What is no text follows the results in what the user says,
 * under a line that says whose it is: ${read}(${cookie}, part) adds that.
 */
int openai_result(struct reader *, struct part *, struct jspan, const char *,
    int (*)(void *, struct jspan), void *);

/**
 * openai_stored(rd, v, key, image, newest):
 * Add the stored file, an ${image} or a document, that the string ${key} of the
 * part ${v} names.
 */
int openai_stored(struct reader *, struct jspan, const char *, int, int);

/**
 * openai_tools(rd, root, way):
 * Read the member "tools"; declarations of code execution have been decided
 * about and are passed over.  talk_offer() is called here.
 */
int openai_tools(struct reader *, struct jspan, const struct openai_way *);

/**
 * openai_choice(rd, root, way):
 * Read the member "tool_choice".
 */
int openai_choice(struct reader *, struct jspan, const struct openai_way *);

/**
 * openai_format(rd, root, key, way):
 * Read the member ${key}, which says the form of the answer.
 */
int openai_format(
    struct reader *, struct jspan, const char *, const struct openai_way *);

/**
 * openai_no_logprobs(rd, root):
 * Refuse a request for log probabilities, which only an answer that is passed
 * on as it is can have.
 */
int openai_no_logprobs(struct reader *, struct jspan);

/**
 * openai_parameters(rd, root):
 * Read what both call the same: temperature, top_p, parallel_tool_calls, and
 * this gateway's max_tool_iterations.
 */
int openai_parameters(struct reader *, struct jspan);

/**
 * openai_container(rd, v):
 * Read the id ${v} of the container that is asked for; one of somebody else's
 * counts as absent.
 */
int openai_container(struct reader *, struct jspan);

/* The stored files that a declaration of code execution names. */
struct openai_files {
	struct jspan list; /* p NULL: none, or they are handed over. */
	const char *at;    /* JSON path of it. */
};

/**
 * openai_declared(rd, root, files):
 * Read what the tools of ${root} that declare code execution say of its
 * container: its id, or the ${files} that are to be in it.
 */
int openai_declared(struct reader *, struct jspan, struct openai_files *);

/**
 * openai_hand_over(rd, files):
 * Add ${files} for the sandbox, which the user is taken to have handed over
 * where the conversation stands.
 */
int openai_hand_over(struct reader *, struct openai_files *);

/**
 * openai_part(rd, root, key, turns, rest):
 * Part the conversation, the member ${key} of ${root}, from the rest, which is
 * looked through once for every member that it may have: there it is null.
 */
int openai_part(struct reader *, struct jspan, const char *, struct jspan *,
    struct jspan *);

/**
 * openai_refuse_member(rd, root, key, why):
 * Refuse a request that has the member ${key}, unless it is false or empty.
 */
int
openai_refuse_member(struct reader *, struct jspan, const char *, const char *);

#endif /* !SPEECH_OPENAI_READ_H_ */
