/*
 * deparse.h
 *	  The few commands that are not planned.
 */
#ifndef TOLLFREE_FDW_DEPARSE_H
#define TOLLFREE_FDW_DEPARSE_H

#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "utils/rel.h"

#include "plan.h"

extern char *deparse_truncate(List *rels, DropBehavior behavior,
							  bool restart_seqs);
extern ModifyPlan deparse_insert(ResultRelInfo *rinfo, Index rtindex,
								 bool do_nothing);
extern char *deparse_insert_rows(const ModifyPlan *plan, Relation rel,
								 int nrows);
extern char *deparse_insert_arrays(const ModifyPlan *plan, Relation rel);
extern char *deparse_array_check(Relation rel, List *targets);

#endif							/* TOLLFREE_FDW_DEPARSE_H */
