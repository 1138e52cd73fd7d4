/*
 * correlated.h
 *	  Which subqueries can look up the foreign rows of many outer rows at once.
 */
#ifndef TOLLFREE_FDW_CORRELATED_H
#define TOLLFREE_FDW_CORRELATED_H

#include "nodes/plannodes.h"

extern List *correlated_find(const void *expression, const PlannedStmt *stmt);
extern List *correlated_lookups(const SubPlan *subquery,
								const PlannedStmt *stmt);
extern Plan *correlated_copy_plan(const SubPlan *subquery,
								  PlannedStmt *stmt);
extern List *correlated_scan_lookups(const CustomScan *scan,
									 const PlannedStmt *stmt);
extern List *correlated_scan_params(const CustomScan *scan);

#endif							/* TOLLFREE_FDW_CORRELATED_H */
