/*
 * autocommit.h
 *	  Which scans need no remote transaction around them.
 */
#ifndef TOLLFREE_FDW_AUTOCOMMIT_H
#define TOLLFREE_FDW_AUTOCOMMIT_H

#include "nodes/execnodes.h"

extern bool autocommit_suits_plan(ForeignScanState *node, List *attrs);
extern List *autocommit_relations(ForeignScanState *node, List *attrs);

#endif							/* TOLLFREE_FDW_AUTOCOMMIT_H */
