/*
 * ask.c
 *	  Questions in the user's transaction, which leave it as it was.
 *
 * Each is asked in a savepoint that is rolled back, with a Sync behind it, so that
 * an error costs no round trip either.  Which questions there are, and the rule
 * for all of them, is in questions.c.
 */
#include "postgres.h"

#include "session/ask.h"
#include "session/results.h"
#include "session/session.h"
#include "session/state.h"
#include "sql/command.h"

/*
 * The only result of a command, which must be cleared; it may be an error.  A
 * lost connection is raised.
 */
static PGresult *
read_command(Session *session, const char *sql)
{
	PGresult   *res = session_result(session);

	if (PQstatus(session->conn) != CONNECTION_BAD)
	{
		/* The result is followed by the command's end. */
		PGresult   *end = session_result(session);

		PQclear(end);
	}
	if (PQstatus(session->conn) == CONNECTION_BAD)
		results_report(session, ERROR, res, sql);
	return res;
}

/* Is a result that of a command that has not failed? */
static bool
has_worked(const PGresult *res)
{
	return PQresultStatus(res) == PGRES_COMMAND_OK ||
		PQresultStatus(res) == PGRES_TUPLES_OK;
}

/*
 * Reads the answers to a question and to the commands around it; the answer, or
 * NULL if there is none.  Nothing of it may fail but the question.
 */
static PGresult *
read_answer(Session *session, const RemoteCommand *commands, int ncommands,
			int question)
{
	PGresult   *answer;

	for (int i = 0; i < ncommands; i++)
	{
		PGresult   *res = read_command(session, commands[i].shown);

		if (!has_worked(res) && i != question)
			results_report(session, ERROR, res, commands[i].shown);
		if (i == question && has_worked(res))
			session->batch.result = res;
		else
			PQclear(res);
	}
	results_finish(session);
	answer = session->batch.result;
	session->batch.result = NULL;
	return answer;
}

/*
 * Asks in the remote transaction what a command needs that has been told to ask,
 * such as ANALYZE, and leaves that as it was.  The answer, which the caller must
 * clear, or NULL if the server refuses, whatever for.
 */
PGresult *
ask_in_savepoint(Session *session, const char *sql)
{
	const RemoteCommand commands[] = {
		{.sql = "SAVEPOINT tollfree_question",.shown = sql},
		{.sql = sql,.shown = sql,.hints.syncs = true},
		{.sql = "ROLLBACK TO SAVEPOINT tollfree_question",.shown = sql},
		{.sql = "RELEASE SAVEPOINT tollfree_question",.shown = sql}
	};

	session_send(session, commands, lengthof(commands), true);
	return read_answer(session, commands, lengthof(commands), 1);
}
