#ifndef JAIL_PYTHON_H_
#define JAIL_PYTHON_H_

/* The Python programs of lib/jail, of the same names, made by
 * tools/embed-python. */

#define PYTHON "/usr/bin/python3"

extern const char python_adapt[], python_kernel[], python_program[],
    python_zygote[];

#endif /* !JAIL_PYTHON_H_ */
