#ifndef DATA_ROLE_H_
#define DATA_ROLE_H_

#include "data/caller.h"

/**
 * role_word(role), role_of_word(s, role):
 * The word for ${role} in the table api_key; and back, which returns 0, or -1
 * if ${s} is none.
 */
const char *role_word(enum role);
int role_of_word(const char *, enum role *);

#endif /* !DATA_ROLE_H_ */
