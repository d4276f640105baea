#ifndef JAIL_KERNEL_H_
#define JAIL_KERNEL_H_

#include <stddef.h>

#include "jail/guest.h"

/*
 * The interpreter of a session, which keeps what programs leave in it.  It
 * reads programs from its descriptor 3 and says there when one has ended.
 * What a guest writes to that descriptor is not to be trusted: only a line
 * that begins with the number drawn for the call counts, once.
 */

#define KERNEL_NONCE 16 /* Hex digits. */

#define KERNEL_SPENT 256

/* A reader of the interpreter's lines. */
struct kernel_line {
	char text[64];
	size_t n; /* More than fits: what is to be skipped. */
};

/**
 * kernel_start(J):
 * Start the interpreter unless it runs, and let it go on if it is stopped.
 * Return 0 or -1.
 */
int kernel_start(struct jail *);

/**
 * kernel_program(J, how, g):
 * Have the interpreter become ${g}, the program that ${how} says, instead of
 * what guest_start() would make; ${J} has none afterwards.  Its descriptor 3 is
 * a socket to ${g}->ctl, in place of ${how}'s, if ${how}->extra is one, else
 * closed.  Return 0; or -1, with nothing changed, unless it is there, has run
 * nothing yet, and is under the limits of ${how}.
 */
int kernel_program(struct jail *, const struct guest_how *, struct guest *);

/**
 * kernel_ask(nonce, code, len, b):
 * Draw ${nonce} and append to ${b} what makes the interpreter run the ${len}
 * bytes at ${code}.  Return 0 or -1.
 */
int
kernel_ask(char[static KERNEL_NONCE + 1], const char *, size_t, struct buf *);

/**
 * kernel_feed(l, nonce, p, len, code):
 * Read the next ${len} bytes of what the interpreter says.  Return 1 with the
 * program's return code (0 to 255) in ${code} once it has ended, else 0.  To
 * the code KERNEL_SPENT is added if the interpreter can run no other program.
 */
int kernel_feed(struct kernel_line *, const char[static KERNEL_NONCE + 1],
    const char *, size_t, int *);

#endif /* !JAIL_KERNEL_H_ */
