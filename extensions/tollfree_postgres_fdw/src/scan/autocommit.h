/*
 * autocommit.h
 *	  Which scans need no remote transaction around them.
 */
#ifndef TOLLFREE_FDW_AUTOCOMMIT_H
#define TOLLFREE_FDW_AUTOCOMMIT_H

#include "nodes/execnodes.h"

#include "sql/plan.h"

extern bool autocommit_suits_plan(ForeignScanState *node, const ScanPlan *plan);
extern List *autocommit_relations(ForeignScanState *node, const ScanPlan *plan);

#endif							/* TOLLFREE_FDW_AUTOCOMMIT_H */
