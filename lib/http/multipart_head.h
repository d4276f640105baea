#ifndef HTTP_MULTIPART_HEAD_H_
#define HTTP_MULTIPART_HEAD_H_

#include <stddef.h>

#include "base/buf.h"
#include "http/multipart.h"

/* The header of one part of a multipart body; for multipart.c only. */
struct multipart_head {
	char text[MULTIPART_HEADER_MAX];
	size_t len;
	size_t line; /* Where the last line begins. */
	struct buf name, filename, ext, type;
};

/**
 * multipart_head_init(H), multipart_head_free(H):
 * Make ${H} ready for its first use; free what it holds, but not ${H}.
 */
void multipart_head_init(struct multipart_head *);
void multipart_head_free(struct multipart_head *);

/**
 * multipart_head_reset(H):
 * Begin the next part's header.
 */
void multipart_head_reset(struct multipart_head *);

/**
 * multipart_head_feed(H, p, len, used, whole):
 * Add to the header from the ${len} bytes at ${p}, set ${used} to how many
 * belong to it and ${whole} if it ends there.  MULTIPART_OK or
 * MULTIPART_HEADER_BIG.
 */
enum multipart_rc multipart_head_feed(
    struct multipart_head *, const char *, size_t, size_t *, int *);

/**
 * multipart_head_parse(H, part):
 * Read the whole header into ${part}, whose texts live until the next
 * multipart_head_reset() or multipart_head_free().
 */
enum multipart_rc
multipart_head_parse(struct multipart_head *, struct multipart_part *);

#endif /* !HTTP_MULTIPART_HEAD_H_ */
