/*
 * node.c
 *	  The Custom Scan "Batched Foreign Lookup".
 *
 * The node reads a batch of outer rows, and has foreign scans (inner.c) fetch
 * the rows of all of them by one query (deparse_lookups).  Then it returns
 * the outer rows one by one.
 *
 * It is the outer side of a nested loop whose inner side has the scans.  The
 * nested loop is PostgreSQL's own: it sets the parameters of a scan and
 * rescans it, and the scan returns the rows of its present key
 * (scan/lookups.c).  Or the node itself evaluates a condition or target list
 * with subqueries that have the scans (subqueries.c).
 *
 * The first batch is small if the query may stop early, as for a LIMIT.  Later
 * ones grow, until LOOKUP_MAX_ROWS or LOOKUP_BYTES.  The answer to a batch is read whole;
 * what exceeds work_mem goes into a temporary file.
 *
 * Where all outer rows are certain to be read, the next batch is sent before the
 * rows of the present one are used, so that the remote server works meanwhile.
 *
 * A remote statement_timeout may be meant for single lookups.  Then the first
 * batch has one row, and later ones at most as many as take LOOKUP_MSECS.
 *
 * If the remote server is too old, or its user may not call unnest, outer
 * rows pass through unchanged, and the inner scan sends one query for each.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/inputs.h"
#include "base/run.h"
#include "join/correlated.h"
#include "join/inner.h"
#include "join/lookup.h"
#include "scan/scan_state.h"

/* Bytes that its scans may take in addition, if there are many */
#define LOOKUP_OVERHEAD (16 * 1024 * 1024)

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
	bool		has_begun;		/* has the inner scan been searched? */
	InnerSide	inner;			/* has no scans if rows pass through */
	TupleTableSlot *slot;		/* of the rows returned */

	OuterBatch	batches[INNER_BATCHES];
	int			used;			/* number of the batch whose rows are returned */
	int			next;			/* row to be returned next */
	bool		sends_ahead;	/* is the next batch sent before it is needed? */
	bool		is_sent;		/* has it been? */
	TimestampTz sent;			/* when a batch was sent last */
	int			limit;			/* rows of the next batch */
	const LimitState *above;	/* the LIMIT whose input the node is, or NULL */
	int64		wanted;			/* outer rows until it is reached, or -1 */
	bool		is_last;		/* has the last outer row been read? */

	int64		nkeys;			/* sent so far */
	int64		nbatches;
} LookupState;

static const CustomExecMethods exec_methods;

static NestLoop *find_loop(Plan *plan, const Plan *outer);

/* The same for several plans. */
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
	if (plan == NULL)
		return NULL;
	if (IsA(plan, NestLoop) && outerPlan(plan) == outer)
		return (NestLoop *) plan;
	return find_in_list(inputs_of_plan(plan), outer);
}

/* The nested loop in a statement that has this outer side; NULL if none has. */
static NestLoop *
loop_in(const PlannedStmt *stmt, const Plan *outer)
{
	NestLoop   *loop = find_loop(stmt->planTree, outer);

	return loop != NULL ? loop : find_in_list(stmt->subplans, outer);
}

/* The nested loop that the node is the outer side of; NULL if it is in none. */
static NestLoop *
loop_of(const LookupState *state)
{
	return loop_in(state->css.ss.ps.state->es_plannedstmt,
				   state->css.ss.ps.plan);
}

/* The node's plan. */
static CustomScan *
plan_of(const LookupState *state)
{
	return castNode(CustomScan, state->css.ss.ps.plan);
}

/* Does the node evaluate subqueries itself, rather than serve a nested loop? */
static bool
has_subqueries(const LookupState *state)
{
	return plan_of(state)->custom_private != NIL;
}

/*
 * The foreign scans, and Appends of them, that look up rows for a node of a
 * statement; NIL if they are not found.
 */
static List *
find_lookups(const CustomScan *node, const PlannedStmt *stmt)
{
	const NestLoop *loop;
	Plan	   *inner;

	if (node->custom_private != NIL)
		return correlated_scan_lookups(node, stmt);
	loop = loop_in(stmt, &node->scan.plan);
	if (loop == NULL)
		return NIL;
	inner = innerPlan(loop);
	return list_make1(IsA(inner, SubqueryScan) ?
					  ((SubqueryScan *) inner)->subplan : inner);
}

/* The same for a node that is executed or explained. */
static List *
lookups_of(const LookupState *state)
{
	return find_lookups(plan_of(state), state->css.ss.ps.state->es_plannedstmt);
}

/* Does a node in one of these plans look up a scan's rows? */
static bool
look_up_scan(List *plans, const PlannedStmt *stmt, const ForeignScan *scan)
{
	ListCell   *cell;

	foreach(cell, plans)
	{
		const Plan *plan = lfirst(cell);

		if (plan == NULL)
			continue;
		if (IsA(plan, CustomScan) &&
			((const CustomScan *) plan)->methods == &lookup_scan_methods &&
			inner_has_scan(find_lookups((const CustomScan *) plan, stmt), scan))
			return true;
		if (look_up_scan(inputs_of_plan(plan), stmt, scan))
			return true;
	}
	return false;
}

/* Are the rows of a scan looked up in batches, by the plan of its statement? */
bool
lookup_has_scan(const PlannedStmt *stmt, const ForeignScan *scan)
{
	return look_up_scan(list_make1(stmt->planTree), stmt, scan) ||
		look_up_scan(stmt->subplans, stmt, scan);
}

/* Are all outer rows certain to be read? */
static bool
reads_all(const LookupState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	const Plan *reader = has_subqueries(state) ? state->css.ss.ps.plan
		: &loop_of(state)->join.plan;
	ScanDemand	demand = demand_of_plan(estate, reader);

	return demand.reading == READS_ALL && demand.limit == 0 &&
		(demand.at_once || run_is_whole(estate));
}

/* Outer rows of the next batch, once the present one has been received. */
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

/* Outer rows of the first batch. */
static int
first_rows(const LookupState *state)
{
	if (inner_has_timeout(&state->inner))
		return 1;
	return state->sends_ahead ? LOOKUP_MAX_ROWS : inner_first_rows(&state->inner);
}

/* State of the search for the LIMIT above a node */
typedef struct LimitSearch
{
	const PlanState *input;
	const LimitState *found;
} LimitSearch;

/* Walker: true once the LIMIT is found whose input the node is. */
static bool
find_limit(PlanState *ps, void *arg)
{
	LimitSearch *search = arg;

	if (IsA(ps, LimitState) && outerPlanState(ps) == search->input)
		search->found = (LimitState *) ps;
	return search->found != NULL || planstate_tree_walker(ps, find_limit, arg);
}

/*
 * The LIMIT above a node that returns all of its outer rows; NULL if there is
 * none, or it is not found.
 */
static const LimitState *
limit_above(const LookupState *state)
{
	const PlanState *ps = &state->css.ss.ps;
	PlanState  *query = run_plan(ps->state);
	LimitSearch search = {.input = ps};

	if (query != NULL && ps->qual == NULL)
		(void) find_limit(query, &search);
	return search.found;
}

/*
 * Stores the bound of the LIMIT above, and passes it on to the outer side, as
 * PostgreSQL's nodes do that return all of their outer rows: a bounded sort
 * keeps no more rows, so no more may be read.
 */
static void
pass_limit(LookupState *state)
{
	const LimitState *above = state->above;

	if (above == NULL)
		return;
	state->wanted = above->noCount || above->limitOption != LIMIT_OPTION_COUNT ?
		-1 : above->count + above->offset;
	ExecSetTupleBound(state->wanted, outerPlanState(state));
}

/* Finds the inner scans, and prepares batches for them if there can be any. */
static void
find_inner(LookupState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	List	   *lookups = lookups_of(state);
	MemoryContext contexts[INNER_BATCHES];
	MemoryContext old;

	state->has_begun = true;
	state->above = limit_above(state);
	pass_limit(state);
	if (lookups == NIL || estate->es_epq_active != NULL)
		return;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	for (int i = 0; i < INNER_BATCHES; i++)
		contexts[i] = state->batches[i].context =
			AllocSetContextCreate(estate->es_query_cxt,
								  "tollfree_postgres_fdw lookups",
								  ALLOCSET_DEFAULT_SIZES);
	inner_find(&state->inner, estate, lookups,
			   has_subqueries(state) ? correlated_scan_params(plan_of(state))
			   : loop_of(state)->nestParams, contexts);
	if (state->inner.nscans > 0)
	{
		state->sends_ahead = !inner_has_timeout(&state->inner) &&
			reads_all(state);
		state->limit = first_rows(state);
	}
	MemoryContextSwitchTo(old);
}

/* The next outer row as a minimal tuple; an empty slot after the last. */
static TupleTableSlot *
node_next_outer(LookupState *state)
{
	ScanState  *ss = &state->css.ss;
	TupleTableSlot *outer = ExecProcNode(outerPlanState(state));

	if (TupIsNull(outer))
		return ExecClearTuple(state->slot);
	ExecCopySlot(ss->ss_ScanTupleSlot, outer);
	if (state->slot == ss->ss_ScanTupleSlot)
		return state->slot;
	ResetExprContext(ss->ps.ps_ExprContext);
	ss->ps.ps_ExprContext->ecxt_scantuple = ss->ss_ScanTupleSlot;
	return ExecProject(ss->ps.ps_ProjInfo);
}

/* Is there room for another row in the batch of this number? */
static bool
has_room(const LookupState *state, int number)
{
	const OuterBatch *batch = &state->batches[number];

	return batch->nrows < state->limit &&
		(batch->nrows == 0 ||
		 MemoryContextMemAllocated(batch->context, true) <
		 LOOKUP_BYTES + Min(inner_overhead(&state->inner, number, batch->nrows),
							LOOKUP_OVERHEAD));
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
	while (!state->is_last && has_room(state, number))
	{
		TupleTableSlot *row = state->wanted == 0 ? NULL : node_next_outer(state);

		state->is_last = TupIsNull(row);
		if (state->is_last)
			break;
		if (state->wanted > 0)
			state->wanted--;
		old = MemoryContextSwitchTo(batch->context);
		batch->rows[batch->nrows] = ExecCopySlotMinimalTuple(row);
		inner_add(&state->inner, number, batch->nrows++, row);
		MemoryContextSwitchTo(old);
	}
}

/*
 * Reads a batch, and sends the queries for its keys; false if it has no rows.
 */
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

/* The number of the batch that is not in use. */
static int
other_batch(const LookupState *state)
{
	return (state->used + 1) % INNER_BATCHES;
}

/*
 * Waits for the rows of the next batch, and sends the one after it if the join
 * is certain to need it; false after the last outer row.
 */
static bool
use_next_batch(LookupState *state)
{
	state->next = 0;
	if (state->is_sent)
		state->used = other_batch(state);
	else if (!send_batch(state, state->used))
		return false;
	inner_use_batch(&state->inner, state->used);
	state->limit = next_rows(state);
	state->is_sent = state->sends_ahead && !state->is_last &&
		send_batch(state, other_batch(state));
	return true;
}

/* CustomScan callbacks, named as in the API: makes the state. */
static Node *
create_state(CustomScan *scan)
{
	LookupState *state = (LookupState *) newNode(sizeof(LookupState),
												 T_CustomScanState);

	state->css.methods = &exec_methods;
	state->wanted = -1;
	return (Node *) state;
}

/* Prepares the outer side. */
static void
node_begin(CustomScanState *node, EState *estate, int eflags)
{
	LookupState *state = (LookupState *) node;

	/* Rows are read in one direction; a rescan sends the queries again. */
	eflags &= ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	outerPlanState(node) = ExecInitNode(outerPlan(node->ss.ps.plan), estate,
										eflags);
	state->slot = node->ss.ps.ps_ProjInfo != NULL && !has_subqueries(state) ?
		node->ss.ps.ps_ResultTupleSlot : node->ss.ss_ScanTupleSlot;
}

/* The next outer row; the scans return its rows next. */
static TupleTableSlot *
node_next_row(LookupState *state)
{
	if (!state->has_begun)
		find_inner(state);
	if (state->inner.nscans == 0)
		return node_next_outer(state);
	if (state->next == state->batches[state->used].nrows &&
		!use_next_batch(state))
		return ExecClearTuple(state->slot);
	inner_use(&state->inner, state->used, state->next);
	ExecForceStoreMinimalTuple(state->batches[state->used].rows[state->next++],
							   state->slot, false);
	return state->slot;
}

/*
 * The next row that passes the conditions, whose subqueries may look up rows.
 */
static TupleTableSlot *
node_next_evaluated(LookupState *state)
{
	PlanState  *ps = &state->css.ss.ps;

	for (;;)
	{
		TupleTableSlot *row = node_next_row(state);

		if (TupIsNull(row))
			return NULL;
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(ps->ps_ExprContext);
		ps->ps_ExprContext->ecxt_scantuple = row;
		if (ExecQual(ps->qual, ps->ps_ExprContext))
			return ps->ps_ProjInfo != NULL ? ExecProject(ps->ps_ProjInfo) : row;
		InstrCountFiltered1(ps, 1);
	}
}

/* Returns the next row. */
static TupleTableSlot *
node_next(CustomScanState *node)
{
	LookupState *state = (LookupState *) node;

	return has_subqueries(state) ? node_next_evaluated(state) : node_next_row(state);
}

/* Ends all batches: the inner scan then looks up its parameters itself. */
static void
end_batches(LookupState *state)
{
	inner_end(&state->inner);
	state->batches[state->used].nrows = state->next = 0;
	state->is_sent = state->is_last = false;
}

/*
 * Rescans.  If the last scan stopped early, this one may, too: the first batch
 * is small again.
 */
static void
node_rescan(CustomScanState *node)
{
	LookupState *state = (LookupState *) node;
	PlanState  *outer = outerPlanState(node);

	if (!state->is_last)
		state->limit = first_rows(state);
	end_batches(state);
	pass_limit(state);
	if (outer->chgParam == NULL)
		ExecReScan(outer);
}

/* Ends. */
static void
node_end(CustomScanState *node)
{
	ExecEndNode(outerPlanState(node));
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
node_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	LookupState *state = (LookupState *) node;

	if (!es->verbose)
		return;
	explain_queries(inner_queries(lookups_of(state)), es);
	if (!es->analyze)
		return;
	ExplainPropertyInteger("Keys", NULL, state->nkeys, es);
	ExplainPropertyInteger("Batches", NULL, state->nbatches, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = LOOKUP_NODE,
	.BeginCustomScan = node_begin,
	.ExecCustomScan = node_next,
	.EndCustomScan = node_end,
	.ReScanCustomScan = node_rescan,
	.ExplainCustomScan = node_explain
};

const CustomScanMethods lookup_scan_methods = {
	.CustomName = LOOKUP_NODE,
	.CreateCustomScanState = create_state
};
