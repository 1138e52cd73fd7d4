/*
 * remote_xact.h
 *	  The state of the remote transaction: its phase, depths and effects.
 */
#ifndef TOLLFREE_FDW_REMOTE_XACT_H
#define TOLLFREE_FDW_REMOTE_XACT_H

#include "session/state.h"

/* Can no command be executed in the session? */
static inline bool
remote_xact_is_unusable(const Session *session)
{
	return session->xact.phase != PHASE_IDLE;
}

/* Do the local, the confirmed and the kept depth agree? */
static inline bool
remote_xact_is_level(const Session *session)
{
	return session->xact.remote_depth == session->xact.local_depth &&
		session->xact.kept_depth == session->xact.local_depth;
}

/*
 * Has a COMMIT failed that nobody waited for, and is no transaction known to have
 * begun since?
 */
static inline bool
remote_xact_has_lost_commit(const Session *session)
{
	return session->xact.commit_failed && session->xact.remote_depth == 0;
}

/* Phases */
extern void remote_xact_enter(Session *session, SessionPhase phase);

/* Depths */
extern void remote_xact_join(Session *session, int level, int read_only_level);
extern void remote_xact_leave(Session *session);
extern void remote_xact_disconnect(Session *session);
extern void remote_xact_confirm(Session *session, PartKind kind, int depth);
extern void remote_xact_release(Session *session, int level);
extern void remote_xact_roll_back(Session *session, int level);

/* Errors */
extern void remote_xact_fail(Session *session);
extern void remote_xact_forget_failure(Session *session);
extern void remote_xact_fail_commit(Session *session);
extern void remote_xact_keep_error(Session *session,
								   const struct RemoteError *error);
extern void remote_xact_forget_error(Session *session);

/* Effects */
extern void remote_xact_begin(Session *session);
extern void remote_xact_expect_writes(Session *session, bool only_reads);
extern void remote_xact_check_writes(Session *session, bool wrote);
extern void remote_xact_note_truncation(Session *session);

#endif							/* TOLLFREE_FDW_REMOTE_XACT_H */
