/*
 * pending.h
 *	  What a session has in flight, or holds back, for an outer level.
 */
#ifndef TOLLFREE_FDW_PENDING_H
#define TOLLFREE_FDW_PENDING_H

#include "session/state.h"

/* Nobody waits any more for what is in flight, or holds anything back. */
static inline void
pending_forget(Session *session)
{
	session->pending.drain = session->pending.flush = NULL;
	session->pending.drain_arg = session->pending.flush_arg = NULL;
	session->pending.ahead = NULL;
	session->batch.is_appended = false;
}

extern bool pending_is_due(const Session *session, int level);
extern void pending_drain(Session *session);
extern void pending_settle(Session *session);
extern void pending_forget_owner(Session *session, ResourceOwner owner);

#endif							/* TOLLFREE_FDW_PENDING_H */
