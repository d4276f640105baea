#ifndef IO_DB_ERROR_H_
#define IO_DB_ERROR_H_

/* What an error number of MySQL or MariaDB means for what is done next. */
enum db_error {
	DB_ERROR_OTHER,
	DB_ERROR_DUP,   /* A unique key is taken. */
	DB_ERROR_THERE, /* DDL: what it would make is there, or is gone. */
	DB_ERROR_AGAIN, /* Run the whole transaction again. */
	DB_ERROR_STALE, /* The prepared statement must be prepared again. */
	DB_ERROR_LOST   /* The connection is of no use any more. */
};

/**
 * db_error(number):
 * The meaning of the error ${number}.
 */
enum db_error db_error(unsigned int);

/**
 * db_error_unsent(number):
 * Does the error ${number} say that the statement never left this host?
 */
int db_error_unsent(unsigned int);

/**
 * db_error_unheard(number):
 * Does ${number} say that the statement left, and that no answer came?
 */
int db_error_unheard(unsigned int);

#endif /* !IO_DB_ERROR_H_ */
