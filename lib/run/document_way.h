#ifndef RUN_DOCUMENT_WAY_H_
#define RUN_DOCUMENT_WAY_H_

/* Which program turns which documents into text. */

/* Opaque type. */
struct conf;

struct document_way {
	const char *mime;
	const char *ending; /* Of the file that the program is given. */

	/* A shell command that prints the text of the file "in.ENDING" (of
	 * "in" if that is "") in its working directory; NULL: the bytes are
	 * the text. */
	const char *command;
};

/* Prints the names of the images that it makes of a PDF without text. */
extern const struct document_way document_way_pages;

/**
 * document_way(c, mime, name, way):
 * Fill in the ${way} to read a file of type ${mime} called ${name}: one of the
 * setting documents.converters, else of the table here.  Return 0, or -1 if
 * nothing can.
 */
int document_way(
    const struct conf *, const char *, const char *, struct document_way *);

/**
 * document_type(mime, name):
 * What a file of type ${mime} called ${name} really is: by its name where
 * clients make types up or do not know.
 */
const char *document_type(const char *, const char *);

#endif /* !RUN_DOCUMENT_WAY_H_ */
