#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jcatch.h"
#include "base/jspan.h"
#include "http/sse.h"

#include "speech/used.h"
#include "speech/wire.h"

#define TEXT_MAX 65536 /* Of the member, and around it. */
#define DEPTH_MAX 128

struct used {
	const struct wire *wire;
	struct sse *sse; /* NULL: one JSON text... */
	struct jcatch whole;
	struct buf text; /* ...as if it had this member alone. */
	int over;        /* There is no more to be read. */
	struct usage usage;
};

struct used *
used_new(const struct wire *w, int stream)
{
	struct used *U;

	if ((U = calloc(1, sizeof(*U))) == NULL)
		goto err0;
	U->wire = w;
	U->whole.key = "usage";
	U->text = (struct buf)BUF_INIT(TEXT_MAX);
	if (stream ? (U->sse = sse_new()) == NULL
		   : buf_puts(&U->text, "{\"usage\":"))
		goto err1;

	/* Success! */
	return (U);

err1:
	used_free(U);
err0:
	/* Failure! */
	return (NULL);
}

void
used_free(struct used *U)
{

	if (U == NULL)
		return;
	sse_free(U->sse);
	buf_free(&U->text);
	free(U);
}

static void
look(struct used *U, const char *p, size_t len)
{
	struct jspan_info info;

	if (jspan_check(p, len, DEPTH_MAX, &info) == JSPAN_OK)
		U->wire->usage(&U->usage, info.root);
}

/* Most events do not speak of it, and cost no more than this. */
static void
look_event(struct used *U, const struct sse_event *ev)
{

	if (memmem(ev->data, ev->len, "\"usage\"", 7) != NULL)
		look(U, ev->data, ev->len);
}

void
used_see(struct used *U, const void *p, size_t len)
{
	struct sse_event ev;
	const char *s = p;
	enum sse_rc rc;

	if (U->over)
		return;
	if (U->sse == NULL) {
		U->over = jcatch_feed(&U->whole, s, len, &U->text) != 0;
		return;
	}
	while ((rc = sse_next(U->sse, &s, &len, &ev)) == SSE_EVENT)
		look_event(U, &ev);
	U->over = rc != SSE_MORE;
}

void
used_end(struct used *U, struct usage *u)
{
	struct sse_event ev;

	if (U->sse != NULL && !U->over && sse_end(U->sse, &ev) == SSE_EVENT)
		look_event(U, &ev);
	if (U->sse == NULL && buf_puts(&U->text, "}") == 0)
		look(U, U->text.p, U->text.len);
	*u = U->usage;
}
