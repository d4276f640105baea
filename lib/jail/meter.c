#include "jail/cgroup.h"
#include "jail/meter.h"

void
meter_start(struct meter *m, const struct jail *J, const struct limits *l)
{

	m->J = J;
	m->memory = l->memory;
	m->cpu_ms = l->cpu_s * 1000;
	m->before = m->cpu_ms > 0 ? guests_cpu_ms() : 0;
	m->kills = cgroup_kills(J->group);
}

int
meter_killed(const struct meter *m)
{

	return (cgroup_kills(m->J->group) != m->kills);
}

enum meter_rc
meter_look(const struct meter *m)
{

	if (guests_memory(m->memory) > m->memory || meter_killed(m))
		return (METER_MEMORY);
	if (m->cpu_ms > 0 && guests_cpu_ms() - m->before > m->cpu_ms)
		return (METER_CPU);
	return (METER_OK);
}
