#ifndef SPEECH_MEDIA_H_
#define SPEECH_MEDIA_H_

#include "speech/text.h"

/* Opaque types. */
struct arena;
struct media;

/**
 * media_url(mem, url, m):
 * Set in ${m} where its bytes are: in a data URL, or at an address of http or
 * https.  Return 0; 1 if ${url} is neither; or -1 if memory ran out.
 */
int media_url(struct arena *, struct text, struct media *);

/**
 * media_file_data(mem, data, m):
 * The same for what is a data URL or mere base64.
 */
int media_file_data(struct arena *, struct text, struct media *);

#endif /* !SPEECH_MEDIA_H_ */
