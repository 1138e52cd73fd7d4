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
#include "session/error.h"
#include "session/questions.h"
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
 * NULL if there is none.  Nothing of it may fail but the question, and what
 * makes it give up in time; sets the SQLSTATE of that, or 0.
 */
static PGresult *
read_answer(Session *session, const RemoteCommand *commands, int ncommands,
			int question, int *sqlstate)
{
	PGresult   *answer;

	*sqlstate = 0;
	for (int i = 0; i < ncommands; i++)
	{
		PGresult   *res = read_command(session, commands[i].shown);

		if (!has_worked(res) && (i == 0 || i > question))
			results_report(session, ERROR, res, commands[i].shown);
		if (PQresultStatus(res) == PGRES_FATAL_ERROR)
			*sqlstate = error_sqlstate(res);
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
 * Asks in the remote transaction, and leaves it as it was.  The answer, which
 * the caller must clear, or NULL if the server refuses, whatever for.
 */
static PGresult *
ask_limited(Session *session, const char *sql, bool is_hurried, bool only_reads,
			int *sqlstate)
{
	RemoteCommand commands[] = {
		{.sql = "SAVEPOINT tollfree_question",.shown = sql},
		{.sql = LOCK_LIMIT_SQL,.shown = sql},
		{.sql = TIME_LIMIT_SQL,.shown = sql},
		{.sql = sql,.shown = sql,.hints.syncs = true},
		{.sql = "ROLLBACK TO SAVEPOINT tollfree_question",.shown = sql},
		{.sql = "RELEASE SAVEPOINT tollfree_question",.shown = sql}
	};
	RemoteCommand *first = commands;
	int			ncommands = lengthof(commands);

	if (!is_hurried)
	{
		first[2] = first[0];
		first += 2;
		ncommands -= 2;
	}
	session_send(session, first, ncommands, only_reads);
	return read_answer(session, first, ncommands, ncommands - 3, sqlstate);
}

/*
 * Asks what a command needs that has been told to ask, such as ANALYZE.  The
 * answer, which the caller must clear, or NULL.
 */
PGresult *
ask_in_savepoint(Session *session, const char *sql)
{
	int			sqlstate;

	return ask_limited(session, sql, false, true, &sqlstate);
}

/*
 * Asks whether rows may be written as arrays.  A server that takes long to say
 * so is not asked again.
 */
bool
ask_for_arrays(Session *session, const char *sql)
{
	PGresult   *res;
	int			sqlstate;
	bool		answer;

	if (session->remote.hides_arrays)
		return false;
	res = ask_limited(session, sql, true, false, &sqlstate);
	session->remote.hides_arrays = sqlstate == ERRCODE_QUERY_CANCELED;
	answer = results_are_true(res);
	PQclear(res);
	return answer;
}
