/*
 * inner.c
 *	  The foreign scans that look up the rows of many outer rows at once.
 *
 * A join has one scan, or an Append of those of partitions; subqueries can
 * have several.  While the rows of a batch are used, those of the next one
 * may be in flight.  The queries are sent to all servers before the first
 * answer is awaited.  An Append skips partitions that cannot have rows for an
 * outer row, and its key is not sent to their servers.  Inputs that are not
 * our scans are executed for each outer row, as without batches.
 */
#include "postgres.h"

#include "executor/execPartition.h"
#include "nodes/nodeFuncs.h"

#include "base/compat.h"
#include "base/run.h"
#include "join/inner.h"
#include "join/lookup.h"
#include "scan/scan.h"
#include "session/questions.h"
#include "sql/deparse.h"
#include "sql/plan.h"

/* Initial capacity of a batch, in outer rows */
#define ROWS_AT_FIRST 64

/* Memory of a scan with keys beside their bytes: a hash table and buffers */
#define KEYS_OVERHEAD (12 * 1024)

/*
 * The query for many keys of a plan; NULL if there can be none, or if it is
 * switched off: partitions can have different options.
 */
static char *
make_query(const Plan *plan)
{
	const ForeignScan *scan = (const ForeignScan *) plan;
	ScanPlan	read;

	/* An Append may have scans of other wrappers, too. */
	if (!IsA(plan, ForeignScan) || scan->fdw_exprs == NIL ||
		!scan_is_ours(scan))
		return NULL;
	read = plan_read_scan(scan->fdw_private);
	return lookup_is_on(read.fast_paths) ?
		deparse_lookups(read.command.sql, scan->fdw_exprs) : NULL;
}

/* Adds the queries for many keys of these plans. */
static List *
add_queries(List *queries, List *plans)
{
	ListCell   *cell;

	foreach(cell, plans)
	{
		char	   *query = make_query(lfirst(cell));

		if (IsA(lfirst(cell), Append))
			queries = add_queries(queries, ((Append *) lfirst(cell))->appendplans);
		else if (query != NULL)
			queries = lappend(queries, query);
	}
	return queries;
}

/*
 * The queries for many keys, as texts, for EXPLAIN.  The plans are foreign
 * scans, and Appends of them.
 */
List *
inner_queries(List *plans)
{
	return add_queries(NIL, plans);
}

/* Is a scan one of these plans, with a query for many keys? */
bool
inner_has_scan(List *plans, const ForeignScan *scan)
{
	ListCell   *cell;

	foreach(cell, plans)
	{
		const Plan *plan = lfirst(cell);

		if (IsA(plan, Append) ?
			inner_has_scan(((const Append *) plan)->appendplans, scan) :
			plan == &scan->scan.plan && make_query(plan) != NULL)
			return true;
	}
	return false;
}

/* Prepares a batch of a scan; its keys are in this context. */
static void
prepare_batch(InnerBatch *batch, const RemoteScanState *scan,
			  const char *query, MemoryContext context)
{
	batch->keys.nparams = batch->batch.nparams = scan->params->count;
	batch->keys.context = context;
	batch->batch.sql = query;
	batch->batch.params = palloc0(scan->params->count * sizeof(char *));
}

/*
 * Adds a scan, if its lookups can be batched.  A batch is read whole before its
 * first row is returned, so a remote statement_timeout is no reason against it.
 */
static void
add_scan(InnerSide *side, EState *estate, const Plan *plan,
		 MemoryContext *contexts)
{
	RemoteScanState *scan = scan_find(estate, plan);
	char	   *query = scan != NULL ? make_query(plan) : NULL;
	InnerScan  *inner;

	if (query == NULL || !method_may_look_up(scan->node, &scan->plan) ||
		!session_takes_arrays(scan->session))
		return;
	side->scans = side->nscans == 0 ? palloc(sizeof(InnerScan)) :
		repalloc(side->scans, (side->nscans + 1) * sizeof(InnerScan));
	inner = &side->scans[side->nscans++];
	memset(inner, 0, sizeof(InnerScan));
	inner->scan = scan;
	lookups_begin(scan);
	for (int i = 0; i < INNER_BATCHES; i++)
		prepare_batch(&inner->batches[i], scan, query, contexts[i]);
}

typedef struct AppendSearch
{
	const Plan *plan;			/* to be found */
	const AppendState *append;	/* result */
} AppendSearch;

/* Walker: finds the state of an Append; true once it is found. */
static bool
find_append(PlanState *node, void *arg)
{
	AppendSearch *search = arg;

	if (node == NULL)
		return false;
	if (node->plan == search->plan)
	{
		search->append = castNode(AppendState, node);
		return true;
	}
	return planstate_tree_walker(node, find_append, arg);
}

/* Adds the scans that an Append reads. */
static void
add_append(InnerSide *side, EState *estate, const Plan *plan,
		   MemoryContext *contexts)
{
	AppendSearch search = {.plan = plan};

	if (!find_append(run_plan(estate), &search))
		return;
	for (int i = 0; i < search.append->as_nplans; i++)
	{
		int			nscans = side->nscans;

		add_scan(side, estate, search.append->appendplans[i]->plan, contexts);
		if (side->nscans == nscans)
			continue;
		side->scans[nscans].append = search.append;
		side->scans[nscans].position = i;
	}
}

/*
 * Finds the scans of these plans, which are foreign scans, and Appends of them.
 * Keys of a batch are kept in the context of its number, which is reset before
 * another one has it.
 */
void
inner_find(InnerSide *side, EState *estate, List *plans, List *params,
		   MemoryContext *contexts)
{
	ListCell   *cell;

	side->params = params;
	foreach(cell, plans)
	{
		if (IsA(lfirst(cell), Append))
			add_append(side, estate, lfirst(cell), contexts);
		else
			add_scan(side, estate, lfirst(cell), contexts);
	}
}

/* The properties of the first scan's remote session; there is a scan. */
const RemoteTraits *
inner_remote(const InnerSide *side)
{
	return &side->scans[0].scan->session->remote;
}

/* Outer rows of the first batch, if the query may stop early. */
int
inner_first_rows(const InnerSide *side)
{
	int			first = LOOKUP_FIRST_ROWS;

	for (int i = 0; i < side->nscans; i++)
	{
		const RemoteScanState *scan = side->scans[i].scan;
		double		rows = scan->plan.rows < 0 ?
			scan->node->ss.ps.plan->plan_rows : scan->plan.rows;

		first = Min(first, lookup_first_rows(rows, scan->plan.fetch_size));
	}
	return first;
}

/* Has any of the remote sessions a statement_timeout? */
bool
inner_has_timeout(const InnerSide *side)
{
	for (int i = 0; i < side->nscans; i++)
	{
		if (questions_has_timeout(side->scans[i].scan->session))
			return true;
	}
	return false;
}

/*
 * Memory of a batch's scans for this many outer rows, beside rows and keys, in
 * bytes.  Arrays of numbers grow by doubling; their former copies count, too.
 */
Size
inner_overhead(const InnerSide *side, int number, int nrows)
{
	return (Size) side->nqueried[number] * KEYS_OVERHEAD +
		(Size) side->nscans * Max(nrows, ROWS_AT_FIRST) * 4 * sizeof(uint16);
}

/* Begins the batch of this number, whose context has been reset. */
void
inner_begin(InnerSide *side, int number)
{
	StaticAssertStmt(LOOKUP_MAX_ROWS <= PG_UINT16_MAX,
					 "rows are numbered in 16 bits");
	side->nqueried[number] = 0;
	for (int i = 0; i < side->nscans; i++)
	{
		keys_begin(&side->scans[i].batches[number].keys);
		side->scans[i].batches[number].size = 0;
	}
}

/* Sets the parameters as the nested loop does for an outer row. */
static void
set_params(const InnerSide *side, TupleTableSlot *slot)
{
	EState	   *estate = side->scans[0].scan->node->ss.ps.state;
	ListCell   *cell;

	foreach(cell, side->params)
	{
		const NestLoopParam *param = lfirst(cell);
		ParamExecData *value = &estate->es_param_exec_vals[param->paramno];

		value->value = slot_getattr(slot, param->paramval->varattno,
									&value->isnull);
	}
}

/* Makes room for one more outer row's number. */
static void
make_room(InnerBatch *batch, int row)
{
	if (row < batch->size)
		return;
	batch->size = Max(2 * batch->size, ROWS_AT_FIRST);
	batch->numbers = row == 0 ?
		MemoryContextAlloc(batch->keys.context, batch->size * sizeof(uint16)) :
		repalloc(batch->numbers, batch->size * sizeof(uint16));
}

/* Adds the key of an outer row for one scan; returns its number. */
static int
add_key(const RemoteScanState *scan, KeySet *keys)
{
	ExprContext *econtext = scan->node->ss.ps.ps_ExprContext;

	ResetExprContext(econtext);
	rows_write_params(scan->params, econtext);
	return keys_add(keys, scan->params->values);
}

/*
 * Does an Append execute only those inputs that can have rows for an outer
 * row?
 */
static bool
prunes(const AppendState *append)
{
	return append != NULL && append->as_prune_state != NULL &&
		append->as_prune_state->do_exec_prune;
}

/* Adds the keys of a batch's next outer row, which is given. */
void
inner_add(InnerSide *side, int number, int row, TupleTableSlot *slot)
{
	const AppendState *append = NULL;
	Bitmapset  *wanted = NULL;	/* inputs of the Append */

	set_params(side, slot);
	for (int i = 0; i < side->nscans; i++)
	{
		const InnerScan *inner = &side->scans[i];
		InnerBatch *batch = &side->scans[i].batches[number];
		bool		is_first = batch->keys.count == 0;

		if (inner->append != append && prunes(inner->append))
		{
			bms_free(wanted);
			wanted = compat_matching_subplans(inner->append->as_prune_state);
		}
		append = inner->append;
		make_room(batch, row);
		batch->numbers[row] = !prunes(append) ||
			bms_is_member(inner->position, wanted) ?
			add_key(inner->scan, &batch->keys) : 0;
		side->nqueried[number] += is_first && batch->keys.count > 0;
	}
	bms_free(wanted);
}

/* Sends the query for a scan's keys, if there are any; returns their number. */
static int
send_keys(InnerScan *inner, int number)
{
	InnerBatch *batch = &inner->batches[number];
	int			nkeys = batch->keys.count;

	if (nkeys > 0)
	{
		keys_end(&batch->keys, batch->batch.params);
		batch->batch.starts = MemoryContextAlloc(batch->keys.context,
												 nkeys * sizeof(ReceivedPlace));
	}
	lookups_send(inner->scan, number, nkeys > 0 ? &batch->batch : NULL);
	return nkeys;
}

/*
 * Sends the queries for a batch's keys, without waiting for the rows; returns
 * the number of keys.
 */
int
inner_look_up(InnerSide *side, int number)
{
	int			nkeys = 0;

	for (int i = 0; i < side->nscans; i++)
		nkeys += send_keys(&side->scans[i], number);
	return nkeys;
}

/* Waits for the rows of a batch, and has the scans return these. */
void
inner_use_batch(InnerSide *side, int number)
{
	for (int i = 0; i < side->nscans; i++)
		lookups_use(side->scans[i].scan, number);
}

/*
 * Makes the scans return the rows of this outer row of the present batch next.
 */
void
inner_use(InnerSide *side, int number, int row)
{
	for (int i = 0; i < side->nscans; i++)
	{
		const InnerBatch *batch = &side->scans[i].batches[number];

		if (batch->keys.count > 0)
			lookups_set_key(side->scans[i].scan, batch->numbers[row]);
	}
}

/* Ends all batches: the scans then look up their parameters one by one. */
void
inner_end(InnerSide *side)
{
	for (int i = 0; i < side->nscans; i++)
		lookups_end(side->scans[i].scan);
}
