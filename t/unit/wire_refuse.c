/*
 * What an upstream's error is to the caller (executor contract 2.6): status,
 * words, and never anything about the provider or its credential.
 */
#include <string.h>

#include "base/conf.h"
#include "speech/refusal.h"
#include "speech/wire.h"

#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static char name[] = "p", url[] = "http://gpu7.example:8000/v1";
static char key[] = "sk-upstream-secret";
static const struct conf_provider provider = {
    .name = name, .base_url = url, .api_key = key};

/* clang-format off */
static const struct {
	const char *name;
	int status;
	const char *body;
	enum problem kind;
	const char *message; /* NULL: words of our own. */
	const char *code, *param;
} rows[] = {
	{ "400 in OpenAI's shape", 400, "{\"error\":{\"message\":\"too long\","
	    "\"type\":\"invalid_request_error\",\"param\":\"messages\","
	    "\"code\":\"context_length_exceeded\"}}", P_BAD_REQUEST,
	    "too long", "context_length_exceeded", "messages" },
	{ "400 in Anthropic's shape", 400, "{\"type\":\"error\",\"error\":{"
	    "\"type\":\"invalid_request_error\",\"message\":\"bad\"}}",
	    P_BAD_REQUEST, "bad", "", "" },
	{ "422 is 400", 422, "{\"error\":{\"message\":\"bad\"}}",
	    P_BAD_REQUEST, "bad", "", "" },
	{ "an error that is a string", 400, "{\"error\":\"bad\"}",
	    P_BAD_REQUEST, "bad", "", "" },
	{ "a bare message", 400, "{\"object\":\"error\",\"message\":\"bad\"}",
	    P_BAD_REQUEST, "bad", "", "" },
	{ "a detail", 404, "{\"detail\":\"Not Found\"}", P_MODEL,
	    "Not Found", "", "" },
	{ "a detail that is a list", 422, "{\"detail\":[{\"loc\":[\"body\","
	    "\"messages\",0],\"msg\":\"Field required\",\"type\":\"missing\"},"
	    "{\"msg\":\"bad\"}]}", P_BAD_REQUEST,
	    "body.messages.0: Field required; bad", "", "" },
	{ "a list without words", 422, "{\"detail\":[{\"loc\":[\"body\"]}]}",
	    P_BAD_REQUEST, NULL, "", "" },
	{ "HTML", 502, "<html><body>Bad Gateway</body></html>", P_UPSTREAM,
	    NULL, "", "" },
	{ "HTML inside JSON", 400, "{\"error\":{\"message\":\"<html>oops\"}}",
	    P_BAD_REQUEST, NULL, "", "" },
	{ "nothing at all", 500, "", P_UPSTREAM, NULL, "", "" },
	{ "5xx with words", 503, "{\"error\":{\"message\":\"overloaded\"}}",
	    P_UPSTREAM, NULL, "", "" },
	{ "our credential is not the caller's", 401, "{\"error\":{\"message\":"
	    "\"Incorrect API key provided\",\"code\":\"invalid_api_key\"}}",
	    P_UPSTREAM, NULL, "", "" },
	{ "403", 403, "{\"error\":{\"message\":\"no\"}}", P_UPSTREAM, NULL,
	    "", "" },
	{ "402", 402, "{\"error\":{\"message\":\"pay\"}}", P_UPSTREAM, NULL,
	    "", "" },
	{ "a used up quota is not the caller's", 429, "{\"error\":{\"message\":"
	    "\"You exceeded your current quota\",\"code\":"
	    "\"insufficient_quota\"}}", P_UPSTREAM, NULL, "", "" },
	{ "429", 429, "{\"error\":{\"message\":\"slow down\"}}", P_RATE, NULL,
	    "", "" },
	{ "413", 413, "{\"error\":{\"message\":\"too big\"}}",
	    P_BODY_TOO_LARGE, "too big", "", "" },
	{ "a redirect", 302, "", P_UPSTREAM, NULL, "", "" },
	{ "the word None", 400, "{\"error\":{\"message\":\"None\",\"param\":"
	    "\"None\",\"code\":\"None\"}}", P_BAD_REQUEST, NULL, "", "" },
	{ "the word null", 400, "{\"error\":{\"message\":\"bad\",\"param\":"
	    "\"null\",\"code\":\"null\"}}", P_BAD_REQUEST, "bad", "", "" },
	{ "a code that is a number", 400, "{\"error\":{\"message\":\"bad\","
	    "\"code\":400}}", P_BAD_REQUEST, "bad", "", "" },
	{ "the provider's host", 400, "{\"error\":{\"message\":\"cannot reach "
	    "GPU7.example\"}}", P_BAD_REQUEST, NULL, "", "" },
	{ "an internal address", 400, "{\"error\":{\"message\":\"connect to "
	    "http://10.0.0.5:8000 failed\"}}", P_BAD_REQUEST, NULL, "", "" },
	{ "the credential", 400, "{\"error\":{\"message\":\"key "
	    "sk-upstream-secret is wrong\"}}", P_BAD_REQUEST, NULL, "", "" },
	{ "control characters become spaces", 400,
	    "{\"error\":{\"message\":\"a\\nb\\u0007c\"}}", P_BAD_REQUEST,
	    "a b c", "", "" },
};
/* clang-format on */

static int
is_own(const char *s)
{

	return (
	    strncmp(s, "The ", 4) == 0 && strstr(s, "model provider") != NULL);
}

int
main(void)
{
	static char e[1001], big[2000];
	struct refusal why;
	size_t i, n;

	for (i = 0; i < NELEM(rows); i++) {
		memset(&why, 0, sizeof(why));
		(void)wire_refuse(&provider, rows[i].status, "7", rows[i].body,
		    strlen(rows[i].body), &why);
		ok(why.kind == rows[i].kind &&
			(rows[i].message != NULL
				? strcmp(why.message, rows[i].message) == 0
				: is_own(why.message)) &&
			strcmp(why.code, rows[i].code) == 0 &&
			strcmp(why.param, rows[i].param) == 0,
		    rows[i].name);
	}
	(void)wire_refuse(&provider, 429, "7", NULL, 0, &why);
	ok(why.retry_after == 7, "Retry-After of a 429 goes on");
	(void)wire_refuse(&provider, 429, "Fri, 31 Dec 1999", NULL, 0, &why);
	ok(why.retry_after == 0, "but only a number of seconds");
	(void)wire_refuse(&provider, 503, "7", NULL, 0, &why);
	ok(why.retry_after == 0, "and only of a 429");

	for (n = 0; n < sizeof(e) - 1; n++)
		e[n] = "\xc3\xa9"[n % 2];
	(void)snprintf(big, sizeof(big), "{\"error\":{\"message\":\"%s\"}}", e);
	(void)wire_refuse(&provider, 400, NULL, big, strlen(big), &why);
	ok(strlen(why.message) == 500, "long words are cut at 500 bytes");

	(void)refuse(&why, P_BAD_REQUEST, NULL, "%.3s|", "a\xc3\xa9\xc3\xa9");
	ok(strcmp(why.message, "a\xc3\xa9|") == 0, "a whole character stays");
	(void)refuse(&why, P_BAD_REQUEST, NULL, "%.2s|", "a\xc3\xa9");
	ok(strcmp(why.message, "a\xef\xbf\xbd|") == 0,
	    "half a character is mended");
	return (done_testing());
}
