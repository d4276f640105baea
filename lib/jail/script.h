#ifndef JAIL_SCRIPT_H_
#define JAIL_SCRIPT_H_

#include <stddef.h>

/*
 * How a Python program of our own gets to the interpreter that runs it: through
 * the socket that is its descriptor 3.  Among the words of a process it would
 * fill the list of processes.
 */

#define SCRIPT_FIRST 160 /* Room for what -c is given. */

/**
 * script_send(sock, sources, first):
 * Send the texts ${sources}, which NULL ends, in one piece to the other end of
 * ${sock}, whose buffer is empty.  Write to ${first} the program that takes
 * them there before anything else that comes.  It runs the first text, which
 * finds all of them in the list "sources", and then calls the function serve()
 * that it has defined.  Return 0, or -1 with errno.
 */
int script_send(int, const char *const *, char[static SCRIPT_FIRST]);

#endif /* !JAIL_SCRIPT_H_ */
