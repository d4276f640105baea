#ifndef DATA_RC_H_
#define DATA_RC_H_

#include <stdint.h>

/* What an operation on rows came to; each function names those it returns. */
enum data_rc {
	DATA_OK,
	DATA_NONE,    /* No such row, or not this owner's, or dead. */
	DATA_EXPIRED, /* This owner's, and past its expiry. */
	DATA_TAKEN,   /* The name or id is in use. */
	DATA_STATE,   /* The row is not in a state that allows this. */
	DATA_QUOTA,   /* It would pass the owner's quota. */
	DATA_UNSURE,  /* The commit's outcome is unknown. */
	DATA_DOWN,    /* The database is away: 503. */
	DATA_FAIL     /* Anything else; it has been logged. */
};

/* Who owns a row: both must match, always. */
struct owner {
	uint64_t workspace;
	uint64_t user;
};

#endif /* !DATA_RC_H_ */
