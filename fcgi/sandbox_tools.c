#include <string.h>

#include "base/jget.h"
#include "base/utf8.h"

#include "jail/editor.h"

#include "fcgi/sandbox_exec.h"

/* clang-format off */
/* What an editor's command may carry besides command and path. */
static const struct {
	const char *name;
	enum msg_key key;
} edit_texts[] = {
	{ "file_text", MSG_FILE_TEXT }, { "old_str", MSG_OLD },
	{ "new_str", MSG_NEW }, { NULL, 0 }
};
/* clang-format on */

/* The program or command. */
int
exec_read_text(struct exec *e)
{
	const int python = e->tool == &exec_tools[0];
	const char *key = python ? "code" : "command", *text;

	switch (jget_str(e->input, key, &text)) {
	case JGET_OK:
		break;
	case JGET_RANGE:
		return (exec_refuse(e, "the text holds a NUL"));
	default:
		return (exec_refuse(e,
		    python ? "input.code is needed, a text"
			   : "input.command is needed, a text"));
	}
	if (*text == '\0')
		return (exec_refuse(e, "the text is empty"));
	if (utf8_count(text, strlen(text)) > SBX_TEXT_CHARS)
		return (exec_refuse(
		    e, "the text is longer than 200000 characters"));
	(void)msg_num(&e->ask, MSG_OP, python ? OP_PYTHON : OP_BASH);
	(void)msg_text(&e->ask, MSG_TEXT, text, strlen(text));
	return (0);
}

/* view_range: [first, last], last -1 for the end. */
static int
read_range(struct exec *e)
{
	json_object *a;
	int64_t v[2];
	int i;

	switch (jget_array(e->input, "view_range", &a)) {
	case JGET_OK:
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		return (0);
	default:
		return (exec_refuse(e, "input.view_range is [first, last]"));
	}
	if (json_object_array_length(a) != 2)
		return (exec_refuse(e, "input.view_range is [first, last]"));
	for (i = 0; i < 2; i++) {
		json_object *n = json_object_array_get_idx(a, (size_t)i);

		if (!json_object_is_type(n, json_type_int))
			return (exec_refuse(
			    e, "input.view_range is [first, last]"));
		v[i] = json_object_get_int64(n);
	}

	/* What makes no sense is the command's failure, not the request's. */
	if (v[0] < 1 || (v[1] != -1 && v[1] < v[0]))
		v[0] = v[1] = 0;
	(void)msg_num(&e->ask, MSG_FIRST, (uint64_t)v[0]);
	(void)msg_num(&e->ask, MSG_LAST, v[1] == -1 ? 0 : (uint64_t)v[1]);
	return (0);
}

static int
read_line(struct exec *e)
{
	uint64_t line;

	switch (jget_u64(e->input, "insert_line", 0, INT64_MAX, &line)) {
	case JGET_OK:
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		return (0);
	case JGET_RANGE:
		line = INT64_MAX; /* No file has that line either. */
		break;
	default:
		return (exec_refuse(e, "input.insert_line is a line number"));
	}
	(void)msg_num(&e->ask, MSG_LINE, line);
	return (0);
}

static int
read_overwrite(struct exec *e)
{
	int may = 0;

	switch (jget_bool(e->input, "overwrite", &may)) {
	case JGET_OK:
	case JGET_ABSENT:
	case JGET_NULL:
		break;
	default:
		return (exec_refuse(e, "input.overwrite is true or false"));
	}
	(void)msg_num(&e->ask, MSG_OVERWRITE, (uint64_t)may);
	return (0);
}

int
exec_read_edit(struct exec *e)
{
	const char *command, *path, *text;
	size_t i;

	if (jget_str(e->input, "command", &command) != JGET_OK ||
	    !editor_known(command))
		return (exec_refuse(e,
		    "input.command is one of view, create, str_replace,"
		    " insert, undo_edit"));
	if (jget_str(e->input, "path", &path) != JGET_OK || *path == '\0')
		return (exec_refuse(e, "input.path is needed, a text"));
	(void)msg_num(&e->ask, MSG_OP, OP_EDIT);
	(void)msg_text(&e->ask, MSG_EDIT, command, strlen(command));
	(void)msg_text(&e->ask, MSG_PATH, path, strlen(path));
	for (i = 0; edit_texts[i].name != NULL; i++) {
		switch (jget_str(e->input, edit_texts[i].name, &text)) {
		case JGET_OK:
			break;
		case JGET_ABSENT:
		case JGET_NULL:
			continue;
		default:
			return (exec_refuse(
			    e, "a text is no text, or holds a NUL"));
		}
		if (strlen(text) > SBX_FILE_TEXT)
			return (exec_refuse(e, "a text is longer than 1 MiB"));
		(void)msg_text(&e->ask, edit_texts[i].key, text, strlen(text));
	}
	return (read_range(e) || read_line(e) || read_overwrite(e) ? -1 : 0);
}
