#include <stdlib.h>

#include "base/gate.h"

#include "fcgi/lc.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"
#include "fcgi/share.h"

#define MIB (1UL << 20)
#define WAIT_S 5         /* For one's share... */
#define UPLOAD_WAIT_S 30 /* ...or to bring a file, which is soon over. */

struct shares {
	struct gate *gate[SHARE_KINDS];
};

struct shares *
shares_new(size_t threads, uint64_t bulk)
{
	const struct gate_size sizes[SHARE_KINDS] = {
	    [SHARE_KEY] = {threads, threads, 0, threads / 8},
	    [SHARE_OWNER] = {threads, threads, 0, threads / 8},
	    [SHARE_BULK] = {threads, bulk / MIB, 0, threads / 8},
	};
	struct shares *S;

	if ((S = calloc(1, sizeof(*S))) == NULL)
		return (NULL);
	for (size_t i = 0; i < SHARE_KINDS; i++) {
		if ((S->gate[i] = gate_new(&sizes[i])) == NULL) {
			shares_free(S);
			return (NULL);
		}
	}
	return (S);
}

void
shares_free(struct shares *S)
{

	if (S == NULL)
		return;
	for (size_t i = 0; i < SHARE_KINDS; i++)
		gate_free(S->gate[i]);
	free(S);
}

/* Say in the words of the route's client why it is not let in. */
static int
refuse(struct req *r, enum gate_rc rc, enum share_kind kind)
{
	static const char text[] =
	    "Too many requests of yours are under way, try again";

	if (rc == GATE_FULL)
		(void)reply_problem(r, P_BUSY, NULL,
		    "Too many %srequests are being served, try again",
		    kind == SHARE_BULK ? "large " : "");
	else if (r->route->flags & R_CODEAPI)
		(void)lc_rate_limited(r, (reply_soon_ms() + 999) / 1000, text);
	else
		(void)reply_problem(r, P_RATE, NULL, text);
	return (-1);
}

static void
leave(struct req *r, enum share_kind kind)
{
	struct req_share *s = &r->share[kind];

	if (s->held != GATE_NOTHING)
		gate_leave(r->srv->shares->gate[kind], s->who, s->n, s->held);
	s->held = GATE_NOTHING;
}

/* Count ${n} of ${kind} for ${who}; 0: for nobody. */
static int
enter(struct req *r, enum share_kind kind, uint64_t who, size_t n)
{
	struct req_share *s = &r->share[kind];
	/* Where a body is under way nobody else's is kept waiting for it. */
	const uint64_t wait_s = r->body.held != GATE_NOTHING ? 0
	    : r->route->flags & R_UPLOAD                     ? UPLOAD_WAIT_S
							     : WAIT_S;
	enum gate_rc rc;

	if (s->held != GATE_NOTHING && s->who == who)
		return (0);
	leave(r, kind);
	if (who == 0)
		return (0);
	rc = gate_enter(r->srv->shares->gate[kind], who, n, wait_s);
	if (rc != GATE_PLACE)
		return (refuse(r, rc, kind));
	*s = (struct req_share){.held = rc, .who = who, .n = n};
	return (0);
}

int
share_enter_key(struct req *r)
{

	return (
	    r->srv->shares == NULL ? 0 : enter(r, SHARE_KEY, r->caller.key, 1));
}

int
share_enter_owner(struct req *r)
{

	return (r->srv->shares == NULL
		? 0
		: enter(r, SHARE_OWNER, r->caller.owner.user, 1));
}

int
share_bulk(struct req *r, uint64_t bytes)
{
	/* One for whom nobody is known yet has had a small body read only. */
	const uint64_t who =
	    r->caller.owner.user != 0 ? r->caller.owner.user : r->caller.key;

	return (r->srv->shares == NULL || bytes < MIB
		? 0
		: enter(r, SHARE_BULK, who, (size_t)(bytes / MIB)));
}

void
share_leave(struct req *r)
{

	for (size_t i = SHARE_KINDS; i > 0; i--)
		leave(r, (enum share_kind)(i - 1));
}
