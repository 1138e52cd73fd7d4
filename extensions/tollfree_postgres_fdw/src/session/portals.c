/*
 * portals.c
 *	  The cursors that a session has open on the remote server.
 *
 * A cursor that is not used any more is closed with the next batch of its
 * transaction, even if a subtransaction has been rolled back since.  Until
 * then it keeps its table in use.  Closing a cursor that a rollback has
 * already closed would be an error.  So for each cursor the transaction level
 * is known whose rollback closes it.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "session/portals.h"

typedef struct RemotePortal
{
	uint32		cursor;
	int			level;
	bool		is_unused;
} RemotePortal;

/* Finds the entry of a cursor, or NULL. */
static RemotePortal *
find(const Session *session, uint32 cursor)
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

/* Notes that a cursor is opened at the session's current level. */
void
portals_add(Session *session, uint32 cursor)
{
	MemoryContext old;
	RemotePortal *portal = find(session, cursor);

	if (portal != NULL)
		return;
	old = MemoryContextSwitchTo(TopMemoryContext);
	portal = palloc(sizeof(RemotePortal));
	*portal = (RemotePortal)
	{
		.cursor = cursor,.level = session->xact.local_depth
	};
	session->cursors.open = lappend(session->cursors.open, portal);
	MemoryContextSwitchTo(old);
}

/* Notes that a cursor is not used any more, if it is still open. */
void
portals_let_go(Session *session, uint32 cursor)
{
	RemotePortal *portal = find(session, cursor);

	if (portal != NULL)
		portal->is_unused = true;
}

/*
 * Removes one unused cursor from the list and returns it; 0 if there is none.
 */
uint32
portals_take_unused(Session *session)
{
	ListCell   *cell;

	foreach(cell, session->cursors.open)
	{
		RemotePortal *portal = lfirst(cell);
		uint32		cursor = portal->cursor;

		if (!portal->is_unused)
			continue;
		session->cursors.open = foreach_delete_current(session->cursors.open, cell);
		pfree(portal);
		return cursor;
	}
	return 0;
}

/* Forgets the cursors of a level that is rolled back, and of deeper ones. */
void
portals_roll_back(Session *session, int level)
{
	ListCell   *cell;

	foreach(cell, session->cursors.open)
	{
		RemotePortal *portal = lfirst(cell);

		if (portal->level < level)
			continue;
		session->cursors.open = foreach_delete_current(session->cursors.open, cell);
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
	list_free_deep(session->cursors.open);
	session->cursors.open = NIL;
}
