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
 * views and functions of the remote server that write are seen; but not those
 * that write to yet another server through a foreign table there.  Such a COMMIT
 * that fails is warned of when its answer is read.
 *
 * An abort first cancels the flight that it interrupted, if there is one, and
 * reads what is left of it, to know how deep the remote transaction is.  All
 * of this is bounded; what is not done by then leaves the session half done,
 * so that it can only be disconnected.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "cache.h"
#include "guc.h"
#include "landing.h"
#include "portals.h"
#include "questions.h"
#include "transaction.h"

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
	landing_settle(session);
	in_use = true;
	session->users++;
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

/* No error is kept any more. */
static void
forget_kept(Session *session)
{
	session->kept_error = NULL;
	session->kept_level = 0;
}

/*
 * Takes the session out of the transaction; a bad one is disconnected.  One that
 * could not be connected again takes part, too.
 */
static void
leave(Session *session)
{
	session->xact_depth = session->remote_depth = session->kept_depth = 0;
	session->failed_depth = 0;
	forget_kept(session);
	session->cursors = session->users = 0;
	session->truncated = false;
	questions_forget(session);
	portals_forget(session);
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

	/*
	 * It is committed: what becomes of this wait must not say otherwise.  So
	 * the Sync is read with the next flight.
	 */
	session->parts[session->part].kind = PART_COMMIT;
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
	landing_read_all(session);
	if (session->remote_depth == 0)
		return false;
	settings_require(REQUIRE_UNAWAITED_COMMIT, !waits);

	session->half_done = true;
	session_begin_flight(session);
	portals_forget(session);
	session_add_cleanup(session);
	session_add_commit(session, waits ? PART_COMMAND : PART_COMMIT);
	questions_add_behind_commit(session);
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

		if (session->xact_depth == 0)
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

/* What a rollback in one session has come to, between its steps. */
typedef struct Rollback
{
	Session    *session;
	bool		failed;			/* the session is to stay half done */
	bool		was_told;		/* are there answers to be read? */
	char		rollback[64];	/* the commands; the second may be empty */
	char		release[64];
} Rollback;

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
 * Is there nothing to roll back?  Once all is read the server's own word
 * counts: a command that failed, or whose answer came too late, may have begun
 * or ended the transaction.
 */
static bool
is_over(const Session *session)
{
	if (session->part < session->nparts)
		return session_is_committing(session);
	if (PQstatus(session->conn) == CONNECTION_BAD)
		return session->remote_depth == 0;
	return PQtransactionStatus(session->conn) == PQTRANS_IDLE;
}

/* Gives a session the time that a clean-up may take, from now on. */
static void
start_clock(Session *session)
{
	session->timed_out = false;
	session->deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													setting_cleanup_timeout);
}

/*
 * Begins to roll back what a level, and those deeper, did in one session: the
 * flight that the error interrupted is cancelled, though only if all of the
 * transaction that it worked in is rolled back.
 */
static Rollback *
begin_rollback(Session *session, int level)
{
	Rollback   *rollback = palloc0(sizeof(Rollback));
	const char *error = NULL;

	rollback->session = session;
	session->half_done = true;
	start_clock(session);
	if (session->part < session->nparts && session->xact_depth >= level &&
		!is_over(session))
		error = session_cancel(session);
	if (error != NULL)
	{
		ereport(WARNING,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("could not send cancel request: %s", error)));
		session->part = session->nparts;
		rollback->failed = true;
	}
	return rollback;
}

/* Reads what is left of the flight that was interrupted. */
static void
end_flight(Rollback *rollback)
{
	Session    *session = rollback->session;

	if (session->part == session->nparts || is_over(session))
		return;
	session_drain(session);
	if (session->timed_out)
		ereport(WARNING,
				(errmsg("could not get result of cancel request due to timeout")));
	if (session->timed_out || PQstatus(session->conn) != CONNECTION_OK)
		rollback->failed = true;
}

/* Chooses the commands that roll back; there may be none. */
static void
choose_commands(Rollback *rollback, int level)
{
	Session    *session = rollback->session;

	if (is_over(session))
		return;
	if (level == 1 || session->remote_depth == 0)
		strlcpy(rollback->rollback, "ABORT TRANSACTION",
				sizeof(rollback->rollback));
	else if (session->kept_depth >= level)
	{
		snprintf(rollback->rollback, sizeof(rollback->rollback),
				 "ROLLBACK TO SAVEPOINT s%d", level);
		snprintf(rollback->release, sizeof(rollback->release),
				 "RELEASE SAVEPOINT s%d", level);
	}
	/* A savepoint that failed has taken what it was made in with it. */
	else if (session->xact_depth >= level && session->failed_depth > 0)
		rollback->failed = true;
}

/*
 * Ends the interrupted flight and sends what rolls back, if it has to.
 */
static void
send_rollback(Rollback *rollback, int level)
{
	Session    *session = rollback->session;

	if (!rollback->failed)
		end_flight(rollback);
	session->cancel_again = 0;	/* what is sent now must not be cancelled */
	if (!rollback->failed)
		choose_commands(rollback, level);
	if (rollback->failed || rollback->rollback[0] == '\0')
		return;

	session_begin_flight(session);
	session_add(session, PART_COMMAND, 0, rollback->rollback);
	if (rollback->release[0] != '\0')
		session_add(session, PART_COMMAND, 0, rollback->release);
	rollback->was_told = session_launch(session);
	if (rollback->was_told)
		session->flights++;
	else
	{
		warn(session, rollback->rollback);
		rollback->failed = true;
	}
}

/* Reads the answers to what was sent to roll back; have all come? */
static bool
read_answers(Rollback *rollback)
{
	Session    *session = rollback->session;

	while (session_is_flying(session))
	{
		PGresult   *res = session_result(session);

		if (session->timed_out || PQstatus(session->conn) == CONNECTION_BAD)
		{
			PQclear(res);
			warn(session, rollback->rollback);
			return false;
		}
		if (res != NULL && PQresultStatus(res) != PGRES_COMMAND_OK)
		{
			session_report(session, WARNING, res, rollback->rollback);
			return false;
		}
		PQclear(res);
	}

	/* A server that ends here has its last words taken, not raised. */
	session_drain(session);
	return !session->timed_out && PQstatus(session->conn) == CONNECTION_OK;
}

/* Ends a rollback.  If it did not work the session stays half done. */
static void
finish_rollback(Rollback *rollback, int level)
{
	Session    *session = rollback->session;

	if (rollback->was_told && !read_answers(rollback))
	{
		session->part = session->nparts;
		rollback->failed = true;
	}
	/* Not before: what was just read may have found a statement right. */
	session->aborts++;
	if (session->kept_depth >= level)
		session->remote_depth = session->kept_depth = level - 1;
	portals_roll_back(session, level);
	if (session->failed_depth > session->remote_depth)
		session->failed_depth = 0;
	session->deadline = 0;
	session->half_done = rollback->failed;
	pfree(rollback);
}

/*
 * Has the session something to roll back at this level?  What it was doing there
 * nobody will read.  What it does for an outer level it goes on with; while an
 * error of one is kept nothing is sent.
 */
static bool
takes_part(Session *session, int level)
{
	if (session->is_settling)
		session_forget_readers(session);
	session->is_settling = false;
	if (session->kept_level != 0 && session->kept_level < level)
		return false;
	forget_kept(session);
	if (landing_is_due(session, level))
		return false;
	session_forget_readers(session);
	if (session->conn == NULL ||
		(session->xact_depth < level && !session_is_flying(session)))
		return false;
	/* A clean-up that raised an error would do so again, until it is a PANIC. */
	if (session->deadline != 0 || in_error_recursion_trouble())
	{
		session->half_done = true;
		return false;
	}
	return !session->half_done || session_is_flying(session);
}

/*
 * Rolls back what a level, and those deeper, did in all sessions.  Those with
 * parallel_abort are all told to before any of them is waited for; none has less
 * time because another one took it.
 */
static void
roll_back(int level)
{
	List	   *parallel = NIL;
	ListCell   *cell;

	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);
		Rollback   *rollback;

		if (!takes_part(session, level))
			continue;
		rollback = begin_rollback(session, level);
		if (session->parallel_abort)
		{
			parallel = lappend(parallel, rollback);
			continue;
		}
		send_rollback(rollback, level);
		finish_rollback(rollback, level);
	}
	foreach(cell, parallel)
	{
		Rollback   *rollback = lfirst(cell);

		start_clock(rollback->session);
		send_rollback(rollback, level);
	}
	foreach(cell, parallel)
	{
		Rollback   *rollback = lfirst(cell);

		start_clock(rollback->session);
		finish_rollback(rollback, level);
	}
	list_free(parallel);
}

/* Rolls back all remote transactions. */
static void
abort_all(void)
{
	ListCell   *cell;

	roll_back(1);
	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		if (session->xact_depth > 0 || session->half_done)
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

		if (session->xact_depth > 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot PREPARE a transaction that has operated on postgres_fdw foreign tables")));
	}
}

/*
 * Closes the sessions that were used after the remote transactions had been
 * committed, by another callback before the local commit.  Too late: nobody can
 * commit there any more, and the next local transaction must not find it.
 */
static void
close_late(void)
{
	ListCell   *cell;

	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		if (session->xact_depth == 0)
			continue;
		ereport(WARNING,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("closing a connection that was used after its remote transaction had been committed"),
				 errdetail("What was done there since is rolled back.")));
		session->half_done = true;
		leave(session);
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
			close_late();
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
 * At the end of a local subtransaction.  When it is committed this comes twice:
 * another callback may have used a session since the first time.
 */
static void
subtransaction_callback(SubXactEvent event, SubTransactionId mine,
						SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();
	ListCell   *cell;

	if (!in_use || event == SUBXACT_EVENT_START_SUB)
		return;
	if (event == SUBXACT_EVENT_ABORT_SUB)
		roll_back(level);
	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		session->flight_level = Min(session->flight_level, level - 1);
		session->flush_level = Min(session->flush_level, level - 1);
		if (session->xact_depth < level)
			continue;
		portals_release(session, level);
		session->xact_depth = level - 1;
		session->kept_depth = Min(session->kept_depth, level - 1);
		session->kept_level = Min(session->kept_level, level - 1);
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
	landing_install();
	registered = true;
}
