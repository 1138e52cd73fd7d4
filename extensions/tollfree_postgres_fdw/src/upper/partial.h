/*
 * partial.h
 *	  Partial aggregation of foreign partitions by their servers.
 */
#ifndef TOLLFREE_FDW_PARTIAL_H
#define TOLLFREE_FDW_PARTIAL_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* The full aggregation that yields the components of a partial one */
typedef struct FullAggregation
{
	RelOptInfo *rel;
	GroupPathExtraData extra;
} FullAggregation;

extern FullAggregation *partial_full_aggregation(PlannerInfo *root,
												 const RelOptInfo *partial,
												 const GroupPathExtraData *extra);
extern void partial_add_path(RelOptInfo *partial, const FullAggregation *full);
extern ForeignPath *partial_full_path(const ForeignPath *path);
extern void partial_finish_plan(ForeignScan *plan, const ForeignPath *path,
								List *tlist);

#endif							/* TOLLFREE_FDW_PARTIAL_H */
