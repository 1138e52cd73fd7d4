/*
 * wait.c
 *	  Waiting for a remote server, bounded during a clean-up.
 *
 * The clean-up after an error has a deadline and must not raise an ERROR.
 *
 * Making a wait event set costs more than many a query, so a session keeps its
 * set.  But each takes a file descriptor, in addition to the connection's, of
 * the third of max_files_per_process that is for connections and the like.  When
 * a session beyond MAX_WAIT_SETS has to wait, the last set is freed for it.  Where
 * descriptors are short there are fewer sets, down to one: a connection is worth
 * more than a set.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/fd.h"

#include "base/compat.h"
#include "session/wait.h"

#define WAIT_SOCKET 0			/* position of the socket in the set */
#define WAIT_EVENTS 3

/*
 * More than the servers that a backend mostly uses at the same time, and one in
 * twenty of the 330 descriptors that there are for connections by default.
 */
#define MAX_WAIT_SETS 16

/* The sessions that have a set; the last of them is the first to lose it */
static Session *holders[MAX_WAIT_SETS];
static int	nholders = 0;

/* ms between the first cancel request for a batch and the second */
#define CANCEL_PAUSE 1000

static const char *const event_names[] = {
	[WAIT_CONNECT] = "TollfreeConnect",
	[WAIT_GET_RESULT] = "TollfreeGetResult",
	[WAIT_COMMIT] = "TollfreeCommit",
	[WAIT_CLEANUP] = "TollfreeCleanup"
};

/* The part that this file writes. */
static SessionWait *
wait_own(Session *session)
{
	return session_own(SessionWait, session, wait);
}

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
wait_free_last(void)
{
	SessionWait *wait = wait_own(holders[--nholders]);

	FreeWaitEventSet(wait->set);
	wait->set = NULL;
	wait->events = 0;
}

/* Frees a session's set, if it has one. */
static void
wait_free_set(Session *session)
{
	for (int i = 0; i < nholders; i++)
	{
		if (holders[i] == session)
		{
			holders[i] = holders[nholders - 1];
			holders[nholders - 1] = session;
			wait_free_last();
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
wait_make_room(const char *server)
{
	while (nholders > 1 && !are_free(2))
		wait_free_last();
	if (!are_free(nholders > 0 ? 2 : 3))
		ereport(ERROR,
				(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				 errmsg("could not connect to server \"%s\"", server),
				 errdetail("There are too many open files on the local server."),
				 errhint("Raise max_files_per_process, or close connections that are not needed.")));
}

/* Frees sets until a descriptor is free for a short use; false if none is. */
static bool
spare_descriptor(void)
{
	while (!are_free(1))
	{
		if (nholders == 0)
			return false;
		wait_free_last();
	}
	return true;
}

/*
 * Makes a session's set, or makes it anew if an error has left it incomplete.
 * The last holder loses its set if there would be too many, or no descriptor
 * left for short uses.
 */
static void
make_wait_set(Session *session)
{
	SessionWait *wait = wait_own(session);

	wait_free_set(session);
	if (nholders == MAX_WAIT_SETS || (nholders > 0 && !are_free(2)))
		wait_free_last();
	wait->set = compat_create_wait_event_set(WAIT_EVENTS);
	holders[nholders++] = session;

	AddWaitEventToSet(wait->set, WL_SOCKET_READABLE,
					  PQsocket(session->conn), NULL, NULL);
	AddWaitEventToSet(wait->set, WL_LATCH_SET,
					  PGINVALID_SOCKET, MyLatch, NULL);
	/* A stand-alone backend has no postmaster. */
	if (IsUnderPostmaster)
		AddWaitEventToSet(wait->set, WL_EXIT_ON_PM_DEATH,
						  PGINVALID_SOCKET, NULL, NULL);
	wait->events = WL_SOCKET_READABLE;
}

/*
 * The wait event of a reason.  The first call makes all of them, and may raise
 * an ERROR.  It comes before the first connection is made, so not in a clean-up.
 */
uint32
wait_event(WaitReason reason)
{
	static uint32 events[lengthof(event_names)];

	for (int i = 0; i < lengthof(event_names); i++)
	{
		if (events[i] == 0)
			events[i] = compat_new_wait_event(event_names[i]);
	}
	return events[reason];
}

/* Limits waiting, which does not raise an ERROR then, to a time in ms from now. */
void
wait_begin_limit(Session *session, int limit)
{
	SessionWait *wait = wait_own(session);

	wait->timed_out = false;
	wait->deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), limit);
}

/* Does not limit it any more. */
void
wait_end_limit(Session *session)
{
	wait_own(session)->deadline = 0;
}

/* Sends no further cancel requests. */
void
wait_stop_cancelling(Session *session)
{
	wait_own(session)->cancel_again = 0;
}

/* The connection is gone, if there was one: frees its set, and forgets limits. */
void
wait_forget(Session *session)
{
	wait_free_set(session);
	*wait_own(session) = (SessionWait)
	{
		0
	};
}

/* What a session waits for, once it is connected. */
static WaitReason
reason_to_wait(const Session *session)
{
	if (session->wait.deadline != 0)
		return WAIT_CLEANUP;
	return session->batch.is_commit ? WAIT_COMMIT : WAIT_GET_RESULT;
}

/*
 * Sends a cancel request.  Returns an error message, or NULL.  Where sending
 * waits, it would raise an ERROR without a free file descriptor.
 */
static const char *
send_cancel(Session *session, TimestampTz deadline)
{
	if (COMPAT_CANCEL_IS_BOUNDED && !spare_descriptor())
		return "too many open files";
	return compat_cancel(session->conn, deadline);
}

/*
 * Cancels the batch, and has it cancelled once more after a while: a cancel
 * request has no effect while the server waits for more of the batch, or
 * has not received it.  Returns an error message, or NULL.
 */
const char *
wait_cancel(Session *session)
{
	SessionWait *wait = wait_own(session);
	const char *error = send_cancel(session, wait->deadline);

	wait->cancel_pause = CANCEL_PAUSE;
	wait->cancel_again =
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(), CANCEL_PAUSE);
	return error;
}

/*
 * Sends another cancel request.  A later one follows where sending is bounded
 * by a deadline.
 */
static void
repeat_cancel(Session *session)
{
	SessionWait *wait = wait_own(session);
	TimestampTz until;

	wait->cancel_pause *= 2;
	until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
										wait->cancel_pause);
	(void) send_cancel(session, Min(until, wait->deadline));
	wait->cancel_again = COMPAT_CANCEL_IS_BOUNDED ?
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
									wait->cancel_pause) : 0;
}

/*
 * How long the clean-up may wait now, in ms; 0 if the deadline has passed.
 * Sends a further cancel request if it is time for one.
 */
static long
time_left(Session *session)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz until = session->wait.deadline;

	if (session->wait.cancel_again != 0 && now >= session->wait.cancel_again &&
		now < until)
	{
		repeat_cancel(session);
		now = GetCurrentTimestamp();
	}
	if (session->wait.cancel_again != 0)
		until = Min(until, session->wait.cancel_again);
	return TimestampDifferenceMilliseconds(now, until);
}

/*
 * Waits for these events of the socket, or for the latch.  Returns false, with
 * timed_out set, if the deadline has passed.  A clean-up must not raise an ERROR:
 * if no wait event set can be had, that counts as passed, too.
 */
bool
wait_for(Session *session, uint32 events)
{
	SessionWait *wait = wait_own(session);
	uint32		shown = wait_event(reason_to_wait(session));
	long		timeout = -1;
	WaitEvent	event;

	if (wait->deadline != 0)
	{
		timeout = time_left(session);
		if (timeout <= 0 ||
			(wait->set == NULL && nholders == 0 && !are_free(1)))
		{
			wait->timed_out = true;
			return false;
		}
	}
	if (wait->events == 0)
		make_wait_set(session);
	if (wait->events != events)
		ModifyWaitEvent(wait->set, WAIT_SOCKET, events, NULL);
	wait->events = events;
	if (WaitEventSetWait(wait->set, timeout, &event, 1, shown) == 1 &&
		(event.events & WL_LATCH_SET))
	{
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}
