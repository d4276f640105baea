#ifndef BASE_PATH_H_
#define BASE_PATH_H_

#include <stddef.h>

/* Names inside a sandbox, and file types by extension. */

#define PATH_NAME_MAX 200 /* Bytes of a name in a sandbox. */
#define PATH_NAME_SIZE (PATH_NAME_MAX + 1)

/**
 * path_name(s, out):
 * Make a sandbox name of the display name ${s} (UTF-8): its last component
 * without control characters, a leading '.' or '-' made '_', cut to
 * PATH_NAME_MAX bytes at a code point, "file" if nothing is left.
 */
void path_name(const char *, char[static PATH_NAME_SIZE]);

/**
 * path_unique(name, taken, cookie, out):
 * Write the first of ${name}, NAME_2, NAME_3 ... (before the last extension;
 * the stem is cut if need be) for which ${taken}(${cookie}, candidate) is 0.
 * ${name} must come from path_name().  ${taken} returns 1 for a name in use
 * (compare them as nfc.h writes them), -1 to give up.  Return 0; or -1 if it
 * gave up or 100,000 names were in use.
 */
int path_unique(const char *, int (*)(void *, const char *), void *,
    char[static PATH_NAME_SIZE]);

/**
 * path_mime(name):
 * The MIME type that ${name}'s extension stands for in any letter case, or
 * NULL.
 */
const char *path_mime(const char *);

/**
 * path_ext(mime):
 * The usual extension of ${mime}, with its dot, or "".  Parameters and letter
 * case of ${mime} do not matter.
 */
const char *path_ext(const char *);

#endif /* !BASE_PATH_H_ */
