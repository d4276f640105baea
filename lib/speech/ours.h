#ifndef SPEECH_OURS_H_
#define SPEECH_OURS_H_

/*
 * The functions of code execution that are given to a model in place of the
 * declaration its caller made (executor contract 1.5 and 3.1), and what makes a
 * declaration.
 */

/* Where code runs and what of its files is kept, as descriptions say it. */
#define OUR_AT "Working directory /mnt/data. "
#define OUR_UNDER "under /mnt/data"

/* The same where only the current directory leads there. */
#define OUR_HERE                                                            \
	"Code finds files by paths relative to the working directory: one " \
	"that is told as /mnt/data/NAME is NAME there. "
#define OUR_IN_HERE "in the working directory"

/* In the order in which they are offered. */
enum our_tool { OUR_BASH, OUR_EDITOR, OUR_CODE, OUR_COUNT };

#define OUR_NONE OUR_COUNT

/* How a tool entry of a request declares code execution. */
enum declared {
	DECLARED_NONE,     /* None does. */
	DECLARED_EXPLICIT, /* E: always this gateway. */
	DECLARED_DATED,    /* A: code_execution_<suffix> */
	DECLARED_BARE,     /* B: code_execution */
	DECLARED_OPENAI    /* O: code_interpreter */
};

struct our_row {
	const char *name;
	const char *description;
	const char *description_here; /* With talk's here; see there. */
	const char *schema;           /* JSON text. */
	const char *required; /* The field without which nothing runs. */
};

extern const struct our_row our_rows[OUR_COUNT];

/**
 * our_declared(type):
 * What a tool entry with this type (NULL: none) declares.
 */
enum declared our_declared(const char *);

/**
 * our_vocabulary(kind, type):
 * The functions, as bits 1 << enum our_tool, that a Messages caller who
 * declared ${type} of this ${kind} knows.
 */
unsigned int our_vocabulary(enum declared, const char *);

/**
 * our_alias(name):
 * The function that models mean who misname it ${name}; OUR_NONE if none.
 */
enum our_tool our_alias(const char *);

#endif /* !SPEECH_OURS_H_ */
