/*
 * subqueries.h
 *	  Batches the lookups of correlated subqueries.
 */
#ifndef TOLLFREE_FDW_SUBQUERIES_H
#define TOLLFREE_FDW_SUBQUERIES_H

#include "nodes/plannodes.h"

extern void subqueries_install(void);
extern List *subqueries_lookups(const CustomScan *scan,
								const PlannedStmt *stmt);
extern List *subqueries_params(const CustomScan *scan);

#endif							/* TOLLFREE_FDW_SUBQUERIES_H */
