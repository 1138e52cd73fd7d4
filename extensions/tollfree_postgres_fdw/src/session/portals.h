/*
 * portals.h
 *	  The cursors that a session has open on the remote server.
 */
#ifndef TOLLFREE_FDW_PORTALS_H
#define TOLLFREE_FDW_PORTALS_H

#include "session/state.h"

extern uint32 portals_next(Session *session);
extern void portals_add(Session *session, uint32 cursor);
extern void portals_close_later(Session *session, uint32 cursor);
extern void portals_close_unused(Session *session);
extern void portals_roll_back(Session *session, int level);
extern void portals_release(Session *session, int level);
extern void portals_forget(Session *session);
extern void portals_leave(Session *session);

#endif							/* TOLLFREE_FDW_PORTALS_H */
