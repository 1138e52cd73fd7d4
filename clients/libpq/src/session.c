/*
 * session.c
 *		One libpq connection, with code that the methods share: errors,
 *		preparing, and passing cells to the sink.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "session.h"

/* The built-in types whose binary format differs from their text. */
#define INT8_OID		20
#define INT4_OID		23

/* Ends the program with libpq's last error on the connection. */
noreturn void
session_fail(Session *session)
{
	fail(EXIT_CODE_FAILURE, "%s", PQerrorMessage(session->conn));
}

/* Ends the program unless a result has the expected status. */
void
session_require(Session *session, PGresult *result, ExecStatusType status)
{
	if (PQresultStatus(result) == status)
		return;
	if (PQresultErrorMessage(result)[0] == '\0')
		fail(EXIT_CODE_FAILURE, "the statement gave %s instead of %s",
			 PQresStatus(PQresultStatus(result)), PQresStatus(status));
	session_fail(session);
}

/* Connects, or ends the program. */
Session *
session_open(const Request *request)
{
	Session    *session = calloc(1, sizeof(Session));

	if (session == NULL)
		fail(EXIT_CODE_FAILURE, "out of memory");
	session->conn = PQconnectdb(request->conninfo);
	if (PQstatus(session->conn) != CONNECTION_OK)
		session_fail(session);
	return session;
}

/* Disconnects. */
void
session_close(Session *session)
{
	PQclear(session->described);
	PQfinish(session->conn);
	free(session->copy_text);
	free(session->copy_binary);
	free(session);
}

/* Prepares the statement, once a connection. */
void
session_prepare(Session *session, const char *sql)
{
	PGresult   *result;

	if (session->prepared)
		return;
	result = PQprepare(session->conn, STATEMENT_NAME, sql, 0, NULL);
	session_require(session, result, PGRES_COMMAND_OK);
	PQclear(result);
	session->prepared = true;
}

/* Returns the statement's columns, described once a connection. */
const PGresult *
session_describe(Session *session, const char *sql)
{
	if (session->described == NULL)
	{
		session_prepare(session, sql);
		session->described = PQdescribePrepared(session->conn, STATEMENT_NAME);
		session_require(session, session->described, PGRES_COMMAND_OK);
	}
	return session->described;
}

/* Passes a cell in binary format to the sink as text. */
void
session_take_binary(Sink *sink, Oid type, const char *value, int length)
{
	char		text[INTEGER_TEXT];
	uint32_t	four;
	uint64_t	eight;

	if (value == NULL || (type != INT4_OID && type != INT8_OID))
	{
		sink_cell(sink, value, (size_t) length);
		return;
	}
	if (type == INT4_OID)
	{
		memcpy(&four, value, sizeof(four));
		length = snprintf(text, sizeof(text), "%" PRId32, (int32_t) ntohl(four));
	}
	else
	{
		memcpy(&eight, value, sizeof(eight));
		length = snprintf(text, sizeof(text), "%" PRId64, (int64_t) be64toh(eight));
	}
	sink_cell(sink, text, (size_t) length);
}

/* Passes the rows of a result to the sink, reading every cell. */
void
session_take_rows(Sink *sink, const PGresult *result)
{
	int			row_count = PQntuples(result);
	int			column_count = PQnfields(result);

	for (int row = 0; row < row_count; row++)
	{
		for (int column = 0; column < column_count; column++)
		{
			const char *value = PQgetisnull(result, row, column) ? NULL :
				PQgetvalue(result, row, column);
			int			length = PQgetlength(result, row, column);

			if (PQfformat(result, column) == 0)
				sink_cell(sink, value, (size_t) length);
			else
				session_take_binary(sink, PQftype(result, column), value, length);
		}
		sink_end_row(sink);
	}
}
