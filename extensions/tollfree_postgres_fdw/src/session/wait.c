/*
 * wait.c
 *	  Waiting for a remote server, and no longer than a clean-up may.
 *
 * What the waiting is done with is waitset.c's business.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/compat.h"
#include "session/state.h"
#include "session/wait.h"
#include "session/waitset.h"

/* Between the first cancellation of a batch and the second, ms */
#define CANCEL_PAUSE 1000

/*
 * Sends a cancel request; an error message, or NULL.  A clean-up must not raise
 * an ERROR: so where that waits, it is not sent without the descriptor to wait
 * with.
 */
static const char *
send_cancel(Session *session, TimestampTz deadline)
{
	if (COMPAT_CANCEL_IS_BOUNDED && !waitset_spare_descriptor())
		return "too many open files";
	return compat_cancel(session->conn, deadline);
}

/*
 * Cancels the batch, and once more after a while: a server that was waiting for
 * the rest of it, or had not received it, hears nothing.  An error message, or
 * NULL.
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

/* Cancels it once more, and again later where that cannot take for ever. */
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
 * How long a batch that cleans up may be waited for, in ms; 0 if the deadline
 * has passed.
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
 * Waits for the socket or the latch; false if the deadline has passed.  A batch
 * that cleans up must not raise an ERROR: if it cannot wait, it has passed, too.
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
	if (waitset_wait(session, events, timeout))
	{
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}
