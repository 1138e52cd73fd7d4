/*
 * replan.h
 *	  Planning a query again whose plan does not suit the session's time zone.
 */
#ifndef TOLLFREE_FDW_REPLAN_H
#define TOLLFREE_FDW_REPLAN_H

#include "nodes/plannodes.h"

extern bool replan_is_under_way(void);
extern List *replan_add_server(List *servers, Oid user, Oid server);
extern void replan_keep(PlannedStmt *stmt, Query *query, int cursor_options,
						List *servers);
extern void replan_install(void);

#endif							/* TOLLFREE_FDW_REPLAN_H */
