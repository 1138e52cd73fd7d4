/*
 * merge.c
 *	  Scans below a MergeAppend, which start together.
 *
 * MergeAppend reads a row of each of its inputs before it returns the first.
 * It executes them one after the other, so that each server would be waited for
 * in turn.  So the first scan that it executes has the others send their queries,
 * too, before it waits (scan.c).  Here these others are found.
 */
#include "postgres.h"

#include "foreign/fdwapi.h"
#include "nodes/nodeFuncs.h"

#include "base/run.h"
#include "scan/scan_state.h"

typedef struct MergeSearch
{
	const Plan *scan;			/* to be found */
	const MergeAppendState *merge;	/* result: the node above it */
} MergeSearch;

/* Looks for the MergeAppend above a scan; true once it is found. */
static bool
merge_find(PlanState *node, void *arg)
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
	return planstate_tree_walker(node, merge_find, arg);
}

/*
 * The foreign scans of ours that the MergeAppend above a scan reads, with this
 * one: a list of ForeignScanState, allocated here.  NIL if there is none above it.
 */
List *
merge_find_members(const ForeignScanState *node)
{
	PlanState  *top = run_plan(node->ss.ps.state);
	MergeSearch search = {.scan = node->ss.ps.plan};
	List	   *members = NIL;
	int			i = -1;

	if (!merge_find(top, &search))
		return NIL;
	/* Those of pruned partitions are never executed. */
	while ((i = bms_next_member(search.merge->ms_valid_subplans, i)) >= 0)
	{
		PlanState  *member = search.merge->mergeplans[i];

		if (IsA(member, ForeignScanState) &&
			castNode(ForeignScanState, member)->fdwroutine->IterateForeignScan ==
			node->fdwroutine->IterateForeignScan)
			members = lappend(members, member);
	}
	return members;
}
