/*
 * hidden.h
 *	  Planning by postgres_fdw without use_remote_estimate.
 */
#ifndef TOLLFREE_FDW_HIDDEN_H
#define TOLLFREE_FDW_HIDDEN_H

#include "foreign/fdwapi.h"

extern void hidden_plan_size(GetForeignRelSize_function plan,
							 PlannerInfo *root, RelOptInfo *rel, Oid tableid);

#endif							/* TOLLFREE_FDW_HIDDEN_H */
