/*
 * session.c
 *		One connection, and transactions run and checked on it.
 *
 * Each statement is sent and its answer awaited before the next one is sent,
 * through libpq's blocking calls, as most programs do.  Every answer is
 * checked.
 *
 * A transaction that fails to serialize or is a deadlock's victim is rolled
 * back and retried with the same values, within the caller's timing.  Any
 * other error ends the program.
 *
 * Times are taken in probe.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "session.h"

/* Limit of retries, above any contention worth measuring. */
#define RETRIES_MAX		1000

#define STATEMENT_NAME	24

#define SQLSTATE_SERIALIZATION_FAILURE	"40001"
#define SQLSTATE_DEADLOCK_DETECTED		"40P01"

/* Returns the length of a message's first line. */
static int
session_line_length(const char *message)
{
	return (int) strcspn(message, "\n");
}

/* Keeps the first line of a notice, for session_fail. */
static void
session_note(void *argument, const char *message)
{
	Session    *session = argument;

	snprintf(session->notice, sizeof(session->notice), "%.*s",
			 session_line_length(message), message);
}

/*
 * Ends the program with a statement's error: the server's in the result, or
 * else libpq's.  A server that ends between two statements sends its reason in
 * a notice.
 */
static noreturn void
session_fail(const Session *session, const char *text, const PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	if (state != NULL && message != NULL)
		fail(EXIT_CODE_FAILURE, "\"%s\" failed: %s (SQLSTATE %s)", text,
			 message, state);
	message = PQerrorMessage(session->conn);
	fail(EXIT_CODE_FAILURE, "\"%s\" failed: %.*s%s%s", text,
		 session_line_length(message), message,
		 session->notice[0] ? "; the server said: " : "", session->notice);
}

/* Connects, or ends the program. */
void
session_open(Session *session, const char *conninfo)
{
	const char *const keywords[] = {"dbname", "fallback_application_name", NULL};
	const char *const values[] = {conninfo, "txprobe", NULL};

	session->conn = PQconnectdbParams(keywords, values, 1);
	if (PQstatus(session->conn) != CONNECTION_OK)
	{
		const char *message = PQerrorMessage(session->conn);

		fail(EXIT_CODE_FAILURE, "could not connect to \"%s\": %.*s", conninfo,
			 session_line_length(message), message);
	}
	PQsetNoticeProcessor(session->conn, session_note, session);
}

/* Writes the name under which a statement of the script is prepared. */
static void
session_name(char name[STATEMENT_NAME], int index)
{
	snprintf(name, STATEMENT_NAME, "txprobe_%d", index);
}

/* Prepares every statement of the script. */
static void
session_prepare(Session *session)
{
	for (int i = 0; i < session->script->statement_count; i++)
	{
		const ScriptStatement *statement = &session->script->statements[i];
		char		name[STATEMENT_NAME];
		PGresult   *result;

		session_name(name, i);
		result = PQprepare(session->conn, name, statement->text, 0, NULL);
		if (PQresultStatus(result) != PGRES_COMMAND_OK)
			session_fail(session, statement->text, result);
		PQclear(result);
	}
	session->prepared = true;
}

/* Sends a statement and awaits its result, which the caller clears. */
static PGresult *
session_execute(Session *session, int index, const ScriptValues *values)
{
	const ScriptStatement *statement = &session->script->statements[index];
	const char *parameters[SCRIPT_PARAMETERS];
	char		text[SCRIPT_TEXT];
	char		name[STATEMENT_NAME];

	for (int i = 0; i < statement->parameter_count; i++)
		parameters[i] = values->text[statement->parameters[i]];

	switch (session->protocol)
	{
		case PROTOCOL_SIMPLE:
			script_expand(statement, values, text);
			return PQexec(session->conn, text);
		case PROTOCOL_EXTENDED:
			return PQexecParams(session->conn, statement->text,
								statement->parameter_count, NULL, parameters,
								NULL, NULL, 0);
		case PROTOCOL_PREPARED:
			session_name(name, index);
			return PQexecPrepared(session->conn, name,
								  statement->parameter_count, parameters,
								  NULL, NULL, 0);
	}
	abort();
}

/* Whether the result is a single integer. */
static bool
session_is_integer(const PGresult *result)
{
	char	   *end;
	long		value;

	if (PQntuples(result) != 1 || PQnfields(result) != 1 ||
		PQgetlength(result, 0, 0) == 0)
		return false;
	errno = 0;
	value = strtol(PQgetvalue(result, 0, 0), &end, 10);
	return errno == 0 && *end == '\0' && value >= INT_MIN && value <= INT_MAX;
}

/* Is the error one that can be retried? */
static bool
session_must_retry(const PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	return state != NULL &&
		(strcmp(state, SQLSTATE_SERIALIZATION_FAILURE) == 0 ||
		 strcmp(state, SQLSTATE_DEADLOCK_DETECTED) == 0);
}

/* Ends the program unless the result is the expected one. */
static void
session_check(Session *session, const ScriptStatement *statement,
			  const ScriptValues *values, PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);
	ExecStatusType expected = statement->tag == NULL ? PGRES_EMPTY_QUERY :
		statement->reads_integer ? PGRES_TUPLES_OK : PGRES_COMMAND_OK;
	char		text[SCRIPT_TEXT];

	if (status == expected &&
		(statement->tag == NULL ||
		 strcmp(PQcmdStatus(result), statement->tag) == 0) &&
		(!statement->reads_integer || session_is_integer(result)))
		return;

	script_expand(statement, values, text);
	if (statement->tag == NULL ||
		(status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK))
		session_fail(session, text, result);
	if (strcmp(PQcmdStatus(result), statement->tag) != 0)
		fail(EXIT_CODE_FAILURE,
			 "\"%s\" gave \"%s\" instead of \"%s\": check --scale and the tables' contents",
			 text, PQcmdStatus(result), statement->tag);
	fail(EXIT_CODE_FAILURE,
		 "\"%s\" gave something else than one integer: check the tables",
		 text);
}

/* Rolls back a failed transaction. */
static void
session_rollback(Session *session)
{
	PGresult   *result;

	if (PQtransactionStatus(session->conn) == PQTRANS_IDLE)
		return;
	result = PQexec(session->conn, "ROLLBACK");
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		session_fail(session, "ROLLBACK", result);
	PQclear(result);
}

/* Runs the script once.  Returns false if it has to be retried. */
static bool
session_attempt(Session *session, const ScriptValues *values)
{
	uint64_t	rows = 0;

	for (int i = 0; i < session->script->statement_count; i++)
	{
		const ScriptStatement *statement = &session->script->statements[i];
		PGresult   *result = session_execute(session, i, values);

		if (session_must_retry(result))
		{
			PQclear(result);
			session_rollback(session);
			return false;
		}
		session_check(session, statement, values, result);
		rows += statement->reads_integer;
		PQclear(result);
	}
	session->rows += rows;
	return true;
}

/*
 * Runs one transaction until it has succeeded, or ends the program.  The first
 * one also prepares the statements, if the protocol requires it.
 */
void
session_run(Session *session, const ScriptValues *values)
{
	uint64_t	limit = session->retries + RETRIES_MAX;

	if (session->protocol == PROTOCOL_PREPARED && !session->prepared)
		session_prepare(session);
	while (!session_attempt(session, values))
	{
		if (session->retries == limit)
			fail(EXIT_CODE_FAILURE,
				 "a transaction still failed after %d retries: use fewer clients or a larger --scale",
				 RETRIES_MAX);
		session->retries++;
	}
}

/* Disconnects. */
void
session_close(Session *session)
{
	PQfinish(session->conn);
}
