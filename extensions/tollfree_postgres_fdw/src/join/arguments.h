/*
 * arguments.h
 *	  Subqueries in the arguments of aggregates.
 */
#ifndef TOLLFREE_FDW_ARGUMENTS_H
#define TOLLFREE_FDW_ARGUMENTS_H

#include "nodes/plannodes.h"

extern CustomScan *arguments_cut_below(Agg *agg, const PlannedStmt *stmt);

#endif							/* TOLLFREE_FDW_ARGUMENTS_H */
