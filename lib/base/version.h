#ifndef BASE_VERSION_H_
#define BASE_VERSION_H_

#define SATCHEL_VERSION "0.1.0"

/**
 * version_asked(argc, argv):
 * Is --version the first word of a command line?  Then it is answered on
 * standard output, and the program has nothing else to do.
 */
int version_asked(int, char *const *);

#endif /* !BASE_VERSION_H_ */
