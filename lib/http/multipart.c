#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "http/multipart.h"
#include "http/multipart_head.h"
#include "http/param.h"

enum state {
	AT_DATA,  /* Looking for a delimiter, in a part or before all. */
	AT_DELIM, /* Behind CRLF--boundary; the next byte says if it is one. */
	AT_DASH,  /* Behind that and one '-'. */
	AT_PADDING, /* In the space after a delimiter. */
	AT_CR,      /* Behind the CR that ends a delimiter's line. */
	AT_HEAD,    /* In a part's header. */
	AT_CLOSED,  /* Behind the closing delimiter. */
	AT_EPILOGUE /* In what is ignored. */
};

struct multipart {
	struct multipart_cb cb;
	enum multipart_rc rc;
	enum state state;
	int fed; /* Something came. */

	/*
	 * CR LF - - boundary.  Of what may become a delimiter only the number
	 * of bytes is kept: they are delim's own.  Its CR is found nowhere else
	 * in it, so after a mismatch nothing before the new byte counts again.
	 */
	char delim[4 + MULTIPART_BOUNDARY_MAX];
	size_t delim_len;
	size_t matched; /* Bytes of delim seen. */
	size_t implied; /* Of those, bytes that were not sent. */

	int in_part;
	unsigned int parts;
	size_t ignored; /* Bytes outside of parts. */
	struct multipart_head head;
};

/* Pass over ${len} bytes outside of parts. */
static void
ignore(struct multipart *M, size_t len)
{

	M->ignored += len;
	if (M->ignored > MULTIPART_IGNORED_MAX && M->rc == MULTIPART_OK)
		M->rc = MULTIPART_IGNORED;
}

/* Hand on a part's bytes; what is outside of a part is ignored. */
static void
emit(struct multipart *M, const char *p, size_t len)
{

	if (!M->in_part)
		ignore(M, len);
	if (len == 0 || !M->in_part || M->rc != MULTIPART_OK)
		return;
	if (M->cb.data(M->cb.cookie, p, len))
		M->rc = MULTIPART_STOP;
}

/*
 * Begin to look for a delimiter.  At the start of the body and of each part the
 * CRLF before it has been read already, or was never needed.
 */
static void
begin_data(struct multipart *M)
{

	M->state = AT_DATA;
	M->matched = M->implied = 2;
}

/* What was taken for a delimiter is data. */
static void
release(struct multipart *M)
{

	emit(M, M->delim + M->implied, M->matched - M->implied);
	M->matched = M->implied = 0;
	M->state = AT_DATA;
}

/* What was taken for a delimiter is one. */
static void
end_part(struct multipart *M, enum state next)
{

	if (M->in_part && M->cb.end(M->cb.cookie))
		M->rc = MULTIPART_STOP;
	M->in_part = 0;
	M->state = next;
}

static const char *
read_data(struct multipart *M, const char *p, const char *end)
{
	const char *cr, *from;
	size_t n;

	if (M->matched > 0) {
		while (p < end && M->matched < M->delim_len &&
		    *p == M->delim[M->matched]) {
			M->matched++;
			p++;
		}
		if (M->matched == M->delim_len)
			M->state = AT_DELIM;
		if (M->matched == M->delim_len || p == end)
			return (p);
		release(M);
	}

	for (from = p; p < end; p = cr + 1) {
		if ((cr = memchr(p, '\r', (size_t)(end - p))) == NULL)
			break;
		n = (size_t)(end - cr);
		if (n > M->delim_len)
			n = M->delim_len;
		if ((n > 2 && cr[2] != '-') || memcmp(cr, M->delim, n) != 0)
			continue;
		emit(M, from, (size_t)(cr - from));
		M->matched = n;
		if (n == M->delim_len)
			M->state = AT_DELIM;
		return (cr + n);
	}
	emit(M, from, (size_t)(end - from));
	return (end);
}

/*
 * One byte behind a delimiter.  A line that goes on differently is data: the
 * boundary may be short and a file may hold lines that begin like it.
 */
static const char *
read_delim(struct multipart *M, const char *p)
{

	switch (*p) {
	case '-':
		M->state = AT_DASH;
		return (p + 1);
	case '\r':
	case ' ':
	case '\t':
		end_part(M, AT_PADDING);
		return (p);
	case '\n':
		M->rc = MULTIPART_MALFORMED;
		return (p);
	default:
		release(M);
		return (p);
	}
}

static const char *
read_dash(struct multipart *M, const char *p)
{

	if (*p == '-') {
		end_part(M, AT_CLOSED);
		return (p + 1);
	}
	release(M);
	emit(M, "-", 1);
	return (p);
}

/* Space and one line end, then ${next}. */
static const char *
read_padding(struct multipart *M, const char *p)
{

	if (*p == '\r')
		M->state = AT_CR;
	else if (*p != ' ' && *p != '\t')
		M->rc = MULTIPART_MALFORMED;
	ignore(M, 1);
	return (p + 1);
}

static const char *
read_cr(struct multipart *M, const char *p)
{

	if (*p != '\n')
		M->rc = MULTIPART_MALFORMED;
	else if (M->parts++ == M->cb.parts)
		M->rc = MULTIPART_PARTS;
	multipart_head_reset(&M->head);
	M->state = AT_HEAD;
	return (p + 1);
}

static const char *
read_head(struct multipart *M, const char *p, const char *end)
{
	struct multipart_part part;
	size_t n;
	int whole;

	M->rc = multipart_head_feed(&M->head, p, (size_t)(end - p), &n, &whole);
	if (M->rc == MULTIPART_OK && whole) {
		M->rc = multipart_head_parse(&M->head, &part);
		if (M->rc == MULTIPART_OK && M->cb.begin(M->cb.cookie, &part))
			M->rc = MULTIPART_STOP;
		M->in_part = 1;
		begin_data(M);
	}
	return (p + n);
}

static const char *
read_closed(struct multipart *M, const char *p)
{

	if (*p == '\r' || *p == '\n')
		M->state = AT_EPILOGUE;
	else if (*p != ' ' && *p != '\t')
		M->rc = MULTIPART_MALFORMED;
	ignore(M, 1);
	return (p + 1);
}

enum multipart_rc
multipart_feed(struct multipart *M, const char *p, size_t len)
{
	const char *end = p + len;

	if (len > 0)
		M->fed = 1;
	while (p < end && M->rc == MULTIPART_OK) {
		switch (M->state) {
		case AT_DATA:
			p = read_data(M, p, end);
			break;
		case AT_DELIM:
			p = read_delim(M, p);
			break;
		case AT_DASH:
			p = read_dash(M, p);
			break;
		case AT_PADDING:
			p = read_padding(M, p);
			break;
		case AT_CR:
			p = read_cr(M, p);
			break;
		case AT_HEAD:
			p = read_head(M, p, end);
			break;
		case AT_CLOSED:
			p = read_closed(M, p);
			break;
		case AT_EPILOGUE:
			ignore(M, (size_t)(end - p));
			p = end;
			break;
		}
	}
	return (M->rc);
}

enum multipart_rc
multipart_end(struct multipart *M)
{

	if (M->rc != MULTIPART_OK)
		return (M->rc);
	if (!M->fed)
		return (M->rc = MULTIPART_EMPTY);
	if (M->state != AT_CLOSED && M->state != AT_EPILOGUE)
		return (M->rc = MULTIPART_INCOMPLETE);
	return (MULTIPART_OK);
}

/* Take the boundary from the parameters ${p} of the Content-Type. */
static enum multipart_rc
find_boundary(struct multipart *M, const char *p)
{
	const char *end = p + strlen(p);
	struct buf b = BUF_INIT(MULTIPART_BOUNDARY_MAX);
	enum multipart_rc rc = MULTIPART_BOUNDARY;
	enum param_rc prc;
	struct param param;
	size_t i;

	while ((prc = param_next(&p, end, &param)) == PARAM_OK) {
		if (!param_is(&param, "boundary"))
			continue;
		if (b.p != NULL || param_value(&b, &param))
			goto done;
	}
	if (prc != PARAM_END || b.len == 0 || b.p[b.len - 1] == ' ')
		goto done;
	for (i = 0; i < b.len; i++)
		if (b.p[i] < 0x20 || b.p[i] > 0x7e)
			goto done;
	memcpy(M->delim, "\r\n--", 4);
	memcpy(M->delim + 4, b.p, b.len);
	M->delim_len = 4 + b.len;
	rc = MULTIPART_OK;

done:
	buf_free(&b);
	return (rc);
}

enum multipart_rc
multipart_new(
    const char *type, const struct multipart_cb *cb, struct multipart **MP)
{
	static const char want[] = "multipart/form-data";
	struct multipart *M;
	enum multipart_rc rc;

	*MP = NULL;
	if (type == NULL)
		return (MULTIPART_TYPE);
	type += strspn(type, " \t");
	if (strncasecmp(type, want, sizeof(want) - 1) != 0)
		return (MULTIPART_TYPE);
	type += sizeof(want) - 1;
	if (*type != '\0' && strchr("; \t", *type) == NULL)
		return (MULTIPART_TYPE);

	if ((M = calloc(1, sizeof(*M))) == NULL)
		return (MULTIPART_MEMORY);
	M->cb = *cb;
	if (M->cb.parts == 0)
		M->cb.parts = MULTIPART_PARTS_MAX;
	begin_data(M);
	multipart_head_init(&M->head);
	if ((rc = find_boundary(M, type)) != MULTIPART_OK) {
		multipart_free(M);
		return (rc);
	}
	*MP = M;
	return (MULTIPART_OK);
}

void
multipart_free(struct multipart *M)
{

	if (M == NULL)
		return;
	multipart_head_free(&M->head);
	free(M);
}

const char *
multipart_text(enum multipart_rc rc)
{
	static const char *const text[] = {
	    [MULTIPART_OK] = "the body is whole",
	    [MULTIPART_STOP] = "reading was stopped",
	    [MULTIPART_TYPE] = "the body must be multipart/form-data",
	    [MULTIPART_BOUNDARY] =
		"the Content-Type header must name a boundary of 1 to 70 "
		"characters",
	    [MULTIPART_MALFORMED] =
		"the body is not well-formed multipart/form-data",
	    [MULTIPART_NAME_BREAK] =
		"a quoted name in a part header holds a line break or does "
		"not end",
	    [MULTIPART_ENCODING] =
		"Content-Transfer-Encoding must be 7bit, 8bit or binary",
	    [MULTIPART_HEADER_BIG] = "a part header is over 16384 bytes",
	    [MULTIPART_PARTS] = "the body has more than 32 parts",
	    [MULTIPART_IGNORED] =
		"the body has more than 65536 bytes outside of its parts",
	    [MULTIPART_EMPTY] = "the body is empty",
	    [MULTIPART_INCOMPLETE] =
		"the body ends before its closing boundary",
	    [MULTIPART_MEMORY] = "out of memory",
	};

	return (text[rc]);
}
