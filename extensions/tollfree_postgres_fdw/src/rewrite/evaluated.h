/*
 * evaluated.h
 *	  What EXPLAIN shows of expressions that are evaluated here.
 */
#ifndef TOLLFREE_FDW_EVALUATED_H
#define TOLLFREE_FDW_EVALUATED_H

#include "commands/explain.h"
#include "nodes/execnodes.h"

#include "base/compat.h"

extern void evaluated_explain(const ForeignScanState *node, ExplainState *es);

#endif							/* TOLLFREE_FDW_EVALUATED_H */
