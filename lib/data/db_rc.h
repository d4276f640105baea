#ifndef DATA_DB_RC_H_
#define DATA_DB_RC_H_

#include "data/rc.h"
#include "io/db.h"

/**
 * data_rc_of(rc):
 * What the database's ${rc} means to whoever asked for an operation on rows.
 */
static inline enum data_rc
data_rc_of(enum db_rc rc)
{

	switch (rc) {
	case DB_OK:
		return (DATA_OK);
	case DB_NONE:
		return (DATA_NONE);
	case DB_DUP:
		return (DATA_TAKEN);
	case DB_UNSURE:
		return (DATA_UNSURE);
	case DB_AGAIN:
	case DB_DOWN:
		return (DATA_DOWN);
	case DB_STOP:
	case DB_THERE:
	case DB_FAIL:
		break;
	}
	return (DATA_FAIL);
}

#endif /* !DATA_DB_RC_H_ */
