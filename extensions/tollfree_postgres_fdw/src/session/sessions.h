/*
 * sessions.h
 *	  The sessions of this backend.
 */
#ifndef TOLLFREE_FDW_SESSIONS_H
#define TOLLFREE_FDW_SESSIONS_H

#include "session/state.h"

extern Session *sessions_get(Oid user, Oid server);
extern List *sessions_all(void);
extern const char *sessions_user_name(const Session *session);
extern bool sessions_use_server(Oid server, bool truncated);
extern void sessions_register_callbacks(void);

#endif							/* TOLLFREE_FDW_SESSIONS_H */
