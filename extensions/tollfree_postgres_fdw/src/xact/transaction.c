/*
 * transaction.c
 *	  Ending remote transactions with the local one.
 *
 * Beginning costs no round trip: START TRANSACTION, SAVEPOINT and RELEASE are
 * sent with the next command (session/control.c).  So a remote transaction in
 * which nothing was sent needs no COMMIT either.
 *
 * COMMIT is sent before the local commit.  If it fails, the local transaction
 * is aborted.  COMMIT is not waited for if the remote transaction has written
 * nothing: then only a lost connection can make it fail, and nothing is lost
 * with that.  The write check (session/questions.c), sent with each command that
 * only reads, sees what views and functions of the remote server write there; not
 * what they write to a third server through a foreign table.  If a COMMIT that
 * was not waited for fails, a warning is given when its answer is read.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/settings.h"
#include "session/batch.h"
#include "session/connection.h"
#include "session/control.h"
#include "session/facts.h"
#include "session/pending.h"
#include "session/portals.h"
#include "session/prepared.h"
#include "session/questions.h"
#include "session/reader.h"
#include "session/remote_xact.h"
#include "session/results.h"
#include "session/session.h"
#include "session/shared_counters.h"
#include "xact/transaction.h"

/* Has this transaction used a session, so that callbacks have work? */
static bool in_use = false;

/* Servers that this transaction has used by postgres_fdw's own connection */
static List *stock_servers = NIL;

/*
 * Ends a session's part in the local transaction, connected or not.  Disconnects
 * it if it is broken, outdated or not to be kept.
 */
static void
leave_transaction(Session *session)
{
	remote_xact_leave(session);
	facts_leave(session);
	portals_leave(session);
	prepared_deallocate_all_later(session);
	if (PQstatus(session->conn) != CONNECTION_OK ||
		remote_xact_is_unusable(session) ||
		session->options.is_outdated || !session->options.keep)
		connection_end(session);
	else
		shared_counters_add(session);
}

/* May COMMIT be sent without waiting for its answer? */
static bool
needs_no_answer(const Session *session)
{
	return fastpath_is_on(session->options.fast_paths, FAST_UNAWAITED_COMMIT) &&
		!session->xact.may_have_written &&
		session->xact.failed_depth == 0 && !IsolationIsSerializable();
}

/* Raises the ERROR of a remote transaction that was rolled back. */
static void
report_rolled_back(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRANSACTION_ROLLBACK),
			 errmsg("remote transaction was rolled back"),
			 errdetail("A command in it had failed, and the error was not handled at the level of that command."),
			 errcontext("remote SQL command: COMMIT TRANSACTION")));
}

/*
 * Reads the answer to a COMMIT.  Raises an ERROR if it failed, or if the
 * remote server has answered that it rolled back instead.
 */
static void
finish_commit(Session *session)
{
	PGresult   *res = session_result(session);
	bool		committed = PQresultStatus(res) == PGRES_COMMAND_OK &&
		strcmp(PQcmdStatus(res), "COMMIT") == 0;

	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		results_report(session, ERROR, res, "COMMIT TRANSACTION");
	PQclear(res);

	batch_leave_commit(session);
	remote_xact_enter(session, PHASE_IDLE);
	if (!committed)
		report_rolled_back();
}

/* Raises an ERROR if a session's transaction is known to be lost. */
static void
check_committable(Session *session)
{
	session_check_usable(session);
	pending_drain(session);
	if (session->xact.remote_depth == 0)
		return;
	if (PQstatus(session->conn) == CONNECTION_BAD)
		results_report(session, ERROR, NULL, "COMMIT TRANSACTION");
	if (PQtransactionStatus(session->conn) == PQTRANS_INERROR)
		report_rolled_back();
}

/* Sends the COMMIT of one session; true if its answer is to be read. */
static bool
start_commit(Session *session)
{
	bool		waits = !needs_no_answer(session);

	if (session->xact.remote_depth == 0)
		return false;
	settings_require(REQUIRE_UNAWAITED_COMMIT, !waits);

	remote_xact_enter(session, PHASE_ENDING);
	batch_begin(session, false);
	batch_note_commit(session);
	portals_forget(session);
	control_add_cleanup(session);
	control_add_commit(session, waits ? PART_COMMAND : PART_COMMIT);
	questions_add_behind_commit(session);
	if (!batch_send(session))
		results_report(session, ERROR, NULL, "COMMIT TRANSACTION");
	if (waits)
		session->counters.round_trips++;
	else
		remote_xact_enter(session, PHASE_IDLE);
	return waits;
}

/*
 * Commits all remote transactions, unless one is known to be lost; those with
 * parallel_commit are all sent before any of their answers is read.
 */
static void
commit_all(void)
{
	List	   *pending = NIL;
	ListCell   *cell;

	foreach(cell, sessions_all())
	{
		if (((Session *) lfirst(cell))->xact.local_depth > 0)
			check_committable(lfirst(cell));
	}
	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);

		if (session->xact.local_depth == 0)
			continue;
		if (!start_commit(session))
			leave_transaction(session);
		else if (session->options.parallel_commit)
			pending = lappend(pending, session);
		else
		{
			finish_commit(session);
			leave_transaction(session);
		}
	}
	foreach(cell, pending)
	{
		finish_commit(lfirst(cell));
		leave_transaction(lfirst(cell));
	}
	list_free(pending);
}

/* Rolls back all remote transactions. */
static void
abort_all(void)
{
	ListCell   *cell;

	rollback_all(1);
	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);

		if (session->xact.local_depth > 0 || remote_xact_is_unusable(session))
			leave_transaction(session);
	}
}

/* Raises an ERROR if there is a remote transaction: it cannot be prepared. */
static void
refuse_prepare(void)
{
	ListCell   *cell;

	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);

		if (session->xact.local_depth > 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot PREPARE a transaction that has operated on postgres_fdw foreign tables")));
	}
}

/*
 * Closes the sessions that another extension's callback has used after the remote
 * COMMIT and before the local one: it is too late to commit there.
 */
static void
close_late(void)
{
	ListCell   *cell;

	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);

		if (session->xact.local_depth == 0)
			continue;
		ereport(WARNING,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("closing a connection that was used after its remote transaction had been committed"),
				 errdetail("What was done there since is rolled back.")));
		remote_xact_enter(session, PHASE_BROKEN);
		leave_transaction(session);
	}
}

/* Callback for the end of the local transaction. */
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
			close_late();
			break;
		case XACT_EVENT_PARALLEL_ABORT:
		case XACT_EVENT_ABORT:
			abort_all();
			break;
	}

	/* COMMIT has work only if a callback uses a session again. */
	list_free(stock_servers);
	stock_servers = NIL;
	in_use = false;
}

/*
 * Callback for the end of a local subtransaction.  A commit calls it twice.  The
 * second time nothing can fail any more, and no callback uses a session.
 */
static void
subtransaction_callback(SubXactEvent event, SubTransactionId mine,
						SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();
	ListCell   *cell;

	if (!in_use || event == SUBXACT_EVENT_START_SUB ||
		event == SUBXACT_EVENT_PRE_COMMIT_SUB)
		return;
	if (event == SUBXACT_EVENT_ABORT_SUB)
		rollback_all(level);
	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);

		batch_release_level(session, level);
		reader_release_level(session, level);
		if (session->xact.local_depth < level)
			continue;
		portals_release(session, level);
		remote_xact_release(session, level);
	}
}

/* Registers the callbacks, once per backend. */
static void
register_callbacks(void)
{
	static bool registered = false;

	if (registered)
		return;
	RegisterXactCallback(transaction_callback, NULL);
	RegisterSubXactCallback(subtransaction_callback, NULL);
	sessions_register_callbacks();
	registered = true;
}

/* Notes that postgres_fdw's own connection may hold locks on a server. */
void
transaction_note_stock(Oid server)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	in_use = true;
	register_callbacks();
	stock_servers = list_append_unique_oid(stock_servers, server);
	MemoryContextSwitchTo(old);
}

/* Has transaction_note_stock named this server in this transaction? */
bool
transaction_noted_stock(Oid server)
{
	return list_member_oid(stock_servers, server);
}

/* The session that sessions_get returns, at the local transaction's level. */
Session *
transaction_get_session(Oid user, Oid server)
{
	Session    *session;

	register_callbacks();
	session = sessions_get(user, server);
	pending_settle(session);
	in_use = true;
	remote_xact_join(session, GetCurrentTransactionNestLevel(),
					 compat_read_only_level());
	return session;
}
