/*
 * reader.c
 *	  Who reads a session's answers, and who has commands to send.
 *
 * This file alone writes PendingWork, and calls none of the functions in it;
 * pending.c does.  At most one reader has answers in flight.  It claims the
 * session when it has sent its commands, and releases it when it begins to read
 * the last answer; until then another user of the session has pending.c call its
 * function.  One whose claim has been taken from it has lost its answers.
 */
#include "postgres.h"

#include "session/reader.h"

/* The part that this file writes. */
static PendingWork *
reader_own(Session *session)
{
	return session_own(PendingWork, session, pending);
}

/* Answers in flight are read by act(arg). */
void
reader_claim(Session *session, void (*act) (void *arg), void *arg)
{
	reader_own(session)->drain = (PendingAction)
	{
		act, arg
	};
}

/* Nobody's function reads answers any more. */
void
reader_release(Session *session)
{
	reader_own(session)->drain = (PendingAction)
	{
		NULL, NULL
	};
}

/*
 * The leading answers to these commands are not read yet; the commands are kept,
 * to be sent again.
 */
void
reader_send_ahead(Session *session, const RemoteCommand *commands,
				  int ncommands)
{
	PendingWork *pending = reader_own(session);

	pending->ahead = commands;
	pending->nahead = ncommands;
}

/* The leading answers are read, or nobody reads them. */
void
reader_end_ahead(Session *session)
{
	reader_own(session)->ahead = NULL;
}

/* May the next batch be sent while answers are unread? */
void
reader_append(Session *session, bool may_append)
{
	reader_own(session)->may_append = may_append;
}

/* Commands of a level are buffered, and sent by act(arg), which reads answers. */
void
reader_hold(Session *session, void (*act) (void *arg), void *arg, int level)
{
	PendingWork *pending = reader_own(session);

	pending->flush = (PendingAction)
	{
		act, arg
	};
	pending->flush_level = level;
}

/* The buffered commands are being sent, or forgotten. */
void
reader_release_held(Session *session)
{
	reader_own(session)->flush = (PendingAction)
	{
		NULL, NULL
	};
}

/* pending_settle begins, or has ended. */
void
reader_settle(Session *session, bool is_settling)
{
	reader_own(session)->is_settling = is_settling;
}

/* Buffered commands of a level that has ended belong to the one around it. */
void
reader_release_level(Session *session, int level)
{
	PendingWork *pending = reader_own(session);

	pending->flush_level = Min(pending->flush_level, level - 1);
}

/*
 * A new connection has replaced one that was lost with nothing in it: who read its
 * answers reads those to what is sent again, and what was buffered stays so.
 */
void
reader_keep(Session *session, const PendingWork *before)
{
	PendingWork *pending = reader_own(session);

	pending->drain = before->drain;
	pending->flush = before->flush;
}

/* Forgets who reads what is in flight, and what is buffered. */
void
reader_forget(Session *session)
{
	reader_release(session);
	reader_release_held(session);
	reader_end_ahead(session);
	reader_append(session, false);
}
