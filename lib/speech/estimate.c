#include <string.h>

#include "speech/estimate.h"
#include "speech/talk.h"

#define FRAME 4     /* Tokens around each message. */
#define MEDIA 1500  /* Of an image, or of a page or two. */
#define PER_TOKEN 4 /* Bytes. */

static size_t
bytes_of_tools(const struct talk *t)
{
	const struct tool *x;
	size_t n = 0;
	int i;

	for (x = t->tools; x != NULL; x = x->next)
		n += strlen(x->name) + x->description.len + x->schema.len;
	for (i = 0; i < OUR_COUNT; i++)
		if (t->our_name[i] != NULL)
			n += strlen(our_rows[i].name) +
			    talk_our_words(t, (enum our_tool)i).len +
			    strlen(our_rows[i].schema);
	return (n);
}

uint64_t
estimate_tokens(const struct talk *t)
{
	size_t bytes = t->system.len + t->format.len + bytes_of_tools(t);
	uint64_t n = FRAME + (t->system.len > 0 ? FRAME : 0);
	const struct turn *u;
	const struct part *p;

	for (u = t->first; u != NULL; u = u->next) {
		n += FRAME;
		for (p = u->first; p != NULL; p = p->next) {
			bytes += p->text.len;
			if (p->media != NULL)
				n += MEDIA;
		}
	}
	return (n + (bytes + PER_TOKEN - 1) / PER_TOKEN);
}
