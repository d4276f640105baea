#include <sys/statvfs.h>

#include "jail/cgroup.h"
#include "jail/meter.h"

/*
 * How many files there are in the session, where the filesystems themselves do
 * not bound that.
 */
static uint64_t
files(const struct jail *J)
{
	static const char *const others[] = {"/tmp", "/dev/shm"};
	struct statvfs st;
	uint64_t n = 0;
	size_t i;

	if (J->lim.isolation != ISOLATION_BWRAP)
		return (0);
	if (fstatvfs(J->root, &st) == 0)
		n += st.f_files - st.f_ffree;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (statvfs(others[i], &st) == 0)
			n += st.f_files - st.f_ffree;
	return (n);
}

void
meter_start(struct meter *m, const struct jail *J, const struct limits *l)
{

	m->J = J;
	m->memory = l->memory;
	m->cpu_ms = l->cpu_s * 1000;
	m->before = m->cpu_ms > 0 ? guests_cpu_ms() : 0;
	m->kills = cgroup_kills(J->group);
	m->files = limits_inodes(&J->lim);
	m->there = files(J);
}

int
meter_killed(const struct meter *m)
{

	return (cgroup_kills(m->J->group) != m->kills);
}

enum meter_rc
meter_look(const struct meter *m)
{
	uint64_t n;

	if (guests_memory(m->memory) > m->memory || meter_killed(m))
		return (METER_MEMORY);
	if (m->cpu_ms > 0 && guests_cpu_ms() - m->before > m->cpu_ms)
		return (METER_CPU);

	/* Who finds too many may remove some. */
	if ((n = files(m->J)) > m->files && n > m->there)
		return (METER_FILES);
	return (METER_OK);
}
