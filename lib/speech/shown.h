#ifndef SPEECH_SHOWN_H_
#define SPEECH_SHOWN_H_

#include "speech/text.h"

/* What a model is given of an image or a document; run/show.h decides. */

enum shown_as { SHOWN_TEXT, SHOWN_IMAGE, SHOWN_PDF };

struct shown {
	enum shown_as as;
	const char *mime; /* What it really is. */
	struct text data; /* Of IMAGE and PDF: base64. */
	struct text head; /* Of TEXT: a line that names it... */
	struct text said; /* ...and what it says; empty: the line says why. */
	int plain;        /* The bytes are the text. */
	int absent; /* What could read it is not here: ${said} is empty. */
};

#endif /* !SPEECH_SHOWN_H_ */
