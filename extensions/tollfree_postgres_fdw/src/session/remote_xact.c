/*
 * remote_xact.c
 *	  The state of the remote transaction: its phase, depths and effects.
 *
 * This file alone writes RemoteTransaction, and sends nothing.  state.h says what
 * the depths are.  Of the local and the remote depth either may be greater: local
 * levels begin before their savepoints are sent, and end before these are
 * released.  What is kept belongs to both.
 */
#include "postgres.h"

#include "session/remote_xact.h"

/* The part that this file writes. */
static RemoteTransaction *
remote_xact_own(Session *session)
{
	return session_own(RemoteTransaction, session, xact);
}

/* What holds after each change of a depth. */
static void
check_depths(const RemoteTransaction *xact)
{
	Assert(xact->kept_depth >= 0);
	Assert(xact->kept_depth <= xact->remote_depth);
	Assert(xact->kept_depth <= xact->local_depth);
}

/*
 * Enters a phase.  From PHASE_BROKEN a new connection leads back, and a rollback
 * of all that was in flight.
 */
void
remote_xact_enter(Session *session, SessionPhase phase)
{
	remote_xact_own(session)->phase = phase;
}

/*
 * The local transaction uses the session at this level.  read_only_level is the
 * outermost level that is read-only, or 0.
 */
void
remote_xact_join(Session *session, int level, int read_only_level)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->users++;
	xact->local_depth = level;
	xact->read_only_level = read_only_level;
	check_depths(xact);
}

/* The local transaction has ended, and the remote one with it. */
void
remote_xact_leave(Session *session)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->local_depth = xact->remote_depth = xact->kept_depth = 0;
	xact->read_only_level = 0;
	xact->failed_depth = 0;
	xact->users = 0;
	xact->truncated = false;
	remote_xact_forget_error(session);
}

/* There is no connection any more.  The local depth stays. */
void
remote_xact_disconnect(Session *session)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->phase = PHASE_IDLE;
	xact->remote_depth = xact->kept_depth = 0;
	xact->failed_depth = 0;
	xact->truncated = xact->commit_failed = false;
}

/*
 * The remote server has executed a command of this kind, and is at this depth.
 * The level may have been released locally since the command was sent.
 */
void
remote_xact_confirm(Session *session, PartKind kind, int depth)
{
	RemoteTransaction *xact = remote_xact_own(session);

	if (kind == PART_READ_ONLY)
	{
		xact->read_only_depth = depth;
		return;
	}
	xact->remote_depth = depth;
	xact->kept_depth = Min(depth, xact->local_depth);
	/* A level that has begun is no more what an earlier one was. */
	if (kind != PART_RELEASE && xact->read_only_depth >= depth)
		xact->read_only_depth = 0;
	check_depths(xact);
}

/* A local level has ended, by commit or after its rollback. */
void
remote_xact_release(Session *session, int level)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->local_depth = level - 1;
	xact->kept_depth = Min(xact->kept_depth, level - 1);
	xact->kept_level = Min(xact->kept_level, level - 1);
	if (xact->read_only_level >= level)
		xact->read_only_level = 0;
	check_depths(xact);
}

/*
 * A level, and deeper ones, have been rolled back remotely, or were not there.
 * Locks have been released, so no cached statement is known to be right.
 */
void
remote_xact_roll_back(Session *session, int level)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->lock_epoch++;
	if (xact->kept_depth >= level)
		xact->remote_depth = xact->kept_depth = level - 1;
	if (xact->failed_depth > xact->remote_depth)
		xact->failed_depth = 0;
	check_depths(xact);
}

/* A command has failed: the remote transaction executes no other at its depth. */
void
remote_xact_fail(Session *session)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->failed_depth = Max(xact->remote_depth, 1);
}

/* The failed command is repeated in a new remote transaction. */
void
remote_xact_forget_failure(Session *session)
{
	remote_xact_own(session)->failed_depth = 0;
}

/* A COMMIT that was not waited for has failed. */
void
remote_xact_fail_commit(Session *session)
{
	remote_xact_own(session)->commit_failed = true;
}

/*
 * Until the session's present level is rolled back each use of the session raises
 * this error, or one that says that a command was interrupted if it is NULL.  It
 * is in TopTransactionContext.
 */
void
remote_xact_keep_error(Session *session, const struct RemoteError *error)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->kept_error = error;
	xact->kept_level = xact->local_depth;
}

/* The session can be used again. */
void
remote_xact_forget_error(Session *session)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->kept_error = NULL;
	xact->kept_level = 0;
}

/* The next batch starts a remote transaction, or is one command without any. */
void
remote_xact_begin(Session *session)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->lock_epoch++;
	xact->has_written = false;
}

/*
 * A command is sent.  One that does not only read has written, however many rows
 * it reports; of another one the write check tells.
 */
void
remote_xact_expect_writes(Session *session, bool only_reads)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->has_written |= !only_reads;
	xact->may_have_written = true;
}

/* The write check has been answered. */
void
remote_xact_check_writes(Session *session, bool wrote)
{
	RemoteTransaction *xact = remote_xact_own(session);

	xact->may_have_written = wrote;
	xact->has_written |= wrote;
}

/* A table has been truncated, which locks out other sessions. */
void
remote_xact_note_truncation(Session *session)
{
	remote_xact_own(session)->truncated = true;
}
