#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jail/editor.h"
#include "jail/files.h"
#include "jail/limits.h"

#include "tap.h"

static struct editor E;
static int root;
static struct out out, err;
static struct edited did; /* By the last command. */

/* A field of a command; the last has no text. */
struct arg {
	enum msg_key key;
	const char *text;
};

static int
run(const char *command, const char *path, const struct arg *args)
{
	static const struct out none = OUT_INIT;
	static const struct edited nothing = EDITED_INIT;
	struct buf b = BUF_INIT(FRAME_MAX);
	struct msg m;
	int code = -1;

	out_free(&out);
	out_free(&err);
	out = err = none;
	buf_free(&did.diff);
	did = nothing;
	(void)msg_text(&b, MSG_EDIT, command, strlen(command));
	(void)msg_text(&b, MSG_PATH, path, strlen(path));
	for (; args != NULL && args->text != NULL; args++)
		(void)msg_text(&b, args->key, args->text, strlen(args->text));
	if (buf_ok(&b) && msg_parse(b.p, b.len, &m) == 0)
		code = editor_run(&E, root, &m, &out, &err, &did);
	buf_free(&b);
	return (code);
}

static int
replace(const char *path, const char *old, const char *new)
{
	const struct arg args[] = {{MSG_OLD, old}, {MSG_NEW, new}, {0, NULL}};

	return (run("str_replace", path, args));
}

static int
create(const char *path, const char *text)
{
	const struct arg args[] = {{MSG_FILE_TEXT, text}, {0, NULL}};

	return (run("create", path, args));
}

static int
text_is(const char *path, const char *want)
{
	struct buf b = BUF_INIT(EDITOR_FILE_MAX);
	int same;

	same = files_slurp(root, path, &b) == REPLY_OK &&
	    strcmp(b.len > 0 ? b.p : "", want) == 0;
	buf_free(&b);
	return (same);
}

static void
test_commands(void)
{

	ok(editor_known("view") && editor_known("undo_edit") &&
		!editor_known("delete") && !editor_known(""),
	    "commands");
	ok(run("delete", "a", NULL) == 1 && err.kept.len > 0, "no command");
	ok(create("a", "one") == 0 && text_is("a", "one") && out.kept.len > 0 &&
		err.kept.len == 0,
	    "create");
	ok(create("a", "two") == 1 && text_is("a", "one") && err.kept.len > 0,
	    "create again");
	ok(replace("a", "n", "NN") == 0 && text_is("a", "oNNe"), "replace");
	ok(replace("a", "N", "n") == 1 && text_is("a", "oNNe"), "twice");
	ok(run("undo_edit", "a", NULL) == 0 && text_is("a", "one"), "undo");
	ok(run("undo_edit", "a", NULL) == 1 && text_is("a", "one"), "no more");
	ok(E.n == 0 && E.bytes == 0, "nothing is kept then");
}

/* Undo is bounded, the oldest state going first, whatever file it is of. */
static void
test_bounds(void)
{
	static char big[EDITOR_FILE_MAX - 1];
	char old[16], new[16];
	int i, good = 1;

	(void)create("n", "v0");
	for (i = 0; i < EDITOR_UNDO_STATES + 3; i++) {
		(void)snprintf(old, sizeof(old), "v%d", i);
		(void)snprintf(new, sizeof(new), "v%d", i + 1);
		good &= replace("n", old, new) == 0;
	}
	ok(good && E.n == EDITOR_UNDO_STATES, "so many states are kept");
	for (i = 0; run("undo_edit", "n", NULL) == 0; i++)
		;
	ok(i == EDITOR_UNDO_STATES && text_is("n", "v3"),
	    "and undone, the oldest forgotten");

	memset(big, 'x', sizeof(big) - 1);
	(void)files_replace(root, "b", big, sizeof(big) - 1, 0);
	(void)create("s", "1");
	ok(replace("s", "1", "2") == 0 && E.n == 1, "a small edit");
	big[0] = 'y';
	good = files_replace(root, "b", big, sizeof(big) - 1, 0) == REPLY_OK &&
	    replace("b", "y", "z") == 0 && replace("b", "z", "y") == 0 &&
	    replace("b", "y", "z") == 0;
	ok(good && E.bytes <= EDITOR_UNDO_MAX && E.n == 2,
	    "large states push others out");
	ok(run("undo_edit", "s", NULL) == 1, "the small one is gone");
	ok(replace("b", "z", "zzzz") == 1, "a text cannot pass the limit");
	editor_free(&E);
	ok(E.n == 0 && E.bytes == 0, "freed");
}

static void
test_limits(void)
{
	struct limits l = {1, 2, 3, 4, 5, 6, 7, 8, ISOLATION_BWRAP, "/r", ""};
	struct limits m;
	char words[LIMITS_WORDS][LIMITS_WORD], *p[LIMITS_WORDS + 1];
	int i;

	limits_write(&l, words);
	for (i = 0; i < LIMITS_WORDS; i++)
		p[i] = words[i];
	ok(limits_read(p, LIMITS_WORDS, &m) == 0 &&
		memcmp(&l, &m, sizeof(l)) == 0,
	    "limits pass through a command line");
	ok(limits_read(p, LIMITS_WORDS - 1, &m) == -1, "one is missing");
	p[LIMITS_WORDS] = words[0];
	ok(limits_read(p, LIMITS_WORDS + 1, &m) == -1, "one stands twice");
	p[0] = (char[]){"memory"};
	ok(limits_read(p, LIMITS_WORDS, &m) == -1, "one has no value");
	p[0] = (char[]){"memory=x"};
	ok(limits_read(p, LIMITS_WORDS, &m) == -1, "one is no number");
	p[9] = (char[]){"rootfs=r"};
	p[0] = (char[]){"memory=1"};
	ok(limits_read(p, LIMITS_WORDS, &m) == -1, "one is no path");
	p[0] = (char[]){"nosuch=1"};
	ok(limits_read(p, LIMITS_WORDS, &m) == -1, "one is unknown");
}

int
main(void)
{
	char path[] = "/tmp/satchel-editor.XXXXXX";
	int bad;

	if (mkdtemp(path) == NULL ||
	    (root = open(path, O_RDONLY | O_DIRECTORY)) == -1) {
		printf("# %s: %s\n", path, strerror(errno));
		return (1);
	}
	test_commands();
	test_bounds();
	test_limits();
	out_free(&out);
	out_free(&err);

	/* Leave nothing behind. */
	bad = done_testing();
	(void)fflush(stdout);
	execlp("sh", "sh", "-c", "rm -rf \"$1\"; exit \"$2\"", "sh", path,
	    bad ? "1" : "0", NULL);
	return (1);
}
