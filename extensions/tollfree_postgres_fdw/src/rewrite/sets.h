/*
 * sets.h
 *	  GROUPING SETS, ROLLUP and CUBE, sent whole.
 */
#ifndef TOLLFREE_FDW_SETS_H
#define TOLLFREE_FDW_SETS_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

extern List *sets_hide(PlannerInfo *root, UpperRelationKind stage,
					   RelOptInfo *rel, const GroupPathExtraData *extra);
extern void sets_show(PlannerInfo *root, List *sets);
extern const char *sets_refusal(const List *groups);
extern Node *sets_mark(List *args);
extern void sets_adjust(PlannerInfo *root, const RelOptInfo *input, Path *path,
						const List *sets);
extern void sets_finish_plan(const PlannerInfo *root, ForeignScan *plan,
							 const List *sets);

#endif							/* TOLLFREE_FDW_SETS_H */
