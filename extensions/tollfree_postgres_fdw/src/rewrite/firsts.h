/*
 * firsts.h
 *	  Scans of which only the first rows of each group are sent.
 */
#ifndef TOLLFREE_FDW_FIRSTS_H
#define TOLLFREE_FDW_FIRSTS_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

extern List *firsts_find(PlannerInfo *root, RelOptInfo *rel, Oid tableid);
extern void firsts_reduce_path(PlannerInfo *root, ForeignPath *path,
							   const List *firsts);
extern const List *firsts_of_path(const ForeignPath *path);
extern void firsts_finish_plan(ForeignScan *plan, const List *firsts);

#endif							/* TOLLFREE_FDW_FIRSTS_H */
