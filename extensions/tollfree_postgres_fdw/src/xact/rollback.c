/*
 * rollback.c
 *	  Rolling back remotely, when a local (sub)transaction is rolled back.
 *
 * First the batch that the error interrupted is cancelled, if there is one, and
 * the rest of its answers read, to know the depth of the remote transaction.
 * Then the commands that roll back are sent and their answers read.  A session
 * that misses the deadline for this stays unusable, and is disconnected.
 */
#include "postgres.h"

#include "base/settings.h"
#include "session/batch.h"
#include "session/pending.h"
#include "session/portals.h"
#include "session/reader.h"
#include "session/remote_xact.h"
#include "session/results.h"
#include "session/session.h"
#include "session/wait.h"
#include "xact/transaction.h"

static const char abort_sql[] = "ABORT TRANSACTION";

/* The state of a rollback in one session, between its steps */
typedef struct Rollback
{
	Session    *session;
	int			level;			/* that is rolled back, and deeper ones */
	bool		failed;			/* the session stays unusable */
	const char *sql;			/* the command that was sent and rolls back,
								 * or NULL */
} Rollback;

/* Warns that a command of the clean-up got no answer. */
static void
warn(Session *session, const char *sql)
{
	if (session->wait.timed_out)
		ereport(WARNING,
				(errmsg("could not get query result due to timeout"),
				 errcontext("remote SQL command: %s", sql)));
	else
		results_report(session, WARNING, NULL, sql);
}

/*
 * Is there nothing to roll back?  Once all answers are read, libpq's transaction
 * status decides: a command that failed, or whose answer came too late, may have
 * started or ended the transaction.
 */
static bool
is_over(const Session *session)
{
	if (batch_part(session) != NULL)
		return batch_is_committing(session);
	if (PQstatus(session->conn) == CONNECTION_BAD)
		return session->xact.remote_depth == 0;
	return PQtransactionStatus(session->conn) == PQTRANS_IDLE;
}

/* Sets the deadline of a clean-up, counted from now. */
static void
start_clock(Session *session)
{
	wait_begin_limit(session, setting_cleanup_timeout);
}

/*
 * Begins to roll back a level, and deeper ones, in one session.  The batch in
 * flight is cancelled only if the session itself is at such a level: otherwise a
 * cursor of an outer level has sent it, and would fail.
 */
static Rollback *
begin_rollback(Session *session, int level)
{
	Rollback   *rollback = palloc0(sizeof(Rollback));
	const char *error = NULL;

	rollback->session = session;
	rollback->level = level;
	remote_xact_enter(session, PHASE_ENDING);
	start_clock(session);
	if (batch_part(session) != NULL && session->xact.local_depth >= level &&
		!is_over(session))
		error = wait_cancel(session);
	if (error != NULL)
	{
		ereport(WARNING,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("could not send cancel request: %s", error)));
		batch_abandon(session);
		rollback->failed = true;
	}
	return rollback;
}

/* Reads the rest of the batch that was interrupted. */
static void
end_batch(Rollback *rollback)
{
	Session    *session = rollback->session;

	if (batch_part(session) == NULL || is_over(session))
		return;
	results_drain(session);
	if (session->wait.timed_out)
		ereport(WARNING,
				(errmsg("could not get result of cancel request due to timeout")));
	if (session->wait.timed_out || PQstatus(session->conn) != CONNECTION_OK)
		rollback->failed = true;
}

/* The command that rolls back; NULL if there is none, perhaps by failure. */
static const char *
choose_command(Rollback *rollback)
{
	const RemoteTransaction *xact = &rollback->session->xact;
	int			level = rollback->level;

	if (is_over(rollback->session))
		return NULL;
	if (level == 1 || xact->remote_depth == 0)
		return abort_sql;
	if (xact->kept_depth >= level)
		return psprintf("ROLLBACK TO SAVEPOINT s%d", level);
	/* The SAVEPOINT command has failed, and so has the level outside of it. */
	rollback->failed = xact->local_depth >= level && xact->failed_depth > 0;
	return NULL;
}

/* Reads the rest of the interrupted batch, and sends what rolls back. */
static void
send_rollback(Rollback *rollback)
{
	Session    *session = rollback->session;
	const char *sql;

	if (!rollback->failed)
		end_batch(rollback);
	/* The loss of the connection has been reported where it was noticed. */
	if (PQstatus(session->conn) == CONNECTION_BAD)
		rollback->failed = true;
	wait_stop_cancelling(session);	/* the rollback must not be cancelled */
	sql = rollback->failed ? NULL : choose_command(rollback);
	if (sql == NULL)
		return;

	batch_begin(session, false);
	batch_add(session, PART_COMMAND, 0, sql);
	if (sql != abort_sql)
		batch_add(session, PART_COMMAND, 0,
				  psprintf("RELEASE SAVEPOINT s%d", rollback->level));
	if (batch_send(session))
	{
		rollback->sql = sql;
		session->counters.round_trips++;
		return;
	}
	warn(session, sql);
	rollback->failed = true;
}

/* Reads the answers; false, after a warning, if a command failed or was late. */
static bool
read_answers(Rollback *rollback)
{
	Session    *session = rollback->session;

	while (batch_is_in_flight(session))
	{
		PGresult   *res = session_result(session);

		if (session->wait.timed_out || PQstatus(session->conn) == CONNECTION_BAD)
		{
			PQclear(res);
			warn(session, rollback->sql);
			return false;
		}
		if (res != NULL && PQresultStatus(res) != PGRES_COMMAND_OK)
		{
			results_report(session, WARNING, res, rollback->sql);
			return false;
		}
		PQclear(res);
	}

	/* If the server shuts down here, its FATAL is read, not raised. */
	results_drain(session);
	return !session->wait.timed_out && PQstatus(session->conn) == CONNECTION_OK;
}

/* Ends a rollback.  If it failed, the session stays unusable. */
static void
finish_rollback(Rollback *rollback)
{
	Session    *session = rollback->session;
	int			level = rollback->level;

	if (rollback->sql != NULL && !read_answers(rollback))
	{
		batch_abandon(session);
		rollback->failed = true;
	}
	/* Not earlier: an answer just read may have noted a statement as right. */
	remote_xact_roll_back(session, level);
	portals_roll_back(session, level);
	wait_end_limit(session);
	remote_xact_enter(session, rollback->failed ? PHASE_BROKEN : PHASE_IDLE);
	pfree(rollback);
}

/* What the rollback of a level does in a session */
typedef enum RollbackStep
{
	ROLLBACK_KEEP_ERROR,		/* nothing: an error of an outer level is kept */
	ROLLBACK_KEEP_PENDING,		/* nothing: work of an outer level is pending */
	ROLLBACK_NOTHING,			/* nothing is to be rolled back remotely */
	ROLLBACK_GIVE_UP,			/* the session becomes unusable */
	ROLLBACK_SEND
} RollbackStep;

/* Decides that. */
static RollbackStep
rollback_choose_step(const Session *session, int level)
{
	if (session->xact.kept_level != 0 && session->xact.kept_level < level)
		return ROLLBACK_KEEP_ERROR;
	if (pending_is_due(session, level))
		return ROLLBACK_KEEP_PENDING;
	if (session->conn == NULL ||
		(session->xact.local_depth < level && !batch_is_in_flight(session)))
		return ROLLBACK_NOTHING;
	/* A clean-up that raises an error would do so again, up to a PANIC. */
	if (session->wait.deadline != 0 || in_error_recursion_trouble())
		return ROLLBACK_GIVE_UP;
	return remote_xact_is_unusable(session) && !batch_is_in_flight(session) ?
		ROLLBACK_NOTHING : ROLLBACK_SEND;
}

/* Forgets what ends with the level, locally, before any of it is rolled back. */
static void
rollback_forget(Session *session, RollbackStep step)
{
	if (step == ROLLBACK_KEEP_ERROR)
		return;
	remote_xact_forget_error(session);
	if (step != ROLLBACK_KEEP_PENDING)
		reader_forget(session);
	if (step == ROLLBACK_GIVE_UP)
		remote_xact_enter(session, PHASE_BROKEN);
}

/* An error has ended pending_settle: what that had to send is lost. */
static void
rollback_end_settling(Session *session)
{
	if (session->pending.is_settling)
		reader_forget(session);
	reader_settle(session, false);
}

/*
 * Rolls back a level, and deeper ones, in all sessions; to those with
 * parallel_abort all is sent before any of it is waited for.  Each has the full
 * time for its clean-up, however long another one took.
 */
void
rollback_all(int level)
{
	List	   *parallel = NIL;
	ListCell   *cell;

	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);
		Rollback   *rollback;
		RollbackStep step;

		rollback_end_settling(session);
		step = rollback_choose_step(session, level);
		rollback_forget(session, step);
		if (step != ROLLBACK_SEND)
			continue;
		rollback = begin_rollback(session, level);
		if (session->options.parallel_abort)
		{
			parallel = lappend(parallel, rollback);
			continue;
		}
		send_rollback(rollback);
		finish_rollback(rollback);
	}
	foreach(cell, parallel)
	{
		Rollback   *rollback = lfirst(cell);

		start_clock(rollback->session);
		send_rollback(rollback);
	}
	foreach(cell, parallel)
	{
		Rollback   *rollback = lfirst(cell);

		start_clock(rollback->session);
		finish_rollback(rollback);
	}
	list_free(parallel);
}
