/*
 * method.c
 *	  How a scan requests its rows.
 *
 * A query that stops early receives no more rows than through postgres_fdw.  So if
 * it may stop early, its rows come through a cursor (cursor.c), and the first FETCH
 * is for fetch_size rows.
 *
 * A result is requested directly, the query being sent without a cursor, if it is
 * expected to be small and is certain to be read to its end (demand.c), or if it
 * has only few rows.  One round trip brings all of its rows, with START TRANSACTION
 * before it if need be.  If it is large after all, it becomes a stream where it
 * may.
 *
 * A larger result that is certain to be read to its end is streamed: the query is
 * sent without a cursor, and its rows are read as they are used.  The remote server
 * waits while the socket is full.
 *
 * How many rows are used at most can be known, as below LIMIT or EXISTS.  That is
 * sent as LIMIT.
 *
 * A cursor is also used where the query locks remote rows, or updates them by ctid:
 * without one it would lock rows far ahead of the consumer.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/execnodes.h"

#include "base/fastpath.h"
#include "base/run.h"
#include "scan/scan_state.h"

/* The largest result, in bytes, that is requested directly */
#define DIRECT_BYTES (1024 * 1024)

/*
 * Rows are few if this many times their expected number is no more than fetch_size.
 * An estimate can be wrong, and a query that stops early would receive all rows.
 */
#define FETCHED_FOR_FEW 10

/* Does the query lock rows? */
static bool
locks_rows(const EState *estate)
{
	if (estate->es_rowmarks == NULL)
		return false;
	for (Index i = 0; i < estate->es_range_table_size; i++)
	{
		if (estate->es_rowmarks[i] != NULL &&
			estate->es_rowmarks[i]->strength != LCS_NONE)
			return true;
	}
	return false;
}

/*
 * Does the scan return ctids, by which rows are to be updated?  attrs has
 * column numbers of a table, or positions in the target list of a join.
 */
static bool
returns_ctids(const ForeignScan *plan, List *attrs)
{
	ListCell   *cell;

	foreach(cell, attrs)
	{
		AttrNumber	attno = lfirst_int(cell);

		if (plan->scan.scanrelid == 0)
		{
			const Var  *var = (const Var *)
				list_nth_node(TargetEntry, plan->fdw_scan_tlist, attno - 1)->expr;

			attno = IsA(var, Var) ? var->varattno : InvalidAttrNumber;
		}
		if (attno == SelfItemPointerAttributeNumber)
			return true;
	}
	return false;
}

/* Does it make no difference to the query when its rows are fetched? */
bool
method_is_free(const ForeignScanState *node, const ScanPlan *scan)
{
	return !locks_rows(node->ss.ps.state) &&
		!returns_ctids(castNode(ForeignScan, node->ss.ps.plan), scan->attrs);
}

/*
 * May the rows for many keys be fetched at once?  A plan that looks up rows to be
 * modified needs all of them before it modifies the first one (join/store.c).
 */
bool
method_may_look_up(const ForeignScanState *node, const ScanPlan *scan)
{
	return method_is_free(node, scan) || scan->target.rtindex != 0;
}

/*
 * May rows be fetched before the executor needs them?  Not for an
 * asynchronous scan under a remote statement_timeout: its answers can be in
 * flight for long, and the timeout runs meanwhile.  The session is NULL if the
 * plan is only explained.
 */
bool
method_may_prefetch(const ForeignScanState *node, const ScanPlan *scan,
					Session *session)
{
	return method_is_free(node, scan) &&
		!(node->ss.ps.async_capable && session != NULL &&
		  questions_has_timeout(session));
}

/* May a LIMIT be sent with the query? */
static bool
method_may_limit(const ForeignScanState *node, const ScanPlan *scan)
{
	return !scan->is_bounded && method_is_free(node, scan) &&
		fastpath_is_on(scan->fast_paths, FAST_REMOTE_LIMITS);
}

/* What a query wants of a scan, which may stop early if it can send no LIMIT. */
ScanDemand
method_demand(const ForeignScanState *node, const ScanPlan *scan)
{
	ScanDemand	demand = demand_of_plan(node->ss.ps.state, node->ss.ps.plan);

	if (demand.limit > 0 && !method_may_limit(node, scan))
	{
		demand.reading = READS_SOME;
		demand.limit = 0;
	}
	return demand;
}

/*
 * Is a large result streamed if all of it is read?  Not if its columns gain
 * from binary form: for that a cursor's first rows have to show the remote
 * types.
 */
static bool
method_can_stream(const ForeignScanState *node, const ScanPlan *scan)
{
	return !fastpath_is_on(scan->fast_paths, FAST_BINARY_RESULTS) ||
		!rows_gain_from_binary(node->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
							   scan->attrs);
}

/* The method for a result that may be prefetched, and is read whole or not. */
static FetchMethod
method_for(const ForeignScanState *node, const ScanPlan *scan,
		   const ScanDemand *demand, bool is_read_whole)
{
	double		bytes = scan->bytes;
	bool		has_few_rows = scan->rows >= 0 &&
		scan->rows <= Max(scan->fetch_size / FETCHED_FOR_FEW, 1);

	if (!fastpath_is_on(scan->fast_paths, FAST_DIRECT_RESULTS))
		return FETCH_CURSOR;
	if (demand->limit > 0)
	{
		bytes = Min(bytes, (double) demand->limit * scan->width);
		has_few_rows |= demand->limit <= scan->fetch_size;
	}
	if (bytes <= DIRECT_BYTES && (is_read_whole || has_few_rows))
		return FETCH_DIRECT;
	return is_read_whole && !demand->is_interleaved && method_can_stream(node, scan) ?
		FETCH_STREAM : FETCH_CURSOR;
}

/*
 * Uses the number of rows that this run of the executor returns as a LIMIT, if it
 * is the last run.
 */
static void
method_limit_by_run(RemoteScanState *scan)
{
	const EState *estate = scan->node->ss.ps.state;
	ScanDemand *demand = &scan->demand;
	int64		rows = run_rows_left(estate);

	if (!demand->is_output || rows == 0 || !run_is_last(estate) ||
		!method_may_limit(scan->node, &scan->plan))
		return;
	demand->limit = demand->limit == 0 ? rows : Min(demand->limit, rows);
	demand->reading = READS_ALL;
	demand->at_once = true;
}

/* Writes the query of a scan, with the LIMIT that is sent, before the first use. */
void
method_write_query(RemoteScanState *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->node->ss.ps.state->es_query_cxt);

	method_limit_by_run(scan);
	scan->sql = scan->demand.limit == 0 ? scan->plan.command.sql :
		psprintf("%s LIMIT " INT64_FORMAT, scan->plan.command.sql,
				 scan->demand.limit);
	MemoryContextSwitchTo(old);
}

/*
 * The method for the next execution.  Nothing is streamed under a remote
 * statement_timeout: all of the stream would have to be read within it.
 */
FetchMethod
method_choose(const RemoteScanState *scan)
{
	FetchMethod method;

	if (!scan->may_prefetch)
		return FETCH_CURSOR;
	method = method_for(scan->node, &scan->plan, &scan->demand,
						demand_reads(scan->node->ss.ps.state, &scan->demand,
									 READS_ALL));
	return method == FETCH_STREAM && questions_has_timeout(scan->session) ?
		FETCH_CURSOR : method;
}

/*
 * The method that EXPLAIN shows for a query that has not been executed: the one if
 * all of its rows are read.  The session is NULL if the plan is only explained.
 */
FetchMethod
method_expect(const ForeignScanState *node, const ScanPlan *plan,
			  Session *session)
{
	ScanDemand	demand;

	if (!method_may_prefetch(node, plan, session))
		return FETCH_CURSOR;
	demand = method_demand(node, plan);
	return method_for(node, plan, &demand, demand.reading == READS_ALL);
}
