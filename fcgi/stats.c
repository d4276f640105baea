#include <sys/mman.h>

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"

#include "fcgi/pool.h"
#include "fcgi/routes.h"
#include "fcgi/stats.h"

#define CLASSES 6 /* Status 1xx to 5xx, and 0: no answer. */

struct stats {
	const char *pool;
	struct {
		_Atomic uint64_t answers[CLASSES];
		_Atomic uint64_t us;
	} route[ROUTES_MAX];
	_Atomic uint64_t in, out;
	_Atomic uint64_t busy[POOL_SLOTS];
};

#define ADD(x, n) atomic_fetch_add_explicit(&(x), n, memory_order_relaxed)
#define GET(x) atomic_load_explicit(&(x), memory_order_relaxed)

struct stats *
stats_new(const char *pool)
{
	struct stats *s;

	if ((s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0)) == MAP_FAILED) {
		log_err("stats: %s", strerror(errno));
		return (NULL);
	}
	s->pool = pool;
	return (s);
}

void
stats_begin(struct stats *s, size_t slot)
{

	if (s != NULL)
		ADD(s->busy[slot], 1);
}

void
stats_end(struct stats *s, size_t slot, const struct route *rt, int status,
    uint64_t us, uint64_t in, uint64_t out)
{
	const size_t i = routes_index(rt);
	const int class = status / 100;

	if (s == NULL)
		return;
	ADD(s->route[i].answers[class > 0 && class < CLASSES ? class : 0], 1);
	ADD(s->route[i].us, us);
	ADD(s->in, in);
	ADD(s->out, out);
	atomic_fetch_sub_explicit(&s->busy[slot], 1, memory_order_relaxed);
}

void
stats_gone(struct stats *s, size_t slot)
{

	if (s != NULL)
		atomic_store_explicit(&s->busy[slot], 0, memory_order_relaxed);
}

static void
print_type(struct buf *b, const char *name, const char *type, const char *help)
{

	(void)buf_printf(b, "# HELP satchel_%s %s\n# TYPE satchel_%s %s\n",
	    name, help, name, type);
}

static void
print_answers(const struct stats *s, const struct route *rt, struct buf *b)
{
	const size_t i = routes_index(rt);
	char name[ROUTES_NAMEMAX];
	uint64_t n;

	routes_name(rt, name);
	for (int c = 0; c < CLASSES; c++) {
		if ((n = GET(s->route[i].answers[c])) == 0)
			continue;
		(void)buf_printf(b,
		    "satchel_requests_total{pool=\"%s\",method=\"%s\","
		    "route=\"%s\",class=\"%dxx\"} %" PRIu64 "\n",
		    s->pool, rt != NULL ? rt->method : "-", name, c, n);
	}
}

static void
print_time(const struct stats *s, const struct route *rt, struct buf *b)
{
	const uint64_t us = GET(s->route[routes_index(rt)].us);
	char name[ROUTES_NAMEMAX];

	if (us == 0)
		return;
	routes_name(rt, name);
	(void)buf_printf(b,
	    "satchel_request_seconds_total{pool=\"%s\",method=\"%s\","
	    "route=\"%s\"} %" PRIu64 ".%06" PRIu64 "\n",
	    s->pool, rt != NULL ? rt->method : "-", name, us / 1000000,
	    us % 1000000);
}

/* Call ${print} for each route and for requests that had none. */
static void
each_route(const struct stats *s, struct buf *b,
    void (*print)(const struct stats *, const struct route *, struct buf *))
{
	const struct route *rt;

	for (rt = routes; rt->method != NULL; rt++)
		print(s, rt, b);
	print(s, NULL, b);
}

int
stats_print(const struct stats *s, struct buf *b)
{
	uint64_t busy = 0;

	print_type(b, "requests_total", "counter",
	    "Requests answered; class 0xx: broken off.");
	each_route(s, b, print_answers);
	print_type(
	    b, "request_seconds_total", "counter", "Time spent on them.");
	each_route(s, b, print_time);
	print_type(b, "body_bytes_total", "counter",
	    "Bytes of request and answer bodies through the worker.");
	(void)buf_printf(b,
	    "satchel_body_bytes_total{pool=\"%s\",way=\"in\"} %" PRIu64 "\n"
	    "satchel_body_bytes_total{pool=\"%s\",way=\"out\"} %" PRIu64 "\n",
	    s->pool, GET(s->in), s->pool, GET(s->out));
	for (size_t i = 0; i < POOL_SLOTS; i++)
		busy += GET(s->busy[i]);
	print_type(b, "requests_in_flight", "gauge", "Requests being served.");
	(void)buf_printf(b,
	    "satchel_requests_in_flight{pool=\"%s\"} %" PRIu64 "\n", s->pool,
	    busy);
	return (buf_ok(b) ? 0 : -1);
}
