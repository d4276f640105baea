#include <string.h>
#include <strings.h>

#include "base/conf.h"

#include "run/document_way.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define OFFICE "application/vnd.openxmlformats-officedocument."
#define OASIS "application/vnd.oasis.opendocument."
#define PANDOC(form) "pandoc -f " form " -t gfm --wrap=none in." form

/* The text of a PDF; of one that has none, what its first pages look like. */
#define PDF                                                       \
	"pdftotext -layout -q in.pdf out.txt; "                   \
	"if grep -q '[^[:space:]]' out.txt; then cat out.txt; "   \
	"else pdftoppm -q -r 150 -gray -l 20 in.pdf page && "     \
	"for i in page*.pgm; do tesseract \"$i\" - 2>/dev/null; " \
	"done; fi"

/* Each sheet as CSV, under its name. */
#define XLSX                                                            \
	"python3 - <<'END'\n"                                           \
	"import csv, sys, openpyxl\n"                                   \
	"book = openpyxl.load_workbook('in.xlsx', read_only=True,"      \
	" data_only=True)\n"                                            \
	"out = csv.writer(sys.stdout, lineterminator='\\n')\n"          \
	"for sheet in book.worksheets:\n"                               \
	"    print('## ' + sheet.title)\n"                              \
	"    for row in sheet.iter_rows(values_only=True):\n"           \
	"        out.writerow(['' if v is None else v for v in row])\n" \
	"END\n"

/* Each slide's paragraphs, under its number. */
#define PPTX                                                              \
	"python3 - <<'END'\n"                                             \
	"import re, zipfile\n"                                            \
	"import xml.etree.ElementTree as tree\n"                          \
	"a = '{http://schemas.openxmlformats.org/drawingml/2006/main}'\n" \
	"deck = zipfile.ZipFile('in.pptx')\n"                             \
	"slides = [(int(m.group(1)), m.group(0)) for m in map(\n"         \
	"    re.compile(r'ppt/slides/slide(\\d+)\\.xml').fullmatch,\n"    \
	"    deck.namelist()) if m]\n"                                    \
	"for number, name in sorted(slides):\n"                           \
	"    print('## Slide', number)\n"                                 \
	"    for p in tree.fromstring(deck.read(name)).iter(a + 'p'):\n"  \
	"        line = ''.join(t.text or '' for t in p.iter(a + 't'))\n" \
	"        if line:\n"                                              \
	"            print(line)\n"                                       \
	"END\n"

/* clang-format off */
static const struct document_way ways[] = {
	{ "application/pdf", "pdf", PDF },
	{ "text/html", "html", PANDOC("html") },
	{ "application/xhtml+xml", "html", PANDOC("html") },
	{ "text/rtf", "rtf", PANDOC("rtf") },
	{ "application/rtf", "rtf", PANDOC("rtf") },
	{ "application/epub+zip", "epub", PANDOC("epub") },
	{ OFFICE "wordprocessingml.document", "docx", PANDOC("docx") },
	{ OFFICE "spreadsheetml.sheet", "xlsx", XLSX },
	{ OFFICE "presentationml.presentation", "pptx", PPTX },
	{ OASIS "text", "odt", PANDOC("odt") },
	{ "image/png", "png", "tesseract in.png - 2>/dev/null" },
	{ "image/jpeg", "jpg", "tesseract in.jpg - 2>/dev/null" },
	{ "image/gif", "gif", "tesseract in.gif - 2>/dev/null" },
	{ "image/webp", "webp", "tesseract in.webp - 2>/dev/null" },
	{ "image/tiff", "tif", "tesseract in.tif - 2>/dev/null" },
	{ "application/json", "json", NULL },
	{ "application/x-ndjson", "json", NULL },
	{ "application/xml", "xml", NULL },
	{ "application/yaml", "yaml", NULL },
	{ "application/x-yaml", "yaml", NULL },
	{ "application/toml", "toml", NULL },
	{ "application/javascript", "js", NULL },
	{ "application/sql", "sql", NULL },
	{ "application/x-sh", "sh", NULL },
};

/* Types that clients make up, or do not know, by what the name ends in. */
static const struct { const char *ending, *mime; } endings[] = {
	{ ".pdf", "application/pdf" }, { ".html", "text/html" },
	{ ".htm", "text/html" }, { ".rtf", "text/rtf" },
	{ ".epub", "application/epub+zip" },
	{ ".docx", OFFICE "wordprocessingml.document" },
	{ ".xlsx", OFFICE "spreadsheetml.sheet" },
	{ ".pptx", OFFICE "presentationml.presentation" },
	{ ".odt", OASIS "text" },
	{ ".txt", "text/plain" }, { ".md", "text/plain" },
	{ ".csv", "text/csv" }, { ".tsv", "text/plain" },
	{ ".json", "application/json" }, { ".jsonl", "application/json" },
	{ ".xml", "application/xml" }, { ".yaml", "application/yaml" },
	{ ".yml", "application/yaml" }, { ".toml", "application/toml" },
	{ ".ini", "text/plain" }, { ".log", "text/plain" },
	{ ".py", "text/plain" }, { ".js", "text/plain" },
	{ ".ts", "text/plain" }, { ".c", "text/plain" },
	{ ".h", "text/plain" }, { ".cpp", "text/plain" },
	{ ".rs", "text/plain" }, { ".go", "text/plain" },
	{ ".java", "text/plain" }, { ".sh", "text/plain" },
	{ ".sql", "text/plain" }, { ".css", "text/plain" },
	{ ".tex", "text/plain" }, { ".r", "text/plain" },
};

static const struct document_way plain = { "text/plain", "txt", NULL };
/* clang-format on */

/* What a model with eyes is shown of a PDF that was scanned. */
#define PAGES                                        \
	"pdftotext -q in.pdf out.txt; "              \
	"if ! grep -q '[^[:space:]]' out.txt; then " \
	"pdftoppm -q -r 100 -png -l 10 in.pdf page && ls page*.png; fi"

const struct document_way document_way_pages = {
    "application/pdf", "pdf", PAGES};

/* Is the media type ${s}, its parameters aside, ${want}? */
static int
is_type(const char *s, const char *want)
{
	size_t len = strcspn(s, "; ");

	return (strlen(want) == len && strncasecmp(s, want, len) == 0);
}

static const struct document_way *
of_type(const char *mime)
{
	size_t i;

	for (i = 0; i < NELEM(ways); i++)
		if (is_type(mime, ways[i].mime))
			return (&ways[i]);
	return (strncasecmp(mime, "text/", 5) == 0 ? &plain : NULL);
}

static const char *
type_of_name(const char *name)
{
	size_t i, len = strlen(name), n;

	for (i = 0; i < NELEM(endings); i++) {
		n = strlen(endings[i].ending);
		if (len > n &&
		    strcasecmp(name + len - n, endings[i].ending) == 0)
			return (endings[i].mime);
	}
	return (NULL);
}

const char *
document_type(const char *mime, const char *name)
{
	const struct document_way *w = of_type(mime);
	const char *known = type_of_name(name);

	return ((w == NULL || w == &plain) && known != NULL ? known : mime);
}

/* A line "TYPE COMMAND" of the configuration. */
static int
of_setting(const char *line, const char *mime, struct document_way *w)
{
	size_t len = strcspn(line, " ");

	if (line[len] == '\0' || strncasecmp(line, mime, len) != 0 ||
	    strchr("; ", mime[len]) == NULL)
		return (0);
	*w = (struct document_way){"", "", line + len + 1};
	return (1);
}

int
document_way(const struct conf *c, const char *mime, const char *name,
    struct document_way *way)
{
	const struct document_way *w;
	char **line;

	mime = document_type(mime, name);
	for (line = c->converters; line != NULL && *line != NULL; line++)
		if (of_setting(*line, mime, way))
			return (0);
	if ((w = of_type(mime)) == NULL)
		return (-1);
	*way = *w;
	return (0);
}
