#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/conf.h"

#include "run/document.h"
#include "run/document_kind.h"
#include "run/document_way.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define OFFICE "application/vnd.openxmlformats-officedocument."
#define OASIS "application/vnd.oasis.opendocument."
#define PANDOC(form) "pandoc -f " form " -t gfm --wrap=none in." form

/* lib/run/read_*.py */
extern const char document_readers[];

/* The text of a PDF; of one that has none, what its first pages look like. */
#define PDF                                                             \
	"pdftotext -layout in.pdf out.txt 2>err.txt || rc=$?\n"         \
	"if [ ${rc:-0} -ne 0 ]; then cat err.txt >&2\n"                 \
	"grep -q 'Incorrect password' err.txt && exit 65; exit $rc\n"   \
	"elif grep -q '[^[:space:]]' out.txt; then cat out.txt\n"       \
	"else pdftoppm -q -r 150 -gray -l 20 in.pdf page || exit\n"     \
	"command -v tesseract >&2 || exit 127\n"                        \
	"for i in page*.pgm; do tesseract \"$i\" - 2>/dev/null; done\n" \
	"fi"

#define HTML                                          \
	"iconv -c -f \"$charset\" -t UTF-8 in.html |" \
	" sed '1s/^\\xef\\xbb\\xbf//' >out.html\n"    \
	"pandoc -f html -t gfm --wrap=none out.html"

/* clang-format off */
static const struct document_way ways[] = {
	{ "application/pdf", "pdf", NULL, PDF, 0 },
	{ "text/html", "html", NULL, HTML, 1 },
	{ "application/xhtml+xml", "html", NULL, HTML, 1 },
	{ "text/rtf", "rtf", NULL, PANDOC("rtf"), 0 },
	{ "application/rtf", "rtf", NULL, PANDOC("rtf"), 0 },
	{ "application/epub+zip", "epub", NULL, PANDOC("epub"), 0 },
	{ OFFICE "wordprocessingml.document", "docx", "docx", NULL, 0 },
	{ OFFICE "spreadsheetml.sheet", "xlsx", "xlsx", NULL, 0 },
	{ OFFICE "presentationml.presentation", "pptx", "pptx", NULL, 0 },
	{ OASIS "text", "odt", "odt", NULL, 0 },
	{ OASIS "spreadsheet", "ods", "ods", NULL, 0 },
	{ OASIS "presentation", "odp", "odp", NULL, 0 },
	{ DOCUMENT_OLE, "ole", "ole", NULL, 0 },
	{ "image/png", "png", "image", NULL, 0 },
	{ "image/jpeg", "jpg", "image", NULL, 0 },
	{ "image/gif", "gif", "image", NULL, 0 },
	{ "image/webp", "webp", "image", NULL, 0 },
	{ "image/tiff", "tif", "image", NULL, 0 },
};
/* clang-format on */

static const struct document_way plain = {"text/plain", "txt", NULL, NULL, 0};

/* What a model with eyes is shown of a PDF that was scanned. */
#define PAGES                                        \
	"pdftotext -q in.pdf out.txt; "              \
	"if ! grep -q '[^[:space:]]' out.txt; then " \
	"pdftoppm -q -r 100 -png -l 10 in.pdf page && ls page*.png; fi"

const struct document_way document_way_pages = {
    "application/pdf", "pdf", NULL, PAGES, 0};

const char *
document_way_type(size_t i)
{

	return (i < NELEM(ways) ? ways[i].mime : NULL);
}

/* A line "TYPE COMMAND" of the configuration. */
static int
of_setting(const char *line, const char *mime, struct document_way *w)
{
	size_t len = strcspn(line, " ");

	if (line[len] == '\0' || strncasecmp(line, mime, len) != 0 ||
	    strchr("; ", mime[len]) == NULL)
		return (0);
	*w = (struct document_way){"", "", NULL, line + len + 1, 0};
	return (1);
}

int
document_way(
    const struct conf *c, const struct document *d, struct document_way *way)
{
	char **line;
	size_t i;

	for (line = c->converters; line != NULL && *line != NULL; line++)
		if (of_setting(*line, d->mime, way) ||
		    of_setting(*line, d->type, way))
			return (0);
	for (i = 0; i < NELEM(ways); i++)
		if (!d->text && document_is_type(d->type, ways[i].mime)) {
			*way = ways[i];
			return (0);
		}
	*way = plain;
	return (d->text ? 0 : -1);
}

int
document_way_put(struct buf *b, const struct document_way *w,
    const char *charset, size_t max)
{

	if (w->reader != NULL)
		return (buf_printf(b, "python3 - %s in.%s %zu <<'END'\n%sEND\n",
		    w->reader, w->ending, max, document_readers));
	if (w->charset && charset != NULL)
		buf_printf(b, "charset=%s\n", charset);
	return (buf_puts(b, w->command));
}
