#ifndef JAIL_STRAYS_H_
#define JAIL_STRAYS_H_

/*
 * Where no namespace ends with its first process, callers' programs run on when
 * both who would end them, supervisor and warden, are killed from outside at
 * once.  Guests bear a mark that they cannot take off (guest.c): the kernel is
 * to end them first.  One whose parents lead to nobody who looks after it is
 * astray, whatever session it was of.
 */

/**
 * strays_end():
 * End all of the user's.  Return 0 once there are none, or -1 if there are some
 * a second later.
 */
int strays_end(void);

#endif /* !JAIL_STRAYS_H_ */
