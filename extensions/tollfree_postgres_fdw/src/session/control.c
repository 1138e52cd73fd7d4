/*
 * control.c
 *	  Commands of our own, which go with the caller's in a batch.
 *
 * They bring the remote transaction where the local one is, and drop what is no
 * longer used.  What is asked is questions.c's business.
 */
#include "postgres.h"

#include "access/xact.h"

#include "session/batch.h"
#include "session/control.h"
#include "session/portals.h"
#include "session/state.h"

/*
 * What goes with every transaction is prepared when the session begins: to
 * parse and plan it takes the remote server as long as many a query.
 */
#define START_STATEMENT "tollfree_start"
#define SERIALIZABLE_STATEMENT "tollfree_start_serializable"
#define SERIALIZABLE_SQL "START TRANSACTION ISOLATION LEVEL SERIALIZABLE"
#define COMMIT_STATEMENT "tollfree_commit"
#define COMMIT_SQL "COMMIT TRANSACTION"

/*
 * Adds the commit.  If its answer is not for the caller it may be lost, and so
 * may the prepared statement; one that counts relies on nothing.
 */
void
control_add_commit(Session *session, PartKind kind)
{
	if (kind == PART_COMMAND)
		batch_add(session, kind, 0, COMMIT_SQL);
	else
	{
		batch_add_statement(session, kind, 0, COMMIT_STATEMENT, COMMIT_SQL);
		session->counters.unawaited_commits++;
	}
}

/* How a remote transaction starts if the local one is not serializable. */
static const char *
start_sql(const Session *session)
{
	return session->options.read_committed ?
		"START TRANSACTION ISOLATION LEVEL READ COMMITTED" :
		"START TRANSACTION ISOLATION LEVEL REPEATABLE READ";
}

/*
 * Adds what brings the remote transaction from a depth to where the local one
 * is.  It begins with a prepared statement in any case: if those are gone that
 * shows before there is anything to lose.
 */
void
control_add_transaction(Session *session, int depth)
{
	char		sql[64];

	if (session->xact.kept_depth < depth)
	{
		depth = session->xact.kept_depth;
		snprintf(sql, sizeof(sql), "RELEASE SAVEPOINT s%d", depth + 1);
		batch_add(session, PART_RELEASE, depth, sql);
	}
	if (depth == 0 && IsolationIsSerializable())
		batch_add_statement(session, PART_START, ++depth,
							SERIALIZABLE_STATEMENT, SERIALIZABLE_SQL);
	else if (depth == 0)
		batch_add_statement(session, PART_START, ++depth, START_STATEMENT,
							start_sql(session));
	while (depth < session->xact.local_depth)
	{
		snprintf(sql, sizeof(sql), "SAVEPOINT s%d", ++depth);
		batch_add(session, PART_SAVEPOINT, depth, sql);
	}
}

/* Adds the dropping of what is no longer used. */
void
control_add_cleanup(Session *session)
{
	ListCell   *cell;
	uint32		cursor;
	char		sql[64];

	while ((cursor = portals_take_unused(session)) != 0)
	{
		snprintf(sql, sizeof(sql), "CLOSE c%u", cursor);
		batch_add(session, PART_CLEANUP, 0, sql);
	}
	foreach(cell, session->prepared.unused)
		batch_add_deallocate(session, lfirst(cell));
	list_free_deep(session->prepared.unused);
	session->prepared.unused = NIL;
}

/* Adds the preparation of what every transaction needs. */
void
control_add_preparations(Session *session)
{
	batch_add_prepare(session, PART_CLEANUP, START_STATEMENT,
					  start_sql(session));
	batch_add_prepare(session, PART_CLEANUP, SERIALIZABLE_STATEMENT,
					  SERIALIZABLE_SQL);
	batch_add_prepare(session, PART_CLEANUP, COMMIT_STATEMENT, COMMIT_SQL);
}
