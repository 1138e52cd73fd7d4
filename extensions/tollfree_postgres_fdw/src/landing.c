/*
 * landing.c
 *	  What a session has in the air, or holds back, for an outer level.
 *
 * While a subtransaction begins PostgreSQL is not ready for an error, so nothing
 * is done then.  What is in the air stays there, and what is held back is held
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
#include "utils/resowner.h"

#include "cache.h"
#include "landing.h"

/* Is there something from before this level began? */
bool
landing_is_due(const Session *session, int level)
{
	return (session->flush != NULL && session->flush_level < level) ||
		(session_is_flying(session) && session->flight_level < level);
}

/* Reads what is in the air, for whoever has asked for it. */
void
landing_read_all(Session *session)
{
	if (!session_is_flying(session))
		return;
	if (session->absorb != NULL)
		session->absorb(session->absorb_arg);
	else
		session_finish(session);
}

/*
 * Sends what an outer level holds back, and reads what it has in the air, before
 * the present one uses the session.
 */
void
landing_settle(Session *session)
{
	if (session->is_settling ||
		!landing_is_due(session, GetCurrentTransactionNestLevel()))
		return;
	session->is_settling = true;
	session->kept_level = session->xact_depth;
	if (session->flush != NULL)
		session->flush(session->flush_arg);
	landing_read_all(session);
	session->kept_level = 0;
	session->is_settling = false;
}

/* A resource owner is released: those whose execution it was read no more. */
static void
forget_readers(ResourceReleasePhase phase, bool is_commit, bool is_top_level,
			   void *arg)
{
	ListCell   *cell;

	if (is_commit || phase != RESOURCE_RELEASE_BEFORE_LOCKS)
		return;
	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		if (session->flight_owner != CurrentResourceOwner ||
			session->absorb == NULL)
			continue;
		session->absorb = NULL;
		session->absorb_arg = NULL;
		session->ahead = NULL;
		session->repeatable = NULL;
	}
}

/* Once per backend. */
void
landing_install(void)
{
	RegisterResourceReleaseCallback(forget_readers, NULL);
}
