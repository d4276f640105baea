#ifndef DATA_UPLOAD_SQL_H_
#define DATA_UPLOAD_SQL_H_

/*
 * THE rule for an upload that still takes parts, at the time of the
 * placeholder; ${u} is the alias of the table upload with its dot, or "".
 */
#define UPLOAD_PENDS(u) u "state = 'pending' AND " u "expires > ?"

#endif /* !DATA_UPLOAD_SQL_H_ */
