/*
 * nested.h
 *	  Aggregates of what a subquery returns, sent with it.
 */
#ifndef TOLLFREE_FDW_NESTED_H
#define TOLLFREE_FDW_NESTED_H

#include "nodes/plannodes.h"

extern void nested_finish(PlannedStmt *stmt, const List *scans);

#endif							/* TOLLFREE_FDW_NESTED_H */
