/*
 * methods.c
 *		The methods: a cell at a time, arrays of bound columns, a cursor,
 *		prepared, a file that the server writes.
 *
 * psqlODBC holds the whole result after the statement has been executed, in
 * its own format, unless it declares a cursor.
 */
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "methods.h"
#include "server_file.h"

/* The longest text that fits into a bound array, with its final zero. */
#define BOUND_TEXT		2048

/* A SQLGetData buffer to begin with. */
#define CELL_SIZE		4096

/* A column of the array that rows are fetched into. */
typedef struct BoundColumn
{
	SQLSMALLINT type;			/* in C: SQL_C_SLONG, ... */
	size_t		width;			/* bytes a row */
	char	   *values;
	SQLLEN		lengths[CHUNK_ROWS];
} BoundColumn;

/* Returns what a method adds to the connection string. */
const char *
method_settings(const Method *method)
{
	return method->execute == method_cursor ?
		"UseDeclareFetch=1;Fetch=1000" : "UseDeclareFetch=0";
}

/* Returns the C type that a column is read as. */
static SQLSMALLINT
method_c_type(SQLSMALLINT type, const Sink *sink)
{
	if (sink_wants_text(sink))
		return SQL_C_CHAR;
	switch (type)
	{
		case SQL_INTEGER:
			return SQL_C_SLONG;
		case SQL_BIGINT:
			return SQL_C_SBIGINT;
		default:
			return SQL_C_CHAR;
	}
}

/* Returns the bytes that a number of a C type takes; of texts, BOUND_TEXT. */
static size_t
method_width(SQLSMALLINT type)
{
	switch (type)
	{
		case SQL_C_SLONG:
			return sizeof(SQLINTEGER);
		case SQL_C_SBIGINT:
			return sizeof(SQLBIGINT);
		default:
			return BOUND_TEXT;
	}
}

/* Reads one cell, up to the present size of the buffer. */
static void
method_take_cell(Session *session, Sink *sink, int column, SQLSMALLINT type)
{
	SQLUSMALLINT number = (SQLUSMALLINT) (column + 1);
	SQLLEN		length;
	size_t		had;

	session_succeeded(session, SQLGetData(session->statement, number, type,
										  session->buffer,
										  (SQLLEN) session->buffer_size,
										  &length));
	if (length == SQL_NULL_DATA)
		sink_cell(sink, NULL, 0);
	else
	{
		had = session->buffer_size - 1;
		if (type == SQL_C_CHAR && length > (SQLLEN) had)
		{
			session_reserve(session, (size_t) length + 1);
			session_succeeded(session,
							  SQLGetData(session->statement, number, type,
										 session->buffer + had,
										 (SQLLEN) (session->buffer_size - had),
										 NULL));
		}
		sink_cell(sink, session->buffer, (size_t) length);
	}
}

/* Reads the rows of the executed statement cell by cell. */
static void
method_take_rows(Session *session, Execution *execution)
{
	SQLSMALLINT types[COLUMNS_MAX];
	int			column_count = session_columns(session, types);

	session_reserve(session, CELL_SIZE);
	for (int column = 0; column < column_count; column++)
		types[column] = method_c_type(types[column], execution->sink);
	while (session_succeeded(session, SQLFetch(session->statement)))
	{
		execution_first_row(execution);
		for (int column = 0; column < column_count; column++)
			method_take_cell(session, execution->sink, column, types[column]);
		sink_end_row(execution->sink);
	}
	session_succeeded(session, SQLFreeStmt(session->statement, SQL_CLOSE));
}

/* Sends the statement. */
static void
method_execute(Session *session, Execution *execution)
{
	execution_sent(execution);
	session_succeeded(session,
					  SQLExecDirect(session->statement,
									(SQLCHAR *) execution->request->sql,
									SQL_NTS));
}

/* The whole result, then SQLFetch and SQLGetData. */
void
method_normal(Session *session, Execution *execution)
{
	method_execute(session, execution);
	execution_all_rows(execution);
	method_take_rows(session, execution);
}

/* A statement prepared once a connection, then as the normal method. */
void
method_prepared(Session *session, Execution *execution)
{
	execution_sent(execution);
	if (!session->prepared)
		session_succeeded(session,
						  SQLPrepare(session->statement,
									 (SQLCHAR *) execution->request->sql,
									 SQL_NTS));
	session->prepared = true;
	session_succeeded(session, SQLExecute(session->statement));
	execution_all_rows(execution);
	method_take_rows(session, execution);
}

/* A thousand rows at a time by the driver's own cursor. */
void
method_cursor(Session *session, Execution *execution)
{
	method_execute(session, execution);
	method_take_rows(session, execution);
	execution_all_rows(execution);
}

/* Binds columns to arrays in the buffer. */
static void
method_bind(Session *session, BoundColumn *columns, int column_count)
{
	size_t		size = 0;

	for (int column = 0; column < column_count; column++)
		size += columns[column].width * CHUNK_ROWS;
	session_reserve(session, size);
	size = 0;
	for (int column = 0; column < column_count; column++)
	{
		BoundColumn *bound = &columns[column];

		bound->values = session->buffer + size;
		size += bound->width * CHUNK_ROWS;
		session_succeeded(session,
						  SQLBindCol(session->statement,
									 (SQLUSMALLINT) (column + 1), bound->type,
									 bound->values, (SQLLEN) bound->width,
									 bound->lengths));
	}
}

/* Reads the cells of the rows of one fetch. */
static void
method_take_bound(Sink *sink, const BoundColumn *columns, int column_count,
				  SQLULEN row_count)
{
	for (SQLULEN row = 0; row < row_count; row++)
	{
		for (int column = 0; column < column_count; column++)
		{
			const BoundColumn *bound = &columns[column];
			SQLLEN		length = bound->lengths[row];

			if (length == SQL_NULL_DATA)
				sink_cell(sink, NULL, 0);
			else if (bound->type == SQL_C_CHAR && length >= BOUND_TEXT)
				fail(EXIT_CODE_FAILURE,
					 "a text of %ld bytes does not fit the bound array: "
					 "%d are the most", (long) length, BOUND_TEXT - 1);
			else
				sink_cell(sink, bound->values + row * bound->width,
						  (size_t) length);
		}
		sink_end_row(sink);
	}
}

/* The whole result, then a thousand rows a fetch, into bound columns. */
void
method_bound(Session *session, Execution *execution)
{
	static BoundColumn columns[COLUMNS_MAX];
	SQLSMALLINT types[COLUMNS_MAX];
	SQLULEN		row_count = 0;
	int			column_count;

	method_execute(session, execution);
	execution_all_rows(execution);
	column_count = session_columns(session, types);
	for (int column = 0; column < column_count; column++)
	{
		columns[column].type = method_c_type(types[column], execution->sink);
		columns[column].width = method_width(columns[column].type);
	}
	SQLSetStmtAttr(session->statement, SQL_ATTR_ROW_ARRAY_SIZE,
				   (SQLPOINTER) CHUNK_ROWS, 0);
	SQLSetStmtAttr(session->statement, SQL_ATTR_ROWS_FETCHED_PTR, &row_count, 0);
	method_bind(session, columns, column_count);
	while (session_succeeded(session, SQLFetch(session->statement)))
		method_take_bound(execution->sink, columns, column_count, row_count);
	SQLSetStmtAttr(session->statement, SQL_ATTR_ROWS_FETCHED_PTR, NULL, 0);
	session_succeeded(session, SQLFreeStmt(session->statement, SQL_UNBIND));
	session_succeeded(session, SQLFreeStmt(session->statement, SQL_CLOSE));
}

/*
 * Appends a text to the session's buffer at a place, a quote in it doubled;
 * there must be room.  Returns the place behind it.
 */
static size_t
method_append_quoted(Session *session, size_t at, const char *text)
{
	for (; *text != '\0'; text++)
	{
		if (*text == '\'')
			session->buffer[at++] = '\'';
		session->buffer[at++] = *text;
	}
	return at;
}

/* The server writes the rows to a file, which we then read. */
void
method_server_file(Session *session, Execution *execution)
{
	const char *path = server_file_path(execution->request);
	const char *sql = execution->request->sql;
	size_t		room = strlen("COPY () TO ''") + strlen(sql) + 2 * strlen(path) + 1;
	size_t		length;

	session_reserve(session, room);
	length = (size_t) snprintf(session->buffer, room, "COPY (%s) TO '", sql);
	length = method_append_quoted(session, length, path);
	memcpy(session->buffer + length, "'", 2);
	execution_sent(execution);
	session_succeeded(session, SQLExecDirect(session->statement,
											 (SQLCHAR *) session->buffer,
											 SQL_NTS));
	server_file_read(execution);
	session_succeeded(session, SQLFreeStmt(session->statement, SQL_CLOSE));
}

/* There is none. */
void
method_copy(Session *session, Execution *execution)
{
	(void) session;
	(void) execution;
	fail(EXIT_CODE_UNAVAILABLE, "ODBC has nothing like COPY");
}
