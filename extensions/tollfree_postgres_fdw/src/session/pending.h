/*
 * pending.h
 *	  What an outer transaction level has in flight or not yet sent.
 */
#ifndef TOLLFREE_FDW_PENDING_H
#define TOLLFREE_FDW_PENDING_H

#include "session/state.h"

extern bool pending_is_due(const Session *session, int level);
extern void pending_flush(Session *session);
extern void pending_drain(Session *session);
extern void pending_settle(Session *session);
extern void pending_forget_owner(Session *session, ResourceOwner owner);

#endif							/* TOLLFREE_FDW_PENDING_H */
