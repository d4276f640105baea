/*
 * The short texts a request carries: query, path, file names, types, ranges,
 * dates.  An input's lines are taken for one after the other, and what comes
 * out must be as clean as promised.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/nfc.h"
#include "base/path.h"
#include "base/utf8.h"
#include "http/disposition.h"
#include "http/filename.h"
#include "http/mediatype.h"
#include "http/param.h"
#include "http/place.h"
#include "http/query.h"
#include "http/range.h"

#define LINES 6

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(int cond)
{

	if (!cond)
		abort();
}

/* No byte below ${low}, and none from 0x7f on unless ${high}. */
static int
clean(const char *s, int low, int high)
{

	for (; *s != '\0'; s++)
		if ((unsigned char)*s < low || *s == 0x7f ||
		    (!high && (*s & 0x80)))
			return (0);
	return (1);
}

static void
try_query(const char *s, size_t len)
{
	struct arena *mem = arena_new(1 << 20);
	struct query *q = query_parse(mem, s);
	const char *p;

	if (q != NULL && (p = query_get(q, "a", 0)) != NULL)
		must(query_count(q, "a") > 0 && strlen(p) <= strlen(s));
	if ((p = percent_decode(mem, s, len)) != NULL)
		must(strlen(p) <= len);
	arena_free(mem);
}

static void
try_nfc(const char *s)
{
	struct buf once = BUF_INIT(1 << 16), twice = BUF_INIT(1 << 16);

	must(nfc_put(&once, s, strlen(s)) == 0);
	must(nfc_put(&twice, once.p, once.len) == 0);
	must(utf8_valid(once.p, once.len) && once.len == twice.len);
	must(memcmp(once.p, twice.p, once.len) == 0);
	buf_free(&once);
	buf_free(&twice);
}

static void
try_name(const char *name)
{
	char value[DISPOSITION_SIZE], box[PATH_NAME_SIZE];

	must(utf8_valid(name, strlen(name)) && clean(name, 0x20, 1));
	must(strpbrk(name, "/\\") == NULL && *name != '\0');
	must(utf8_count(name, strlen(name)) <= FILENAME_MAX_CHARS);
	must(strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
	disposition_attachment(name, value);
	must(strlen(value) <= DISPOSITION_MAX && clean(value, 0x20, 0));
	path_name(name, box);
	must(strlen(box) <= PATH_NAME_MAX && utf8_valid(box, strlen(box)));
	must(*box != '.' && *box != '-' && *box != '\0');
	try_nfc(name);
}

static void
try_names(const char *plain, size_t plain_len, const char *ext, size_t ext_len)
{
	const struct filename_raw raw = {plain, plain_len, ext, ext_len};
	const struct filename_raw only = {plain, plain_len, NULL, 0};
	char name[FILENAME_SIZE], place[PLACE_SIZE];

	must(place_form(&raw, "text/plain", place) == 0);
	must(place_ok(place, strlen(place)) && strstr(place, "..") != place);
	if (filename_form(&raw, "text/plain", 0, name) == FILENAME_OK)
		try_name(name);
	if (filename_form(&only, "x/y", 1, name) == FILENAME_OK) {
		try_name(name);
		must(strpbrk(name, "<>:\"|?*") == NULL);
	}
	if (filename_text(plain, plain_len, "", 0, name) == FILENAME_OK)
		try_name(name);
}

static void
try_type(const char *s, size_t len, const char *name)
{
	char type[MEDIATYPE_SIZE], again[MEDIATYPE_SIZE];
	struct buf b = BUF_INIT(1 << 16);
	const char *end = s + len;
	struct param param;

	mediatype_clean(s, len, type);
	must(clean(type, 0x20, 0) && strchr(type, '/') != NULL);
	mediatype_clean(type, strlen(type), again);
	must(strcmp(type, again) == 0);
	mediatype_choose(s, len, name, type);
	must(clean(type, 0x20, 0) && strchr(type, '/') != NULL);
	while (param_next(&s, end, &param) == PARAM_OK)
		(void)param_value(&b, &param);
	buf_free(&b);
}

static void
try_range(const char *range, const char *condition)
{
	const struct range_file file = {"\"tag\"", 784111777, 1000};
	const struct range_ask asks[] = {
	    {.range = range},
	    {.range = range, .if_range = condition},
	    {.range = range, .if_match = condition},
	    {.range = range, .if_none_match = condition},
	    {.range = range, .if_modified_since = condition},
	    {.range = range, .if_unmodified_since = condition},
	};
	struct range_part part;
	char date[CLOCK_HTTP_SIZE];
	uint64_t t;
	size_t i;

	for (i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		if (range_judge(&asks[i], &file, &part) == RANGE_PART)
			must(part.first <= part.last && part.last < 1000);
	if (clock_http_parse(condition, &t) == 0) {
		clock_http(t, date);
		must(strcmp(date, condition) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *line[LINES], *text, *nl;
	size_t n[LINES], i;

	/* Each line is a copy of its own, with a NUL behind it. */
	for (i = 0; i < LINES; i++) {
		nl = len == 0 ? NULL : memchr(data, '\n', len);
		n[i] = nl == NULL ? len : (size_t)((uint8_t *)nl - data);
		if ((text = malloc(n[i] + 1)) == NULL)
			abort();
		if (n[i] > 0)
			memcpy(text, data, n[i]);
		text[n[i]] = '\0';
		line[i] = text;
		data += n[i] + (nl != NULL);
		len -= n[i] + (nl != NULL);
	}
	try_query(line[0], n[0]);
	try_names(line[1], n[1], line[2], n[2]);
	try_type(line[3], n[3], line[1]);
	try_range(line[4], line[5]);
	for (i = 0; i < LINES; i++)
		free(line[i]);
	return (0);
}
