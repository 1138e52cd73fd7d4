/*
 * scan.c
 *	  Scanning a file.
 */
#include "postgres.h"

#include "utils/rel.h"

#include "callbacks.h"
#include "compat.h"
#include "copy.h"
#include "guc.h"
#include "scan.h"

/* Prepares a scan; opens the file unless the plan is only explained. */
void
tollfreeBeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	Relation	rel = node->ss.ss_currentRelation;
	FileScanState *scan = palloc0(sizeof(FileScanState));

	scan->options = options_read(RelationGetRelid(rel));
	scan->columns = linitial(plan->fdw_private);
	scan->slow_reason = "not built in yet";
	node->fdw_state = scan;
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		scan->copy = copy_begin(rel, &scan->options, scan->columns);
}

/* The next row, or an empty slot after the last one. */
TupleTableSlot *
tollfreeIterateForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	copy_next_row(scan->copy, node->ss.ps.ps_ExprContext, slot);
	return slot;
}

/* Starts again, with the file that has the name by now. */
void
tollfreeReScanForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	copy_end(scan->copy);
	scan->copy = copy_begin(node->ss.ss_currentRelation, &scan->options,
							scan->columns);
}

/* Ends a scan. */
void
tollfreeEndForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	if (scan->copy != NULL)
		copy_end(scan->copy);
}
