/*
 * Histories of any bytes that hold what this gateway put into its answers: what
 * a provider gets of them is JSON, and no run of ours is in it.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jspan.h"
#include "speech/unecho.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
result(void *cookie, const char *id, struct text *x, struct jspan *input)
{

	(void)cookie;
	if (id[0] != 's')
		return;
	*x = (struct text)TEXT_LIT("a \"b\"\n");
	if (input->len == 2)
		*input = (struct jspan){"{\"code\":\"1\"}", 12};
}

static void
messages(struct jspan root)
{
	struct buf b = BUF_INIT(64 << 20), again = BUF_INIT(64 << 20);
	struct jspan_info info;

	if (unecho_messages(&b, root, result, NULL) == 1) {
		if (jspan_check(b.p, b.len, 130, &info) != JSPAN_OK ||
		    unecho_messages(&again, info.root, result, NULL) != 0)
			abort();
	} else if (b.len != 0)
		abort();
	buf_free(&b);
	buf_free(&again);
}

static void
item(struct jspan root)
{
	struct buf b = BUF_INIT(64 << 20), whole = BUF_INIT(64 << 20);
	struct jspan_edit edit;
	struct jspan_info info;

	if (unecho_item(&b, root, &edit.at) == 1) {
		edit.text = (struct jspan){b.p != NULL ? b.p : "", b.len};
		if (jspan_splice(&whole, root, &edit, 1) ||
		    (whole.len > 0 &&
			jspan_check(whole.p, whole.len, 130, &info) !=
			    JSPAN_OK))
			abort();
	}
	buf_free(&b);
	buf_free(&whole);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jspan_info info;

	if (jspan_check((const char *)data, len, 128, &info) != JSPAN_OK)
		return (0);
	messages(info.root);
	item(info.root);
	return (0);
}
