/*
 * methods.c
 *		The methods that fetch results: whole, row by row, in chunks, in
 *		binary format, prepared, in a pipeline.
 */
#include "fail.h"
#include "methods.h"

/* Rows a chunk, where libpq has chunks. */
#define CHUNK_ROWS		1000

/* Reads a whole result, and frees it. */
static void
method_take_result(Session *session, Execution *execution, PGresult *result)
{
	execution_all_rows(execution);
	session_require(session, result, PGRES_TUPLES_OK);
	session_take_rows(execution->sink, result);
	PQclear(result);
}

/* The simple protocol; the whole result is held. */
void
method_normal(Session *session, Execution *execution)
{
	execution_sent(execution);
	method_take_result(session, execution,
					   PQexec(session->conn, execution->request->sql));
}

/* The extended protocol with binary results; the whole result is held. */
void
method_binary(Session *session, Execution *execution)
{
	execution_sent(execution);
	method_take_result(session, execution,
					   PQexecParams(session->conn, execution->request->sql, 0,
									NULL, NULL, NULL, NULL, 1));
}

/* A statement prepared once a connection; the whole result is held. */
void
method_prepared(Session *session, Execution *execution)
{
	execution_sent(execution);
	session_prepare(session, execution->request->sql);
	method_take_result(session, execution,
					   PQexecPrepared(session->conn, STATEMENT_NAME, 0, NULL,
									  NULL, NULL, 0));
}

/*
 * Reads the results of a statement one after the other, and frees each at
 * once.
 */
static void
method_take_stream(Session *session, Execution *execution,
				   ExecStatusType partial)
{
	PGresult   *result;

	while ((result = PQgetResult(session->conn)) != NULL)
	{
		execution_first_row(execution);
		if (PQresultStatus(result) != partial)
			session_require(session, result, PGRES_TUPLES_OK);
		session_take_rows(execution->sink, result);
		PQclear(result);
	}
	execution_all_rows(execution);
}

/* Row by row: a result for each. */
void
method_single(Session *session, Execution *execution)
{
	execution_sent(execution);
	if (!PQsendQuery(session->conn, execution->request->sql) ||
		!PQsetSingleRowMode(session->conn))
		session_fail(session);
	method_take_stream(session, execution, PGRES_SINGLE_TUPLE);
}

/* A result for each thousand rows. */
void
method_chunked(Session *session, Execution *execution)
{
#ifdef LIBPQ_HAS_CHUNK_MODE
	execution_sent(execution);
	if (!PQsendQuery(session->conn, execution->request->sql) ||
		!PQsetChunkedRowsMode(session->conn, CHUNK_ROWS))
		session_fail(session);
	method_take_stream(session, execution, PGRES_TUPLES_CHUNK);
#else
	(void) session;
	(void) execution;
	fail(EXIT_CODE_UNAVAILABLE,
		 "libpq has chunked rows from version 17 on, this is %d",
		 PQlibVersion() / 10000);
#endif
}

/* Several executions sent without waiting, each with its own Sync. */
void
method_pipeline(Session *session, Execution *execution)
{
	PGresult   *result;

	if (!PQenterPipelineMode(session->conn))
		session_fail(session);
	execution_sent(execution);
	for (int i = 0; i < execution->count; i++)
		if (!PQsendQueryParams(session->conn, execution->request->sql, 0, NULL,
							   NULL, NULL, NULL, 0) ||
			!PQpipelineSync(session->conn))
			session_fail(session);
	for (int i = 0; i < execution->count; i++)
	{
		result = PQgetResult(session->conn);
		execution_first_row(execution);
		session_require(session, result, PGRES_TUPLES_OK);
		session_take_rows(execution->sink, result);
		PQclear(result);
		PQclear(PQgetResult(session->conn));	/* NULL: the statement's end */
		result = PQgetResult(session->conn);
		session_require(session, result, PGRES_PIPELINE_SYNC);
		PQclear(result);
	}
	execution_all_rows(execution);
	if (!PQexitPipelineMode(session->conn))
		session_fail(session);
}
