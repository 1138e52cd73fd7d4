/*
 * ask.h
 *	  Questions in the user's transaction, which leave it as it was.
 */
#ifndef TOLLFREE_FDW_ASK_H
#define TOLLFREE_FDW_ASK_H

#include "session/state.h"

extern PGresult *ask_in_savepoint(Session *session, const char *sql);

#endif							/* TOLLFREE_FDW_ASK_H */
