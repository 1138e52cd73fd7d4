/*
 * landing.c
 *	  What a session has in the air, or holds back, when a subtransaction begins.
 *
 * All of it is done with before: what is met later belongs to the
 * subtransaction alone.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "cache.h"
#include "landing.h"

/*
 * Takes the error being raised, which belongs to the level that the session's
 * last flight was sent at, for whoever uses the session next.  A cancellation here
 * is for the local query too, which need not be using the session.
 */
static void
keep_error(Session *session)
{
	MemoryContextSwitchTo(TopTransactionContext);
	session->kept_error = CopyErrorData();
	session->kept_level = session->xact_depth;
	FlushErrorState();
	session_forget_readers(session);
	if (session->kept_error->sqlerrcode == ERRCODE_QUERY_CANCELED &&
		!session->error_is_remote)
		InterruptPending = QueryCancelPending = true;
}

/*
 * Sends what is held back in a session, and reads what is in the air.
 *
 * While a subtransaction begins PostgreSQL is not ready for an error: it would
 * end the connection, or have the exception block that is being entered taken
 * for one that was.  So an error is kept, and what is being done here is no
 * context of it.
 */
static void
land(Session *session)
{
	bool		exits = ExitOnAnyError;
	ErrorContextCallback *callbacks = error_context_stack;
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	ExitOnAnyError = false;
	error_context_stack = NULL;
	session->error_is_remote = false;
	PG_TRY();
	{
		if (session->flush != NULL)
			session->flush(session->flush_arg);
		if (session->absorb != NULL)
			session->absorb(session->absorb_arg);
	}
	PG_CATCH();
	{
		CurrentResourceOwner = owner;
		keep_error(session);
		MemoryContextSwitchTo(context);
	}
	PG_END_TRY();
	ExitOnAnyError = exits;
	error_context_stack = callbacks;
}

/*
 * A function that reading a row calls may begin a subtransaction.  Its abort
 * must not meet the flight that brings the rows, so that is read now; and rows
 * that are still held back belong to the level that is left.
 */
void
landing_read_all(void)
{
	ListCell   *cell;

	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		/* What holds rows back connects by itself. */
		if (!session->half_done &&
			(session->flush != NULL ||
			 (session->conn != NULL && session->absorb != NULL)))
			land(session);
	}
}
