/*
 * waitset.c
 *	  The wait event sets of sessions.
 *
 * Making a wait event set costs more than many a query, so a session keeps its
 * set.  But a set takes a file descriptor, in addition to the connection's,
 * and connections and the like may take only a third of max_files_per_process.
 * So only some sessions keep a set.  When a session beyond these has to wait,
 * the last set is freed and one made for this session, which costs as much as
 * WaitLatchOrSocket does.  Where descriptors are short there are fewer sets,
 * down to a single one: a connection is worth more than a set.
 *
 * wait.c decides how long is waited, and its callers for what.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/fd.h"

#include "base/compat.h"
#include "session/wait.h"
#include "session/waitset.h"

#define WAIT_SOCKET 0			/* position of the socket in the set */
#define WAIT_EVENTS 3

/*
 * More than the servers that one backend mostly works with at the same time.
 * And about one in twenty of the 330 descriptors that max_files_per_process
 * leaves for connections by default.
 */
#define MAX_WAIT_SETS 16

/* The sessions that have a set; the last of them is the first to lose it */
static Session *holders[MAX_WAIT_SETS];
static int	nholders = 0;

/* Are this many file descriptors free for connections and the like? */
static bool
are_free(int count)
{
	int			taken = 0;

	while (taken < count && AcquireExternalFD())
		taken++;
	for (int i = 0; i < taken; i++)
		ReleaseExternalFD();
	return taken == count;
}

/* Frees the set of the last holder. */
static void
free_last(void)
{
	Session    *session = holders[--nholders];

	FreeWaitEventSet(session->wait.set);
	session->wait.set = NULL;
	session->wait.events = 0;
}

/* Frees a session's set, if it has one. */
void
waitset_free(Session *session)
{
	for (int i = 0; i < nholders; i++)
	{
		if (holders[i] == session)
		{
			holders[i] = holders[nholders - 1];
			holders[nholders - 1] = session;
			free_last();
			return;
		}
	}
}

/*
 * Makes room for a connection and its set.  One more descriptor is left for
 * short uses: connecting needs one, and so does an Append of asynchronous
 * scans.  Raises an ERROR if there is no room.
 */
void
waitset_make_room(const char *server)
{
	while (nholders > 1 && !are_free(2))
		free_last();
	if (!are_free(nholders > 0 ? 2 : 3))
		ereport(ERROR,
				(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				 errmsg("could not connect to server \"%s\"", server),
				 errdetail("There are too many open files on the local server."),
				 errhint("Raise max_files_per_process, or close connections that are not needed.")));
}

/*
 * Frees sets until a descriptor is free for a short use.  Returns false if
 * none can be had.
 */
bool
waitset_spare_descriptor(void)
{
	while (!are_free(1))
	{
		if (nholders == 0)
			return false;
		free_last();
	}
	return true;
}

/* Has a session a set, or can it get one without an ERROR? */
bool
waitset_can_wait(const Session *session)
{
	return session->wait.set != NULL || nholders > 0 || are_free(1);
}

/*
 * Makes a session's set, or makes it anew if an error has left it incomplete.
 * If there are MAX_WAIT_SETS already, or no descriptor would be left for short
 * uses, the last holder loses its set.
 */
static void
make_wait_set(Session *session)
{
	waitset_free(session);
	if (nholders == MAX_WAIT_SETS || (nholders > 0 && !are_free(2)))
		free_last();
	session->wait.set = compat_create_wait_event_set(WAIT_EVENTS);
	holders[nholders++] = session;

	AddWaitEventToSet(session->wait.set, WL_SOCKET_READABLE,
					  PQsocket(session->conn), NULL, NULL);
	AddWaitEventToSet(session->wait.set, WL_LATCH_SET,
					  PGINVALID_SOCKET, MyLatch, NULL);
	/* A stand-alone backend has no postmaster. */
	if (IsUnderPostmaster)
		AddWaitEventToSet(session->wait.set, WL_EXIT_ON_PM_DEATH,
						  PGINVALID_SOCKET, NULL, NULL);
	session->wait.events = WL_SOCKET_READABLE;
}

/*
 * Waits for these events of the session's socket, or for the latch.  The
 * timeout is in ms; negative means none.  The wait is shown as wait_event.
 * Returns true if the latch was set.
 */
bool
waitset_wait(Session *session, uint32 events, long timeout, uint32 wait_event)
{
	WaitEvent	event;

	if (session->wait.events == 0)
		make_wait_set(session);
	if (session->wait.events != events)
		ModifyWaitEvent(session->wait.set, WAIT_SOCKET, events, NULL);
	session->wait.events = events;
	return WaitEventSetWait(session->wait.set, timeout, &event, 1,
							wait_event) == 1 &&
		(event.events & WL_LATCH_SET);
}
