/*
 * upper.h
 *	  Planning aggregation in the scan.
 */
#ifndef TOLLFREE_FILE_UPPER_H
#define TOLLFREE_FILE_UPPER_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

extern ForeignScan *upper_make_plan(ForeignPath *path, List *tlist,
									Plan *outer_plan);

#endif							/* TOLLFREE_FILE_UPPER_H */
