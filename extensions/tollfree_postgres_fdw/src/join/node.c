/*
 * node.c
 *	  The node above the outer side of a nested loop that batches its lookups.
 *
 * The node reads a batch of outer rows, and has the foreign scan on the inner
 * side (inner.c) ask for the rows of all of them by one query (deparse_lookups).
 * Then it returns the outer rows one by one.  The nested loop knows nothing of
 * this: it sets the parameters of the inner scan and executes it again, and that
 * returns the rows of its present key (scan/lookups.c).
 *
 * The first batch is small if the query may stop early, as for a LIMIT.  Later
 * ones grow, until LOOKUP_MAX_ROWS or LOOKUP_BYTES.  The answer to a batch is read whole;
 * what exceeds work_mem goes into a temporary file.
 *
 * Where all outer rows are certain to be read, the next batch is sent before the
 * rows of the present one are used, so that the remote server works meanwhile.
 *
 * A remote statement_timeout may be meant for single lookups.  Then the first
 * batch has one row, and no later one more than take LOOKUP_MSECS.
 *
 * Where the remote server is too old, or its user may not call unnest, rows pass
 * through, and the inner scan asks for each.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/run.h"
#include "join/inner.h"
#include "join/lookup.h"
#include "scan/scan_state.h"

/* Bytes of a batch's outer rows and keys, at most by those of one row */
#define LOOKUP_BYTES (1024 * 1024)

/* A batch of outer rows */
typedef struct OuterBatch
{
	MemoryContext context;		/* of rows and keys */
	MinimalTuple *rows;			/* LOOKUP_MAX_ROWS at most */
	int			nrows;
} OuterBatch;

typedef struct LookupState
{
	CustomScanState css;
	bool		has_begun;		/* has the inner scan been looked for? */
	InnerSide	inner;			/* without scans if rows pass through */
	TupleTableSlot *slot;		/* of the rows returned */

	OuterBatch	batches[INNER_BATCHES];
	int			used;			/* number of the batch whose rows are returned */
	int			next;			/* row to be returned next */
	bool		sends_ahead;	/* is the next batch sent before it is needed? */
	bool		is_sent;		/* has it been? */
	TimestampTz sent;			/* when a batch was sent last */
	int			limit;			/* rows of the next batch */
	bool		is_last;		/* has the last outer row been read? */

	int64		nkeys;			/* sent so far */
	int64		nbatches;
} LookupState;

static const CustomExecMethods exec_methods;

static NestLoop *find_loop(Plan *plan, const Plan *outer);

/* The same in several plans. */
static NestLoop *
find_in_list(List *plans, const Plan *outer)
{
	ListCell   *cell;

	foreach(cell, plans)
	{
		NestLoop   *loop = find_loop(lfirst(cell), outer);

		if (loop != NULL)
			return loop;
	}
	return NULL;
}

/* The nested loop in a plan that has this outer side; NULL if it is not found. */
static NestLoop *
find_loop(Plan *plan, const Plan *outer)
{
	NestLoop   *loop;

	if (plan == NULL)
		return NULL;
	if (IsA(plan, NestLoop) && outerPlan(plan) == outer)
		return (NestLoop *) plan;
	switch (nodeTag(plan))
	{
		case T_Append:
			return find_in_list(((Append *) plan)->appendplans, outer);
		case T_MergeAppend:
			return find_in_list(((MergeAppend *) plan)->mergeplans, outer);
		case T_SubqueryScan:
			return find_loop(((SubqueryScan *) plan)->subplan, outer);
		case T_CustomScan:
			return find_in_list(((CustomScan *) plan)->custom_plans, outer);
		default:
			loop = find_loop(outerPlan(plan), outer);
			return loop != NULL ? loop : find_loop(innerPlan(plan), outer);
	}
}

/* The nested loop that the node stands in. */
static NestLoop *
loop_of(const LookupState *state)
{
	const PlannedStmt *stmt = state->css.ss.ps.state->es_plannedstmt;
	const Plan *plan = state->css.ss.ps.plan;
	NestLoop   *loop = find_loop(stmt->planTree, plan);

	return loop != NULL ? loop : find_in_list(stmt->subplans, plan);
}

/* Is the join certain to read all outer rows? */
static bool
reads_all(const LookupState *state, const NestLoop *loop)
{
	const EState *estate = state->css.ss.ps.state;

	return run_is_whole(estate) &&
		reading_of_plan(estate, &loop->join.plan, InvalidOid) == READS_ALL;
}

/* Outer rows of the next batch, when that in use has been received. */
static int
next_rows(const LookupState *state)
{
	double		rows = Min(state->limit * LOOKUP_GROWTH, LOOKUP_MAX_ROWS);
	long		took = TimestampDifferenceMilliseconds(state->sent,
													   GetCurrentTimestamp());

	if (inner_has_timeout(&state->inner))
		rows = Min(rows, (double) state->batches[state->used].nrows * LOOKUP_MSECS /
				   Max(took - inner_remote(&state->inner)->round_trip, 1));
	return Max((int) rows, 1);
}

/* Finds the inner scan, and prepares batches for it if there can be any. */
static void
find_inner(LookupState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	NestLoop   *loop = loop_of(state);
	MemoryContext contexts[INNER_BATCHES];
	MemoryContext old;

	state->has_begun = true;
	if (loop == NULL || estate->es_epq_active != NULL)
		return;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	for (int i = 0; i < INNER_BATCHES; i++)
		contexts[i] = state->batches[i].context =
			AllocSetContextCreate(estate->es_query_cxt,
								  "tollfree_postgres_fdw lookups",
								  ALLOCSET_DEFAULT_SIZES);
	inner_find(&state->inner, estate, loop, contexts);
	if (state->inner.nscans > 0)
	{
		bool		has_timeout = inner_has_timeout(&state->inner);

		state->sends_ahead = !has_timeout && reads_all(state, loop);
		state->limit = has_timeout ? 1
			: state->sends_ahead ? LOOKUP_MAX_ROWS : LOOKUP_FIRST_ROWS;
	}
	MemoryContextSwitchTo(old);
}

/* The next outer row, in the node's own form; an empty slot after the last. */
static TupleTableSlot *
next_outer(LookupState *state)
{
	ScanState  *ss = &state->css.ss;
	TupleTableSlot *outer = ExecProcNode(linitial(state->css.custom_ps));

	if (TupIsNull(outer))
		return ExecClearTuple(state->slot);
	ExecCopySlot(ss->ss_ScanTupleSlot, outer);
	if (ss->ps.ps_ProjInfo == NULL)
		return ss->ss_ScanTupleSlot;
	ResetExprContext(ss->ps.ps_ExprContext);
	ss->ps.ps_ExprContext->ecxt_scantuple = ss->ss_ScanTupleSlot;
	return ExecProject(ss->ps.ps_ProjInfo);
}

/* Is there room for another row in a batch? */
static bool
has_room(const LookupState *state, const OuterBatch *batch)
{
	return batch->nrows < state->limit &&
		(batch->nrows == 0 ||
		 MemoryContextMemAllocated(batch->context, true) < LOOKUP_BYTES);
}

/* Reads the batch of this number: outer rows, and their keys. */
static void
read_batch(LookupState *state, int number)
{
	OuterBatch *batch = &state->batches[number];
	MemoryContext old;

	if (batch->rows == NULL)
		batch->rows = MemoryContextAlloc(state->css.ss.ps.state->es_query_cxt,
										 LOOKUP_MAX_ROWS * sizeof(MinimalTuple));
	MemoryContextReset(batch->context);
	batch->nrows = 0;
	inner_begin(&state->inner, number);
	while (!state->is_last && has_room(state, batch))
	{
		TupleTableSlot *row = next_outer(state);

		state->is_last = TupIsNull(row);
		if (state->is_last)
			break;
		old = MemoryContextSwitchTo(batch->context);
		batch->rows[batch->nrows] = ExecCopySlotMinimalTuple(row);
		inner_add(&state->inner, number, batch->nrows++, row);
		MemoryContextSwitchTo(old);
	}
}

/* Reads a batch, and asks for the rows of its keys; false if it has no rows. */
static bool
send_batch(LookupState *state, int number)
{
	read_batch(state, number);
	if (state->batches[number].nrows == 0)
		return false;
	state->sent = GetCurrentTimestamp();
	state->nkeys += inner_look_up(&state->inner, number);
	state->nbatches++;
	return true;
}

/*
 * Waits for the rows of the next batch, and sends the one behind it if the join
 * needs that for certain; false behind the last outer row.
 */
static bool
use_next_batch(LookupState *state)
{
	int			other = (state->used + 1) % INNER_BATCHES;

	if (state->is_sent)
		state->used = other;
	else if (!send_batch(state, state->used))
		return false;
	inner_use_batch(&state->inner, state->used);
	state->next = 0;
	state->limit = next_rows(state);
	state->is_sent = state->sends_ahead && !state->is_last &&
		send_batch(state, (state->used + 1) % INNER_BATCHES);
	return true;
}

/* CustomScan callbacks, named as in the API: makes the state. */
static Node *
create_state(CustomScan *scan)
{
	LookupState *state = (LookupState *) newNode(sizeof(LookupState),
												 T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

/* Prepares the outer side. */
static void
begin(CustomScanState *node, EState *estate, int eflags)
{
	LookupState *state = (LookupState *) node;
	CustomScan *plan = castNode(CustomScan, node->ss.ps.plan);

	/* Rows are read in one direction, and not again without asking again. */
	eflags &= ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	node->custom_ps = list_make1(ExecInitNode(linitial(plan->custom_plans),
											  estate, eflags));
	state->slot = node->ss.ps.ps_ProjInfo != NULL ?
		node->ss.ps.ps_ResultTupleSlot : node->ss.ss_ScanTupleSlot;
}

/* Returns the next outer row. */
static TupleTableSlot *
next(CustomScanState *node)
{
	LookupState *state = (LookupState *) node;

	if (!state->has_begun)
		find_inner(state);
	if (state->inner.nscans == 0)
		return next_outer(state);
	if (state->next == state->batches[state->used].nrows &&
		!use_next_batch(state))
		return ExecClearTuple(state->slot);
	inner_use(&state->inner, state->used, state->next);
	ExecForceStoreMinimalTuple(state->batches[state->used].rows[state->next++],
							   state->slot, false);
	return state->slot;
}

/* Ends all batches: the inner scan asks for its parameters again. */
static void
end_batches(LookupState *state)
{
	inner_end(&state->inner);
	state->batches[state->used].nrows = state->next = 0;
	state->is_sent = state->is_last = false;
}

/* Starts again. */
static void
rescan(CustomScanState *node)
{
	LookupState *state = (LookupState *) node;
	PlanState  *outer = linitial(node->custom_ps);

	end_batches(state);
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(outer, node->ss.ps.chgParam);
	if (outer->chgParam == NULL)
		ExecReScan(outer);
}

/* Ends. */
static void
end(CustomScanState *node)
{
	ExecEndNode(linitial(node->custom_ps));
}

/* Shows queries: each in a line of its own, or several as a list. */
static void
explain_queries(List *queries, ExplainState *es)
{
	ListCell   *cell;

	if (list_length(queries) > 1 && es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyList("Remote SQL", queries, es);
		return;
	}
	foreach(cell, queries)
		ExplainPropertyText("Remote SQL", lfirst(cell), es);
}

/* Shows in EXPLAIN the queries for many keys, and how often they were sent. */
static void
explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	LookupState *state = (LookupState *) node;
	NestLoop   *loop = loop_of(state);
	List	   *queries = loop != NULL ? inner_queries(loop) : NIL;

	if (!es->verbose)
		return;
	explain_queries(queries, es);
	if (!es->analyze)
		return;
	ExplainPropertyInteger("Keys", NULL, state->nkeys, es);
	ExplainPropertyInteger("Batches", NULL, state->nbatches, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = LOOKUP_NODE,
	.BeginCustomScan = begin,
	.ExecCustomScan = next,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = explain
};

const CustomScanMethods lookup_scan_methods = {
	.CustomName = LOOKUP_NODE,
	.CreateCustomScanState = create_state
};
