/*
 * copy.c
 *		The methods that fetch the rows of the statement by COPY: as text, in
 *		binary format, or through a file that the server writes and we read.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "methods.h"
#include "server_file.h"

/* The header of COPY's binary format. */
#define BINARY_SIGNATURE	11
#define BINARY_FIXED_HEADER (BINARY_SIGNATURE + 4 + 4)

/* Instead of a row's column count, after the last row. */
#define BINARY_TRAILER		(-1)

#define NULL_LENGTH			(-1)

/* Returns the statement inside a COPY to the target, made once a connection. */
static const char *
copy_statement(char **kept, const char *sql, const char *target)
{
	if (*kept == NULL && asprintf(kept, "COPY (%s) TO %s", sql, target) < 0)
		fail(EXIT_CODE_FAILURE, "out of memory");
	return *kept;
}

/* Starts COPY TO STDOUT. */
static void
copy_begin(Session *session, Execution *execution, const char *statement)
{
	PGresult   *result;

	execution_sent(execution);
	result = PQexec(session->conn, statement);
	session_require(session, result, PGRES_COPY_OUT);
	PQclear(result);
}

/* Ends a COPY whose data have all been read. */
static void
copy_end(Session *session, Execution *execution, int status)
{
	PGresult   *result;

	if (status == -2)
		session_fail(session);
	result = PQgetResult(session->conn);
	session_require(session, result, PGRES_COMMAND_OK);
	PQclear(result);
	PQclear(PQgetResult(session->conn));
	execution_all_rows(execution);
}

/* COPY's text format: each buffer of libpq is a row. */
void
method_copy(Session *session, Execution *execution)
{
	char	   *line;
	int			length;

	copy_begin(session, execution,
			   copy_statement(&session->copy_text, execution->request->sql,
							  "STDOUT"));
	while ((length = PQgetCopyData(session->conn, &line, 0)) > 0)
	{
		execution_first_row(execution);
		sink_put_line(execution->sink, line, (size_t) length);
		PQfreemem(line);
	}
	copy_end(session, execution, length);
}

/* Returns the 16-bit integer at a place of a row. */
static int16_t
copy_int16(const char *at)
{
	uint16_t	number;

	memcpy(&number, at, sizeof(number));
	return (int16_t) ntohs(number);
}

/* Returns the 32-bit integer at a place of a row. */
static int32_t
copy_int32(const char *at)
{
	uint32_t	number;

	memcpy(&number, at, sizeof(number));
	return (int32_t) ntohl(number);
}

/*
 * Handles a row of COPY's binary format: a count of columns, then the length
 * and bytes of each.  The description may be NULL if no text is needed.
 */
static void
copy_take_binary(Sink *sink, const char *at, const PGresult *description)
{
	int			column_count = copy_int16(at);

	if (column_count == BINARY_TRAILER)
		return;
	at += sizeof(int16_t);
	for (int column = 0; column < column_count; column++)
	{
		int32_t		length = copy_int32(at);

		at += sizeof(int32_t);
		if (length == NULL_LENGTH)
		{
			sink_cell(sink, NULL, 0);
			continue;
		}
		if (description == NULL)
			sink_cell(sink, at, (size_t) length);
		else
			session_take_binary(sink, PQftype(description, column), at, length);
		at += length;
	}
	sink_end_row(sink);
}

/* COPY's binary format; the header is in one buffer with the first row. */
void
method_copy_binary(Session *session, Execution *execution)
{
	const PGresult *description = NULL;
	bool		header = true;
	char	   *piece;
	int			length;

	if (sink_wants_text(execution->sink))
		description = session_describe(session, execution->request->sql);
	copy_begin(session, execution,
			   copy_statement(&session->copy_binary, execution->request->sql,
							  "STDOUT (FORMAT binary)"));
	while ((length = PQgetCopyData(session->conn, &piece, 0)) > 0)
	{
		const char *row = piece;

		execution_first_row(execution);
		if (header)
			row += BINARY_FIXED_HEADER +
				copy_int32(piece + BINARY_FIXED_HEADER - sizeof(int32_t));
		header = false;
		copy_take_binary(execution->sink, row, description);
		PQfreemem(piece);
	}
	copy_end(session, execution, length);
}

/* The server writes the rows to a file, which we then read. */
void
method_server_file(Session *session, Execution *execution)
{
	const char *path = server_file_path(execution->request);
	char	   *target = PQescapeLiteral(session->conn, path, strlen(path));
	PGresult   *result;

	if (target == NULL)
		session_fail(session);
	copy_statement(&session->copy_text, execution->request->sql, target);
	PQfreemem(target);
	execution_sent(execution);
	result = PQexec(session->conn, session->copy_text);
	session_require(session, result, PGRES_COMMAND_OK);
	PQclear(result);
	server_file_read(execution);
}
