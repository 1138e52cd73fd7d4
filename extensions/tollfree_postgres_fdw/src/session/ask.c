/*
 * ask.c
 *	  Questions in the user's transaction, in a savepoint.
 *
 * Each question is asked in a savepoint that is rolled back.  A Sync behind
 * the question makes the server execute the rollback after an error, too, so
 * an error costs no further round trip. questions.c lists all questions and
 * the rule for them.
 */
#include "postgres.h"

#include "session/ask.h"
#include "session/results.h"
#include "session/session.h"

/*
 * The only result of a command, which the caller must clear; it may be an
 * error.  A lost connection is raised.
 */
static PGresult *
read_command(Session *session, const char *sql)
{
	PGresult   *res = session_result(session);

	if (PQstatus(session->conn) != CONNECTION_BAD)
	{
		/* A NULL follows the command's last result. */
		PGresult   *end = session_result(session);

		PQclear(end);
	}
	if (PQstatus(session->conn) == CONNECTION_BAD)
		results_report(session, ERROR, res, sql);
	return res;
}

/* Has the command of this result succeeded? */
static bool
has_worked(const PGresult *res)
{
	return PQresultStatus(res) == PGRES_COMMAND_OK ||
		PQresultStatus(res) == PGRES_TUPLES_OK;
}

/*
 * Reads the answers to a question and to the commands around it.  Returns the
 * answer to the question, or NULL if it failed.  An error of another command
 * is raised.
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
 * Asks a question in the remote transaction, and leaves that as it was.  For
 * commands that have to know the answer, such as ANALYZE.  Returns the answer,
 * which the caller must clear, or NULL if the server gives an error.
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
