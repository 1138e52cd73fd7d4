/*
 * transaction.c
 *	  Remote transactions, beginning and ending with the local one.
 *
 * Beginning costs nothing: START TRANSACTION and SAVEPOINT are sent with the
 * next command, RELEASE likewise.  A remote transaction that nothing was sent
 * of has no end either.
 *
 * COMMIT is sent before the local commit, and its failure aborts the local
 * transaction.  It is not waited for if the remote transaction has written
 * nothing: then it cannot fail but by losing the connection, which loses
 * nothing.  That it has not is what its last command was asked along with, so
 * views and functions of the remote server that write are seen.
 *
 * An abort first cancels the flight that it interrupted, if there is one, and
 * reads what is left of it, to know how deep the remote transaction is.  All
 * of this is bounded; what is not done by then leaves the session half done,
 * so that it can only be disconnected.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "cache.h"
#include "guc.h"
#include "transaction.h"

#define CLEANUP_LIMIT_MS 30000

/* Is there anything for the callbacks to do? */
static bool in_use = false;

/* Servers that postgres_fdw itself was made to ask in this transaction */
static List *stock_servers = NIL;

/*
 * Makes the session take part in the local transaction, at its depth.
 */
void
transaction_enter(Session *session)
{
	in_use = true;
	session->xact_depth = GetCurrentTransactionNestLevel();
}

/* Notes that postgres_fdw's own connection may hold locks on a server. */
void
transaction_note_stock(Oid server)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	in_use = true;
	transaction_register_callbacks();
	stock_servers = list_append_unique_oid(stock_servers, server);
	MemoryContextSwitchTo(old);
}

/* Was that noted in this transaction? */
bool
transaction_noted_stock(Oid server)
{
	return list_member_oid(stock_servers, server);
}

/*
 * What is still prepared when a transaction ends is in nobody's hands: an
 * error ended the execution that it was for.
 */
static void
forget_statements(Session *session)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	session->deallocates = list_concat(session->deallocates,
									   session->statements);
	list_free(session->statements);
	session->statements = NIL;
	MemoryContextSwitchTo(old);
}

/* Takes the session out of the transaction; a bad one is disconnected. */
static void
leave(Session *session)
{
	session->xact_depth = session->remote_depth = session->kept_depth = 0;
	session->failed_depth = 0;
	session->cursors = 0;
	session->truncated = false;
	list_free(session->closes);
	session->closes = NIL;
	forget_statements(session);
	if (PQstatus(session->conn) != CONNECTION_OK || session->half_done ||
		session->invalidated || !session->keep)
		session_disconnect(session);
}

/* Can COMMIT be sent without waiting for its answer? */
static bool
needs_no_answer(const Session *session)
{
	return setting_unawaited_commit && !session->may_have_written &&
		session->failed_depth == 0 && !IsolationIsSerializable();
}

/* Reads the answer to a COMMIT, which must not be that it was a ROLLBACK. */
static void
finish_commit(Session *session)
{
	PGresult   *res = session_result(session);
	bool		committed = PQresultStatus(res) == PGRES_COMMAND_OK &&
		strcmp(PQcmdStatus(res), "COMMIT") == 0;

	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		session_report(session, ERROR, res, "COMMIT TRANSACTION");
	PQclear(res);
	/* It is committed: losing the connection now must not say otherwise. */
	session_drain(session);
	session->half_done = false;
	if (!committed)
		ereport(ERROR,
				(errcode(ERRCODE_TRANSACTION_ROLLBACK),
				 errmsg("remote transaction was rolled back"),
				 errdetail("A command in it had failed, and the error was not handled at the level of that command."),
				 errcontext("remote SQL command: COMMIT TRANSACTION")));
}

/* Sends the COMMIT of one session; true if its answer is to be read. */
static bool
start_commit(Session *session)
{
	bool		waits = !needs_no_answer(session);

	session_check_usable(session);
	if (session->remote_depth == 0)
		return false;
	settings_require(REQUIRE_UNAWAITED_COMMIT, !waits);

	session->half_done = true;
	session_begin_flight(session);
	list_free(session->closes);
	session->closes = NIL;
	session_add_cleanup(session);
	session_add_commit(session, waits ? PART_COMMAND : PART_COMMIT);
	if (!session_launch(session))
		session_report(session, ERROR, NULL, "COMMIT TRANSACTION");
	if (waits)
		session->flights++;
	else
		session->half_done = false;
	return waits;
}

/* Commits all remote transactions. */
static void
commit_all(void)
{
	List	   *pending = NIL;
	ListCell   *cell;

	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		if (session->conn == NULL || session->xact_depth == 0)
			continue;
		if (!start_commit(session))
			leave(session);
		else if (session->parallel_commit)
			pending = lappend(pending, session);
		else
		{
			finish_commit(session);
			leave(session);
		}
	}
	foreach(cell, pending)
	{
		finish_commit(lfirst(cell));
		leave(lfirst(cell));
	}
	list_free(pending);
}

/* Warns of what a clean-up could not do. */
static void
warn(Session *session, const char *sql)
{
	if (session->timed_out)
		ereport(WARNING,
				(errmsg("could not get query result due to timeout"),
				 errcontext("remote SQL command: %s", sql)));
	else
		session_report(session, WARNING, NULL, sql);
}

/*
 * Ends the flight that an error interrupted.  It is cancelled only if all of
 * the transaction that it worked in is rolled back; true if it has ended.
 */
static bool
end_flight(Session *session, int level)
{
	if (!session_is_flying(session))
		return true;
	if (session->xact_depth >= level)
	{
		const char *error = compat_cancel(session->conn, session->deadline);

		if (error != NULL)
		{
			ereport(WARNING,
					(errcode(ERRCODE_CONNECTION_FAILURE),
					 errmsg("could not send cancel request: %s", error)));
			return false;
		}
	}
	session_drain(session);
	if (session->timed_out)
		ereport(WARNING,
				(errmsg("could not get result of cancel request due to timeout")));
	return !session->timed_out && PQstatus(session->conn) == CONNECTION_OK;
}

/* Sends one or two commands that roll back, and reads their answers. */
static bool
roll_back(Session *session, const char *first, const char *second)
{
	int			failures = 0;

	session_begin_flight(session);
	session_add(session, PART_COMMAND, 0, first);
	if (second != NULL)
		session_add(session, PART_COMMAND, 0, second);
	if (!session_launch(session))
	{
		warn(session, first);
		return false;
	}
	session->flights++;
	while (session_is_flying(session) && failures == 0)
	{
		PGresult   *res = session_result(session);

		if (session->timed_out || PQstatus(session->conn) == CONNECTION_BAD)
		{
			PQclear(res);
			warn(session, first);
			return false;
		}
		if (res != NULL && PQresultStatus(res) != PGRES_COMMAND_OK)
		{
			session_report(session, WARNING, res, first);
			failures++;
		}
		else
			PQclear(res);
	}

	/* A server that ends here has its last words taken, not raised. */
	session_drain(session);
	return failures == 0 && !session->timed_out &&
		PQstatus(session->conn) == CONNECTION_OK;
}

/*
 * Rolls back what a level, and those deeper, did in one session.  When that
 * does not work the session stays half done.
 */
static void
abort_level(Session *session, int level)
{
	char		rollback[64];
	char		release[64];
	bool		done = true;

	session_forget_readers(session);
	if (in_error_recursion_trouble())
		session->half_done = true;
	if (session->half_done && !session_is_flying(session))
		return;
	session->half_done = true;
	session->timed_out = false;
	session->deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													CLEANUP_LIMIT_MS);
	session->aborts++;
	list_free(session->closes);
	session->closes = NIL;

	if (!end_flight(session, level))
	{
		session->part = session->nparts;
		done = false;
	}
	else if (level == 1)
		done = session->remote_depth == 0 ||
			roll_back(session, "ABORT TRANSACTION", NULL);
	else if (session->kept_depth >= level)
	{
		snprintf(rollback, sizeof(rollback), "ROLLBACK TO SAVEPOINT s%d", level);
		snprintf(release, sizeof(release), "RELEASE SAVEPOINT s%d", level);
		done = roll_back(session, rollback, release);
		session->remote_depth = session->kept_depth = level - 1;
		if (session->failed_depth >= level)
			session->failed_depth = 0;
	}
	/* A savepoint that failed has taken what it was made in with it. */
	else if (session->xact_depth >= level && session->failed_depth > 0)
		done = session->remote_depth == 0;
	session->deadline = 0;
	session->half_done = !done;
}

/* Rolls back all remote transactions. */
static void
abort_all(void)
{
	ListCell   *cell;

	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		if (session->conn == NULL ||
			(session->xact_depth == 0 && !session_is_flying(session)))
			continue;
		abort_level(session, 1);
		leave(session);
	}
}

/* Raises an ERROR if a remote transaction would have to be prepared. */
static void
refuse_prepare(void)
{
	ListCell   *cell;

	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		if (session->conn != NULL && session->xact_depth > 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot PREPARE a transaction that has operated on postgres_fdw foreign tables")));
	}
}

/* At the end of the local transaction. */
static void
transaction_callback(XactEvent event, void *arg)
{
	if (!in_use)
		return;
	switch (event)
	{
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
		case XACT_EVENT_PRE_COMMIT:
			commit_all();
			break;
		case XACT_EVENT_PRE_PREPARE:
			refuse_prepare();
			break;
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
			break;
		case XACT_EVENT_PARALLEL_ABORT:
		case XACT_EVENT_ABORT:
			abort_all();
			break;
	}
	/* Until it is committed locally an error can still come. */
	list_free(stock_servers);
	stock_servers = NIL;
	in_use = false;
}

/*
 * A function that reading a row calls may begin a subtransaction.  Its abort
 * must not meet the flight that brings the rows, so that is read now; and rows
 * that are still held back belong to the level that is left.
 */
static void
land_all(void)
{
	ListCell   *cell;

	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		if (session->conn == NULL || session->half_done)
			continue;
		if (session->flush != NULL)
			session->flush(session->flush_arg);
		if (session->absorb != NULL)
			session->absorb(session->absorb_arg);
	}
}

/* At the beginning and the end of a local subtransaction. */
static void
subtransaction_callback(SubXactEvent event, SubTransactionId mine,
						SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();
	ListCell   *cell;

	if (!in_use || event == SUBXACT_EVENT_COMMIT_SUB)
		return;
	if (event == SUBXACT_EVENT_START_SUB)
	{
		land_all();
		return;
	}
	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		if (session->conn == NULL)
			continue;
		if (event == SUBXACT_EVENT_ABORT_SUB &&
			(session->xact_depth >= level || session_is_flying(session)))
			abort_level(session, level);
		if (session->xact_depth < level)
			continue;
		session->xact_depth = level - 1;
		session->kept_depth = Min(session->kept_depth, level - 1);
	}
}

/* Once per backend. */
void
transaction_register_callbacks(void)
{
	static bool registered = false;

	if (registered)
		return;
	RegisterXactCallback(transaction_callback, NULL);
	RegisterSubXactCallback(subtransaction_callback, NULL);
	registered = true;
}
