/*
 * questions.c
 *	  The questions that a session asks the remote server on its own.
 *
 * The rule: a question never makes a command of the user fail or wait.  The
 * remote user may not be allowed to read the catalogs or to call a function.
 * The server may be a standby, or of another version.  Somebody may hold a
 * lock on a catalog.  A question without an answer counts as answered by no,
 * and a no costs nothing but speed.  So no question but the last is asked where
 * its error would end the user's transaction:
 *
 *	When the session is set up, in the same batch, each behind a Sync of its
 *	own:
 *		does the server answer whether a transaction has written?
 *		what is statement_timeout?
 *		what is the default isolation level?
 *
 *	After the COMMIT of a transaction, in a transaction of its own.  Nobody
 *	waits; the answers are read with the next batch:
 *		are relations plain (relations.c)?
 *
 *	In the user's transaction, in a savepoint that is rolled back, with a
 *	Sync behind the question, so that an error costs no further round trip
 *	(ask.c):
 *		how large is a table, what are its statistics (analyze/)?  ANALYZE
 *		waits for these as it does for locks of the table.
 *
 *	In the user's transaction, with every command that only reads:
 *		has the transaction written (the write check)?
 *
 * A savepoint around the write check would cost more than the check saves.  It
 * is sent only if it worked when the session was set up.  If the right to call
 * its function is revoked later, one transaction fails, and the session is
 * replaced by one that does not ask.
 *
 * The description of a cached statement is no such question: it is about the
 * user's own command, which session.c repeats without it.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "session/batch.h"
#include "session/control.h"
#include "session/error.h"
#include "session/questions.h"

/* The first version that can be asked whether a transaction has written */
#define QUESTIONS_VERSION 130000

/* The write check: "t" if the transaction has written nothing so far */
#define WRITE_CHECK_NAME "check"
#define WRITE_CHECK_SQL \
	"SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NULL"

/* SHOW needs no right to any function */
#define TIMEOUT_SQL "SHOW statement_timeout"
#define ISOLATION_SQL "SHOW default_transaction_isolation"

/* "t" if the relation is plain: reading it runs no user's code */
#define RELATION_SQL \
	"SELECT EXISTS (SELECT FROM pg_catalog.pg_class c" \
	" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace" \
	" WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'm')" \
	" AND NOT c.relrowsecurity AND NOT c.relhassubclass)"

/* A transaction that works on a standby, too, whatever the defaults are */
#define START_SQL \
	"START TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY"

/* Limits for the transaction, in ms: for a lock; for each question */
#define LOCK_LIMIT_SQL "SET LOCAL lock_timeout = 1"
#define TIME_LIMIT_SQL "SET LOCAL statement_timeout = 1000"

/* Asks at the setup of the session what all its transactions depend on. */
void
questions_add_at_setup(Session *session)
{
	session->remote.can_check_writes = false;
	session->remote.has_statement_timeout = true;
	session->remote.is_serializable = true;
	session->remote.hides_relations = false;

	if (PQserverVersion(session->conn) >= QUESTIONS_VERSION)
	{
		batch_add_sync(session);
		control_prepare(session, PART_QUESTION_CONTROL, WRITE_CHECK_NAME,
						WRITE_CHECK_SQL);
		control_add(session, PART_WRITE_QUESTION, 0, WRITE_CHECK_NAME,
					WRITE_CHECK_SQL);
	}
	batch_add_sync(session);
	batch_add(session, PART_TIMEOUT_QUESTION, 0, TIMEOUT_SQL);
	batch_add_sync(session);
	batch_add(session, PART_ISOLATION_QUESTION, 0, ISOLATION_SQL);
}

/* Adds the write check behind the caller's commands, if it is useful. */
void
questions_add_write_check(Session *session, bool only_reads)
{
	if (only_reads && !session->xact.has_written &&
		session->remote.can_check_writes)
		control_add(session, PART_WRITE_CHECK, 0, WRITE_CHECK_NAME,
					WRITE_CHECK_SQL);
	session->xact.may_have_written = true;
}

/*
 * Notes that an answer about these relations would be useful.  They are asked
 * about after the transaction's COMMIT.
 */
void
questions_note_relations(Session *session, List *relids)
{
	MemoryContext old;

	if (relids == NIL || session->remote.hides_relations ||
		PQserverVersion(session->conn) < QUESTIONS_VERSION)
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	session->facts.unasked = list_concat(session->facts.unasked,
										 relations_to_ask(&session->facts.relations,
														  relids));
	MemoryContextSwitchTo(old);
}

/* Forgets which relations to ask about, at the end of a transaction. */
void
questions_forget(Session *session)
{
	session->facts.unasked = NIL;
}

/* Asks about the relations that are not known yet, behind the COMMIT. */
void
questions_add_behind_commit(Session *session)
{
	bool		is_asking = false;
	ListCell   *cell;

	if (session->remote.hides_relations || session->options.is_outdated ||
		!session->options.keep)
		return;
	foreach(cell, session->facts.unasked)
	{
		const RelationQuestion *question = lfirst(cell);

		if (!relations_are_asked(session->facts.relations, question->relid))
			continue;
		if (!is_asking)
		{
			batch_add_sync(session);
			batch_add(session, PART_QUESTION_CONTROL, 0, START_SQL);
			batch_add(session, PART_QUESTION_CONTROL, 0, LOCK_LIMIT_SQL);
			batch_add(session, PART_QUESTION_CONTROL, 0, TIME_LIMIT_SQL);
			is_asking = true;
		}
		batch_add_question(session, RELATION_SQL, question);
	}
	if (!is_asking)
		return;
	batch_add_sync(session);
	batch_add(session, PART_QUESTION_CONTROL, 0, "ROLLBACK TRANSACTION");
}

/* Was the question given up at one of its limits, rather than refused? */
static bool
has_given_up(const PGresult *res)
{
	int			sqlstate = error_sqlstate(res);

	return sqlstate == ERRCODE_QUERY_CANCELED ||
		sqlstate == ERRCODE_LOCK_NOT_AVAILABLE;
}

/*
 * Takes the answer to a question that is not part of the user's transaction.
 * A question about a relation that was given up is asked again behind a later
 * transaction.
 */
void
questions_take(Session *session, const BatchPart *part, const PGresult *res)
{
	bool		is_answered = PQresultStatus(res) == PGRES_TUPLES_OK &&
		PQntuples(res) == 1;
	const char *answer = is_answered ? PQgetvalue(res, 0, 0) : "";
	bool		is_refused = PQresultStatus(res) == PGRES_FATAL_ERROR &&
		!has_given_up(res);

	switch (part->kind)
	{
		case PART_QUESTION_CONTROL:
			session->remote.hides_relations |= is_refused;
			break;
		case PART_WRITE_QUESTION:
			session->remote.can_check_writes = is_answered;
			break;
		case PART_TIMEOUT_QUESTION:
			session->remote.has_statement_timeout = strcmp(answer, "0") != 0;
			break;
		case PART_ISOLATION_QUESTION:
			session->remote.is_serializable = !is_answered ||
				strcmp(answer, "serializable") == 0;
			break;
		case PART_RELATION_QUESTION:
			session->remote.hides_relations |= is_refused;
			if (is_answered)
				relations_answer(session->facts.relations, part->relid,
								 strcmp(answer, "t") == 0);
			break;
		default:
			break;
	}
}
