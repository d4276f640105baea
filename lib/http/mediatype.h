#ifndef HTTP_MEDIATYPE_H_
#define HTTP_MEDIATYPE_H_

#include <stddef.h>

#define MEDIATYPE_MAX 255
#define MEDIATYPE_SIZE (MEDIATYPE_MAX + 1)
#define MEDIATYPE_NONE "application/octet-stream"

/**
 * mediatype_clean(value, len, out):
 * Write the media type that the ${len} bytes at ${value} (NULL: none) name:
 * type/subtype in lower case and at most a charset, MEDIATYPE_NONE if that is
 * not what they are.
 */
void mediatype_clean(const char *, size_t, char[static MEDIATYPE_SIZE]);

/**
 * mediatype_choose(value, len, name, out):
 * The type of a file called ${name} whose part declared ${value}: as
 * mediatype_clean(), but in place of MEDIATYPE_NONE what the extension of
 * ${name} stands for.
 */
void mediatype_choose(
    const char *, size_t, const char *, char[static MEDIATYPE_SIZE]);

#endif /* !HTTP_MEDIATYPE_H_ */
