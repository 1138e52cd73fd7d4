/*
 * wait.h
 *	  Waiting for a remote server, bounded during a clean-up.
 */
#ifndef TOLLFREE_FDW_WAIT_H
#define TOLLFREE_FDW_WAIT_H

#include "session/state.h"

/* What is waited for, as pg_stat_activity shows it */
typedef enum WaitReason
{
	WAIT_CONNECT,
	WAIT_GET_RESULT,
	WAIT_COMMIT,
	WAIT_CLEANUP
} WaitReason;

extern uint32 wait_event(WaitReason reason);
extern const char *wait_cancel(Session *session);
extern void wait_make_room(const char *server);
extern void wait_forget(Session *session);
extern void wait_begin_limit(Session *session, int limit);
extern void wait_end_limit(Session *session);
extern void wait_stop_cancelling(Session *session);
extern bool wait_for(Session *session, uint32 events);

#endif							/* TOLLFREE_FDW_WAIT_H */
