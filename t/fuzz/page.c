/*
 * Page tokens: whatever is accepted is written back as the very same text, so
 * that one place has one token, and its id is one that files can have.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "speech/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *in, out[PAGE_TOKENMAX];
	struct file_pos pos;
	int ascending;

	if ((in = malloc(len + 6)) == NULL)
		return (0);
	(void)snprintf(in, 6, "page_");
	memcpy(in + 5, data, len);
	in[len + 5] = '\0';
	if (page_read(in, &pos, &ascending) == 0) {
		page_write(&pos, ascending, out);
		if (strcmp(in, out) != 0 || pos.id[0] == '\0' ||
		    strpbrk(pos.id, "%'\"\\ ") != NULL)
			abort();
	}
	free(in);
	return (0);
}
