/*
 * portals.c
 *	  Which cursors a session has open on the remote server.
 *
 * A cursor that is no longer used is closed with the next batch of its
 * transaction, whatever has been rolled back since: until then it keeps its
 * table in use.  Closing one that a rollback has taken along would be an error
 * there.  So each is known by the transaction level that it would be lost with.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "session/portals.h"
#include "session/state.h"

typedef struct RemotePortal
{
	uint32		cursor;
	int			level;
	bool		is_unused;
} RemotePortal;

/* The one of a cursor, or NULL. */
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

/* Notes a cursor that is opened at the session's present level. */
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

/* A cursor is to be closed, if it is still there. */
void
portals_let_go(Session *session, uint32 cursor)
{
	RemotePortal *portal = find(session, cursor);

	if (portal != NULL)
		portal->is_unused = true;
}

/* Removes one that is to be closed, and returns its cursor; 0 if there is none. */
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

/* A level, and those deeper, have been rolled back. */
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

/* A level has become part of the one around it. */
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

/* Their transaction ends, and they with it. */
void
portals_forget(Session *session)
{
	list_free_deep(session->cursors.open);
	session->cursors.open = NIL;
}
