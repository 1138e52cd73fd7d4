/*
 * own.c
 *	  Commands of our own, which go with the caller's in a flight.
 *
 * They bring the remote transaction where the local one is, drop what is no
 * longer used, and ask what the caller's commands have done.
 */
#include "postgres.h"

#include "access/xact.h"

#include "portals.h"
#include "session.h"

/*
 * What goes with every transaction is prepared when the session begins: to
 * parse and plan it takes the remote server as long as many a query.
 */
#define START_STATEMENT "tollfree_start"
#define COMMIT_STATEMENT "tollfree_commit"
#define COMMIT_SQL "COMMIT TRANSACTION"

/* Answers with "t" if nothing has been written so far. */
#define WRITE_CHECK_STATEMENT "tollfree_check"
#define WRITE_CHECK_SQL \
	"SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NULL"

/*
 * Answers with "t" if reading a relation runs nobody's code, and a SELECT on
 * its own has the snapshot that it would have in a transaction.
 */
#define RELATION_CHECK_SQL \
	"SELECT EXISTS (SELECT FROM pg_catalog.pg_class c" \
	" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace" \
	" WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'm')" \
	" AND NOT c.relrowsecurity AND NOT c.relhassubclass)" \
	" AND pg_catalog.current_setting('default_transaction_isolation')" \
	" <> 'serializable'"

/* Answers with "t" if nothing ends a command that takes long. */
#define TIMEOUT_CHECK_SQL \
	"SELECT pg_catalog.current_setting('statement_timeout') = '0'"

/*
 * Adds the commit.  If its answer is not for the caller it may be lost, and so
 * may the prepared statement; one that counts relies on nothing.
 */
void
session_add_commit(Session *session, PartKind kind)
{
	if (kind == PART_COMMAND)
		session_add(session, kind, 0, COMMIT_SQL);
	else
	{
		session_add_statement(session, kind, 0, COMMIT_STATEMENT, COMMIT_SQL);
		session->unawaited_commits++;
	}
}

/* How a remote transaction starts, before it is made serializable. */
static const char *
start_sql(const Session *session)
{
	return session->read_committed ?
		"START TRANSACTION ISOLATION LEVEL READ COMMITTED" :
		"START TRANSACTION ISOLATION LEVEL REPEATABLE READ";
}

/*
 * Adds what brings the remote transaction from a depth to where the local one
 * is.  It begins with a prepared statement in any case: if those are gone that
 * shows before there is anything to lose.
 */
void
session_add_transaction(Session *session, int depth)
{
	char		sql[64];

	if (session->kept_depth < depth)
	{
		depth = session->kept_depth;
		snprintf(sql, sizeof(sql), "RELEASE SAVEPOINT s%d", depth + 1);
		session_add(session, PART_RELEASE, depth, sql);
	}
	if (depth == 0)
	{
		session_add_statement(session, PART_START, ++depth, START_STATEMENT,
							  start_sql(session));
		if (IsolationIsSerializable())
			session_add(session, PART_START, depth,
						"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
	}
	while (depth < session->xact_depth)
	{
		snprintf(sql, sizeof(sql), "SAVEPOINT s%d", ++depth);
		session_add(session, PART_SAVEPOINT, depth, sql);
	}
}

/* Adds the dropping of what is no longer used. */
void
session_add_cleanup(Session *session)
{
	ListCell   *cell;
	uint32		cursor;
	char		sql[64];

	while ((cursor = portals_take_unused(session)) != 0)
	{
		snprintf(sql, sizeof(sql), "CLOSE c%u", cursor);
		session_add(session, PART_CLEANUP, 0, sql);
	}
	foreach(cell, session->deallocates)
		session_add_deallocate(session, lfirst(cell));
	list_free_deep(session->deallocates);
	session->deallocates = NIL;
}

/* Adds what is asked about relations, and about the transaction so far. */
void
session_add_checks(Session *session, List *questions, bool only_reads)
{
	ListCell   *cell;

	foreach(cell, questions)
		session_add_question(session, RELATION_CHECK_SQL, lfirst(cell));
	if (only_reads && !session->has_written &&
		PQserverVersion(session->conn) >= SESSION_CHECK_VERSION)
		session_add_statement(session, PART_WRITE_CHECK, 0,
							  WRITE_CHECK_STATEMENT, WRITE_CHECK_SQL);
	session->may_have_written = true;
}

/* Adds the preparation of what every transaction needs. */
void
session_add_preparations(Session *session)
{
	session_add_prepare(session, START_STATEMENT, start_sql(session));
	session_add_prepare(session, COMMIT_STATEMENT, COMMIT_SQL);
	if (PQserverVersion(session->conn) >= SESSION_CHECK_VERSION)
		session_add_prepare(session, WRITE_CHECK_STATEMENT, WRITE_CHECK_SQL);
	session_add(session, PART_TIMEOUT_CHECK, 0, TIMEOUT_CHECK_SQL);
}
