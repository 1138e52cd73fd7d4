/*
 * sorted.h
 *	  Orders of remote rows that merge joins could use.
 */
#ifndef TOLLFREE_FDW_SORTED_H
#define TOLLFREE_FDW_SORTED_H

#include "nodes/pathnodes.h"

extern List *sorted_useful_pathkeys(PlannerInfo *root, RelOptInfo *rel);

#endif							/* TOLLFREE_FDW_SORTED_H */
