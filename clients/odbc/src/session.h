/*
 * session.h
 *		One ODBC connection with its statement, with code that the methods
 *		share.
 */
#ifndef SESSION_H
#define SESSION_H

#include <sql.h>
#include <sqlext.h>
#include <stdnoreturn.h>

#include "client.h"

#define COLUMNS_MAX		64

/* Rows at a time, where a method takes several. */
#define CHUNK_ROWS		1000

struct Session
{
	SQLHENV		environment;
	SQLHDBC		connection;
	SQLHSTMT	statement;
	bool		prepared;		/* the statement is, on this connection */
	char	   *buffer;			/* for one cell, or for an array of rows */
	size_t		buffer_size;	/* bytes */
};

extern Session *session_open(const Request *request);
extern void session_close(Session *session);
extern const char *session_driver_version(void);

extern void session_reserve(Session *session, size_t size);
extern bool session_succeeded(Session *session, SQLRETURN result);
extern int	session_columns(Session *session, SQLSMALLINT *types);

#endif							/* SESSION_H */
