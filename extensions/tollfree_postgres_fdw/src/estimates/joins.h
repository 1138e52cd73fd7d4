/*
 * joins.h
 *	  Paths of remote joins with remote estimates.
 */
#ifndef TOLLFREE_FDW_JOINS_H
#define TOLLFREE_FDW_JOINS_H

#include "foreign/fdwapi.h"

extern bool joins_have_estimates(const RelOptInfo *outer, const RelOptInfo *inner);
extern void joins_add_paths(const FdwRoutine *stock, PlannerInfo *root,
							RelOptInfo *rel, RelOptInfo *outer,
							RelOptInfo *inner, JoinType jointype,
							JoinPathExtraData *extra);

#endif							/* TOLLFREE_FDW_JOINS_H */
