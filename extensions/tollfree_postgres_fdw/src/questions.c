/*
 * questions.c
 *	  What a session asks the remote server for purposes of its own.
 *
 * The rule: a question never fails, nor delays, what the user asked.  The remote
 * user may be forbidden to read the catalogs or to call a function, the server
 * may be a standby, of another version, or somebody may hold a lock on a catalog.
 * A question without an answer is one answered by no, and all that a no costs is
 * speed.  So none is asked where its error would end the user's transaction:
 *
 *	When the session is set up, in the same flight, each behind a Sync of its
 *	own:
 *		may it be asked whether a transaction has written?
 *		is there a statement_timeout?
 *		are transactions SERIALIZABLE by default?
 *
 *	Behind the COMMIT of a transaction, in one of its own, which nobody waits
 *	for; the answers are read with the next flight:
 *		are relations plain (relations.c)?
 *
 *	In the user's transaction, in a savepoint that is rolled back, with a Sync
 *	behind the question, so that an error costs no round trip either:
 *		may rows be inserted as arrays (arrays.c)?
 *		how large is a table, what are its statistics (analyze.c,
 *		import_stats.c)?  ANALYZE waits for these as it does for locks of the
 *		table; the others give up on a lock at once, and soon on anything else.
 *
 *	In the user's transaction, with every command that only reads:
 *		has it written so far?
 *	A savepoint around this one would cost more than what it saves.  It is asked
 *	only where it was answered when the session was set up.  If the right to ask
 *	is revoked later one transaction fails, and the session is replaced by one
 *	that does not ask.
 *
 * What a kept statement's description asks is about the user's own
 * command; session.c repeats it without them.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "questions.h"

/* Answers with "t" if nothing has been written so far. */
#define WRITE_CHECK_STATEMENT "tollfree_check"
#define WRITE_CHECK_SQL \
	"SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NULL"

/* SHOW needs no right to any function. */
#define TIMEOUT_SQL "SHOW statement_timeout"
#define ISOLATION_SQL "SHOW default_transaction_isolation"

/* Answers with "t" if reading a relation runs nobody's code. */
#define RELATION_SQL \
	"SELECT EXISTS (SELECT FROM pg_catalog.pg_class c" \
	" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace" \
	" WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'm')" \
	" AND NOT c.relrowsecurity AND NOT c.relhassubclass)"

/* A transaction that a standby has, too, whatever the defaults are */
#define START_SQL \
	"START TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY"

/* For the rest of the transaction or savepoint, ms: for a lock; for all of it */
#define LOCK_LIMIT_SQL "SET LOCAL lock_timeout = 1"
#define TIME_LIMIT_SQL "SET LOCAL statement_timeout = 1000"

/* Asks what every transaction of the session depends on. */
void
questions_add_at_setup(Session *session)
{
	session->can_check_writes = false;
	session->is_timed = session->is_serializable = true;
	session->hides_relations = session->hides_arrays = false;

	if (PQserverVersion(session->conn) >= SESSION_CHECK_VERSION)
	{
		session_add_sync(session);
		session_add_prepare(session, PART_ASIDE, WRITE_CHECK_STATEMENT,
							WRITE_CHECK_SQL);
		session_add_statement(session, PART_WRITE_QUESTION, 0,
							  WRITE_CHECK_STATEMENT, WRITE_CHECK_SQL);
	}
	session_add_sync(session);
	session_add(session, PART_TIMEOUT_QUESTION, 0, TIMEOUT_SQL);
	session_add_sync(session);
	session_add(session, PART_ISOLATION_QUESTION, 0, ISOLATION_SQL);
}

/* Asks, behind the caller's commands, whether they have written. */
void
questions_add_write_check(Session *session, bool only_reads)
{
	if (only_reads && !session->has_written && session->can_check_writes)
		session_add_statement(session, PART_WRITE_CHECK, 0,
							  WRITE_CHECK_STATEMENT, WRITE_CHECK_SQL);
	session->may_have_written = true;
}

/*
 * Notes that it would be good to know of these relations whether they are
 * plain.  They are asked about when the transaction is committed.
 */
void
questions_note_relations(Session *session, List *relids)
{
	MemoryContext old;

	if (relids == NIL || session->hides_relations ||
		PQserverVersion(session->conn) < SESSION_CHECK_VERSION)
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	session->unasked = list_concat(session->unasked,
								   relations_to_ask(&session->relations,
													relids));
	MemoryContextSwitchTo(old);
}

/* Forgets that, as a transaction ends. */
void
questions_forget(Session *session)
{
	session->unasked = NIL;
}

/* Asks about the relations that are not known yet, for later statements. */
void
questions_add_behind_commit(Session *session)
{
	bool		is_asking = false;
	ListCell   *cell;

	if (session->hides_relations || session->invalidated || !session->keep)
		return;
	foreach(cell, session->unasked)
	{
		const RelationQuestion *question = lfirst(cell);

		if (!relations_are_asked(session->relations, question->relid))
			continue;
		if (!is_asking)
		{
			session_add_sync(session);
			session_add(session, PART_ASIDE, 0, START_SQL);
			session_add(session, PART_ASIDE, 0, LOCK_LIMIT_SQL);
			session_add(session, PART_ASIDE, 0, TIME_LIMIT_SQL);
			is_asking = true;
		}
		session_add_question(session, RELATION_SQL, question);
	}
	if (!is_asking)
		return;
	session_add_sync(session);
	session_add(session, PART_ASIDE, 0, "ROLLBACK TRANSACTION");
}

/* Is an error that of a question that has given up, not of one that is refused? */
static bool
has_given_up(const PGresult *res)
{
	int			sqlstate = session_sqlstate(res);

	return sqlstate == ERRCODE_QUERY_CANCELED ||
		sqlstate == ERRCODE_LOCK_NOT_AVAILABLE;
}

/*
 * Takes what became of a question that was asked outside the transaction.  One
 * about a relation that has given up is asked again behind a later statement.
 */
void
questions_take(Session *session, const Part *part, const PGresult *res)
{
	bool		is_answered = PQresultStatus(res) == PGRES_TUPLES_OK &&
		PQntuples(res) == 1;
	const char *answer = is_answered ? PQgetvalue(res, 0, 0) : "";
	bool		is_refused = PQresultStatus(res) == PGRES_FATAL_ERROR &&
		!has_given_up(res);

	switch (part->kind)
	{
		case PART_ASIDE:
			session->hides_relations |= is_refused;
			break;
		case PART_WRITE_QUESTION:
			session->can_check_writes = is_answered;
			break;
		case PART_TIMEOUT_QUESTION:
			session->is_timed = strcmp(answer, "0") != 0;
			break;
		case PART_ISOLATION_QUESTION:
			session->is_serializable = !is_answered ||
				strcmp(answer, "serializable") == 0;
			break;
		case PART_RELATION_QUESTION:
			session->hides_relations |= is_refused;
			if (is_answered)
				relations_answer(session->relations, part->relid,
								 strcmp(answer, "t") == 0);
			break;
		default:
			break;
	}
}

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
		session_report(session, ERROR, res, sql);
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
			session_report(session, ERROR, res, commands[i].shown);
		if (PQresultStatus(res) == PGRES_FATAL_ERROR)
			*sqlstate = session_sqlstate(res);
		if (i == question && has_worked(res))
			session->result = res;
		else
			PQclear(res);
	}
	session_finish(session);
	answer = session->result;
	session->result = NULL;
	return answer;
}

/*
 * Asks in the remote transaction, and leaves it as it was.  The answer, which
 * the caller must clear, or NULL if the server refuses, whatever for.
 */
static PGresult *
ask(Session *session, const char *sql, bool is_hurried, bool only_reads,
	int *sqlstate)
{
	RemoteCommand commands[] = {
		{.sql = "SAVEPOINT tollfree_question",.shown = sql},
		{.sql = LOCK_LIMIT_SQL,.shown = sql},
		{.sql = TIME_LIMIT_SQL,.shown = sql},
		{.sql = sql,.shown = sql,.syncs = true},
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
questions_ask(Session *session, const char *sql)
{
	int			sqlstate;

	return ask(session, sql, false, true, &sqlstate);
}

/*
 * Asks whether rows may be written as arrays.  A server that takes long to say
 * so is not asked again.
 */
bool
questions_ask_for_arrays(Session *session, const char *sql)
{
	PGresult   *res;
	int			sqlstate;
	bool		answer;

	if (session->hides_arrays)
		return false;
	res = ask(session, sql, true, false, &sqlstate);
	session->hides_arrays = sqlstate == ERRCODE_QUERY_CANCELED;
	answer = session_is_true(res);
	PQclear(res);
	return answer;
}
