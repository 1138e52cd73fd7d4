/*
 * cache.h
 *	  The sessions of this backend.
 */
#ifndef TOLLFREE_FDW_CACHE_H
#define TOLLFREE_FDW_CACHE_H

#include "session.h"

extern Session *cache_get_session(Oid user, Oid server);
extern List *cache_sessions(void);
extern const char *cache_user_name(const Session *session);
extern bool cache_server_is_in_use(Oid server);
extern bool cache_server_is_truncated(Oid server);

#endif							/* TOLLFREE_FDW_CACHE_H */
