/*
 * landing.h
 *	  What a session has in the air, or holds back, for an outer level.
 */
#ifndef TOLLFREE_FDW_LANDING_H
#define TOLLFREE_FDW_LANDING_H

#include "session.h"

extern bool landing_is_due(const Session *session, int level);
extern void landing_read_all(Session *session);
extern void landing_settle(Session *session);
extern void landing_install(void);

#endif							/* TOLLFREE_FDW_LANDING_H */
