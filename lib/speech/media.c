#include <string.h>
#include <strings.h>

#include "base/arena.h"

#include "speech/media.h"
#include "speech/talk.h"

#define MIME_MAX 255
#define URL_MAX 8192

static int
begins(struct text x, const char *s)
{
	size_t len = strlen(s);

	return (x.len >= len && strncasecmp(x.p, s, len) == 0);
}

/* "data:TYPE;PARAMETERS;base64,DATA"; of the parameters, a charset counts. */
static int
data_url(struct arena *mem, struct text url, struct media *m)
{
	static const char mark[] = ";base64";
	const char *comma = memchr(url.p, ',', url.len);
	const size_t lead = strlen("data:"), tail = sizeof(mark) - 1;
	size_t head, len;

	if (comma == NULL)
		return (1);
	head = (size_t)(comma - url.p);
	if (head < lead + tail || strncasecmp(comma - tail, mark, tail) != 0)
		return (1);
	for (len = 0; lead + len < head - tail; len++)
		if (url.p[lead + len] <= 0x20 || url.p[lead + len] >= 0x7f ||
		    len == MIME_MAX)
			return (1);
	if (len > 0 &&
	    (m->mime = arena_strndup(mem, url.p + lead, len)) == NULL)
		return (-1);
	m->data = (struct text){comma + 1, url.len - head - 1};
	return (0);
}

int
media_url(struct arena *mem, struct text url, struct media *m)
{

	if (begins(url, "data:"))
		return (data_url(mem, url, m));
	if ((!begins(url, "http://") && !begins(url, "https://")) ||
	    url.len > URL_MAX || memchr(url.p, '\0', url.len) != NULL)
		return (1);
	m->url = url;
	return (0);
}

int
media_file_data(struct arena *mem, struct text data, struct media *m)
{

	if (begins(data, "data:"))
		return (data_url(mem, data, m));
	m->data = data;
	return (0);
}
