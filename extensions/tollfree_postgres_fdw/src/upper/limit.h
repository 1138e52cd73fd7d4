/*
 * limit.h
 *	  LIMIT for foreign partitions of a query that has one.
 */
#ifndef TOLLFREE_FDW_LIMIT_H
#define TOLLFREE_FDW_LIMIT_H

#include "nodes/pathnodes.h"

/* What is put aside while a partition's scan is planned */
typedef struct LimitedScan
{
	Node	   *count;			/* the query's LIMIT */
	Node	   *offset;			/* its OFFSET */
} LimitedScan;

extern bool limit_begin(LimitedScan *limited, PlannerInfo *root,
						const RelOptInfo *rel, ForeignPath *path);
extern void limit_end(const LimitedScan *limited, PlannerInfo *root,
					  ForeignPath *path);

#endif							/* TOLLFREE_FDW_LIMIT_H */
