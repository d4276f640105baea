#include <sys/mman.h>

#include <errno.h>
#include <string.h>

#include "base/log.h"

#include "run/seats.h"

#define EACH 4096 /* Threads of a process at most, each with one session. */

/* Those of one process; 0: free. */
struct row {
	_Atomic uint64_t user[EACH];
};

/* Pages that nobody has touched take no memory: most are never there. */
struct seats {
	size_t slots;
	struct row *row;
	_Atomic size_t used[]; /* Of each row; what is behind it is free. */
};

struct seats *
seats_new(size_t slots)
{
	const size_t head = sizeof(struct seats) + slots * sizeof(size_t);
	struct seats *S;

	S = mmap(NULL, head + slots * sizeof(struct row),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
	    -1, 0);
	if (S == MAP_FAILED) {
		log_err("seats: %s", strerror(errno));
		return (NULL);
	}
	S->slots = slots;
	S->row = (void *)((char *)S + head);
	return (S);
}

/* How many are ${user}'s. */
static uint64_t
count(const struct seats *S, uint64_t user)
{
	uint64_t n = 0;
	size_t i, j, used;

	for (i = 0; i < S->slots; i++) {
		used = atomic_load(&S->used[i]);
		for (j = 0; j < used; j++)
			n += atomic_load(&S->row[i].user[j]) == user;
	}
	return (n);
}

/* Take the first that is free in ${slot}; NULL: none is. */
static _Atomic uint64_t *
sit(struct seats *S, size_t slot, uint64_t user)
{
	struct row *row = &S->row[slot];
	uint64_t nobody;
	size_t i, used;

	for (i = 0; i < EACH; i++) {
		nobody = 0;
		if (atomic_compare_exchange_strong(
			&row->user[i], &nobody, user))
			break;
	}
	if (i == EACH)
		return (NULL);
	used = atomic_load(&S->used[slot]);
	while (used <= i &&
	    !atomic_compare_exchange_weak(&S->used[slot], &used, i + 1))
		continue;
	return (&row->user[i]);
}

int
seat_take(struct seats *S, size_t slot, uint64_t user, uint64_t most,
    struct seat *seat)
{

	if (S == NULL || (seat->user = sit(S, slot, user)) == NULL)
		return (0);
	/* Counted once it is taken: of two at once no more than fit stay. */
	if (count(S, user) <= most)
		return (0);
	seat_leave(seat);
	return (-1);
}

uint64_t
seats_of(const struct seats *S, uint64_t user)
{

	return (S != NULL ? count(S, user) : 0);
}

void
seat_leave(struct seat *seat)
{

	if (seat->user != NULL)
		atomic_store(seat->user, 0);
	seat->user = NULL;
}

void
seats_gone(struct seats *S, size_t slot)
{
	const size_t used = atomic_load(&S->used[slot]);
	size_t i;

	for (i = 0; i < used; i++)
		atomic_store(&S->row[slot].user[i], 0);
	atomic_store(&S->used[slot], 0);
}
