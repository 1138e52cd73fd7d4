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
 *	When the session is set up, in the same batch, each behind a Sync of its
 *	own:
 *		may it be asked whether a transaction has written?
 *		is there a statement_timeout?
 *		are transactions SERIALIZABLE by default?
 *
 *	Behind the COMMIT of a transaction, in one of its own, which nobody waits
 *	for; the answers are read with the next batch:
 *		are relations plain (relations.c)?
 *
 *	In the user's transaction, in a savepoint that is rolled back, with a Sync
 *	behind the question, so that an error costs no round trip either:
 *		how large is a table, what are its statistics (analyze.c,
 *		import_stats.c)?  ANALYZE waits for these as it does for locks of the
 *		table.
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

#include "session/batch.h"
#include "session/error.h"
#include "session/questions.h"
#include "session/relations.h"
#include "session/state.h"

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

/* For the rest of the transaction, ms: for a lock; for all of it */
#define LOCK_LIMIT_SQL "SET LOCAL lock_timeout = 1"
#define TIME_LIMIT_SQL "SET LOCAL statement_timeout = 1000"

/* Asks what every transaction of the session depends on. */
void
questions_add_at_setup(Session *session)
{
	session->remote.can_check_writes = false;
	session->remote.has_statement_timeout = true;
	session->remote.is_serializable = true;
	session->remote.hides_relations = false;

	if (PQserverVersion(session->conn) >= SESSION_CHECK_VERSION)
	{
		batch_add_sync(session);
		batch_add_prepare(session, PART_ASIDE, WRITE_CHECK_STATEMENT,
						  WRITE_CHECK_SQL);
		batch_add_statement(session, PART_WRITE_QUESTION, 0,
							WRITE_CHECK_STATEMENT, WRITE_CHECK_SQL);
	}
	batch_add_sync(session);
	batch_add(session, PART_TIMEOUT_QUESTION, 0, TIMEOUT_SQL);
	batch_add_sync(session);
	batch_add(session, PART_ISOLATION_QUESTION, 0, ISOLATION_SQL);
}

/* Asks, behind the caller's commands, whether they have written. */
void
questions_add_write_check(Session *session, bool only_reads)
{
	if (only_reads && !session->xact.has_written &&
		session->remote.can_check_writes)
		batch_add_statement(session, PART_WRITE_CHECK, 0,
							WRITE_CHECK_STATEMENT, WRITE_CHECK_SQL);
	session->xact.may_have_written = true;
}

/*
 * Notes that it would be good to know of these relations whether they are
 * plain.  They are asked about when the transaction is committed.
 */
void
questions_note_relations(Session *session, List *relids)
{
	MemoryContext old;

	if (relids == NIL || session->remote.hides_relations ||
		PQserverVersion(session->conn) < SESSION_CHECK_VERSION)
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	session->facts.unasked = list_concat(session->facts.unasked,
										 relations_to_ask(&session->facts.relations,
														  relids));
	MemoryContextSwitchTo(old);
}

/* Forgets that, as a transaction ends. */
void
questions_forget(Session *session)
{
	session->facts.unasked = NIL;
}

/* Asks about the relations that are not known yet, for later statements. */
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
			batch_add(session, PART_ASIDE, 0, START_SQL);
			batch_add(session, PART_ASIDE, 0, LOCK_LIMIT_SQL);
			batch_add(session, PART_ASIDE, 0, TIME_LIMIT_SQL);
			is_asking = true;
		}
		batch_add_question(session, RELATION_SQL, question);
	}
	if (!is_asking)
		return;
	batch_add_sync(session);
	batch_add(session, PART_ASIDE, 0, "ROLLBACK TRANSACTION");
}

/* Is an error that of a question that has given up, not of one that is refused? */
static bool
has_given_up(const PGresult *res)
{
	int			sqlstate = error_sqlstate(res);

	return sqlstate == ERRCODE_QUERY_CANCELED ||
		sqlstate == ERRCODE_LOCK_NOT_AVAILABLE;
}

/*
 * Takes what became of a question that was asked outside the transaction.  One
 * about a relation that has given up is asked again behind a later statement.
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
		case PART_ASIDE:
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
