/*
 * portals.c
 *	  The cursors that a session has open on the remote server.
 *
 * A cursor that is not used any more is closed with the next batch of its
 * transaction, even if a subtransaction has been rolled back since: it keeps its
 * table in use.  Closing a cursor that a rollback has closed would be an error,
 * so for each the transaction level is known whose rollback closes it.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "session/batch.h"
#include "session/portals.h"

typedef struct RemotePortal
{
	uint32		cursor;
	int			level;
	bool		is_unused;
} RemotePortal;

/* The part that this file writes. */
static RemoteCursors *
portals_own(Session *session)
{
	return session_own(RemoteCursors, session, cursors);
}

/* The entry of a cursor, or NULL. */
static RemotePortal *
portals_find(const Session *session, uint32 cursor)
{
	ListCell   *cell;

	foreach(cell, session->cursors.open)
	{
		RemotePortal *portal = lfirst(cell);

		if (portal->cursor == cursor)
			return portal;
	}
	return NULL;
}

/* The number of a new cursor, by which it is named. */
uint32
portals_next(Session *session)
{
	return ++portals_own(session)->names;
}

/* Notes that a cursor is opened at the session's current level. */
void
portals_add(Session *session, uint32 cursor)
{
	RemoteCursors *cursors = portals_own(session);
	MemoryContext old;
	RemotePortal *portal;

	if (portals_find(session, cursor) != NULL)
		return;
	old = MemoryContextSwitchTo(TopMemoryContext);
	portal = palloc0(sizeof(RemotePortal));
	portal->cursor = cursor;
	portal->level = session->xact.local_depth;
	cursors->open = lappend(cursors->open, portal);
	MemoryContextSwitchTo(old);
}

/* Notes that a cursor is not used any more, if it is still open. */
void
portals_close_later(Session *session, uint32 cursor)
{
	RemotePortal *portal = portals_find(session, cursor);

	if (portal != NULL)
		portal->is_unused = true;
}

/* Adds the closing of the cursors that are not used any more. */
void
portals_close_unused(Session *session)
{
	RemoteCursors *cursors = portals_own(session);
	ListCell   *cell;
	char		sql[64];

	foreach(cell, cursors->open)
	{
		RemotePortal *portal = lfirst(cell);

		if (!portal->is_unused)
			continue;
		snprintf(sql, sizeof(sql), "CLOSE c%u", portal->cursor);
		cursors->open = foreach_delete_current(cursors->open, cell);
		pfree(portal);
		batch_add(session, PART_CLEANUP, 0, sql);
	}
}

/* Forgets the cursors of a level that is rolled back, and of deeper ones. */
void
portals_roll_back(Session *session, int level)
{
	RemoteCursors *cursors = portals_own(session);
	ListCell   *cell;

	foreach(cell, cursors->open)
	{
		RemotePortal *portal = lfirst(cell);

		if (portal->level < level)
			continue;
		cursors->open = foreach_delete_current(cursors->open, cell);
		pfree(portal);
	}
}

/* Moves the cursors of a released level to the level around it. */
void
portals_release(Session *session, int level)
{
	ListCell   *cell;

	foreach(cell, session->cursors.open)
	{
		RemotePortal *portal = lfirst(cell);

		portal->level = Min(portal->level, level - 1);
	}
}

/* Forgets all cursors, at the end of their transaction. */
void
portals_forget(Session *session)
{
	RemoteCursors *cursors = portals_own(session);

	list_free_deep(cursors->open);
	cursors->open = NIL;
}

/* The same when the local transaction has ended: names are given anew. */
void
portals_leave(Session *session)
{
	portals_own(session)->names = 0;
	portals_forget(session);
}
