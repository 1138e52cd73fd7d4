/*
 * rollback.h
 *	  Rolling back remotely, when a local (sub)transaction is rolled back.
 */
#ifndef TOLLFREE_FDW_ROLLBACK_H
#define TOLLFREE_FDW_ROLLBACK_H

#include "session/state.h"

/* Forgets the kept error of an outer level. */
static inline void
rollback_forget_error(Session *session)
{
	session->xact.kept_error = NULL;
	session->xact.kept_level = 0;
}

extern void rollback_all(int level);

#endif							/* TOLLFREE_FDW_ROLLBACK_H */
