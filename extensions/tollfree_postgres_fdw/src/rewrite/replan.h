/*
 * replan.h
 *	  Planning a query again whose plan does not suit the servers or the session.
 */
#ifndef TOLLFREE_FDW_REPLAN_H
#define TOLLFREE_FDW_REPLAN_H

#include "nodes/plannodes.h"

/* What a plan may need of a server, beside the rules of zones */
typedef enum ReplanNeed
{
	REPLAN_VERSION = 1 << 0,	/* the local major version */
	REPLAN_ENCODING = 1 << 1	/* the local encoding */
} ReplanNeed;

extern bool replan_is_under_way(void);
extern List *replan_add_server(List *servers, Oid user, Oid server,
							   int needs);
extern List *replan_add_zones(List *zones, Oid user, Oid server,
							  const List *names);
extern void replan_keep(PlannedStmt *stmt, Query *query, int cursor_options,
						List *zones, List *servers);
extern void replan_install(void);

#endif							/* TOLLFREE_FDW_REPLAN_H */
