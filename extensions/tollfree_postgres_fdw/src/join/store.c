/*
 * store.c
 *	  The Custom Scan "Lookups Before Writes".
 *
 * An UPDATE or DELETE of a foreign table may look up its rows in batches
 * (paths.c).  A row that it has modified must not be found by a later batch,
 * as it would be: each query sees what the remote transaction has written
 * before.  So this node, right above the nested loop, reads all rows of the
 * join before it returns the first one.  What exceeds work_mem goes into a
 * temporary file.
 *
 * A rescan with the same parameters returns the same rows again, for the same
 * reason.  EvalPlanQual, for a row of a local table, reads no batches, and its
 * rows pass through.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "utils/tuplestore.h"

#include "join/lookup.h"
#include "scan/scan_state.h"

typedef struct StoreState
{
	CustomScanState css;
	Tuplestorestate *rows;		/* NULL until they have been read */
	TupleTableSlot *stored;		/* of a row in the store */
} StoreState;

static const CustomExecMethods exec_methods;

/* Makes the node's plan. */
static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		  List *clauses, List *plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *join = linitial(plans);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.lefttree = join;
	scan->custom_scan_tlist = list_copy_deep(join->targetlist);
	scan->flags = path->flags;
	scan->methods = &store_scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = LOOKUP_STORE,
	.PlanCustomPath = make_plan
};

/* The path that reads all rows of a join before it returns the first one. */
Path *
store_make_path(Path *join)
{
	CustomPath *path = makeNode(CustomPath);

	path->path = *join;
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->path.startup_cost = path->path.total_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(join);
	path->methods = &path_methods;
	return &path->path;
}

/* CustomScan callbacks, named as in the API: makes the state. */
static Node *
create_state(CustomScan *scan)
{
	StoreState *state = (StoreState *) newNode(sizeof(StoreState),
											   T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

/* Prepares the join. */
static void
store_begin(CustomScanState *node, EState *estate, int eflags)
{
	StoreState *state = (StoreState *) node;

	eflags &= ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	outerPlanState(node) = ExecInitNode(outerPlan(node->ss.ps.plan), estate,
										eflags);
	state->stored =
		ExecInitExtraTupleSlot(estate,
							   node->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
							   &TTSOpsMinimalTuple);
}

/* Reads all rows of the join. */
static void
read_rows(StoreState *state)
{
	PlanState  *join = outerPlanState(state);
	MemoryContext old = MemoryContextSwitchTo(join->state->es_query_cxt);
	Tuplestorestate *rows = tuplestore_begin_heap(false, false, work_mem);
	TupleTableSlot *row;

	MemoryContextSwitchTo(old);
	state->rows = rows;
	for (row = ExecProcNode(join); !TupIsNull(row); row = ExecProcNode(join))
		tuplestore_puttupleslot(rows, row);
}

/* The next row of the join; NULL after the last. */
static TupleTableSlot *
next_row(StoreState *state)
{
	if (state->css.ss.ps.state->es_epq_active != NULL)
		return ExecProcNode(outerPlanState(state));
	if (state->rows == NULL)
		read_rows(state);
	return tuplestore_gettupleslot(state->rows, true, false, state->stored) ?
		state->stored : NULL;
}

/* Returns the next row. */
static TupleTableSlot *
store_next(CustomScanState *node)
{
	ScanState  *ss = &node->ss;
	TupleTableSlot *row = next_row((StoreState *) node);

	if (TupIsNull(row))
		return ExecClearTuple(ss->ss_ScanTupleSlot);
	ExecCopySlot(ss->ss_ScanTupleSlot, row);
	if (ss->ps.ps_ProjInfo == NULL)
		return ss->ss_ScanTupleSlot;
	ResetExprContext(ss->ps.ps_ExprContext);
	ss->ps.ps_ExprContext->ecxt_scantuple = ss->ss_ScanTupleSlot;
	return ExecProject(ss->ps.ps_ProjInfo);
}

/* Frees the rows, if they have been read. */
static void
forget_rows(StoreState *state)
{
	if (state->rows == NULL)
		return;
	ExecClearTuple(state->stored);
	tuplestore_end(state->rows);
	state->rows = NULL;
}

/* Rescans: reads the join again only for other parameters. */
static void
store_rescan(CustomScanState *node)
{
	StoreState *state = (StoreState *) node;
	PlanState  *join = outerPlanState(node);

	if (join->chgParam == NULL && state->rows != NULL)
	{
		tuplestore_rescan(state->rows);
		return;
	}
	forget_rows(state);
	if (join->chgParam == NULL)
		ExecReScan(join);
}

/* Ends. */
static void
store_end(CustomScanState *node)
{
	forget_rows((StoreState *) node);
	ExecEndNode(outerPlanState(node));
}

static const CustomExecMethods exec_methods = {
	.CustomName = LOOKUP_STORE,
	.BeginCustomScan = store_begin,
	.ExecCustomScan = store_next,
	.EndCustomScan = store_end,
	.ReScanCustomScan = store_rescan
};

const CustomScanMethods store_scan_methods = {
	.CustomName = LOOKUP_STORE,
	.CreateCustomScanState = create_state
};
