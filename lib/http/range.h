#ifndef HTTP_RANGE_H_
#define HTTP_RANGE_H_

#include <stdint.h>

/*
 * Conditional and range requests (RFC 9110 sections 13 and 14), one range at
 * most.
 */

/* The request's headers; NULL where there is none. */
struct range_ask {
	const char *if_match, *if_unmodified_since;
	const char *if_none_match, *if_modified_since;
	const char *if_range, *range;
};

/* What the file is. */
struct range_file {
	const char *etag;  /* Strong, with its quotes. */
	uint64_t modified; /* Unix seconds. */
	uint64_t size;
};

enum range_rc {
	RANGE_WHOLE,        /* 200 */
	RANGE_PART,         /* 206, bytes first to last inclusive. */
	RANGE_NOT_MODIFIED, /* 304 */
	RANGE_PRECONDITION, /* 412 */
	RANGE_UNSATISFIABLE /* 416 */
};

struct range_part {
	uint64_t first, last;
	int simple; /* A front that knows only Range would answer the same. */
};

/**
 * range_judge(ask, file, part):
 * Decide how ${ask} for ${file} is to be answered, and fill in ${part} if that
 * is RANGE_PART.
 */
enum range_rc range_judge(
    const struct range_ask *, const struct range_file *, struct range_part *);

#endif /* !HTTP_RANGE_H_ */
