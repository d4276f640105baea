#ifndef SPEECH_CONTAINER_ASK_H_
#define SPEECH_CONTAINER_ASK_H_

#include <stdint.h>

#include "base/jspan.h"

/*
 * What a caller can ask of a container besides its files, wherever it is asked:
 * in a container of its own or in a tool that declares code execution.
 */

/**
 * container_memory(word, bytes):
 * The lesser of the size ${word} and the least one that holds ${bytes}: what a
 * session of so many bytes gives a caller who asked for ${word}.
 */
const char *container_memory(const char *, uint64_t);

/**
 * container_ask_wrong(o, member):
 * Look at the members memory_limit, network_policy and skills of ${o}.  Return
 * NULL; or what is wrong with one of them, named by ${member}: a sentence that
 * goes on after its name.
 */
const char *container_ask_wrong(struct jspan, const char **);

#endif /* !SPEECH_CONTAINER_ASK_H_ */
