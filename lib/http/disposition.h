#ifndef HTTP_DISPOSITION_H_
#define HTTP_DISPOSITION_H_

/*
 * A name of 255 four-byte characters is 3,060 bytes of escapes, and the whole
 * answer header must stay below 4,096.
 */
#define DISPOSITION_MAX 3200
#define DISPOSITION_SIZE (DISPOSITION_MAX + 1)

/**
 * disposition_attachment(name, value):
 * Write the Content-Disposition value that offers a download as ${name}, which
 * must be valid UTF-8 of at most 255 characters: an ASCII filename and, where
 * that differs from ${name}, filename* too.  Only bytes 0x20 to 0x7E are
 * written.  Where both do not fit, the middle of the ASCII form is left out.
 */
void disposition_attachment(const char *, char[static DISPOSITION_SIZE]);

#endif /* !HTTP_DISPOSITION_H_ */
