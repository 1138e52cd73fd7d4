/*
 * waitset.h
 *	  The wait event sets of sessions.
 */
#ifndef TOLLFREE_FDW_WAITSET_H
#define TOLLFREE_FDW_WAITSET_H

#include "session/state.h"

extern void waitset_make_room(const char *server);
extern void waitset_free(Session *session);
extern bool waitset_spare_descriptor(void);
extern bool waitset_can_wait(const Session *session);
extern bool waitset_wait(Session *session, uint32 events, long timeout,
						 uint32 wait_event);

#endif							/* TOLLFREE_FDW_WAITSET_H */
