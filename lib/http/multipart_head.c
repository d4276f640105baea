#include <string.h>
#include <strings.h>

#include "http/multipart_head.h"
#include "http/param.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

void
multipart_head_init(struct multipart_head *H)
{

	H->len = H->line = 0;
	H->name = (struct buf)BUF_INIT(MULTIPART_HEADER_MAX);
	H->filename = H->ext = H->type = H->name;
}

void
multipart_head_free(struct multipart_head *H)
{

	buf_free(&H->name);
	buf_free(&H->filename);
	buf_free(&H->ext);
	buf_free(&H->type);
}

void
multipart_head_reset(struct multipart_head *H)
{

	multipart_head_free(H);
	H->len = H->line = 0;
}

enum multipart_rc
multipart_head_feed(struct multipart_head *H, const char *p, size_t len,
    size_t *used, int *whole)
{
	const char *nl;
	size_t n, line;

	*used = 0;
	*whole = 0;
	while (*used < len && !*whole) {
		nl = memchr(p + *used, '\n', len - *used);
		n = nl == NULL ? len - *used : (size_t)(nl - p) + 1 - *used;
		if (n > sizeof(H->text) - H->len)
			return (MULTIPART_HEADER_BIG);
		memcpy(H->text + H->len, p + *used, n);
		H->len += n;
		*used += n;
		if (nl == NULL)
			break;
		line = H->len - H->line;
		if (line == 1 || (line == 2 && H->text[H->line] == '\r'))
			*whole = 1;
		else
			H->line = H->len;
	}
	return (MULTIPART_OK);
}

/* Keep ${param} in ${b}, once. */
static enum multipart_rc
keep(struct buf *b, const struct param *param)
{

	if (b->p != NULL)
		return (MULTIPART_MALFORMED);
	if (param_value(b, param))
		return (MULTIPART_MEMORY);
	return (MULTIPART_OK);
}

static enum multipart_rc
one_param(struct multipart_head *H, const struct param *param)
{

	if (param_is(param, "name"))
		return (keep(&H->name, param));
	if (param_is(param, "filename"))
		return (keep(&H->filename, param));

	/* RFC 8187 knows no quotes here; with them it is not valid. */
	if (param_is(param, "filename*") && !param->quoted)
		return (keep(&H->ext, param));
	return (MULTIPART_OK);
}

static enum multipart_rc
disposition(struct multipart_head *H, const char *s, size_t len)
{
	static const char want[] = "form-data";
	const char *end = s + len;
	enum multipart_rc rc;
	struct param param;

	if (H->name.p != NULL || param_token(s, len) != sizeof(want) - 1 ||
	    strncasecmp(s, want, sizeof(want) - 1) != 0)
		return (MULTIPART_MALFORMED);
	for (s += sizeof(want) - 1;;) {
		switch (param_next(&s, end, &param)) {
		case PARAM_OK:
			if ((rc = one_param(H, &param)) != MULTIPART_OK)
				return (rc);
			break;
		case PARAM_END:
			if (H->name.p == NULL ||
			    strlen(H->name.p) != H->name.len)
				return (MULTIPART_MALFORMED);
			return (MULTIPART_OK);
		case PARAM_BROKEN:
			return (MULTIPART_MALFORMED);
		case PARAM_OPEN:
			return (MULTIPART_NAME_BREAK);
		}
	}
}

static enum multipart_rc
content_type(struct multipart_head *H, const char *s, size_t len)
{

	if (H->type.p != NULL)
		return (MULTIPART_MALFORMED);
	return (buf_put(&H->type, s, len) ? MULTIPART_MEMORY : MULTIPART_OK);
}

static enum multipart_rc
encoding(struct multipart_head *H, const char *s, size_t len)
{
	static const char *const plain[] = {"7bit", "8bit", "binary"};
	size_t i;

	(void)H;
	for (i = 0; i < NELEM(plain); i++)
		if (len == strlen(plain[i]) &&
		    strncasecmp(s, plain[i], len) == 0)
			return (MULTIPART_OK);
	return (MULTIPART_ENCODING);
}

static const struct {
	const char *name;
	enum multipart_rc (*read)(
	    struct multipart_head *, const char *, size_t);
} fields[] = {
    {"content-disposition", disposition},
    {"content-type", content_type},
    {"content-transfer-encoding", encoding},
};

/* One line without its end. */
static enum multipart_rc
one_line(struct multipart_head *H, const char *s, size_t len)
{
	size_t i, name = param_token(s, len), at;
	enum multipart_rc rc = MULTIPART_OK;

	/* A line that begins with space goes on with the one before. */
	if (name == 0 || name == len || s[name] != ':')
		return (MULTIPART_MALFORMED);
	for (at = name + 1; at < len && (s[at] == ' ' || s[at] == '\t');)
		at++;
	while (len > at && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	for (i = 0; i < NELEM(fields); i++)
		if (strlen(fields[i].name) == name &&
		    strncasecmp(s, fields[i].name, name) == 0)
			rc = fields[i].read(H, s + at, len - at);
	if (rc == MULTIPART_OK && memchr(s, '\r', len) != NULL)
		rc = MULTIPART_MALFORMED;
	return (rc);
}

enum multipart_rc
multipart_head_parse(struct multipart_head *H, struct multipart_part *part)
{
	const char *s = H->text, *end = H->text + H->line, *nl;
	enum multipart_rc rc;
	size_t len;

	for (; s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		len = (size_t)(nl - s);
		if (len > 0 && s[len - 1] == '\r')
			len--;
		if ((rc = one_line(H, s, len)) != MULTIPART_OK)
			return (rc);
	}
	if (H->name.p == NULL)
		return (MULTIPART_MALFORMED);
	part->name = H->name.p;
	part->filename = H->filename.p;
	part->filename_len = H->filename.len;
	part->filename_ext = H->ext.p;
	part->filename_ext_len = H->ext.len;
	part->type = H->type.p;
	part->type_len = H->type.len;
	return (MULTIPART_OK);
}
