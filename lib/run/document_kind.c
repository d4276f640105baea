#include <string.h>
#include <strings.h>

#include "base/charset.h"

#include "run/document_kind.h"
#include "run/document_way.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define OFFICE "application/vnd.openxmlformats-officedocument."
#define OASIS "application/vnd.oasis.opendocument."

/* Where a zip file's first entry has its name; and how that of OpenDocument
 * and EPUB, which holds the type, is called. */
#define ZIP_NAME 30
#define ZIP_TYPED "mimetype"

/* clang-format off */
static const struct {
	const char *bytes;
	size_t at, len;
	const char *type;
} signatures[] = {
	{ "%PDF-", 0, 5, "application/pdf" },
	{ "\x89PNG\r\n\x1a\n", 0, 8, "image/png" },
	{ "\xff\xd8\xff", 0, 3, "image/jpeg" },
	{ "GIF87a", 0, 6, "image/gif" },
	{ "GIF89a", 0, 6, "image/gif" },
	{ "WEBPVP8", 8, 7, "image/webp" },
	{ "II*\0", 0, 4, "image/tiff" },
	{ "MM\0*", 0, 4, "image/tiff" },
	{ "{\\rtf", 0, 5, "application/rtf" },
	{ "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0, 8, DOCUMENT_OLE },
};

/* The parts of Microsoft's that tell one from another. */
static const struct { const char *part, *type; } parts[] = {
	{ "word/document", OFFICE "wordprocessingml.document" },
	{ "xl/workbook.xml", OFFICE "spreadsheetml.sheet" },
	{ "ppt/presentation.xml", OFFICE "presentationml.presentation" },
};

/* What names end in, of what the bytes may not tell. */
static const struct { const char *ending, *type; } endings[] = {
	{ ".pdf", "application/pdf" },
	{ ".html", "text/html" }, { ".htm", "text/html" },
	{ ".rtf", "application/rtf" },
	{ ".epub", "application/epub+zip" },
	{ ".docx", OFFICE "wordprocessingml.document" },
	{ ".xlsx", OFFICE "spreadsheetml.sheet" },
	{ ".pptx", OFFICE "presentationml.presentation" },
	{ ".odt", OASIS "text" }, { ".ods", OASIS "spreadsheet" },
	{ ".odp", OASIS "presentation" },
};

/* Types of files that are no text: text that is called so is called wrongly. */
static const char *const binary[] = {
	"application/octet-stream", "application/zip", "audio/", "font/",
	"image/", "video/", "application/vnd.",
};
/* clang-format on */

int
document_is_type(const char *mime, const char *want)
{
	size_t len = strcspn(mime, "; ");

	return (strlen(want) == len && strncasecmp(mime, want, len) == 0);
}

int
document_is_zip(const char *p, size_t len)
{

	return (len >= 4 && memcmp(p, "PK", 2) == 0 &&
	    (p[2] == 3 || p[2] == 5) && p[3] == p[2] + 1);
}

/* OpenDocument and EPUB say it in their first entry. */
static const char *
typed_zip(const char *p, size_t len)
{
	const size_t at = ZIP_NAME + sizeof(ZIP_TYPED) - 1;
	const char *type;
	size_t i, n;

	if (len <= at || memcmp(p + ZIP_NAME, ZIP_TYPED, at - ZIP_NAME) != 0)
		return (NULL);
	for (i = 0; (type = document_way_type(i)) != NULL; i++) {
		n = strlen(type);
		if (len >= at + n + 2 && memcmp(p + at, type, n) == 0 &&
		    memcmp(p + at + n, "PK", 2) == 0)
			return (type);
	}
	return (NULL);
}

static const char *
zip_type(const struct document_facts *f)
{
	const char *type = typed_zip(f->head, f->head_len);
	size_t i, n;

	for (i = 0; type == NULL && i < NELEM(parts); i++) {
		n = strlen(parts[i].part);
		if (memmem(f->head, f->head_len, parts[i].part, n) != NULL ||
		    (f->tail_len > 0 &&
			memmem(f->tail, f->tail_len, parts[i].part, n) != NULL))
			type = parts[i].type;
	}
	return (type);
}

static const char *
signed_type(const struct document_facts *f)
{
	size_t i;

	if (document_is_zip(f->head, f->head_len))
		return (zip_type(f));
	for (i = 0; i < NELEM(signatures); i++)
		if (f->head_len >= signatures[i].at + signatures[i].len &&
		    memcmp(f->head + signatures[i].at, signatures[i].bytes,
			signatures[i].len) == 0)
			return (signatures[i].type);
	return (NULL);
}

/* One that a program reads, as it was said or as the name ends. */
static const char *
said_type(const struct document_facts *f)
{
	size_t i, len = strlen(f->name), n;
	const char *type;

	for (i = 0; (type = document_way_type(i)) != NULL; i++)
		if (document_is_type(f->mime, type))
			return (type);
	for (i = 0; i < NELEM(endings); i++) {
		n = strlen(endings[i].ending);
		if (len > n &&
		    strcasecmp(f->name + len - n, endings[i].ending) == 0)
			return (endings[i].type);
	}
	return (NULL);
}

static int
is_text(const struct document_facts *f)
{
	char name[CHARSET_SIZE];

	return (strncasecmp(f->mime, "text/", 5) == 0 ||
	    charset_of(f->mime, f->head, f->head_len, f->whole, name) !=
		CHARSET_NONE);
}

/* What text that is said to be of type ${mime} is. */
static const char *
text_type(const char *mime)
{
	size_t i, len = strcspn(mime, "; ");

	if (len > 4 && strncasecmp(mime + len - 4, "+xml", 4) == 0)
		return (mime);
	if (len > 5 && strncasecmp(mime + len - 5, "+json", 5) == 0)
		return (mime);
	for (i = 0; i < NELEM(binary); i++)
		if (strncasecmp(mime, binary[i], strlen(binary[i])) == 0)
			return ("text/plain");
	return (mime);
}

struct document_kind
document_kind(const struct document_facts *f)
{
	struct document_kind k = {signed_type(f), 0};

	if (k.type == NULL)
		k.type = said_type(f);
	if (k.type != NULL)
		return (k);
	k.text = is_text(f);
	k.type = k.text ? text_type(f->mime) : f->mime;
	return (k);
}
