#include "base/clock.h"

#include "jail/cgroup.h"
#include "jail/meter.h"
#include "jail/usage.h"

/*
 * Looks at all files are to take one part in so many of the time, unless
 * the next one came too late then.
 */
#define PATIENCE 10
#define PATIENCE_MS 2000

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

void
meter_start(struct meter *m, const struct jail *J, const struct limits *l)
{

	m->J = J;
	m->memory = l->memory;
	m->cpu_ms = l->cpu_s * 1000;
	m->before = m->cpu_ms > 0 ? guests_cpu_ms() : 0;
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

enum meter_rc
meter_look(struct meter *m)
{

	if (guests_memory(m->memory) > m->memory || is_killed(m))
		return (METER_MEMORY);
	if (m->cpu_ms > 0 && guests_cpu_ms() - m->before > m->cpu_ms)
		return (METER_CPU);
	if (m->tasks != UINT64_MAX && guests_tasks() > m->tasks)
		return (METER_TASKS);
	if (!is_watched(m->J) || clock_ms() < m->next)
		return (METER_OK);
	return (look_at_files(m));
}

enum meter_rc
meter_last(struct meter *m)
{

	if (is_killed(m))
		return (METER_MEMORY);
	return (is_watched(m->J) ? look_at_files(m) : METER_OK);
}
