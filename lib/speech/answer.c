#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf.h"
#include "base/jspan.h"
#include "http/sse.h"

#include "speech/answer.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/think.h"
#include "speech/wire.h"
#include "speech/wire_error.h"

#define WHOLE_MAX (64U << 20) /* Of an answer that is one JSON text. */
#define DEPTH_MAX 128

/* Which of the two it is, or a web page; its first byte tells. */
enum form { UNKNOWN, STREAM, WHOLE, PAGE };

struct answer {
	const struct conf_provider *p;
	const struct wire *wire;
	event_fn *fn;
	void *cookie;
	struct think think; /* Before them, where the text holds reasoning. */
	enum form form;
	struct sse *sse;
	struct wire_reader *reader;
	struct buf whole;
	enum wire_rc rc;    /* WIRE_OK while there is to be more. */
	int told;           /* It says itself that it is an error... */
	struct refusal why; /* ...namely this. */
};

struct answer *
answer_new(const struct conf_provider *p, event_fn *fn, void *cookie)
{
	struct answer *A;

	if ((A = calloc(1, sizeof(*A))) == NULL)
		return (NULL);
	A->p = p;
	A->wire = wire_of((enum conf_wire)p->wire);
	A->fn = fn;
	A->cookie = cookie;
	if (p->reasoning_out == REASONING_TAGS) {
		A->think = (struct think){.fn = fn, .cookie = cookie};
		A->fn = think_event;
		A->cookie = &A->think;
	}
	A->whole.max = WHOLE_MAX;
	return (A);
}

void
answer_free(struct answer *A)
{

	if (A == NULL)
		return;
	if (A->reader != NULL)
		A->reader->free(A->reader);
	sse_free(A->sse);
	buf_free(&A->whole);
	free(A);
}

/* Is ${root} an error in place of an answer, or amid one?  ${called}: its event
 * says so by its name. */
static int
take_error(struct answer *A, struct jspan root, int called)
{
	struct wire_error e;

	if (!wire_error(root, called, &e))
		return (0);
	A->told = 1;
	(void)wire_refuse(A->p, e.status, NULL, e.at.p, e.at.len, &A->why);
	return (1);
}

static enum wire_rc
take_event(struct answer *A, const struct sse_event *ev)
{
	struct jspan_info info;

	if (ev->len == 6 && memcmp(ev->data, "[DONE]", 6) == 0)
		return (WIRE_DONE);
	if (ev->len == 0)
		return (WIRE_OK);
	if (jspan_check(ev->data, ev->len, DEPTH_MAX, &info) != JSPAN_OK)
		return (WIRE_BAD);
	if (take_error(A, info.root, strcmp(ev->name, "error") == 0))
		return (WIRE_BAD);
	return (A->reader->take(A->reader, info.root));
}

static enum wire_rc
of_sse(enum sse_rc rc)
{

	return (rc == SSE_MEMORY ? WIRE_MEMORY : WIRE_BAD);
}

static enum wire_rc
feed_stream(struct answer *A, const char *p, size_t len)
{
	struct sse_event ev;
	enum sse_rc got = SSE_MORE;
	enum wire_rc rc = WIRE_OK;

	while (rc == WIRE_OK &&
	    (got = sse_next(A->sse, &p, &len, &ev)) == SSE_EVENT)
		rc = take_event(A, &ev);
	return (rc == WIRE_OK && got != SSE_MORE ? of_sse(got) : rc);
}

/* Find out which form it has, passing over what may stand before either. */
static enum wire_rc
begin(struct answer *A, const char **p, size_t *len)
{

	while (*len > 0 && strchr(" \t\r\n\xef\xbb\xbf", **p) != NULL &&
	    **p != '\0') {
		++*p;
		--*len;
	}
	if (*len == 0)
		return (WIRE_OK);
	A->form = **p == '{' || **p == '[' ? WHOLE : **p == '<' ? PAGE : STREAM;
	if (A->form == WHOLE)
		return (WIRE_OK);
	if (A->form == PAGE)
		return (WIRE_BAD);
	if (A->wire->stream == NULL)
		return (WIRE_BAD);
	if ((A->sse = sse_new()) == NULL ||
	    (A->reader = A->wire->stream(A->p)) == NULL)
		return (WIRE_MEMORY);
	A->reader->fn = A->fn;
	A->reader->cookie = A->cookie;
	return (WIRE_OK);
}

static enum answer_rc
answer_state(const struct answer *A)
{

	if (A->rc == WIRE_OK)
		return (ANSWER_MORE);
	return (A->rc == WIRE_DONE ? ANSWER_DONE : ANSWER_FAILED);
}

enum answer_rc
answer_feed(struct answer *A, const void *buf, size_t len)
{
	const char *p = buf;

	if (A->rc == WIRE_OK && A->form == UNKNOWN)
		A->rc = begin(A, &p, &len);
	if (A->rc != WIRE_OK || len == 0)
		return (answer_state(A));
	if (A->form == STREAM)
		A->rc = feed_stream(A, p, len);
	else if (buf_put(&A->whole, p, len))
		A->rc = WIRE_BAD;
	return (answer_state(A));
}

static enum wire_rc
end_stream(struct answer *A)
{
	struct sse_event ev;
	enum sse_rc got;
	enum wire_rc rc = A->rc;

	if (rc == WIRE_OK) {
		/* A last event may lack its blank line, if it is whole. */
		got = sse_end(A->sse, &ev);
		if (got == SSE_EVENT)
			rc = take_event(A, &ev);
		else if (got != SSE_MORE)
			rc = of_sse(got);
		if (rc == WIRE_BAD && !A->told)
			rc = WIRE_CUT;
	}
	if (rc == WIRE_OK || rc == WIRE_DONE)
		rc = A->reader->end(A->reader, rc == WIRE_DONE);
	return (rc);
}

static enum wire_rc
end_whole(struct answer *A)
{
	struct jspan_info info;

	if (jspan_check(A->whole.p, A->whole.len, DEPTH_MAX, &info) != JSPAN_OK)
		return (WIRE_BAD);
	if (take_error(A, info.root, 0))
		return (WIRE_BAD);
	if (A->wire->read(A->p, info.root, A->fn, A->cookie) == 0)
		return (WIRE_OK);
	A->told = 1;
	(void)refuse(&A->why, P_UPSTREAM, NULL,
	    "The model provider's answer could not be used.");
	return (WIRE_BAD);
}

static int
tell(enum wire_rc rc, struct refusal *why)
{

	switch (rc) {
	case WIRE_OK:
		return (0);
	case WIRE_DONE:
	case WIRE_CUT:
		return (refuse(why, P_UPSTREAM, NULL,
		    "The model provider broke the connection off."));
	case WIRE_BAD:
		return (refuse(why, P_UPSTREAM, NULL,
		    "The model provider's answer could not be read."));
	case WIRE_STOPPED:
	case WIRE_MEMORY:
		break;
	}
	return (refuse(why, P_SERVER, NULL, "An internal error occurred."));
}

int
answer_end(struct answer *A, int cut, struct refusal *why)
{

	if (A->form == STREAM)
		A->rc = end_stream(A);
	else if (A->form == WHOLE && A->rc == WIRE_OK)
		A->rc = end_whole(A);
	else if (A->rc == WIRE_OK)
		A->rc = WIRE_BAD; /* There was nothing at all. */
	if (A->told) {
		*why = A->why;
		return (-1);
	}
	if (A->form == PAGE)
		return (refuse(why, P_UPSTREAM, NULL, "%s", ANSWER_PAGE));
	return (tell(A->rc == WIRE_BAD && cut ? WIRE_CUT : A->rc, why));
}
