/*
 * The client's side of the extensions "run", "manifest" and "calls" by hand:
 *	program [-c] [-e NAME=VALUE] [-i PATH=SHA256[,r]] [-o BYTES]
 *	    URL LANGUAGE SOURCE [ARG ...]
 * makes a session, puts a file in.txt that holds "in\n" into it, runs the
 * program, and prints what came of it, a line each.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"

#include "io/sandbox_client.h"

#define MANY 8

static ssize_t
read_in(void *cookie, uint64_t off, void *p, size_t len)
{
	static const char text[] = "in\n";

	(void)cookie;
	if (len > sizeof(text) - 1 - off)
		len = sizeof(text) - 1 - off;
	memcpy(p, text + off, len);
	return ((ssize_t)len);
}

static void
print(enum sandbox_rc rc, const struct sandbox_ran *r)
{
	static const char states[] = {[SANDBOX_NEW] = '+',
	    [SANDBOX_CHANGED] = '!',
	    [SANDBOX_DELETED] = '-'};
	size_t i;

	printf("rc %d\n", rc);
	if (r->why != NULL)
		printf("why %s\n", r->why);
	if (rc != SANDBOX_OK)
		return;
	printf("out %s\nerr %s\ncode %d\n", r->res.out, r->res.err,
	    r->res.return_code);
	printf("end %d signal %d compiling %d dropped %ju %ju\n", r->end,
	    r->signal, r->compiling, (uintmax_t)r->res.out_gap.bytes,
	    (uintmax_t)r->res.err_gap.bytes);
	if (r->note != NULL)
		printf("note %s", r->note);
	if (r->broken != NULL)
		printf("broken %s\n", r->broken);
	for (i = 0; i < r->ncalls; i++)
		printf("call %.*s\n", (int)r->call[i].len, r->call[i].p);
	for (i = 0; i < r->nchanges; i++)
		printf("%c %s %ju %s\n", states[r->change[i].state],
		    r->change[i].path, (uintmax_t)r->change[i].bytes,
		    r->change[i].sha256);
}

int
main(int argc, char **argv)
{
	struct sandbox s = {.gone_fd = -1};
	struct sandbox_program p = {.timeout_s = 20};
	struct sandbox_input in[MANY];
	const char *env[2 * MANY];
	char id[SANDBOX_IDMAX + 1], *at;
	struct arena *mem = arena_new(1 << 24);
	struct sandbox_ran ran;
	unsigned int bits;
	int c;

	while ((c = getopt(argc, argv, "+ce:i:o:")) != -1) {
		if (c == 'c') {
			p.calls = 1;
			continue;
		}
		if (c == 'o') {
			p.output_bytes = strtoull(optarg, NULL, 10);
			continue;
		}
		if ((c != 'e' && c != 'i') || p.nenv == MANY ||
		    p.ninputs == MANY || (at = strchr(optarg, '=')) == NULL)
			return (2);
		*at++ = '\0';
		if (c == 'e') {
			env[2 * p.nenv] = optarg;
			env[2 * p.nenv++ + 1] = at;
			continue;
		}
		in[p.ninputs].read_only = strchr(at, ',') != NULL;
		at[strcspn(at, ",")] = '\0';
		in[p.ninputs].path = optarg;
		in[p.ninputs++].sha256 = at;
	}
	if (mem == NULL || argc - optind < 3 || log_open("program", NULL))
		return (2);
	s.url = argv[optind];
	p.language = argv[optind + 1];
	p.source = argv[optind + 2];
	p.args = (const char *const *)(argv + optind + 3);
	p.nargs = (size_t)(argc - optind - 3);
	p.env = env;
	p.input = in;
	if (sandbox_extensions(&s, &bits) || sandbox_create(&s, 60, 60, id) ||
	    sandbox_put(&s, id, "in.txt", read_in, NULL, 3))
		return (1);
	printf("extensions %x\n", bits);
	print(sandbox_run(&s, mem, id, &p, 1 << 20, &ran), &ran);
	(void)sandbox_destroy(&s, id);
	arena_free(mem);
	return (0);
}
