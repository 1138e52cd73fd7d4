/*
 * reader.h
 *	  Who reads a session's answers, and who has commands to send.
 */
#ifndef TOLLFREE_FDW_READER_H
#define TOLLFREE_FDW_READER_H

#include "session/state.h"

/* Does arg read the answers in flight? */
static inline bool
reader_is(const Session *session, const void *arg)
{
	return session->pending.drain.arg == arg;
}

/* Who reads the answers in flight by this function; or NULL. */
static inline void *
reader_by(const Session *session, void (*act) (void *arg))
{
	return session->pending.drain.act == act ? session->pending.drain.arg : NULL;
}

/* Has arg commands to send? */
static inline bool
reader_holds(const Session *session, const void *arg)
{
	return session->pending.flush.arg == arg;
}

/* Who has commands to send by this function; or NULL. */
static inline void *
reader_holder_by(const Session *session, void (*act) (void *arg))
{
	return session->pending.flush.act == act ? session->pending.flush.arg : NULL;
}

/* Have the leading answers (results.c) to what was sent still to be read? */
static inline bool
reader_is_ahead(const Session *session)
{
	return session->pending.ahead != NULL;
}

/* Answers in flight */
extern void reader_claim(Session *session, void (*act) (void *arg), void *arg);
extern void reader_release(Session *session);
extern void reader_send_ahead(Session *session, const RemoteCommand *commands,
							  int ncommands);
extern void reader_end_ahead(Session *session);
extern void reader_append(Session *session, bool may_append);

/* Commands to send */
extern void reader_hold(Session *session, void (*act) (void *arg), void *arg,
						int level);
extern void reader_release_held(Session *session);

/* Both */
extern void reader_settle(Session *session, bool is_settling);
extern void reader_release_level(Session *session, int level);
extern void reader_keep(Session *session, const PendingWork *before);
extern void reader_forget(Session *session);

#endif							/* TOLLFREE_FDW_READER_H */
