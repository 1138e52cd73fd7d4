/*
 * wait.h
 *	  Waiting for a remote server, bounded during a clean-up.
 */
#ifndef TOLLFREE_FDW_WAIT_H
#define TOLLFREE_FDW_WAIT_H

#include "session/state.h"

extern const char *wait_cancel(Session *session);
extern bool wait_for(Session *session, uint32 events);

#endif							/* TOLLFREE_FDW_WAIT_H */
