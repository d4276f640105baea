#include <time.h>

#include "base/clock.h"

#include "jail/cgroup.h"
#include "jail/held.h"
#include "jail/memory.h"
#include "jail/meter.h"
#include "jail/proc.h"
#include "jail/usage.h"

/*
 * Looks at all files are to take one part in so many of the time, unless
 * the next one came too late then.
 */
#define PATIENCE 10
#define PATIENCE_MS 2000

/*
 * What programs hold in the kernel costs more to look at than their memory, and
 * is looked at ever more often as it grows.  Between short calls there is time.
 */
#define HELD_MUCH 8    /* One part in so many of a limit. */
#define HELD_REST 1000 /* Milliseconds */

/* How often, and how far apart, a look that failed is tried again. */
#define BLIND_TRIES 5
#define BLIND_MS 10

/* Is it us alone who hold the session's files to their limits? */
static int
is_watched(const struct jail *J)
{

	return (J->lim.isolation == ISOLATION_BWRAP ||
	    J->lim.isolation == ISOLATION_LANDLOCK);
}

/* Look at the files; the next time that this is due is in ${m}->next. */
static void
look(struct meter *m, struct plain_use *use)
{
	uint64_t began = clock_ms(), now, rest;

	/* What was mapped before a call is no more allowed than later. */
	if (use != &m->there && m->J->lim.isolation == ISOLATION_LANDLOCK)
		plain_look_mapped(&m->J->land, use);
	else
		usage_files(m->J, use);
	now = clock_ms();
	rest = (now - began) * PATIENCE;
	m->next = now + (rest < PATIENCE_MS ? rest : PATIENCE_MS);
}

/* Look at what is held; the next time that this is due is in ${m}. */
static void
look_at_held(struct meter *m)
{
	struct jail *J = m->J;
	uint64_t began = clock_ms(), rest;

	held_look(J, m->deadline);
	J->held_at = clock_ms();
	rest = J->held_at - began;
	if (J->held.watches < J->lim.watches / HELD_MUCH &&
	    J->held.bytes < m->memory / HELD_MUCH)
		rest *= PATIENCE;
	m->held_next = J->held_at + (rest < PATIENCE_MS ? rest : PATIENCE_MS);
}

void
meter_start(
    struct meter *m, struct jail *J, const struct limits *l, uint64_t deadline)
{

	m->J = J;
	held_none(&J->held);
	m->held_next = 0;
	m->deadline = deadline;
	m->memory = l->memory;
	m->cpu_ms = l->cpu_s * 1000;
	m->before = m->cpu_ms > 0 ? guests_cpu_ms() : 0;
	if (m->before == PROC_BLIND)
		m->before = 0;
	m->kills = cgroup_kills(J->group);
	m->tasks =
	    J->lim.isolation == ISOLATION_LANDLOCK ? l->processes : UINT64_MAX;
	m->most.files = limits_inodes(&J->lim);
	m->most.bytes = J->lim.workspace + LIMIT_TMP + LIMIT_SHM;
	if (J->lim.isolation == ISOLATION_LANDLOCK)
		m->most.bytes = J->lim.workspace;
	if (is_watched(J))
		look(m, &m->there);
}

/* Has the kernel killed a process for the memory of the session? */
static int
is_killed(const struct meter *m)
{

	return (cgroup_kills(m->J->group) != m->kills);
}

/* Who finds too much may remove some: more than before is what is too much. */
static enum meter_rc
look_at_files(struct meter *m)
{
	struct plain_use is;

	look(m, &is);
	if (is.bytes > m->most.bytes && is.bytes > m->there.bytes)
		return (METER_SPACE);
	if ((is.files > m->most.files && is.files > m->there.files) ||
	    is.odd > m->there.odd)
		return (METER_FILES);
	return (METER_OK);
}

/*
 * The memory in use.  A look that fails is tried again before it counts as too
 * much: on a busy machine one may fail for a moment.
 */
static uint64_t
memory_seen(struct meter *m)
{
	const struct timespec pause = {.tv_nsec = BLIND_MS * 1000000};
	uint64_t n = PROC_BLIND;
	int i;

	for (i = 0; i < BLIND_TRIES; i++) {
		if (i > 0)
			(void)nanosleep(&pause, NULL);
		if (m->J->held.bytes == PROC_BLIND)
			look_at_held(m);
		if ((n = memory_use(m->J, m->memory)) != PROC_BLIND)
			break;
	}
	return (n);
}

/* Memory, of which what is held is a part. */
static enum meter_rc
look_at_memory(struct meter *m)
{

	const uint64_t n = m->J->held.watches;

	if (n > m->J->lim.watches && n != PROC_BLIND)
		return (METER_WATCHES);
	if (memory_seen(m) > m->memory || is_killed(m))
		return (METER_MEMORY);
	return (METER_OK);
}

/* Has a call used more time than it may? */
static int
is_spent(const struct meter *m)
{
	uint64_t n;

	if (m->cpu_ms == 0)
		return (0);
	n = guests_cpu_ms();
	return (n == PROC_BLIND || n - m->before > m->cpu_ms);
}

enum meter_rc
meter_look(struct meter *m)
{
	enum meter_rc rc;

	if (m->tasks != UINT64_MAX && guests_tasks() > m->tasks)
		return (METER_TASKS);
	if (clock_ms() >= m->held_next)
		look_at_held(m);
	if ((rc = look_at_memory(m)) != METER_OK)
		return (rc);
	if (is_spent(m))
		return (METER_CPU);
	if (!is_watched(m->J) || clock_ms() < m->next)
		return (METER_OK);
	return (look_at_files(m));
}

enum meter_rc
meter_last(struct meter *m)
{
	const uint64_t rest = m->J->held_at + HELD_REST;
	enum meter_rc rc;

	if (clock_ms() >= rest && m->J->began + HELD_REST < clock_ms())
		look_at_held(m);
	if ((rc = look_at_memory(m)) != METER_OK)
		return (rc);
	return (is_watched(m->J) ? look_at_files(m) : METER_OK);
}
