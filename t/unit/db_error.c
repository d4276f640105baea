#include "io/db_error.h"

#include "tap.h"

int
main(void)
{
	static const unsigned int again[] = {1020, 1205, 1213, 3101},
				  lost[] = {1040, 1047, 1053, 1290, 1836, 1927,
				      2002, 2003, 2006, 2013, 2014, 2027, 2055,
				      2999, 4031},
				  other[] = {0, 1045, 1054, 1064, 1146, 1406,
				      1999, 3000};
	size_t i, bad = 0;

	for (i = 0; i < sizeof(again) / sizeof(again[0]); i++)
		bad += db_error(again[i]) != DB_ERROR_AGAIN;
	ok(bad == 0, "conflicts: again");
	for (i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		bad += db_error(lost[i]) != DB_ERROR_LOST;
	ok(bad == 0, "connections of no use, whoever noticed");
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		bad += db_error(other[i]) != DB_ERROR_OTHER;
	ok(bad == 0, "faults of ours are neither");
	ok(db_error(1062) == DB_ERROR_DUP, "a unique key is taken");
	ok(db_error(1050) == DB_ERROR_THERE && db_error(1061) == DB_ERROR_THERE,
	    "DDL that is done already");
	ok(db_error(1615) == DB_ERROR_STALE, "a statement gone stale");
	ok(db_error_unsent(2006) && !db_error_unsent(2013) &&
		!db_error_unsent(1213),
	    "only 2006 never left");
	ok(db_error_unheard(2013) && db_error_unheard(2027) &&
		!db_error_unheard(2006) && !db_error_unheard(1290) &&
		!db_error_unheard(1927),
	    "an answer of the server is an answer");
	return (done_testing());
}
