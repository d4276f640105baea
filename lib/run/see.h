#ifndef RUN_SEE_H_
#define RUN_SEE_H_

#include "run/document.h"

/**
 * see_image(env, d, mime, said):
 * Have the configured vision model (documents.vision_model) describe the image
 * ${d} of type ${mime}, and set ${said}.  What it said is kept.
 * DOCUMENT_UNKNOWN if there is no such model.
 */
enum document_rc see_image(const struct run_env *, const struct document *,
    const char *, struct text *);

/* Opaque type. */
struct refusal;

/**
 * see_pages(env, d, said, why):
 * The same for the first pages of the PDF ${d}, if it has no text of its own;
 * DOCUMENT_EMPTY if it has; DOCUMENT_REFUSED as document_pages().
 */
enum document_rc see_pages(const struct run_env *, const struct document *,
    struct text *, struct refusal *);

#endif /* !RUN_SEE_H_ */
