/*
 * ask.h
 *	  Questions in the user's transaction, in a savepoint.
 */
#ifndef TOLLFREE_FDW_ASK_H
#define TOLLFREE_FDW_ASK_H

#include "session/state.h"

extern PGresult *ask_in_savepoint(Session *session, const char *sql);

#endif							/* TOLLFREE_FDW_ASK_H */
