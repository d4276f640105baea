#include <stddef.h>

#include "io/db_error.h"

#define SERVER_GONE 2006 /* Client: could not send. */

/* Numbers of both servers and of the client library (2xxx). */
static const struct {
	unsigned int number;
	enum db_error means;
} errors[] = {
    {1062, DB_ERROR_DUP},   /* Duplicate entry. */
    {1586, DB_ERROR_DUP},   /* The same, naming the key. */
    {1050, DB_ERROR_THERE}, /* Table exists. */
    {1051, DB_ERROR_THERE}, /* Unknown table (DROP). */
    {1060, DB_ERROR_THERE}, /* Duplicate column name. */
    {1061, DB_ERROR_THERE}, /* Duplicate key name. */
    {1091, DB_ERROR_THERE}, /* Column or key to drop is not there. */
    {1020, DB_ERROR_AGAIN}, /* Row changed since the snapshot. */
    {1205, DB_ERROR_AGAIN}, /* Lock wait timeout. */
    {1213, DB_ERROR_AGAIN}, /* Deadlock; certification failure. */
    {3101, DB_ERROR_AGAIN}, /* Rolled back by Group Replication. */
    {1243, DB_ERROR_STALE}, /* Unknown prepared statement. */
    {1615, DB_ERROR_STALE}, /* Needs to be re-prepared. */
    {1040, DB_ERROR_LOST},  /* Too many connections. */
    {1047, DB_ERROR_LOST},  /* Galera: node not ready for queries. */
    {1053, DB_ERROR_LOST},  /* Shutdown in progress. */
    {1077, DB_ERROR_LOST},  /* Normal shutdown. */
    {1152, DB_ERROR_LOST},  /* Aborted connection. */
    {1158, DB_ERROR_LOST},  /* Errors reading or writing packets: */
    {1159, DB_ERROR_LOST}, {1160, DB_ERROR_LOST}, {1161, DB_ERROR_LOST},
    {1184, DB_ERROR_LOST}, /* Aborted new connection. */
    {1290, DB_ERROR_LOST}, /* Server is read-only: it was demoted. */
    {1836, DB_ERROR_LOST}, /* The same. */
    {1927, DB_ERROR_LOST}, /* Connection was killed. */
    {4031, DB_ERROR_LOST}, /* Disconnected for inactivity. */
    {SERVER_GONE, DB_ERROR_LOST},
    {2013, DB_ERROR_LOST}, /* Lost during the statement. */
    {2055, DB_ERROR_LOST}, /* The same, with a system error. */
};

/* Is ${number} the client library's own, not an answer of the server? */
static int
of_client(unsigned int number)
{

	return (number >= 2000 && number < 3000);
}

enum db_error
db_error(unsigned int number)
{
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == number)
			return (errors[i].means);
	/* Any other trouble of the client library leaves it out of step. */
	if (of_client(number))
		return (DB_ERROR_LOST);
	return (DB_ERROR_OTHER);
}

int
db_error_unsent(unsigned int number)
{

	return (number == SERVER_GONE);
}

int
db_error_unheard(unsigned int number)
{

	return (of_client(number) && !db_error_unsent(number));
}
