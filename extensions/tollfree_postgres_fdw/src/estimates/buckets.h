/*
 * buckets.h
 *	  How many groups parts of times make.
 */
#ifndef TOLLFREE_FDW_BUCKETS_H
#define TOLLFREE_FDW_BUCKETS_H

#include "nodes/pathnodes.h"

extern void buckets_adjust(PlannerInfo *root, const RelOptInfo *input,
						   Path *path);

#endif							/* TOLLFREE_FDW_BUCKETS_H */
