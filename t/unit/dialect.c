#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "data/file.h"
#include "speech/dialect.h"

#include "tap.h"

#define HEX "01a229f128007c5e8f21d0a4b6e93f10"

static struct conf conf = {
    .files_uploads_downloadable = 1,
    .files_openai_output_purpose = (char[]){"code_execution_output"},
};

static const struct file sales = {
    .id = HEX,
    .name = "sales.csv",
    .mime = "text/csv",
    .purpose = "user_data",
    .bytes = 14,
    .created = 1796000000123,
    .expires = 1796003600123,
};

/* Is ${o} this text?  Consumes ${o}. */
static int
is(json_object *o, const char *text)
{
	const char *s;
	int same;

	s = json_object_to_json_string_ext(
	    o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if ((same = strcmp(s, text) == 0) == 0)
		printf("# got %s\n", s);
	json_object_put(o);
	return (same);
}

static void
test_file(void)
{
	struct file f = sales;

	ok(is(dialect_openai.file(&conf, &f),
	       "{\"id\":\"file-" HEX "\",\"object\":\"file\",\"bytes\":14,"
	       "\"created_at\":1796000000,\"expires_at\":1796003600,"
	       "\"filename\":\"sales.csv\",\"purpose\":\"user_data\","
	       "\"status\":\"processed\"}"),
	    "OpenAI file");
	ok(is(dialect_anthropic.file(&conf, &f),
	       "{\"id\":\"file-" HEX "\",\"type\":\"file\","
	       "\"filename\":\"sales.csv\",\"mime_type\":\"text/csv\","
	       "\"size_bytes\":14,"
	       "\"created_at\":\"2026-11-30T00:53:20.123Z\","
	       "\"expires_at\":\"2026-11-30T01:53:20.123Z\","
	       "\"downloadable\":true}"),
	    "Anthropic file");
	f.expires = 0;
	f.id = "file_011Cabc";
	ok(is(dialect_anthropic.file(&conf, &f),
	       "{\"id\":\"file_011Cabc\",\"type\":\"file\","
	       "\"filename\":\"sales.csv\",\"mime_type\":\"text/csv\","
	       "\"size_bytes\":14,"
	       "\"created_at\":\"2026-11-30T00:53:20.123Z\","
	       "\"expires_at\":null,\"downloadable\":true}"),
	    "Anthropic file of a provider's id that never expires");
}

static void
test_purpose(void)
{
	struct file f = sales;
	struct conf c = conf;
	json_object *o;

	f.purpose = "code_execution_output";
	o = dialect_openai.file(&c, &f);
	ok(strcmp(json_object_get_string(json_object_object_get(o, "purpose")),
	       "code_execution_output") == 0,
	    "an output's purpose as stored");
	json_object_put(o);
	c.files_openai_output_purpose = (char[]){"assistants_output"};
	o = dialect_openai.file(&c, &f);
	ok(strcmp(json_object_get_string(json_object_object_get(o, "purpose")),
	       "assistants_output") == 0,
	    "an output's purpose in the vendor's own word");
	json_object_put(o);
}

static void
test_downloadable(void)
{
	struct file f = sales;
	struct conf c = conf;

	ok(file_is_downloadable(&c, &f), "uploads by default");
	c.files_uploads_downloadable = 0;
	ok(!file_is_downloadable(&c, &f), "no uploads where switched off");
	f.origin = FILE_RUN;
	ok(file_is_downloadable(&c, &f), "produced files always");
}

static void
test_others(void)
{
	const struct list_end some = {"file-a", "file-b", "page_x", 1};
	const struct list_end none = {NULL, NULL, NULL, 0};

	ok(is(dialect_openai.deleted("file-a"),
	       "{\"id\":\"file-a\",\"object\":\"file\",\"deleted\":true}"),
	    "OpenAI delete");
	ok(is(dialect_anthropic.deleted("file-a"),
	       "{\"id\":\"file-a\",\"type\":\"file_deleted\"}"),
	    "Anthropic delete");
	ok(is(dialect_openai.list_end(&some),
	       "{\"has_more\":true,\"first_id\":\"file-a\","
	       "\"last_id\":\"file-b\"}"),
	    "OpenAI end of a list");
	ok(is(dialect_anthropic.list_end(&some),
	       "{\"has_more\":true,\"first_id\":\"file-a\","
	       "\"last_id\":\"file-b\",\"next_page\":\"page_x\"}"),
	    "Anthropic end of a list");
	ok(is(dialect_anthropic.list_end(&none),
	       "{\"has_more\":false,\"first_id\":null,\"last_id\":null,"
	       "\"next_page\":null}"),
	    "Anthropic end of an empty list");
}

static void
test_error(void)
{

	ok(is(dialect_openai.error(
		  problem_row(P_NOT_FOUND), "No", "id", "req_1"),
	       "{\"error\":{\"message\":\"No\","
	       "\"type\":\"invalid_request_error\",\"param\":\"id\","
	       "\"code\":null}}"),
	    "OpenAI error");
	ok(is(dialect_anthropic.error(
		  problem_row(P_NOT_FOUND), "No", "id", "req_1"),
	       "{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\","
	       "\"message\":\"No\"},\"request_id\":\"req_1\"}"),
	    "Anthropic error");
	ok(is(dialect_anthropic.error(
		  problem_row(P_FILE_EXPIRED), "Gone", NULL, "req_1"),
	       "{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\","
	       "\"message\":\"Gone\",\"details\":{\"error_code\":"
	       "\"file_expired\"}},\"request_id\":\"req_1\"}"),
	    "Anthropic error with a code");
}

static void
test_choose(void)
{
	const struct dialect *o = &dialect_openai, *a = &dialect_anthropic;

	ok(dialect_choose(NULL, NULL) == o, "neither header: OpenAI");
	ok(dialect_choose("", NULL) == o, "an empty version: OpenAI");
	ok(dialect_choose("garbage", NULL) == a, "any version: Anthropic");
	ok(dialect_choose(NULL, "files-api-2025-04-14") == a, "files beta");
	ok(dialect_choose("", "x-1,\tfiles-api-y , z") == a, "beta in a list");
	ok(dialect_choose(NULL, "my-files-api-1") == o,
	    "a name inside another");
	ok(dialect_choose(NULL, "other-beta, ,") == o, "another beta");
}

int
main(void)
{

	test_file();
	test_purpose();
	test_downloadable();
	test_others();
	test_error();
	test_choose();
	return (done_testing());
}
