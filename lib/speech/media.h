#ifndef SPEECH_MEDIA_H_
#define SPEECH_MEDIA_H_

#include "speech/text.h"

/* Opaque types. */
struct media;
struct talk;

/**
 * media_url(t, url, m):
 * Set in ${m} where its bytes are: in a data URL, or at an address of http or
 * https.  Return 0; 1 if ${url} is neither; or -1 if memory ran out.
 */
int media_url(struct talk *, struct text, struct media *);

/**
 * media_file_data(t, data, m):
 * The same for what is a data URL or mere base64.
 */
int media_file_data(struct talk *, struct text, struct media *);

#endif /* !SPEECH_MEDIA_H_ */
