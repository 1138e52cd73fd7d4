/*
 * pending.c
 *	  What a session has in flight, or holds back, for an outer level.
 *
 * While a subtransaction begins PostgreSQL is not ready for an error, so nothing
 * is done then.  What is in flight stays there, and what is held back is held
 * on: a subtransaction that does not use the session ends without touching
 * either.  Before one does use it, all of it is done with, at the level that it
 * belongs to: what is met later belongs to the subtransaction alone.
 *
 * An error met there is raised like any other, but by rolling back the
 * subtransaction alone it is not undone: answers are lost that an outer level
 * needs.  So it is noted before, and every use of the session raises it until
 * that level is rolled back.
 *
 * A cursor of an outer level that fails in a subtransaction never reads its
 * answer.  That it has failed shows when its resources are released.
 */
#include "postgres.h"

#include "access/xact.h"

#include "session/batch.h"
#include "session/pending.h"
#include "session/results.h"
#include "session/state.h"

/* Is there something from before this level began? */
bool
pending_is_due(const Session *session, int level)
{
	return (session->pending.flush != NULL && session->pending.flush_level < level) ||
		(batch_is_in_flight(session) && session->batch.level < level);
}

/* Reads what is in flight, for whoever has asked for it. */
void
pending_drain(Session *session)
{
	if (!batch_is_in_flight(session))
		return;
	if (session->pending.drain != NULL)
		session->pending.drain(session->pending.drain_arg);
	else
		results_finish(session);
}

/*
 * Sends what an outer level holds back, and reads what it has in flight, before
 * the present one uses the session.
 */
void
pending_settle(Session *session)
{
	if (session->pending.is_settling ||
		!pending_is_due(session, GetCurrentTransactionNestLevel()))
		return;
	session->pending.is_settling = true;
	session->xact.kept_level = session->xact.local_depth;
	if (session->pending.flush != NULL)
		session->pending.flush(session->pending.flush_arg);
	pending_drain(session);
	session->xact.kept_level = 0;
	session->pending.is_settling = false;
}

/* An execution is over: nobody reads what is in flight for it. */
void
pending_forget_owner(Session *session, ResourceOwner owner)
{
	if (session->batch.owner != owner || session->pending.drain == NULL)
		return;
	session->pending.drain = NULL;
	session->pending.drain_arg = NULL;
	session->pending.ahead = NULL;
	session->prepared.repeatable = NULL;
}
