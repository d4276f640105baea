#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/nfc.h"
#include "base/nfc_table.h"
#include "base/utf8.h"

/* Hangul syllables are computed, not listed (Unicode 3.12). */
#define S_BASE 0xac00U
#define L_BASE 0x1100U
#define V_BASE 0x1161U
#define T_BASE 0x11a7U
#define L_COUNT 19U
#define V_COUNT 21U
#define T_COUNT 28U
#define S_COUNT (L_COUNT * V_COUNT * T_COUNT)

#define FIRST_MARK 0x300U /* Text below this is what it will be. */
#define GROWTH 4          /* Code points that one can split into. */

static unsigned int
class_of(uint32_t cp)
{
	size_t low = 0, high = nfc_class_n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (cp < nfc_class[mid].first)
			high = mid;
		else if (cp > nfc_class[mid].last)
			low = mid + 1;
		else
			return (nfc_class[mid].class);
	}
	return (0);
}

static const struct nfc_split *
find_split(uint32_t cp)
{
	size_t low = 0, high = nfc_split_n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (cp == nfc_split[mid].whole)
			return (&nfc_split[mid]);
		if (cp < nfc_split[mid].whole)
			high = mid;
		else
			low = mid + 1;
	}
	return (NULL);
}

/* Split ${cp} as far as it goes to ${out}; return how many that made. */
static size_t
split(uint32_t cp, uint32_t *out)
{
	const struct nfc_split *s;
	uint32_t tail[GROWTH];
	size_t i, n = 0, ntail = 0;

	if (cp >= S_BASE && cp < S_BASE + S_COUNT) {
		cp -= S_BASE;
		out[n++] = L_BASE + cp / (V_COUNT * T_COUNT);
		out[n++] = V_BASE + cp % (V_COUNT * T_COUNT) / T_COUNT;
		if (cp % T_COUNT > 0)
			out[n++] = T_BASE + cp % T_COUNT;
		return (n);
	}
	while ((s = find_split(cp)) != NULL) {
		if (s->second != 0)
			tail[ntail++] = s->second;
		cp = s->first;
	}
	out[n++] = cp;
	for (i = ntail; i > 0; i--)
		out[n++] = tail[i - 1];
	return (n);
}

/* Bring the marks behind each base into the order of their classes. */
static void
sort_marks(uint32_t *cp, size_t n)
{
	unsigned int class;
	uint32_t x;
	size_t i, j;

	for (i = 1; i < n; i++) {
		x = cp[i];
		if ((class = class_of(x)) == 0)
			continue;
		for (j = i; j > 0 && class_of(cp[j - 1]) > class; j--)
			cp[j] = cp[j - 1];
		cp[j] = x;
	}
}

/* What ${a} and ${b} join into, or 0. */
static uint32_t
join(uint32_t a, uint32_t b)
{
	size_t i;

	if (a >= L_BASE && a < L_BASE + L_COUNT && b >= V_BASE &&
	    b < V_BASE + V_COUNT)
		return (
		    S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT);
	if (a >= S_BASE && a < S_BASE + S_COUNT && b > T_BASE &&
	    b < T_BASE + T_COUNT)
		return ((a - S_BASE) % T_COUNT == 0 ? a + (b - T_BASE) : 0);
	if (b < FIRST_MARK)
		return (0);
	for (i = 0; i < nfc_split_n; i++)
		if (nfc_split[i].first == a && nfc_split[i].second == b &&
		    nfc_split[i].joins)
			return (nfc_split[i].whole);
	return (0);
}

/* Join each base with the marks that nothing keeps from it. */
static size_t
join_all(uint32_t *cp, size_t n)
{
	unsigned int class, last = 0;
	size_t base = 0, i, out = 1;
	uint32_t whole;

	/* Marks before any base have none to join. */
	int has_base = n > 0 && class_of(cp[0]) == 0;

	for (i = 1; i < n; i++) {
		class = class_of(cp[i]);
		if (has_base && (out == base + 1 || last < class) &&
		    (whole = join(cp[base], cp[i])) != 0) {
			cp[base] = whole;
			continue;
		}
		if (class == 0) {
			base = out;
			has_base = 1;
		}
		last = class;
		cp[out++] = cp[i];
	}
	return (n > 0 ? out : 0);
}

static size_t
split_all(const char *s, size_t len, uint32_t *cp)
{
	size_t i, n = 0, step;
	uint32_t x;

	for (i = 0; i < len; i += step) {
		if ((step = utf8_next(s + i, len - i, &x)) == 0) {
			step = 1;
			x = 0xfffd;
		}
		n += split(x, cp + n);
	}
	return (n);
}

int
nfc_put(struct buf *b, const char *s, size_t len)
{
	uint32_t *cp;
	size_t i, n;
	int rc = 0;

	/* Bytes below 0xcc begin no code point from FIRST_MARK on. */
	for (i = 0; i < len && (unsigned char)s[i] < 0xcc; i++)
		continue;
	if (i == len)
		return (buf_put(b, s, len));
	if (len > b->max || (cp = calloc(len, GROWTH * sizeof(*cp))) == NULL) {
		b->spoiled = 1;
		return (-1);
	}
	n = split_all(s, len, cp);
	sort_marks(cp, n);
	n = join_all(cp, n);
	for (i = 0; i < n && rc == 0; i++)
		rc = utf8_put(b, cp[i]);
	free(cp);
	return (rc);
}
