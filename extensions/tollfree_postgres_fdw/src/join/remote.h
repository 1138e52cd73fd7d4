/*
 * remote.h
 *	  Costs of remote joins without use_remote_estimate.
 */
#ifndef TOLLFREE_FDW_REMOTE_H
#define TOLLFREE_FDW_REMOTE_H

#include "nodes/pathnodes.h"

/* The conditions whose costs are changed, and their original costs */
typedef struct RemoteJoin
{
	List	   *clauses;		/* of RestrictInfo; NIL if none is changed */
	Cost	   *costs;			/* per pair of rows */
} RemoteJoin;

extern void remote_begin_join(RemoteJoin *join, PlannerInfo *root,
							  RelOptInfo *joinrel,
							  const RelOptInfo *outer, const RelOptInfo *inner,
							  JoinType jointype,
							  const JoinPathExtraData *extra);
extern void remote_end_join(const RemoteJoin *join);

#endif							/* TOLLFREE_FDW_REMOTE_H */
