/*
 * rollback.h
 *	  Rolling back what a local transaction or subtransaction did remotely.
 */
#ifndef TOLLFREE_FDW_ROLLBACK_H
#define TOLLFREE_FDW_ROLLBACK_H

#include "session/state.h"

/* No error of an outer level is kept any more. */
static inline void
rollback_forget_error(Session *session)
{
	session->xact.kept_error = NULL;
	session->xact.kept_level = 0;
}

extern void rollback_all(int level);

#endif							/* TOLLFREE_FDW_ROLLBACK_H */
