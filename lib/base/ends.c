#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/utf8.h"

#include "base/ends.h"

#define BEGIN "[... "
#define END " bytes left out ...]\n"
#define DIGITS 20

int
ends_join(struct buf *b, const struct ends *e, struct gap *g)
{
	const size_t from = b->len;

	*g = (struct gap){.bytes = e->between};
	(void)buf_put(b, e->head, e->nhead);
	g->at = b->len - from;
	if (e->between > 0) {
		if (e->nhead > 0)
			(void)buf_puts(b, "\n");
		(void)buf_printf(b, BEGIN "%" PRIu64 END, e->between);
	}
	g->line = b->len - from - g->at;
	return (buf_put(b, e->tail, e->ntail));
}

/* Make ${e} no longer than ${max}, without cutting a character. */
static void
shorten(struct ends *e, size_t max)
{
	size_t n;

	n = utf8_cut(e->head, e->nhead, max / 2);
	e->between += e->nhead - n;
	e->nhead = n;
	for (n = e->ntail > max / 2 ? e->ntail - max / 2 : 0;
	     n < e->ntail && ((unsigned char)e->tail[n] & 0xc0) == 0x80; n++)
		;
	e->between += n;
	e->tail += n;
	e->ntail -= n;
}

int
ends_put(struct buf *b, const char *s, size_t len, const struct gap *was,
    size_t max, struct gap *g)
{
	struct ends e = {.head = s, .nhead = len, .tail = s};
	struct gap unused;

	if (was->bytes > 0) {
		e.nhead = was->at;
		e.tail = s + was->at + was->line;
		e.ntail = len - was->at - was->line;
		e.between = was->bytes;
	} else if (len > max) {
		e.nhead = utf8_cut(s, len, max / 2);
		e.tail = s + e.nhead;
		e.ntail = len - e.nhead;
	}
	if (e.nhead + e.ntail > max)
		shorten(&e, max);
	return (ends_join(b, &e, g != NULL ? g : &unused));
}

/* Is there such a line at ${p}, of ${n} bytes?  Its length, or 0. */
static size_t
line_at(const char *p, size_t n, uint64_t *bytes)
{
	char digits[DIGITS + 1];
	size_t len;

	if (n < sizeof(BEGIN) - 1 || memcmp(p, BEGIN, sizeof(BEGIN) - 1) != 0)
		return (0);
	p += sizeof(BEGIN) - 1;
	n -= sizeof(BEGIN) - 1;
	for (len = 0; len < n && len < DIGITS && p[len] >= '0' && p[len] <= '9';
	     len++)
		digits[len] = p[len];
	digits[len] = '\0';
	if (n - len < sizeof(END) - 1 ||
	    memcmp(p + len, END, sizeof(END) - 1) != 0 ||
	    num_u64(digits, 1, INT64_MAX, bytes))
		return (0);
	return (sizeof(BEGIN) - 1 + len + sizeof(END) - 1);
}

/* How far ${at} is from the middle of ${len}. */
static size_t
off_middle(size_t at, size_t len)
{

	return (at > len / 2 ? at - len / 2 : len / 2 - at);
}

void
ends_find(const char *s, size_t len, struct gap *g)
{
	const char *next;
	uint64_t bytes;
	size_t n, at;

	memset(g, 0, sizeof(*g));
	for (at = 0; at < len; at = (size_t)(next - s) + 1) {
		n = line_at(s + at, len - at, &bytes);
		if (n > 0 &&
		    (g->bytes == 0 ||
			off_middle(at, len) < off_middle(g->at, len)))
			*g = (struct gap){bytes, at - (at > 0), n + (at > 0)};
		if ((next = memchr(s + at, '\n', len - at)) == NULL)
			break;
	}
}
