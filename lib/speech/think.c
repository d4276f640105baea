#include <string.h>

#include "speech/think.h"

enum state {
	BEFORE,   /* Only space so far. */
	THINKING, /* Between the tags. */
	BETWEEN,  /* Space after the closing one. */
	SAYING
};

static const char *const tags[] = {
    [BEFORE] = "<think>", [THINKING] = "</think>"};

static int
pass(struct think *T, const char *p, size_t len)
{
	const struct event ev = {
	    .kind = T->state == THINKING ? EVENT_REASONING : EVENT_TEXT,
	    .text = {p, len}};

	return (len > 0 ? T->fn(T->cookie, &ev) : 0);
}

static int
is_space(char c)
{

	return (c == ' ' || c == '\n' || c == '\r' || c == '\t');
}

/* The held bytes turned out to be no tag. */
static int
let_go(struct think *T)
{
	size_t n = T->n;

	T->n = 0;
	return (pass(T, T->held, n));
}

/* The longest beginning of ${tag} with which the ${len} bytes at ${p} end, less
 * than all of it. */
static size_t
tail(const char *p, size_t len, const char *tag)
{
	size_t n = strlen(tag) - 1;

	if (n > len)
		n = len;
	while (n > 0 && memcmp(p + len - n, tag, n) != 0)
		n--;
	return (n);
}

/* Look for the tag of the state where it must stand at once. */
static int
before(struct think *T, const char **p, size_t *len)
{
	const char *tag = tags[BEFORE];

	for (; *len > 0; ++*p, --*len) {
		if (T->n == 0 && is_space(**p))
			continue;
		if (**p != tag[T->n]) {
			T->state = SAYING;
			return (let_go(T));
		}
		T->held[T->n++] = **p;
		if (tag[T->n] == '\0') {
			T->n = 0;
			T->state = THINKING;
			++*p;
			--*len;
			return (0);
		}
	}
	return (0);
}

/* Pass on what is thought, up to the closing tag. */
static int
thinking(struct think *T, const char **p, size_t *len)
{
	const char *tag = tags[THINKING], *at;
	size_t n;

	/* A tag that began in an earlier piece. */
	for (; T->n > 0 && *len > 0; ++*p, --*len) {
		if (**p != tag[T->n])
			return (let_go(T));
		T->held[T->n++] = **p;
		if (tag[T->n] == '\0') {
			T->n = 0;
			T->state = BETWEEN;
			++*p;
			--*len;
			return (0);
		}
	}
	if (*len == 0)
		return (0);
	if ((at = memmem(*p, *len, tag, strlen(tag))) != NULL) {
		n = (size_t)(at - *p);
		if (pass(T, *p, n))
			return (-1);
		T->state = BETWEEN;
		n += strlen(tag);
	} else {
		T->n = tail(*p, *len, tag);
		n = *len;
		memcpy(T->held, *p + n - T->n, T->n);
		if (pass(T, *p, n - T->n))
			return (-1);
	}
	*p += n;
	*len -= n;
	return (0);
}

static int
take(struct think *T, const char *p, size_t len)
{

	while (len > 0)
		switch ((enum state)T->state) {
		case BEFORE:
			if (before(T, &p, &len))
				return (-1);
			break;
		case THINKING:
			if (thinking(T, &p, &len))
				return (-1);
			break;
		case BETWEEN:
			if (!is_space(*p)) {
				T->state = SAYING;
				break;
			}
			p++;
			len--;
			break;
		case SAYING:
			return (pass(T, p, len));
		}
	return (0);
}

int
think_event(void *cookie, const struct event *ev)
{
	struct think *T = cookie;

	if (ev->kind == EVENT_TEXT)
		return (take(T, ev->text.p, ev->text.len));
	if (ev->kind == EVENT_CALL || ev->kind == EVENT_STOP) {
		if (let_go(T))
			return (-1);
		T->state = SAYING;
	}
	return (T->fn(T->cookie, ev));
}
