/*
 * wait.c
 *	  Waiting for a remote server, bounded during a clean-up.
 *
 * The clean-up after an error has a deadline and must not raise an ERROR.  The
 * wait event sets are waitset.c's.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/compat.h"
#include "session/wait.h"
#include "session/waitset.h"

/* ms between the first cancel request for a batch and the second */
#define CANCEL_PAUSE 1000

static const char *const event_names[] = {
	[WAIT_CONNECT] = "TollfreeConnect",
	[WAIT_GET_RESULT] = "TollfreeGetResult",
	[WAIT_COMMIT] = "TollfreeCommit",
	[WAIT_CLEANUP] = "TollfreeCleanup"
};

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

/* What a session waits for, once it is connected. */
static WaitReason
reason_to_wait(const Session *session)
{
	if (session->batch.deadline != 0)
		return WAIT_CLEANUP;
	return session->batch.is_commit ? WAIT_COMMIT : WAIT_GET_RESULT;
}

/*
 * Sends a cancel request.  Returns an error message, or NULL.  Where sending
 * waits, it needs a file descriptor.  A clean-up must not raise an ERROR, so
 * without a free descriptor nothing is sent.
 */
static const char *
send_cancel(Session *session, TimestampTz deadline)
{
	if (COMPAT_CANCEL_IS_BOUNDED && !waitset_spare_descriptor())
		return "too many open files";
	return compat_cancel(session->conn, deadline);
}

/*
 * Cancels the batch, and has it cancelled once more after a while: a cancel
 * request has no effect while the server waits for the rest of the batch, or
 * has not received it.  Returns an error message, or NULL.
 */
const char *
wait_cancel(Session *session)
{
	const char *error = send_cancel(session, session->batch.deadline);

	session->batch.cancel_pause = CANCEL_PAUSE;
	session->batch.cancel_again =
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
	TimestampTz until;

	session->batch.cancel_pause *= 2;
	until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
										session->batch.cancel_pause);
	(void) send_cancel(session, Min(until, session->batch.deadline));
	session->batch.cancel_again = COMPAT_CANCEL_IS_BOUNDED ?
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
									session->batch.cancel_pause) : 0;
}

/*
 * How long the clean-up may wait now, in ms; 0 if the deadline has passed.
 * Sends a further cancel request if it is time for one.
 */
static long
time_left(Session *session)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz until = session->batch.deadline;

	if (session->batch.cancel_again != 0 && now >= session->batch.cancel_again &&
		now < until)
	{
		repeat_cancel(session);
		now = GetCurrentTimestamp();
	}
	if (session->batch.cancel_again != 0)
		until = Min(until, session->batch.cancel_again);
	return TimestampDifferenceMilliseconds(now, until);
}

/*
 * Waits for the socket or the latch.  Returns false if the deadline has
 * passed.  A clean-up must not raise an ERROR: if no wait event set can be
 * had, that counts as passed, too.
 */
bool
wait_for(Session *session, uint32 events)
{
	long		timeout = -1;

	if (session->batch.deadline != 0)
	{
		timeout = time_left(session);
		if (timeout <= 0 || !waitset_can_wait(session))
			return false;
	}
	if (waitset_wait(session, events, timeout,
					 wait_event(reason_to_wait(session))))
	{
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}
