/*
 * session.h
 *		One libpq connection, with code that the methods share.
 */
#ifndef SESSION_H
#define SESSION_H

#include <libpq-fe.h>
#include <stdnoreturn.h>

#include "client.h"

/* Under which the statement is prepared once a connection. */
#define STATEMENT_NAME	"statement"

/* Room for any integer as text. */
#define INTEGER_TEXT	24

struct Session
{
	PGconn	   *conn;
	char	   *copy_text;		/* the statement inside COPY; NULL until asked */
	char	   *copy_binary;
	bool		prepared;
	PGresult   *described;		/* of the statement's columns; NULL until
								 * asked */
};

extern Session *session_open(const Request *request);
extern void session_close(Session *session);

extern void session_prepare(Session *session, const char *sql);
extern const PGresult *session_describe(Session *session, const char *sql);

extern noreturn void session_fail(Session *session);
extern void session_require(Session *session, PGresult *result,
							ExecStatusType status);

extern void session_take_rows(Sink *sink, const PGresult *result);
extern void session_take_binary(Sink *sink, Oid type, const char *value,
								int length);

#endif							/* SESSION_H */
