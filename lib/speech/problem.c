#include <stddef.h>

#include "speech/problem.h"

/* Types that many rows share. */
#define IRE "invalid_request_error"
#define SRV "server_error"
#define API "api_error"
#define NF "not_found_error"

/* Seconds a caller is asked to wait before it tries again. */
#define WAIT 2
#define SOON PROBLEM_SOON

/*
 * kind, status; type and code for OpenAI; type and details.error_code for
 * Anthropic; Retry-After; x-should-retry: false.
 */
/* clang-format off */
static const struct problem_row rows[P_COUNT] = {
#define ROW(kind, ...) [kind] = { kind, __VA_ARGS__ }
	ROW(P_INVALID_VALUE, 400, IRE, "invalid_value", IRE, NULL, 0, 0),
	ROW(P_MISSING_PARAMETER, 400,
	    IRE, "missing_required_parameter", IRE, NULL, 0, 0),
	ROW(P_EMPTY_FILE, 400, IRE, "empty_file", IRE, NULL, 0, 0),
	ROW(P_MALFORMED_MULTIPART, 400,
	    IRE, "malformed_multipart", IRE, NULL, 0, 0),
	ROW(P_INVALID_FILENAME, 400, IRE, "invalid_filename", IRE, NULL, 0, 0),
	ROW(P_TOO_LONG, 400, IRE, "string_above_max_length", IRE, NULL, 0, 0),
	ROW(P_INCOMPLETE_BODY, 400, IRE, "incomplete_body", IRE, NULL, 0, 0),
	ROW(P_BELOW_MIN, 400, IRE, "integer_below_min_value", IRE, NULL, 0, 0),
	ROW(P_ABOVE_MAX, 400, IRE, "integer_above_max_value", IRE, NULL, 0, 0),
	ROW(P_INVALID_TYPE, 400, IRE, "invalid_type", IRE, NULL, 0, 0),
	ROW(P_BODY_ENCODING, 400, IRE, "request_body_encoding_unsupported",
	    IRE, "request_body_encoding_unsupported", 0, 0),
	ROW(P_BAD_REQUEST, 400, IRE, NULL, IRE, NULL, 0, 0),
	ROW(P_BAD_JSON, 400, IRE, NULL, IRE, NULL, 0, 0),
	ROW(P_NOT_DOWNLOADABLE, 400,
	    IRE, "file_not_downloadable", IRE, "file_not_downloadable", 0, 0),
	ROW(P_QUOTA, 400,
	    IRE, "storage_quota_exceeded", IRE, "storage_quota_exceeded", 0, 0),
	ROW(P_MEDIA_TYPE, 415,
	    IRE, "unsupported_media_type", IRE, NULL, 0, 0),
	ROW(P_AUTH, 401,
	    IRE, "invalid_api_key", "authentication_error", NULL, 0, 0),
	ROW(P_DENIED, 403,
	    IRE, "permission_denied", "permission_error", NULL, 0, 0),
	ROW(P_POLICY, 403, "permission_error", "code_execution_disabled",
	    "permission_error", NULL, 0, 0),
	ROW(P_PINNED, 403, "permission_error", "executor_pinned",
	    "permission_error", NULL, 0, 0),
	ROW(P_NOT_FOUND, 404, IRE, NULL, NF, NULL, 0, 0),
	ROW(P_FILE_EXPIRED, 404, IRE, "file_expired", NF, "file_expired", 0, 0),
	ROW(P_FILE_REFERENCE, 404, IRE, "file_not_found", NF, NULL, 0, 0),
	ROW(P_UNREADABLE, 400,
	    IRE, "document_unreadable", IRE, "document_unreadable", 0, 0),
	ROW(P_MODEL, 404, IRE, "model_not_found", NF, NULL, 0, 0),
	ROW(P_UNKNOWN_URL, 404, IRE, "unknown_url", NF, NULL, 0, 0),
	ROW(P_SWITCHED_OFF, 404, IRE, NULL, NF, NULL, 0, 0),
	ROW(P_METHOD, 405, IRE, "method_not_supported", IRE, NULL, 0, 0),
	ROW(P_SLOW_BODY, 408,
	    IRE, "request_timeout", "timeout_error", NULL, 0, 0),
	ROW(P_PRECONDITION, 412, IRE, "precondition_failed", IRE, NULL, 0, 0),
	ROW(P_TOO_LARGE, 413,
	    IRE, "file_too_large", "request_too_large", NULL, 0, 0),
	ROW(P_BODY_TOO_LARGE, 413, IRE, NULL, "request_too_large", NULL, 0, 0),
	ROW(P_RANGE, 416, IRE, "range_not_satisfiable", IRE, NULL, 0, 0),
	ROW(P_RATE, 429, "rate_limit_error", "rate_limit_exceeded",
	    "rate_limit_error", NULL, SOON, 0),
	ROW(P_SERVER, 500, SRV, NULL, API, NULL, 0, 0),
	ROW(P_CONTENT_MISSING, 500,
	    SRV, "file_content_missing", API, NULL, 0, 0),
	ROW(P_UPSTREAM, 502, SRV, NULL, API, NULL, 0, 0),
	ROW(P_PROVIDER_FILE, 502,
	    SRV, "provider_file_unavailable", API, NULL, 0, 0),
	ROW(P_UPSTREAM_TIMEOUT, 504, SRV, NULL, "timeout_error", NULL, 0, 0),
	ROW(P_DATABASE, 503, SRV, "database_unavailable", API, NULL, SOON, 0),
	ROW(P_STORE, 503, SRV, "storage_unavailable", API, NULL, SOON, 0),
	ROW(P_BUSY, 503, SRV, NULL, API, NULL, SOON, 0),
	ROW(P_SANDBOX, 503, SRV, "sandbox_unavailable", API, NULL, SOON, 0),
	ROW(P_NO_SANDBOX, 400, IRE, "sandbox_not_configured", IRE, NULL, 0, 0),
	ROW(P_NO_EXECUTION, 400,
	    IRE, "code_execution_unavailable", IRE, NULL, 0, 0),
	ROW(P_CONTAINER, 404, IRE, "container_not_found", NF, NULL, 0, 0),
	ROW(P_CONTAINER_EXPIRED, 400,
	    IRE, "container_expired", IRE, NULL, 0, 0),
	ROW(P_CONTAINER_BUSY, 409, IRE, "container_busy", IRE, NULL, WAIT, 0),
	ROW(P_RESPONSE, 400,
	    IRE, "previous_response_not_found", IRE, NULL, 0, 0),
	ROW(P_THREAD, 400, IRE, NULL, IRE, "thread_unsupported_request", 0, 0),
	ROW(P_ITEM, 404, IRE, "item_not_found", NF, NULL, 0, 1),
	ROW(P_FULL, 507, SRV, "insufficient_storage", API, NULL, 0, 1),
#undef ROW
};
/* clang-format on */

const struct problem_row *
problem_row(enum problem kind)
{

	if ((unsigned int)kind >= P_COUNT || rows[kind].status == 0)
		return (&rows[P_SERVER]);
	return (&rows[kind]);
}
