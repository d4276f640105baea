#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "base/utf8.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define TRIES 100000

void
path_name(const char *s, char out[static PATH_NAME_SIZE])
{
	const char *slash = strrchr(s, '/');
	char clean[PATH_NAME_MAX + 4]; /* The cut looks past its place. */
	size_t n = 0, len;

	if (slash != NULL)
		s = slash + 1;
	for (; *s != '\0' && n < sizeof(clean) - 1; s++)
		if ((unsigned char)*s >= 0x20 && *s != 0x7f)
			clean[n++] = *s;
	clean[n] = '\0';
	len = utf8_cut(clean, n, PATH_NAME_MAX);
	if (len == 0) {
		(void)snprintf(out, PATH_NAME_SIZE, "file");
		return;
	}
	if (clean[0] == '.' || clean[0] == '-')
		clean[0] = '_';
	memcpy(out, clean, len);
	out[len] = '\0';
}

int
path_unique(const char *name, int (*taken)(void *, const char *), void *cookie,
    char out[static PATH_NAME_SIZE])
{
	const char *dot = strrchr(name, '.');
	size_t len = strlen(name), stem, tail, n;
	char suffix[16] = "";
	unsigned int i;
	int rc;

	/* An extension that leaves no room for a stem is none. */
	if (dot == NULL || len - (size_t)(dot - name) > PATH_NAME_MAX / 2)
		dot = name + len;
	tail = len - (size_t)(dot - name);
	for (i = 1; i <= TRIES; i++) {
		if (i > 1)
			(void)snprintf(suffix, sizeof(suffix), "_%u", i);
		stem = PATH_NAME_MAX - tail - strlen(suffix);
		n = utf8_cut(name, (size_t)(dot - name), stem);
		(void)snprintf(
		    out, PATH_NAME_SIZE, "%.*s%s%s", (int)n, name, suffix, dot);
		if ((rc = taken(cookie, out)) <= 0)
			return (rc);
	}
	return (-1);
}

/*
 * Extension and type.  The first row of an extension gives its type, the first
 * row of a type its extension.
 */
static const struct {
	const char *ext, *mime;
} types[] = {
    /* clang-format off */
	{ ".txt",	"text/plain" },
	{ ".log",	"text/plain" },
	{ ".csv",	"text/csv" },
	{ ".tsv",	"text/tab-separated-values" },
	{ ".md",	"text/markdown" },
	{ ".markdown",	"text/markdown" },
	{ ".html",	"text/html" },
	{ ".htm",	"text/html" },
	{ ".css",	"text/css" },
	{ ".js",	"text/javascript" },
	{ ".js",	"application/javascript" },
	{ ".mjs",	"text/javascript" },
	{ ".ts",	"text/x-typescript" },
	{ ".py",	"text/x-python" },
	{ ".c",		"text/x-c" },
	{ ".h",		"text/x-c" },
	{ ".cpp",	"text/x-c++" },
	{ ".cc",	"text/x-c++" },
	{ ".hpp",	"text/x-c++" },
	{ ".cs",	"text/x-csharp" },
	{ ".java",	"text/x-java" },
	{ ".go",	"text/x-golang" },
	{ ".rs",	"text/x-rust" },
	{ ".rb",	"text/x-ruby" },
	{ ".php",	"text/x-php" },
	{ ".pl",	"text/x-perl" },
	{ ".r",		"text/x-r" },
	{ ".tex",	"text/x-tex" },
	{ ".sh",	"application/x-sh" },
	{ ".ics",	"text/calendar" },
	{ ".vcf",	"text/vcard" },
	{ ".json",	"application/json" },
	{ ".jsonl",	"application/jsonl" },
	{ ".jsonl",	"application/x-ndjson" },
	{ ".ndjson",	"application/x-ndjson" },
	{ ".ipynb",	"application/x-ipynb+json" },
	{ ".geojson",	"application/geo+json" },
	{ ".xml",	"application/xml" },
	{ ".xml",	"text/xml" },
	{ ".yaml",	"application/yaml" },
	{ ".yml",	"application/yaml" },
	{ ".toml",	"application/toml" },
	{ ".sql",	"application/sql" },
	{ ".pdf",	"application/pdf" },
	{ ".rtf",	"application/rtf" },
	{ ".epub",	"application/epub+zip" },
	{ ".doc",	"application/msword" },
	{ ".docx",	"application/vnd.openxmlformats-officedocument."
			"wordprocessingml.document" },
	{ ".xls",	"application/vnd.ms-excel" },
	{ ".xlsx",	"application/vnd.openxmlformats-officedocument."
			"spreadsheetml.sheet" },
	{ ".ppt",	"application/vnd.ms-powerpoint" },
	{ ".pptx",	"application/vnd.openxmlformats-officedocument."
			"presentationml.presentation" },
	{ ".odt",	"application/vnd.oasis.opendocument.text" },
	{ ".ods",	"application/vnd.oasis.opendocument.spreadsheet" },
	{ ".odp",	"application/vnd.oasis.opendocument.presentation" },
	{ ".zip",	"application/zip" },
	{ ".tar",	"application/x-tar" },
	{ ".gz",	"application/gzip" },
	{ ".tgz",	"application/gzip" },
	{ ".bz2",	"application/x-bzip2" },
	{ ".xz",	"application/x-xz" },
	{ ".zst",	"application/zstd" },
	{ ".7z",	"application/x-7z-compressed" },
	{ ".parquet",	"application/vnd.apache.parquet" },
	{ ".sqlite",	"application/vnd.sqlite3" },
	{ ".wasm",	"application/wasm" },
	{ ".png",	"image/png" },
	{ ".jpg",	"image/jpeg" },
	{ ".jpeg",	"image/jpeg" },
	{ ".gif",	"image/gif" },
	{ ".webp",	"image/webp" },
	{ ".avif",	"image/avif" },
	{ ".heic",	"image/heic" },
	{ ".bmp",	"image/bmp" },
	{ ".tiff",	"image/tiff" },
	{ ".tif",	"image/tiff" },
	{ ".ico",	"image/vnd.microsoft.icon" },
	{ ".svg",	"image/svg+xml" },
	{ ".mp3",	"audio/mpeg" },
	{ ".wav",	"audio/wav" },
	{ ".wav",	"audio/x-wav" },
	{ ".ogg",	"audio/ogg" },
	{ ".oga",	"audio/ogg" },
	{ ".opus",	"audio/opus" },
	{ ".flac",	"audio/flac" },
	{ ".m4a",	"audio/mp4" },
	{ ".aac",	"audio/aac" },
	{ ".mp4",	"video/mp4" },
	{ ".m4v",	"video/mp4" },
	{ ".mov",	"video/quicktime" },
	{ ".avi",	"video/x-msvideo" },
	{ ".webm",	"video/webm" },
	{ ".mkv",	"video/x-matroska" },
	{ ".mpeg",	"video/mpeg" },
	{ ".ttf",	"font/ttf" },
	{ ".otf",	"font/otf" },
	{ ".woff",	"font/woff" },
	{ ".woff2",	"font/woff2" },
	{ ".bin",	"application/octet-stream" }
    /* clang-format on */
};

const char *
path_mime(const char *name)
{
	const char *dot = strrchr(name, '.');
	size_t i;

	if (dot == NULL)
		return (NULL);
	for (i = 0; i < NELEM(types); i++)
		if (strcasecmp(types[i].ext, dot) == 0)
			return (types[i].mime);
	return (NULL);
}

const char *
path_ext(const char *mime)
{
	size_t i, len = strcspn(mime, "; \t");

	for (i = 0; i < NELEM(types); i++)
		if (strlen(types[i].mime) == len &&
		    strncasecmp(types[i].mime, mime, len) == 0)
			return (types[i].ext);
	return ("");
}
