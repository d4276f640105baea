#include <stdio.h>
#include <string.h>

#include "speech/problem.h"

#include "tap.h"

/* What the contract says of a kind, by hand and not from the table. */
struct want {
	enum problem kind;
	int status;
	const char *oai_type, *oai_code, *ant_type, *ant_code;
};

/* clang-format off */
static const struct want want[] = {
	{ P_EMPTY_FILE, 400, "invalid_request_error", "empty_file",
	    "invalid_request_error", NULL },
	{ P_NOT_DOWNLOADABLE, 400, "invalid_request_error",
	    "file_not_downloadable", "invalid_request_error",
	    "file_not_downloadable" },
	{ P_QUOTA, 400, "invalid_request_error", "storage_quota_exceeded",
	    "invalid_request_error", "storage_quota_exceeded" },
	{ P_AUTH, 401, "invalid_request_error", "invalid_api_key",
	    "authentication_error", NULL },
	{ P_DENIED, 403, "invalid_request_error", "permission_denied",
	    "permission_error", NULL },
	{ P_POLICY, 403, "permission_error", "code_execution_disabled",
	    "permission_error", NULL },
	{ P_NOT_FOUND, 404, "invalid_request_error", NULL,
	    "not_found_error", NULL },
	{ P_FILE_EXPIRED, 404, "invalid_request_error", "file_expired",
	    "not_found_error", "file_expired" },
	{ P_METHOD, 405, "invalid_request_error", "method_not_supported",
	    "invalid_request_error", NULL },
	{ P_SLOW_BODY, 408, "invalid_request_error", "request_timeout",
	    "timeout_error", NULL },
	{ P_PRECONDITION, 412, "invalid_request_error", "precondition_failed",
	    "invalid_request_error", NULL },
	{ P_TOO_LARGE, 413, "invalid_request_error", "file_too_large",
	    "request_too_large", NULL },
	{ P_MEDIA_TYPE, 415, "invalid_request_error", "unsupported_media_type",
	    "invalid_request_error", NULL },
	{ P_RANGE, 416, "invalid_request_error", "range_not_satisfiable",
	    "invalid_request_error", NULL },
	{ P_RATE, 429, "rate_limit_error", "rate_limit_exceeded",
	    "rate_limit_error", NULL },
	{ P_SERVER, 500, "server_error", NULL, "api_error", NULL },
	{ P_CONTENT_MISSING, 500, "server_error", "file_content_missing",
	    "api_error", NULL },
	{ P_UPSTREAM, 502, "server_error", NULL, "api_error", NULL },
	{ P_DATABASE, 503, "server_error", "database_unavailable",
	    "api_error", NULL },
	{ P_STORE, 503, "server_error", "storage_unavailable",
	    "api_error", NULL },
	{ P_UPSTREAM_TIMEOUT, 504, "server_error", NULL,
	    "timeout_error", NULL },
	{ P_FULL, 507, "server_error", "insufficient_storage",
	    "api_error", NULL },
};
/* clang-format on */

static int
same(const char *a, const char *b)
{

	return (a == NULL || b == NULL ? a == b : strcmp(a, b) == 0);
}

static void
test_contract(void)
{
	const struct problem_row *p;
	char name[80];

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		p = problem_row(want[i].kind);
		(void)snprintf(name, sizeof(name), "%d %s", want[i].status,
		    want[i].oai_code == NULL ? "-" : want[i].oai_code);
		ok(p->status == want[i].status &&
			same(p->openai_type, want[i].oai_type) &&
			same(p->openai_code, want[i].oai_code) &&
			same(p->anthropic_type, want[i].ant_type) &&
			same(p->anthropic_code, want[i].ant_code),
		    name);
	}
}

/* What a client does by itself with a status: see the contract's fact 5. */
static void
test_retries(void)
{
	const struct problem_row *p;
	int holes = 0, conflict = 0, waits = 0, full = 0;

	for (int k = 0; k < P_COUNT; k++) {
		p = problem_row((enum problem)k);
		holes += p->kind != (enum problem)k || p->openai_type == NULL ||
		    p->anthropic_type == NULL;
		conflict += p->status == 409 && k != P_CONTAINER_BUSY;
		waits += (p->status == 503 || p->status == 429 ||
			     p->status == 409) != (p->retry_after != 0);
		full += (p->status == 507 || k == P_ITEM) != (p->no_retry != 0);
	}
	ok(holes == 0, "every kind has a row");
	ok(conflict == 0,
	    "a busy container is the one 409, which clients retry");
	ok(waits == 0, "409, 429 and 503 say when to come back, others do not");
	ok(full == 0,
	    "507 and an item that is gone forbid the retry; 401 and 403 do so "
	    "by themselves");
	ok(problem_row(P_COUNT)->status == 500, "an unknown kind is a 500");
}

int
main(void)
{

	test_contract();
	test_retries();
	return (done_testing());
}
