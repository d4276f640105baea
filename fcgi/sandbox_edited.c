#include <string.h>

#include "base/jset.h"
#include "base/path.h"

#include "jail/call.h"
#include "jail/editor.h"

#include "fcgi/sandbox_exec.h"

/* The extension "edit": what the editor has done, for who need not read it. */

struct field {
	const char *name;
	enum msg_key key;
};

/* Set the numbers ${f} of the answer ${m}. */
static int
put_numbers(json_object *o, const struct msg *m, const struct field *f)
{

	for (; f->name != NULL; f++)
		if (jset(o, f->name, jint(msg_get_num(m, f->key, 0))))
			return (-1);
	return (0);
}

/* What a vendor's answer would call the file. */
static const char *
file_type(const char *path)
{
	const char *mime = path_mime(path);

	if (mime != NULL && strncmp(mime, "image/", 6) == 0)
		return ("image");
	if (mime != NULL && strcmp(mime, "application/pdf") == 0)
		return ("pdf");
	return ("text");
}

static int
put_view(json_object *o, const struct exec *e)
{
	static const struct field fields[] = {{"start_line", MSG_FIRST},
	    {"num_lines", MSG_LINES}, {"total_lines", MSG_TOTAL}, {NULL, 0}};
	json_object *path;

	if (!json_object_object_get_ex(e->input, "path", &path) ||
	    jset(o, "file_type", jstr(file_type(json_object_get_string(path)))))
		return (-1);
	return (put_numbers(o, &e->done, fields));
}

/* The lines of the change, one text each. */
static json_object *
diff(const char *p)
{
	json_object *a = json_object_new_array();
	size_t n;

	for (; a != NULL && *p != '\0'; p += n + (p[n] != '\0')) {
		n = strcspn(p, "\n");
		if (jadd(a, json_object_new_string_len(p, (int)n))) {
			json_object_put(a);
			a = NULL;
		}
	}
	return (a);
}

static int
put_change(json_object *o, const struct exec *e)
{
	static const struct field fields[] = {{"old_start", MSG_FIRST},
	    {"old_lines", MSG_LINES}, {"new_start", MSG_NEW_FIRST},
	    {"new_lines", MSG_NEW_LINES}, {NULL, 0}};
	const char *lines = msg_get(&e->done, MSG_DIFF);

	if (put_numbers(o, &e->done, fields))
		return (-1);
	return (
	    lines != NULL ? jset(o, "lines", diff(lines)) : jnull(o, "lines"));
}

static const char *
error_code(const struct msg *m)
{

	if (msg_get_num(m, MSG_END, CALL_ENDED) == CALL_LATE)
		return ("execution_time_exceeded");
	return (msg_get_num(m, MSG_WHY, REPLY_BAD) == REPLY_NONE
		? "file_not_found"
		: "invalid_tool_input");
}

/* Why it failed: what is printed, but for the end of the line. */
static int
put_error(json_object *o, const struct exec *e)
{
	struct buf b = BUF_INIT(LIMIT_OUTPUT);
	int rc = -1;

	(void)exec_text(&b, e->err.first.p, e->err.first.len, LIMIT_OUTPUT);
	if (b.len == 0 && e->note != NULL)
		(void)buf_puts(&b, e->note);
	if (b.len > 0 && b.p[b.len - 1] == '\n')
		b.len--;
	if (jset(o, "error_code", jstr(error_code(&e->done))) == 0)
		rc = jset(o, "error_message",
		    json_object_new_string_len(
			b.len > 0 ? b.p : "", (int)b.len));
	buf_free(&b);
	return (rc);
}

json_object *
exec_edited(const struct exec *e)
{
	json_object *o = json_object_new_object();
	int rc = 0;

	if (o == NULL)
		return (NULL);
	switch (msg_get_num(&e->done, MSG_EDITED, EDITED_NOTHING)) {
	case EDITED_VIEW:
		rc = put_view(o, e);
		break;
	case EDITED_DIRECTORY:
		rc = jset(o, "file_type", jstr("directory"));
		break;
	case EDITED_CREATE:
		rc = jset(o, "is_file_update",
		    jbool(msg_get_num(&e->done, MSG_UPDATE, 0) != 0));
		break;
	case EDITED_CHANGE:
		rc = put_change(o, e);
		break;
	default:
		if (msg_get_num(&e->done, MSG_CODE, 0) != 0)
			rc = put_error(o, e);
		break;
	}
	if (rc == 0)
		return (o);
	json_object_put(o);
	return (NULL);
}
