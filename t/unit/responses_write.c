/*
 * Events put in the words of the Responses dialect.  The contract's streams say
 * both what happened and how it must read: what is fed is taken from their
 * deltas, and all that they hold must come out, streamed and gathered.
 */
#include "speech/model_dialect.h"
#include "speech/outcome.h"
#include "speech/responses.h"
#include "speech/talk.h"

#include "fixture.h"
#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER "3n8p5r1s6t2v9w4x8y1z"

/* ---- Streams as lists of objects */

/* Ids are random: what begins one stays. */
static void
mask(char *s)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	char *p;
	size_t n;

	for (p = s; (p = strstr(p, "_gw_")) != NULL; p += 4) {
		n = strspn(p + 4, digits);
		if (n == 20)
			memset(p + 4, '#', n);
	}
}

/* The data of every event in ${s}, whose lines "event:" must name them. */
static json_object *
events_of(const char *s)
{
	json_object *list = kept(json_object_new_array()), *o, *type;
	char line[65536], name[80] = "";
	size_t n;

	for (; *s != '\0'; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		(void)snprintf(line, sizeof(line), "%.*s", (int)n, s);
		if (strncmp(line, "event: ", 7) == 0)
			(void)snprintf(name, sizeof(name), "%.79s", line + 7);
		if (strncmp(line, "data: ", 6) != 0)
			continue;
		o = parsed(line + 6);
		json_object_object_get_ex(o, "type", &type);
		if (o == NULL ||
		    strcmp(json_object_get_string(type), name) != 0)
			printf("# event %s: %.100s\n", name, line);
		json_object_array_add(list, o);
	}
	return (list);
}

static char *
sse_text(const char *name)
{
	char path[256], *s = calloc(1, 1 << 20);
	FILE *f;

	(void)snprintf(path, sizeof(path), "t/fixture/executor/%s.sse", name);
	if ((f = fopen(path, "r")) == NULL) {
		printf("# cannot read %s\n", path);
		exit(1);
	}
	(void)!fread(s, 1, (1 << 20) - 1, f);
	fclose(f);
	mask(s);
	return (s);
}

/* ---- What happened */

static const char *
get(json_object *o, const char *key)
{

	return (json_object_get_string(json_object_object_get(o, key)));
}

struct feed {
	struct writer *w;
	char run[64];
	int args; /* Arguments of the run have begun. */
};

static void
feed(struct feed *f, enum event_kind kind, const char *s)
{
	const struct event ev = {
	    .kind = kind, .text = {s, s != NULL ? strlen(s) : 0}};

	if (f->w->event(f->w, &ev))
		ok(0, "an event is taken");
}

static void
feed_code(struct feed *f, const char *s)
{
	json_object *o = json_object_new_string(s);
	char *text = strdup(json_object_to_json_string(o)), *p;

	text[strlen(text) - 1] = '\0';
	if (!f->args)
		feed(f, EVENT_ARGS, "{\"code\":\"");
	f->args = 1;
	for (p = text + 1; *p != '\0'; p++) {
		char one[2] = {*p, '\0'};

		if (p[0] == '\\' || (p > text + 1 && p[-1] == '\\'))
			feed(f, EVENT_ARGS, one);
		else {
			feed(f, EVENT_ARGS, p);
			break;
		}
	}
	json_object_put(o);
	free(text);
}

static void
feed_added(struct feed *f, json_object *item)
{
	const char *type = get(item, "type");
	struct event ev = {.kind = EVENT_CALL};

	if (strcmp(type, "function_call") == 0) {
		ev.id = get(item, "call_id");
		ev.name = get(item, "name");
	} else if (strcmp(type, "code_interpreter_call") == 0) {
		(void)snprintf(f->run, sizeof(f->run), "%s", get(item, "id"));
		ev.id = f->run;
		ev.name = "code_execution";
		ev.ours = 1;
		f->args = 0;
	} else
		return;
	f->w->event(f->w, &ev);
}

static struct outcome_file file = {
    .next = NULL, .id = "cfile_9Zt4cc03", .path = "totals.csv", .bytes = 37};

/* ${cites}: somewhere the stream cites the file. */
static void
feed_done(struct feed *f, json_object *item, int cites)
{
	struct outcome o = {.tool = OUR_CODE, .files_end = &o.files};
	struct event ev = {.kind = EVENT_RESULT, .id = f->run, .outcome = &o};
	json_object *outputs;

	if (strcmp(get(item, "type"), "code_interpreter_call") != 0)
		return;
	if (strcmp(get(item, "status"), "failed") == 0)
		o.kind = OUTCOME_UNAVAILABLE;
	else {
		json_object_object_get_ex(item, "outputs", &outputs);
		o.out.p = get(json_object_array_get_idx(outputs, 0), "logs");
		o.out.len = strlen(o.out.p);
		if (cites)
			o.files = &file;
	}
	f->w->event(f->w, &ev);
}

static void
feed_end(struct feed *f, json_object *response, struct buf *b)
{
	static const struct usage usage = {
	    .input = 1364, .cached = 512, .output = 171};
	struct event ev = {.kind = EVENT_USAGE, .usage = &usage};
	const char *status = get(response, "status");
	json_object *output, *last;
	size_t n;

	f->w->event(f->w, &ev);
	if (strcmp(status, "failed") == 0) {
		f->w->fail(f->w, problem_row(P_UPSTREAM),
		    get(json_object_object_get(response, "error"), "message"),
		    "req_1");
		return;
	}
	json_object_object_get_ex(response, "output", &output);
	n = json_object_array_length(output);
	last = json_object_array_get_idx(output, n - 1);
	ev = (struct event){.kind = EVENT_STOP};
	if (strcmp(status, "incomplete") == 0)
		ev.stop = STOP_LENGTH;
	else if (strcmp(get(json_object_array_get_idx(output, 0), "type"),
		     "function_call") == 0)
		ev.stop = STOP_CALLS;
	(void)last;
	f->w->event(f->w, &ev);
	f->w->finish(f->w, b);
}

/* clang-format off */
static const struct { const char *type, *key; enum event_kind kind; } maps[] = {
	{ "response.output_text.delta", "delta", EVENT_TEXT },
	{ "response.reasoning_text.delta", "delta", EVENT_REASONING },
	{ "response.function_call_arguments.delta", "delta", EVENT_ARGS },
	{ "response.function_call_arguments.done", NULL, EVENT_CALL_END },
};
/* clang-format on */

/* Feed what the stream ${list} tells of; ${b} gets what finish() gives. */
static void
replay(struct writer *w, json_object *list, int cites, struct buf *b)
{
	struct feed f = {.w = w};
	json_object *ev;
	const char *type;
	size_t i, k;

	for (i = 0; i < json_object_array_length(list); i++) {
		ev = json_object_array_get_idx(list, i);
		type = get(ev, "type");
		for (k = 0; k < NELEM(maps); k++)
			if (strcmp(type, maps[k].type) == 0)
				feed(&f, maps[k].kind,
				    maps[k].key != NULL ? get(ev, maps[k].key)
							: NULL);
		if (strcmp(type, "response.output_item.added") == 0)
			feed_added(&f, json_object_object_get(ev, "item"));
		if (strcmp(type, "response.code_interpreter_call_code.delta") ==
		    0)
			feed_code(&f, get(ev, "delta"));
		if (strcmp(type, "response.code_interpreter_call_code.done") ==
		    0) {
			feed(&f, EVENT_ARGS, "\"}");
			feed(&f, EVENT_CALL_END, NULL);
		}
		if (strcmp(type, "response.output_item.done") == 0)
			feed_done(
			    &f, json_object_object_get(ev, "item"), cites);
	}
	ev = json_object_array_get_idx(list, i - 1);
	feed_end(&f, json_object_object_get(ev, "response"), b);
}

/* ---- The fixtures */

static struct talk *
talk_of(struct arena *mem, const char *request)
{
	static const struct talk_container container = {.id = CONTAINER};
	struct talk *t = talk_new(mem);
	struct refusal *why = arena_alloc(mem, 4096);

	t->model = "qwen3-coder";
	t->now = 1796119200;
	t->base = "https://gateway.example";
	t->ours = 1U << OUR_CODE;
	t->container = &container;
	if (responses_read(checked(request), t, why))
		ok(0, "the request is read");
	return (t);
}

/* Deltas that begin inside an escape come in pieces: join neighbours. */
static json_object *
joined(json_object *list)
{
	json_object *all = kept(json_object_new_array()), *ev, *last = NULL;
	char text[65536];
	size_t i;
	int seq = 0;

	for (i = 0; i < json_object_array_length(list); i++) {
		ev = json_object_array_get_idx(list, i);
		if (last != NULL && json_object_object_get(ev, "delta") &&
		    strcmp(get(ev, "type"), get(last, "type")) == 0) {
			(void)snprintf(text, sizeof(text), "%s%s",
			    get(last, "delta"), get(ev, "delta"));
			json_object_object_add(
			    last, "delta", json_object_new_string(text));
			continue;
		}
		json_object_object_add(
		    ev, "sequence_number", json_object_new_int(seq++));
		json_object_array_add(all, json_object_get(ev));
		last = ev;
	}
	return (all);
}

/* Are the numbers 0, 1, 2, ... to the last? */
static int
counts(json_object *list)
{
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++)
		if ((size_t)json_object_get_int64(json_object_object_get(
			json_object_array_get_idx(list, i),
			"sequence_number")) != i)
			return (0);
	return (1);
}

static void
one_fixture(const char *name)
{
	struct arena *mem = arena_new(16 << 20);
	char *request = fixture_text("responses-request"), what[128];
	char *text = sse_text(name);
	json_object *want = events_of(text), *got, *end, *last;
	struct buf out = BUF_INIT(8 << 20), whole = BUF_INIT(8 << 20);
	struct talk *t = talk_of(mem, request);
	int cites = strstr(text, "container_file_citation") != NULL;
	struct writer *w = responses_stream(t, &out);

	replay(w, want, cites, &out);
	w->free(w);
	mask(out.p);
	got = events_of(out.p);
	(void)snprintf(
	    what, sizeof(what), "%s: every number in its turn", name);
	ok(counts(got), what);
	last =
	    json_object_array_get_idx(want, json_object_array_length(want) - 1);
	end = json_object_get(json_object_object_get(last, "response"));
	(void)snprintf(what, sizeof(what), "%s: streamed", name);
	ok(same(joined(got), joined(want)), what);
	if (strcmp(get(end, "status"), "failed") != 0) {
		want = events_of(text);
		w = responses_gather(t);
		replay(w, want, cites, &whole);
		w->free(w);
		mask(whole.p);
		(void)snprintf(what, sizeof(what), "%s: gathered", name);
		ok(same(parsed(whole.p), json_object_get(end)), what);
	}
	json_object_put(end);
	free(text);
	free(request);
	buf_free(&out);
	buf_free(&whole);
	arena_free(mem);
}

/* ---- Answers in pieces */

struct script {
	struct arena *mem;
	struct talk *t;
	struct writer *w;
	struct buf out, whole;
};

static void
begin(struct script *s, const char *more, int streamed)
{
	char text[4096];

	*s = (struct script){.mem = arena_new(1 << 20)};
	s->out.max = s->whole.max = 1 << 20;
	(void)snprintf(text, sizeof(text),
	    "{\"model\":\"m\",%s\"tools\":[{\"type\":\"code_interpreter\","
	    "\"container\":{\"type\":\"auto\"}},{\"type\":\"custom\","
	    "\"name\":\"c\"},{\"type\":\"function\",\"name\":\"f\"}],"
	    "\"input\":\"q\"}",
	    more);
	s->t = talk_of(s->mem, arena_strndup(s->mem, text, strlen(text)));
	s->w =
	    streamed ? responses_stream(s->t, &s->out) : responses_gather(s->t);
}

static void
say(struct script *s, enum event_kind kind, const char *x, const char *name,
    int ours)
{
	const struct event ev = {.kind = kind,
	    .id = ours ? "ci_gw_00000000000000000001" : "call_1",
	    .name = name,
	    .ours = ours,
	    .text = {x, x != NULL ? strlen(x) : 0}};

	s->w->event(s->w, &ev);
}

/* A run's call, whole. */
static void
say_run(struct script *s)
{

	say(s, EVENT_CALL, NULL, "code_execution", 1);
	say(s, EVENT_ARGS, "{\"code\":\"c\"}", NULL, 0);
	say(s, EVENT_CALL_END, NULL, NULL, 0);
}

static void
result(struct script *s, const struct outcome *o)
{
	const struct event ev = {.kind = EVENT_RESULT,
	    .id = "ci_gw_00000000000000000001",
	    .outcome = o};

	s->w->event(s->w, &ev);
}

/* The items of the answer, or of the stream's last event. */
static json_object *
end(struct script *s, enum stop stop)
{
	static const struct usage usage = {.input = 1, .output = 1};
	const struct event u = {.kind = EVENT_USAGE, .usage = &usage};
	const struct event ev = {.kind = EVENT_STOP, .stop = stop};
	json_object *o, *list;

	s->w->event(s->w, &u);
	s->w->event(s->w, &ev);
	s->w->finish(s->w, &s->whole);
	if (s->out.len > 0) {
		mask(s->out.p);
		list = events_of(s->out.p);
		o = json_object_array_get_idx(
		    list, json_object_array_length(list) - 1);
		o = json_object_get(json_object_object_get(
		    json_object_object_get(o, "response"), "output"));
		json_object_put(list);
	} else {
		mask(s->whole.p);
		list = parsed(s->whole.p);
		o = json_object_get(json_object_object_get(list, "output"));
		json_object_put(list);
	}
	s->w->free(s->w);
	buf_free(&s->out);
	buf_free(&s->whole);
	return (o);
}

static void
is_items(struct script *s, enum stop stop, const char *want, const char *name)
{
	char text[8192];
	size_t i;

	(void)snprintf(text, sizeof(text), "%s", want);
	for (i = 0; text[i] != '\0'; i++)
		text[i] = text[i] == '\'' ? '"' : text[i];
	ok(same(end(s, stop), parsed(text)), name);
	arena_free(s->mem);
}

#define MSG(status, text, notes)                                            \
	"{'type':'message','id':'msg_gw_####################','status':"    \
	"'" status "','role':'assistant','content':[{'type':'output_text'," \
	"'text':'" text "','annotations':[" notes "],'logprobs':[]}]}"
#define RUN(status, code, outputs)                                           \
	"{'type':'code_interpreter_call','id':"                              \
	"'ci_gw_####################','status':'" status "','code':'" code   \
	"','container_id':'cntr_gw_####################','outputs':" outputs \
	"}"
#define CITE(a, b)                                                          \
	"{'type':'container_file_citation','container_id':"                 \
	"'cntr_gw_####################','file_id':'cfile_"                  \
	"0123456789abcdef0123456789abcdef','filename':'t.csv','start_index" \
	"':" #a ",'end_index':" #b "}"

static void
pieces(int streamed)
{
	struct outcome_file t = {.next = NULL,
	    .id = "0123456789abcdef0123456789abcdef",
	    .path = "d/t.csv",
	    .bytes = 1};
	struct outcome o = {
	    .tool = OUR_CODE, .out = TEXT_LIT("out"), .err = TEXT_LIT("err")};
	struct script s;

	begin(&s, "", streamed);
	say(&s, EVENT_TEXT, "One.", NULL, 0);
	say_run(&s);
	o.files = &t;
	result(&s, &o);
	say(&s, EVENT_TEXT, "See t", NULL, 0);
	say(&s, EVENT_TEXT, ".csv.", NULL, 0);
	is_items(&s, STOP_END,
	    "[" MSG("completed", "One.", "") "," RUN("completed", "c",
		"null") "," MSG("completed", "See t.csv.", CITE(4, 9)) "]",
	    "outputs are not told unless they are asked for; files are cited "
	    "in the last message");

	begin(&s, "\"include\":[\"code_interpreter_call.outputs\"],", streamed);
	say_run(&s);
	o.kind = OUTCOME_TIMEOUT;
	o.files = NULL;
	result(&s, &o);
	is_items(&s, STOP_PAUSE,
	    "[" RUN("failed", "c",
		"[{'type':'logs','logs':'outerr\\n"
		"stopped at the time limit'}]") "]",
	    "a time limit, and what there was before it");

	o = (struct outcome){.tool = OUR_CODE};
	begin(&s, "", streamed);
	say(&s, EVENT_CALL, NULL, "code_execution", 1);
	say(&s, EVENT_ARGS, "{\"cod", NULL, 0);
	say(&s, EVENT_CALL_END, NULL, NULL, 0);
	o.kind = OUTCOME_BAD_INPUT;
	result(&s, &o);
	is_items(&s, STOP_LENGTH, "[" RUN("failed", "{\\\"cod", "null") "]",
	    "arguments that are none are shown as they are");

	begin(&s, "", streamed);
	say(&s, EVENT_CALL, NULL, "c", 0);
	say(&s, EVENT_ARGS, "{\"inp", NULL, 0);
	say(&s, EVENT_ARGS, "ut\":\"a b\"}", NULL, 0);
	say(&s, EVENT_CALL_END, NULL, NULL, 0);
	is_items(&s, STOP_CALLS,
	    "[{'type':'custom_tool_call','id':'ctc_gw_####################',"
	    "'call_id':'call_1','name':'c','input':'a b','status':"
	    "'completed'}]",
	    "a custom tool gets its text");

	begin(&s, "", streamed);
	s.t->quiet = 1;
	o = (struct outcome){.tool = OUR_CODE, .files = &t};
	result(&s, &o);
	say(&s, EVENT_TEXT, "No name.", NULL, 0);
	is_items(&s, STOP_FILTER,
	    "[" MSG("incomplete", "No name.", CITE(8, 8)) "]",
	    "quiet runs are cited all the same");

	begin(&s, "", streamed);
	is_items(&s, STOP_END, "[]", "an answer may be empty");
}

#define IMAGE_CITED "," MSG("completed", "", CITE(0, 0)) "]"
#define ASKED "\"include\":[\"code_interpreter_call.outputs\"],"

static void
pictures(int streamed)
{
	struct outcome_file t = {.next = NULL,
	    .id = "0123456789abcdef0123456789abcdef",
	    .path = "d/t.csv",
	    .bytes = 1,
	    .image = "image/png"};
	struct outcome o = {.tool = OUR_CODE, .files = &t};
	struct script s;

	begin(&s, ASKED, streamed);
	say_run(&s);
	t.data = (struct text)TEXT_LIT("AAAA");
	result(&s, &o);
	t.data = (struct text){NULL, 0};
	say(&s, EVENT_CALL, NULL, "code_execution", 1);
	is_items(&s, STOP_LENGTH,
	    "[" RUN("completed", "c",
		"[{'type':'logs','logs':''},{'type':'image','url':"
		"'data:image/png;"
		"base64,AAAA'}]") "," RUN("incomplete", "",
		"null") "," MSG("incomplete", "", CITE(0, 0)) "]",
	    "an image is shown; a run that was begun and cut off says so");

	begin(&s, ASKED, streamed);
	say_run(&s);
	result(&s, &o);
	is_items(&s, STOP_END,
	    "[" RUN("completed", "c",
		"[{'type':'logs','logs':''},{'type':'image','url':"
		"'https://gateway.example/v1/containers/"
		"cntr_gw_####################/files/"
		"cfile_0123456789abcdef0123456789abcdef/content'}]")
		IMAGE_CITED,
	    "one that is too large, by its address");
}

int
main(void)
{
	static const char *const all[] = {"responses-stream",
	    "responses-mixed-stream", "responses-failed-stream",
	    "responses-incomplete-stream", "responses-tool-failed-stream",
	    "responses-reasoning-stream"};
	size_t i;

	for (i = 0; i < NELEM(all); i++)
		one_fixture(all[i]);
	pieces(0);
	pieces(1);
	pictures(0);
	pictures(1);
	return (done_testing());
}
