#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cidr.h"
#include "base/num.h"

#include "base/conf_row.h"

/* A list of more items than this is a mistake. */
#define LIST_MAX 64

/* --- numbers and booleans --- */

static void
drop_nothing(void *p)
{

	(void)p;
}

static enum conf_rc
set_bool(const struct row *r, const char *s, void *p)
{

	(void)r;
	if (strcmp(s, "true") != 0 && strcmp(s, "false") != 0)
		return (CONF_BAD);
	*(int *)p = s[0] == 't';
	return (CONF_OK);
}

static void
want_bool(const struct row *r, struct buf *b)
{

	(void)r;
	buf_puts(b, "true or false");
}

static void
show_bool(const struct row *r, const void *p, struct buf *b)
{

	(void)r;
	buf_puts(b, *(const int *)p ? "true" : "false");
}

const struct kind conf_bool = {set_bool, want_bool, show_bool, drop_nothing};

/* A leading zero is refused: YAML 1.1 would read the number as octal. */
static enum conf_rc
set_num(const struct row *r, const char *s, void *p)
{

	if (s[0] == '0' && s[1] != '\0')
		return (CONF_BAD);
	return (num_u64(s, r->min, r->max, p) ? CONF_BAD : CONF_OK);
}

static void
want_num(const struct row *r, struct buf *b)
{

	buf_printf(
	    b, "a whole number from %" PRIu64 " to %" PRIu64, r->min, r->max);
}

static void
show_num(const struct row *r, const void *p, struct buf *b)
{

	(void)r;
	buf_printf(b, "%" PRIu64, *(const uint64_t *)p);
}

const struct kind conf_num = {set_num, want_num, show_num, drop_nothing};

/* --- a price: a decimal number, kept in millionths --- */

#define PRICE_DIGITS 6

static enum conf_rc
set_price(const struct row *r, const char *s, void *p)
{
	const size_t whole = strspn(s, "0123456789");
	const char *rest = s + whole;
	uint64_t n = 0;
	size_t i;

	(void)r;
	if (whole == 0 || whole > 9 || (*rest != '\0' && *rest != '.'))
		return (CONF_BAD);
	rest += *rest == '.';
	if ((rest > s + whole && *rest == '\0') ||
	    strspn(rest, "0123456789") != strlen(rest) ||
	    strlen(rest) > PRICE_DIGITS)
		return (CONF_BAD);
	for (i = 0; i < whole; i++)
		n = n * 10 + (uint64_t)(s[i] - '0');
	for (i = 0; i < PRICE_DIGITS; i++)
		n = n * 10 + (uint64_t)(*rest != '\0' ? *rest++ - '0' : 0);
	*(uint64_t *)p = n;
	return (CONF_OK);
}

static void
want_price(const struct row *r, struct buf *b)
{

	(void)r;
	buf_puts(b, "a number with at most six digits after its point");
}

static void
show_price(const struct row *r, const void *p, struct buf *b)
{
	const uint64_t n = *(const uint64_t *)p;

	(void)r;
	if (n % 1000000 == 0)
		buf_printf(b, "%" PRIu64, n / 1000000);
	else
		buf_printf(
		    b, "%" PRIu64 ".%06" PRIu64, n / 1000000, n % 1000000);
}

const struct kind conf_price = {
    set_price, want_price, show_price, drop_nothing};

/* --- one of several words --- */

/* The length of the word at ${w} without its mark. */
static size_t
word_len(const char *w)
{

	return (strcspn(w, "|!"));
}

/* The word after ${w}, or NULL. */
static const char *
word_next(const char *w)
{

	return ((w = strchr(w, '|')) == NULL ? NULL : w + 1);
}

/* Find ${s} among the row's words and set ${n} to its index. */
static enum conf_rc
word_find(const struct row *r, const char *s, int *n)
{
	const char *w;
	int i = 0;

	for (w = r->words; w != NULL; w = word_next(w), i++) {
		if (strlen(s) != word_len(w) || strncmp(s, w, word_len(w)) != 0)
			continue;
		if (w[word_len(w)] == '!')
			return (CONF_LATER);
		*n = i;
		return (CONF_OK);
	}
	return (CONF_BAD);
}

static enum conf_rc
set_word(const struct row *r, const char *s, void *p)
{

	return (word_find(r, s, p));
}

static void
want_word(const struct row *r, struct buf *b)
{
	const char *w, *sep = "";

	for (w = r->words; w != NULL; w = word_next(w)) {
		if (w[word_len(w)] == '!')
			continue;
		buf_puts(b, sep);
		buf_put(b, w, word_len(w));
		sep = " or ";
	}
}

static void
show_word(const struct row *r, const void *p, struct buf *b)
{
	const char *w = r->words;
	int i;

	for (i = *(const int *)p; w != NULL && i > 0; i--)
		w = word_next(w);
	if (w != NULL)
		buf_put(b, w, word_len(w));
}

const struct kind conf_word = {set_word, want_word, show_word, drop_nothing};

/* An executor, by its other name too. */
static enum conf_rc
set_executor(const struct row *r, const char *s, void *p)
{

	return (set_word(r, strcmp(s, "otari") == 0 ? "local" : s, p));
}

const struct kind conf_executor = {
    set_executor, want_word, show_word, drop_nothing};

/* --- texts --- */

static void
drop_text(void *p)
{

	free(*(char **)p);
	*(char **)p = NULL;
}

static enum conf_rc
set_text(const struct row *r, const char *s, void *p)
{
	char *t = NULL;

	if (*s != '\0') {
		if (strlen(s) < r->min || strlen(s) > r->max)
			return (CONF_BAD);
		if ((t = strdup(s)) == NULL)
			return (CONF_NOMEM);
	}
	drop_text(p);
	*(char **)p = t;
	return (CONF_OK);
}

static void
want_text(const struct row *r, struct buf *b)
{

	buf_printf(b, "a text of at most %" PRIu64 " bytes", r->max);
}

static void
show_text(const struct row *r, const void *p, struct buf *b)
{
	const char *s = *(char *const *)p;

	(void)r;
	buf_puts(b, s == NULL ? "" : s);
}

const struct kind conf_text = {set_text, want_text, show_text, drop_text};

static void
show_secret(const struct row *r, const void *p, struct buf *b)
{

	(void)r;
	buf_puts(b, *(char *const *)p == NULL ? "(not set)" : "(set)");
}

const struct kind conf_secret = {set_text, want_text, show_secret, drop_text};

/* Is ${s} empty, where the row allows that? */
static int
empty_ok(const struct row *r, const char *s)
{

	return (*s == '\0' && r->dflt != NULL && *r->dflt == '\0');
}

static enum conf_rc
set_path(const struct row *r, const char *s, void *p)
{
	size_t len = strlen(s);

	if (!empty_ok(r, s) && s[0] != '/')
		return (CONF_BAD);
	if (len > 1 && s[len - 1] == '/')
		return (CONF_BAD);
	return (set_text(r, s, p));
}

static void
want_path(const struct row *r, struct buf *b)
{

	(void)r;
	buf_puts(b, "a path that begins with a slash and ends without one");
}

const struct kind conf_path = {set_path, want_path, show_text, drop_text};

static enum conf_rc
set_url(const struct row *r, const char *s, void *p)
{
	static const char *const scheme[] = {"http://", "https://", "unix:/"};
	size_t i, len = strlen(s);

	if (empty_ok(r, s))
		return (set_text(r, s, p));
	for (i = 0; i < sizeof(scheme) / sizeof(scheme[0]); i++)
		if (strncmp(s, scheme[i], strlen(scheme[i])) == 0 &&
		    len > strlen(scheme[i]))
			break;
	if (i == sizeof(scheme) / sizeof(scheme[0]) || s[len - 1] == '/' ||
	    strpbrk(s, " \"'<>#?@") != NULL)
		return (CONF_BAD);
	return (set_text(r, s, p));
}

static void
want_url(const struct row *r, struct buf *b)
{

	(void)r;
	buf_puts(b,
	    "an address such as http://HOST:PORT, without a slash at "
	    "its end, user name or query");
}

const struct kind conf_url = {set_url, want_url, show_text, drop_text};

/* Does ${s} end with ${end}? */
static int
ends(const char *s, const char *end)
{
	size_t len = strlen(s), n = strlen(end);

	return (len >= n && strcmp(s + len - n, end) == 0);
}

/* A provider's address: not that of one of its routes, which we append. */
static enum conf_rc
set_base_url(const struct row *r, const char *s, void *p)
{
	static const char *const routes[] = {
	    "/completions", "/messages", "/responses", "/models"};
	size_t i;

	for (i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (ends(s, routes[i]))
			return (CONF_BAD);
	return (set_url(r, s, p));
}

static void
want_base_url(const struct row *r, struct buf *b)
{

	want_url(r, b);
	buf_puts(b, ", and without /chat/completions or another route");
}

const struct kind conf_base_url = {
    set_base_url, want_base_url, show_text, drop_text};

/* Our own address, to which answers append /v1 and a path. */
static enum conf_rc
set_public_url(const struct row *r, const char *s, void *p)
{

	return (ends(s, "/v1") ? CONF_BAD : set_url(r, s, p));
}

static void
want_public_url(const struct row *r, struct buf *b)
{

	want_url(r, b);
	buf_puts(b, ", and without /v1");
}

const struct kind conf_public_url = {
    set_public_url, want_public_url, show_text, drop_text};

/* An origin as browsers send it: scheme, host and port, in one case. */
static enum conf_rc
set_origin(const struct row *r, const char *s, void *p)
{
	const char *host = strstr(s, "://");

	if (empty_ok(r, s) || strcmp(s, "*") == 0)
		return (set_text(r, s, p));
	if (host == NULL || host == s || host[3] == '\0' ||
	    strpbrk(host + 3, "/ ,;\"'<>#?@*") != NULL ||
	    strpbrk(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ, ") != NULL)
		return (CONF_BAD);
	return (set_text(r, s, p));
}

static void
want_origin(const struct row *r, struct buf *b)
{

	(void)r;
	buf_puts(b,
	    "* or one origin such as https://app.example, in lower case and "
	    "without a path");
}

const struct kind conf_origin = {set_origin, want_origin, show_text, drop_text};

static enum conf_rc
set_name(const struct row *r, const char *s, void *p)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	if (*s == '\0' || s[strspn(s, fine)] != '\0')
		return (CONF_BAD);
	return (set_text(r, s, p));
}

static void
want_name(const struct row *r, struct buf *b)
{

	buf_printf(
	    b, "1 to %" PRIu64 " letters, digits, '_', '.' or '-'", r->max);
}

const struct kind conf_name = {set_name, want_name, show_text, drop_text};

/* As it stands in the middle of an id, of one length. */
static enum conf_rc
set_label(const struct row *r, const char *s, void *p)
{

	if (strspn(s,
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"abcdefghijklmnopqrstuvwxyz") != strlen(s))
		return (CONF_BAD);
	return (set_name(r, s, p));
}

static void
want_label(const struct row *r, struct buf *b)
{

	(void)buf_printf(b, "%" PRIu64 " letters or digits", r->max);
}

const struct kind conf_label = {set_label, want_label, show_text, drop_text};

/* A word that the program prints as it stands. */
static enum conf_rc
set_choice(const struct row *r, const char *s, void *p)
{
	enum conf_rc rc;
	char *t;
	int i;

	if ((rc = word_find(r, s, &i)) != CONF_OK)
		return (rc);
	if ((t = strdup(s)) == NULL)
		return (CONF_NOMEM);
	drop_text(p);
	*(char **)p = t;
	return (CONF_OK);
}

const struct kind conf_choice = {set_choice, want_word, show_text, drop_text};

/* --- lists --- */

static void
drop_list(void *p)
{
	char **list = *(char ***)p;
	size_t i;

	for (i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free(list);
	*(char ***)p = NULL;
}

/* Add one item. */
static enum conf_rc
set_list(const struct row *r, const char *s, void *p)
{
	char **list = *(char ***)p, **grown;
	size_t n = 0;

	if (*s == '\0' && r->min == 0)
		return (CONF_OK);
	while (list != NULL && list[n] != NULL)
		n++;
	if (n == LIST_MAX || *s == '\0' || strlen(s) > r->max)
		return (CONF_BAD);
	if ((grown = realloc(list, (n + 2) * sizeof(*list))) == NULL)
		return (CONF_NOMEM);
	*(char ***)p = grown;
	grown[n + 1] = NULL;
	return ((grown[n] = strdup(s)) == NULL ? CONF_NOMEM : CONF_OK);
}

static void
want_list(const struct row *r, struct buf *b)
{

	(void)r;
	buf_printf(b, "a list of at most %d texts", LIST_MAX);
}

static void
show_list(const struct row *r, const void *p, struct buf *b)
{
	char **list = *(char **const *)p;
	size_t i;

	(void)r;
	buf_puts(b, "[");
	for (i = 0; list != NULL && list[i] != NULL; i++)
		buf_printf(b, "%s\"%s\"", i == 0 ? "" : ", ", list[i]);
	buf_puts(b, "]");
}

const struct kind conf_list = {set_list, want_list, show_list, drop_list};

/*
 * Lists that may also be written as one text with commas, on a command line.
 * Empty: no items.
 */
static enum conf_rc
set_items(const struct row *r, const char *s, void *p,
    int (*fits)(const struct row *, const char *))
{
	char item[64];
	enum conf_rc rc = CONF_OK;
	size_t len;

	for (; rc == CONF_OK && *(s += strspn(s, ", ")) != '\0'; s += len) {
		len = strcspn(s, ", ");
		if (len >= sizeof(item))
			return (CONF_BAD);
		memcpy(item, s, len);
		item[len] = '\0';
		rc = fits(r, item) ? set_list(r, item, p) : CONF_BAD;
	}
	return (rc);
}

static void
show_items(const struct row *r, const void *p, struct buf *b)
{
	char **list = *(char **const *)p;
	size_t i;

	(void)r;
	for (i = 0; list != NULL && list[i] != NULL; i++)
		buf_printf(b, "%s%s", i == 0 ? "" : ", ", list[i]);
}

static int
is_choice(const struct row *r, const char *s)
{
	int n;

	return (word_find(r, s, &n) == CONF_OK);
}

static enum conf_rc
set_choices(const struct row *r, const char *s, void *p)
{

	return (set_items(r, s, p, is_choice));
}

static void
want_choices(const struct row *r, struct buf *b)
{

	buf_puts(b, "a list of ");
	want_word(r, b);
}

const struct kind conf_choices = {
    set_choices, want_choices, show_items, drop_list};

static int
is_cidr(const struct row *r, const char *s)
{
	struct cidr c;

	(void)r;
	return (cidr_parse(s, &c) == 0);
}

static enum conf_rc
set_cidrs(const struct row *r, const char *s, void *p)
{

	return (set_items(r, s, p, is_cidr));
}

static void
want_cidrs(const struct row *r, struct buf *b)
{

	(void)r;
	buf_puts(b, "a list of networks such as 10.0.0.0/8 or fd00::/8");
}

const struct kind conf_cidrs = {set_cidrs, want_cidrs, show_items, drop_list};

int
conf_takes_list(const struct row *r)
{

	return (r->kind == &conf_list || r->kind == &conf_choices ||
	    r->kind == &conf_cidrs);
}

/* --- what holds no value of its own --- */

static enum conf_rc
set_never(const struct row *r, const char *s, void *p)
{

	(void)r;
	(void)s;
	(void)p;
	return (CONF_BAD);
}

static void
want_providers(const struct row *r, struct buf *b)
{

	(void)r;
	buf_printf(b,
	    "a list of at most %d groups, each with a name, a wire and a "
	    "base_url",
	    CONF_PROVIDERS);
}

static void
show_never(const struct row *r, const void *p, struct buf *b)
{

	(void)r;
	(void)p;
	(void)b;
}

const struct kind conf_providers = {
    set_never, want_providers, show_never, drop_nothing};
