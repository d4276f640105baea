#ifndef DATA_LC_SQL_H_
#define DATA_LC_SQL_H_

/* What lc.c and lc_publish.c read: a session s, an object o and its file f. */

/* clang-format off */
#define LC_SESSION_COLS							\
	"s.workspace_id, s.key_id, s.user_id, s.kind, s.resource_id, "	\
	"s.version, s.last_used"
#define LC_SESSION_NCOLS 7

#define LC_OBJECT_COLS							\
	"f.workspace_id, f.user_id, o.session, o.object, o.place, o.read_only"
#define LC_OBJECT_NCOLS 6
/* clang-format on */

#endif /* !DATA_LC_SQL_H_ */
