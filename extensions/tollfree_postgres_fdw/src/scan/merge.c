/*
 * merge.c
 *	  Scans below a MergeAppend, which start together.
 *
 * MergeAppend reads a row of each of its inputs before it returns the first.
 * It asks them one after the other, so that each server would be waited for in
 * turn.  Here the first scan that it asks has the others send their queries,
 * too, before it waits.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "base/fastpath.h"
#include "base/run.h"
#include "scan/scan.h"
#include "scan/scan_state.h"
#include "session/batch.h"

typedef struct MergeSearch
{
	const Plan *scan;			/* to be found */
	const MergeAppendState *merge;	/* result: the node above it */
} MergeSearch;

/* Looks for the MergeAppend above a scan; true once it is found. */
static bool
find_merge(PlanState *node, void *arg)
{
	MergeSearch *search = arg;

	if (node == NULL)
		return false;
	if (IsA(node, MergeAppendState) &&
		list_member_ptr(castNode(MergeAppend, node->plan)->mergeplans,
						search->scan))
	{
		search->merge = castNode(MergeAppendState, node);
		return true;
	}
	return planstate_tree_walker(node, find_merge, arg);
}

/*
 * May and can a scan send its query now, with nobody having asked it for a row?
 * Under a statement_timeout its answer could have to wait for too long.
 */
static bool
can_start(const ForeignScanState *node)
{
	const RemoteScanState *scan = node->fdw_state;

	return scan->own.phase == SCAN_IDLE && scan->params == NULL &&
		scan->may_prefetch &&
		fastpath_is_on(scan->plan.fast_paths, FAST_READ_AHEAD) &&
		!batch_is_in_flight(scan->session) && scan_may_wait(scan);
}

/* Has the other inputs of the MergeAppend above a scan send their queries. */
void
merge_start_others(const ForeignScanState *node)
{
	PlanState  *top = run_plan(node->ss.ps.state);
	MergeSearch search = {.scan = node->ss.ps.plan};
	int			i = -1;

	if (!find_merge(top, &search))
		return;
	/* Those of pruned partitions are never asked. */
	while ((i = bms_next_member(search.merge->ms_valid_subplans, i)) >= 0)
	{
		PlanState  *other = search.merge->mergeplans[i];

		if (IsA(other, ForeignScanState) &&
			castNode(ForeignScanState, other)->fdwroutine->IterateForeignScan ==
			tollfreeIterateForeignScan &&
			can_start(castNode(ForeignScanState, other)))
			scan_send_more(castNode(ForeignScanState, other));
	}
}
