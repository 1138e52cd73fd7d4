/*
 * session.c
 *		One ODBC connection with its statement: opening, errors, columns.
 *
 * The connection string needs no data source.  The password file is read by
 * libpq, below the driver.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "methods.h"

#define CONNINFO_MAX	4096
#define MESSAGE_MAX		1024

/* The driver's name and version, of the last connection. */
static char driver_version[64] = "unknown";

/* Ends the program with ODBC's diagnostics of a handle. */
static noreturn void
session_fail(SQLSMALLINT type, SQLHANDLE handle)
{
	SQLCHAR		state[SQL_SQLSTATE_SIZE + 1];
	SQLCHAR		message[MESSAGE_MAX];
	SQLINTEGER	code;
	SQLSMALLINT length;

	if (!SQL_SUCCEEDED(SQLGetDiagRec(type, handle, 1, state, &code, message,
									 sizeof(message), &length)))
		fail(EXIT_CODE_FAILURE, "ODBC failed and does not say why");
	fail(EXIT_CODE_FAILURE, "%s", (const char *) message);
}

/* Ends the program unless a call on a connection succeeded. */
static void
session_require(Session *session, SQLRETURN result)
{
	if (!SQL_SUCCEEDED(result))
		session_fail(SQL_HANDLE_DBC, session->connection);
}

/* False at the end of the statement's data.  Ends the program on an error. */
bool
session_succeeded(Session *session, SQLRETURN result)
{
	if (result == SQL_NO_DATA)
		return false;
	if (!SQL_SUCCEEDED(result))
		session_fail(SQL_HANDLE_STMT, session->statement);
	return true;
}

/* Connects, or ends the program. */
Session *
session_open(const Request *request)
{
	Session    *session = calloc(1, sizeof(Session));
	char		conninfo[CONNINFO_MAX];
	int			length;

	if (session == NULL)
		fail(EXIT_CODE_FAILURE, "out of memory");
	length = snprintf(conninfo, sizeof(conninfo), "%s;%s", request->conninfo,
					  method_settings(request->method));
	if (length >= (int) sizeof(conninfo))
		fail(EXIT_CODE_USAGE, "-c is longer than %d bytes", CONNINFO_MAX);
	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE,
									  &session->environment)))
		fail(EXIT_CODE_FAILURE, "ODBC could not be initialised");
	SQLSetEnvAttr(session->environment, SQL_ATTR_ODBC_VERSION,
				  (SQLPOINTER) SQL_OV_ODBC3, 0);
	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, session->environment,
									  &session->connection)))
		session_fail(SQL_HANDLE_ENV, session->environment);
	session_require(session,
					SQLDriverConnect(session->connection, NULL,
									 (SQLCHAR *) conninfo, SQL_NTS, NULL, 0,
									 NULL, SQL_DRIVER_NOPROMPT));
	session_require(session, SQLGetInfo(session->connection, SQL_DRIVER_VER,
										driver_version, sizeof(driver_version),
										NULL));
	session_require(session, SQLAllocHandle(SQL_HANDLE_STMT, session->connection,
											&session->statement));
	return session;
}

/* Disconnects. */
void
session_close(Session *session)
{
	SQLFreeHandle(SQL_HANDLE_STMT, session->statement);
	SQLDisconnect(session->connection);
	SQLFreeHandle(SQL_HANDLE_DBC, session->connection);
	SQLFreeHandle(SQL_HANDLE_ENV, session->environment);
	free(session->buffer);
	free(session);
}

/* Returns psqlODBC's version; the text is static. */
const char *
session_driver_version(void)
{
	return driver_version;
}

/* Enlarges the buffer to at least this size; keeps its content. */
void
session_reserve(Session *session, size_t size)
{
	if (size <= session->buffer_size)
		return;
	session->buffer = realloc(session->buffer, size);
	if (session->buffer == NULL)
		fail(EXIT_CODE_FAILURE, "out of memory");
	session->buffer_size = size;
}

/* Sets the types of the result's columns; returns their number. */
int
session_columns(Session *session, SQLSMALLINT *types)
{
	SQLSMALLINT count;

	session_succeeded(session, SQLNumResultCols(session->statement, &count));
	if (count > COLUMNS_MAX)
		fail(EXIT_CODE_FAILURE, "the statement has %d columns: %d are the most",
			 count, COLUMNS_MAX);
	for (int column = 0; column < count; column++)
		session_succeeded(session,
						  SQLDescribeCol(session->statement,
										 (SQLUSMALLINT) (column + 1), NULL, 0,
										 NULL, &types[column], NULL, NULL,
										 NULL));
	return count;
}
