#ifndef BASE_SELDOM_H_
#define BASE_SELDOM_H_

/*
 * What the log is told at most once a minute, whoever meets it: a provider that
 * is away is met by every request.
 */

/**
 * seldom_share():
 * Let all processes that this one begins from now on count together.  Without
 * it, or if memory ran out, each counts for itself.
 */
void seldom_share(void);

/**
 * seldom(what, which):
 * Is it a minute since this was last asked of ${what} and ${which}?
 */
int seldom(const char *, const char *);

#endif /* !BASE_SELDOM_H_ */
