/*
 * pending.c
 *	  What an outer transaction level has in flight or not yet sent.
 *
 * While a subtransaction begins, PostgreSQL does not expect errors.  So nothing
 * is done then, and a subtransaction that does not use the session ends without
 * touching what is pending.  Before one does use it, that is settled: buffered
 * commands are sent and all answers are read, at the level that they belong to.
 * So whatever is in flight later belongs to the subtransaction alone.
 *
 * An error while settling is raised like any other.  But rolling back the
 * subtransaction does not undo it: answers are lost that an outer level needs.
 * So every use of the session raises it until that level is rolled back.
 *
 * If a cursor of an outer level fails in a subtransaction, its executor node
 * never reads its answers.  That shows when its resource owner is released.
 */
#include "postgres.h"

#include "access/xact.h"

#include "session/batch.h"
#include "session/pending.h"
#include "session/prepared.h"
#include "session/reader.h"
#include "session/remote_xact.h"
#include "session/results.h"

/* Has an outer level unsent commands or unread answers? */
bool
pending_is_due(const Session *session, int level)
{
	return (session->pending.flush.act != NULL &&
			session->pending.flush_level < level) ||
		(batch_is_in_flight(session) && session->batch.level < level);
}

/* Sends the buffered commands, if there are any, and reads their answers. */
void
pending_flush(Session *session)
{
	if (session->pending.flush.act != NULL)
		session->pending.flush.act(session->pending.flush.arg);
}

/* Reads what is in flight, by the function of its reader if there is one. */
void
pending_drain(Session *session)
{
	if (!batch_is_in_flight(session))
		return;
	if (session->pending.drain.act != NULL)
		session->pending.drain.act(session->pending.drain.arg);
	else
		results_finish(session);
}

/*
 * Sends the buffered commands of outer levels and reads their answers, before
 * the current level uses the session.
 */
void
pending_settle(Session *session)
{
	if (session->pending.is_settling ||
		!pending_is_due(session, GetCurrentTransactionNestLevel()))
		return;
	reader_settle(session, true);
	remote_xact_keep_error(session, NULL);
	pending_flush(session);
	pending_drain(session);
	remote_xact_forget_error(session);
	reader_settle(session, false);
}

/* An execution has ended: nobody reads what is in flight for it any more. */
void
pending_forget_owner(Session *session, ResourceOwner owner)
{
	if (session->batch.owner != owner || session->pending.drain.act == NULL)
		return;
	reader_release(session);
	reader_end_ahead(session);
	prepared_forget_repeatable(session);
}
