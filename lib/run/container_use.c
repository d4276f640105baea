#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/jput.h"

#include "data/caller.h"

#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/container_use.h"
#include "run/room.h"
#include "run/room_container.h"

#define COMMAND_MAX 65536
#define REMOVE_S 10

/* Lease the container and find its session. */
static enum run_rc
take(const struct run_env *env, struct room *room, struct talk *t,
    const char *id, struct refusal *why)
{

	*t = (struct talk){.mem = env->mem, .ask = {.id = id, .where = "id"}};
	room_init(room, env, 0);
	return (container_take(room, t, why));
}

static enum run_rc
refuse_data(enum data_rc rc, struct refusal *why)
{

	if (rc == DATA_DOWN || rc == DATA_UNSURE)
		(void)refuse(why, P_DATABASE, NULL,
		    "The database is not available right now.");
	else if (rc == DATA_NONE)
		(void)refuse(why, P_NOT_FOUND, "id",
		    "There is no such file in the container.");
	else
		(void)refuse(
		    why, P_SERVER, NULL, "An internal error occurred.");
	return (RUN_REFUSED);
}

static enum run_rc
add(struct room *room, const struct file *f, struct container_file *out,
    struct refusal *why)
{
	const struct run_env *env = room->env;
	struct container_put put;
	enum run_rc rc;
	enum data_rc drc;

	*out = (struct container_file){
	    .id = f->id, .created = room_now(room), .file = *f, .rc = DATA_OK};
	out->path = seed_name(env->mem, &room->seeds, f->name);
	if (out->path == NULL)
		return (refuse_data(DATA_FAIL, why));
	if (room_is_open(room) &&
	    (rc = seed_put(env, &room->sandbox, room->session, f, out->path,
		 why)) != RUN_OK)
		return (rc);
	put = (struct container_put){f->id, out->path, 0};
	drc = container_file_put(
	    env->db, room->container.row, &put, 1, out->created);
	return (drc == DATA_OK ? RUN_OK : refuse_data(drc, why));
}

enum run_rc
container_add(const struct run_env *env, const char *id, const struct file *f,
    struct container_file *out, struct refusal *why)
{
	const struct container_file *h;
	struct room room;
	struct talk t;
	enum run_rc rc;

	rc = take(env, &room, &t, id, why);
	if (rc == RUN_OK && (h = seed_held(&room.seeds, f->id)) != NULL)
		*out = *h; /* Once is enough. */
	else if (rc == RUN_OK)
		rc = add(&room, f, out, why);
	room_close(&room, 1);
	return (rc);
}

/* {"command":"rm -f -- '...'"}, the path quoted for the shell. */
static int
put_command(struct buf *b, const char *path)
{
	struct buf quoted = BUF_INIT(COMMAND_MAX);
	const char *s;
	int rc = -1;

	buf_puts(&quoted, "rm -f -- '/mnt/data/");
	for (s = path; *s != '\0'; s++)
		if (*s == '\'')
			buf_puts(&quoted, "'\\''");
		else
			buf_put(&quoted, s, 1);
	buf_puts(&quoted, "'");
	if (buf_ok(&quoted)) {
		buf_puts(b, "{\"command\":\"");
		jput_chars(b, quoted.p, quoted.len);
		rc = buf_puts(b, "\"}");
	}
	buf_free(&quoted);
	return (rc);
}

/* A session that is gone has nothing to be removed from. */
static enum run_rc
unlink_in(struct room *room, const char *path, struct refusal *why)
{
	struct buf b = BUF_INIT(COMMAND_MAX);
	struct sandbox_result res;
	struct jspan input;
	enum sandbox_rc rc;

	if (put_command(&b, path)) {
		buf_free(&b);
		return (refuse_data(DATA_FAIL, why));
	}
	input = (struct jspan){b.p, b.len};
	rc = sandbox_exec(&room->sandbox, room->env->mem, room->session,
	    our_rows[OUR_BASH].name, input, REMOVE_S, 1024, &res);
	buf_free(&b);
	return (rc == SANDBOX_GONE ? RUN_GONE : RUN_OK);
}

enum run_rc
container_remove(const struct run_env *env, const char *id, const char *file,
    struct refusal *why)
{
	const struct container_file *h;
	struct room room;
	struct talk t;
	enum run_rc rc;
	enum data_rc drc = DATA_NONE;

	rc = take(env, &room, &t, id, why);
	if (rc == RUN_OK && (h = seed_held(&room.seeds, file)) != NULL) {
		if (room_is_open(&room))
			rc = unlink_in(&room, h->path, why);
		drc = container_file_drop(env->db, room.container.row, file);
	}
	if (rc == RUN_OK && drc != DATA_OK)
		rc = refuse_data(drc, why);
	room_close(&room, 1);
	return (rc);
}
