#ifndef SPEECH_PROBLEM_H_
#define SPEECH_PROBLEM_H_

/*
 * Every way of saying no.  A handler names the kind; one table (problem.c)
 * gives its HTTP status and, in each dialect, its type and code (files-api
 * contract sections 3 and 11, executor contract 1.4 and 2.6).
 */
enum problem {
	P_INVALID_VALUE, /* A field's value; OpenAI code invalid_value. */
	P_MISSING_PARAMETER,
	P_EMPTY_FILE,
	P_MALFORMED_MULTIPART,
	P_INVALID_FILENAME,
	P_TOO_LONG, /* string_above_max_length */
	P_INCOMPLETE_BODY,
	P_BELOW_MIN,
	P_ABOVE_MAX,
	P_INVALID_TYPE,
	P_BODY_ENCODING, /* A Content-Encoding on a request. */
	P_BAD_REQUEST,   /* 400 with no code. */
	P_BAD_JSON,
	P_NOT_DOWNLOADABLE,
	P_QUOTA,
	P_MEDIA_TYPE, /* 415 */
	P_AUTH,       /* 401 */
	P_DENIED,     /* 403 permission_denied */
	P_POLICY,     /* 403 code_execution_disabled */
	P_PINNED,     /* 403 executor_pinned */
	P_NOT_FOUND,  /* 404, param id */
	P_FILE_EXPIRED,
	P_FILE_REFERENCE, /* 404 file_not_found: in a model request. */
	P_UNREADABLE,     /* 400 document_unreadable */
	P_MODEL,          /* 404 model_not_found */
	P_UNKNOWN_URL,
	P_SWITCHED_OFF,   /* 404 with no code. */
	P_METHOD,         /* 405 */
	P_SLOW_BODY,      /* 408 */
	P_PRECONDITION,   /* 412 */
	P_TOO_LARGE,      /* 413 file_too_large */
	P_BODY_TOO_LARGE, /* 413 of a JSON body. */
	P_RANGE,          /* 416 */
	P_RATE,           /* 429 */
	P_SERVER,         /* 500 */
	P_CONTENT_MISSING,
	P_UPSTREAM,         /* 502 */
	P_PROVIDER_FILE,    /* 502 provider_file_unavailable */
	P_UPSTREAM_TIMEOUT, /* 504 */
	P_DATABASE,         /* 503 + Retry-After */
	P_STORE,            /* 503 storage_unavailable */
	P_BUSY,             /* 503 + Retry-After */
	P_SANDBOX,          /* 503 sandbox_unavailable */
	P_NO_SANDBOX,       /* 400 sandbox_not_configured */
	P_NO_EXECUTION,     /* 400 code_execution_unavailable */
	P_CONTAINER,        /* 404 container_not_found */
	P_CONTAINER_EXPIRED,
	P_CONTAINER_BUSY, /* 409 + Retry-After */
	P_RESPONSE,       /* 400 previous_response_not_found */
	P_THREAD,         /* 400 thread_unsupported_request, for Messages */
	P_ITEM,           /* 404 item_not_found + x-should-retry: false */
	P_FULL,           /* 507 + x-should-retry: false */
	P_COUNT
};

/* In 1 to 5 s, for each caller another time: who were refused together need
 * not come back together. */
#define PROBLEM_SOON (-1)

struct problem_row {
	enum problem kind;
	int status;
	const char *openai_type, *openai_code;       /* code may be NULL */
	const char *anthropic_type, *anthropic_code; /* details.error_code */
	int retry_after; /* Seconds, 0 = no header, or PROBLEM_SOON. */
	int no_retry;    /* Send x-should-retry: false, as with 401 and 403. */
};

/**
 * problem_row(kind):
 * Return the row of ${kind}.  Never NULL.
 */
const struct problem_row *problem_row(enum problem);

#endif /* !SPEECH_PROBLEM_H_ */
