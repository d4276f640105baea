#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#include "io/fault.h"

int fault_armed;

/* clang-format off */
static const char *const known[] = {
	"commit-1213", "commit-lost", "commit-cut", "exec-1205", "answer-lost",
	"sync-enospc", "close-edquot", "slow-batch",
	/* In the order in which an upload and a sweep come to them. */
	"kill-moved", "kill-durable", "kill-live",
	"kill-temp", "kill-marked", "kill-claimed",
	"kill-unlinked", "kill-gone", "kill-forgotten", "kill-orphan"
};
/* clang-format on */
#define NKNOWN (sizeof(known) / sizeof(known[0]))

static uint64_t left[NKNOWN];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Arm one NAME=N.  Return 0, or -1 if it is not one. */
static int
arm(char *word)
{
	char *eq;
	size_t i;

	if ((eq = strchr(word, '=')) == NULL)
		return (-1);
	*eq = '\0';
	for (i = 0; i < NKNOWN; i++)
		if (strcmp(known[i], word) == 0)
			return (num_u64(eq + 1, 1, 1000000, &left[i]));
	return (-1);
}

/* The list is read before main(), so that nobody has to think of it. */
__attribute__((constructor)) static void
fault_read(void)
{
	const char *env = getenv("SATCHEL_FAULT");
	char list[256], *word, *end;

	if (env == NULL || *env == '\0')
		return;
	if (snprintf(list, sizeof(list), "%s", env) >= (int)sizeof(list))
		goto bad;
	for (word = list; word != NULL; word = end) {
		if ((end = strchr(word, ',')) != NULL)
			*end++ = '\0';
		if (arm(word))
			goto bad;
	}
	fault_armed = 1;
	return;

bad:
	fprintf(stderr, "SATCHEL_FAULT: cannot read \"%.100s\"\n", env);
	exit(2);
}

int
fault_hit(const char *name)
{
	size_t i;
	int hit = 0;

	(void)pthread_mutex_lock(&lock);
	for (i = 0; i < NKNOWN; i++)
		if (left[i] > 0 && strcmp(known[i], name) == 0) {
			left[i]--;
			hit = 1;
		}
	(void)pthread_mutex_unlock(&lock);
	return (hit);
}
