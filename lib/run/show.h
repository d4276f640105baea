#ifndef RUN_SHOW_H_
#define RUN_SHOW_H_

#include "run/document.h"
#include "run/env.h"
#include "speech/shown.h"

/*
 * What a provider's model is given of an image or a document: the bytes where
 * it can take them, else text, else a line that says what is missing (files
 * contract, section 10).
 */

/* Opaque types. */
struct conf_provider;
struct file;
struct media;
struct refusal;
struct talk;

/**
 * show_document(env, p, d, s, why):
 * Decide how models of ${p} see ${d}, and fill in ${s}, whose texts are in
 * ${env}->mem.  RUN_REFUSED only if memory ran out, a stored file's bytes
 * cannot be had that the model would take, or no sandbox session to read it in.
 */
enum run_rc show_document(const struct run_env *, const struct conf_provider *,
    const struct document *, struct shown *, struct refusal *);

/**
 * show_file(env, f, d):
 * Fill in the document ${d} that the stored file ${f} is.
 */
void show_file(const struct run_env *, const struct file *, struct document *);

/**
 * show_media(env, m, where, d, why):
 * Fill in the document ${d} whose bytes ${m} holds, at the JSON path ${where}
 * (NULL: not known) of the request.  RUN_OK or RUN_REFUSED.
 */
enum run_rc show_media(const struct run_env *, const struct media *,
    const char *, struct document *, struct refusal *);

/**
 * show_refuse(d, where, why):
 * Say that ${d}, at the JSON path ${where}, is nothing that this model can be
 * shown, so that nobody is told what it made up.  Returns RUN_REFUSED.
 */
enum run_rc
show_refuse(const struct document *, const char *, struct refusal *);

/**
 * show_is_image(d), show_is_pdf(d):
 * Is it an image that models see, or a PDF?
 */
int show_is_image(const struct document *);
int show_is_pdf(const struct document *);

/**
 * show_can(p, ability):
 * Do models of ${p} take files of the sort for which it has that ${ability}
 * (enum conf_ability)?
 */
int show_can(const struct conf_provider *, int);

/**
 * show_talk(env, p, t, why):
 * Settle every image and document of ${t} for the models of ${p}: afterwards a
 * part's media has bytes or an address where the model takes it, and else the
 * part has text.  A stored file that is not there is refused if the newest turn
 * names it, and else said to be gone.
 */
enum run_rc show_talk(const struct run_env *, const struct conf_provider *,
    struct talk *, struct refusal *);

#endif /* !RUN_SHOW_H_ */
