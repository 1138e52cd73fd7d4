/*
 * method.c
 *	  How a scan asks for its rows.
 *
 * A result that is expected to be small is asked for directly: the query is
 * sent without a cursor, with START TRANSACTION before it if need be, and one
 * round trip brings all of its rows.  If it is large after all, it goes on as a
 * stream where it may.
 *
 * A result of any size that is certain to be read to its end (reading.c) is
 * streamed: the query is sent without a cursor, and its rows are read as they
 * are used.  The remote server waits while the socket is full.
 *
 * Other results come through a cursor (cursor.c).  A consumer that stops early
 * then has not received the rest.  A cursor is also used where the query locks
 * remote rows, or updates them by ctid: without one it would lock rows far
 * ahead of the consumer.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/execnodes.h"

#include "base/fastpath.h"
#include "base/run.h"
#include "scan/scan_state.h"

/* The largest result, in bytes, that is asked for directly */
#define DIRECT_BYTES (1024 * 1024)

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
 * May rows be fetched before the executor asks for them?  Not for an
 * asynchronous scan under a remote statement_timeout: its answers can be in
 * flight for long, and the timeout runs meanwhile.  The session is NULL if the
 * plan is only explained.
 */
bool
method_may_prefetch(const ForeignScanState *node, const ScanPlan *scan,
					const Session *session)
{
	return method_is_free(node, scan) &&
		!(node->ss.ps.async_capable && session != NULL &&
		  session->remote.has_statement_timeout);
}

/* Is the result expected to be small enough to be asked for directly? */
bool
method_is_small(const ScanPlan *scan)
{
	return scan->bytes <= DIRECT_BYTES;
}

/*
 * Is a large result streamed if all of it is read?  Not if its columns gain
 * from binary form: for that a cursor's first rows have to show the remote
 * types.
 */
static bool
can_stream(const ForeignScanState *node, const ScanPlan *scan)
{
	return !fastpath_is_on(scan->fast_paths, FAST_BINARY_RESULTS) ||
		!rows_gain_from_binary(node->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
							   scan->attrs);
}

/*
 * The method for a result that may be prefetched.  is_run_whole says whether
 * the executor was asked for all rows of the query, not for the next few.
 */
static FetchMethod
method_for(const ForeignScanState *node, const ScanPlan *scan,
		   ScanReading reading, bool is_run_whole)
{
	if (!fastpath_is_on(scan->fast_paths, FAST_DIRECT_RESULTS))
		return FETCH_CURSOR;
	if (method_is_small(scan))
		return FETCH_DIRECT;
	return is_run_whole && reading == READS_ALL && can_stream(node, scan) ?
		FETCH_STREAM : FETCH_CURSOR;
}

/*
 * The method for the next execution.  Nothing is streamed under a remote
 * statement_timeout: all of the stream would have to be read within it.
 */
FetchMethod
method_choose(const ForeignScanState *node, const RemoteScanState *scan)
{
	FetchMethod method;

	if (!scan->may_prefetch)
		return FETCH_CURSOR;
	method = method_for(node, &scan->plan, scan->reading,
						run_is_whole(node->ss.ps.state));
	return method == FETCH_STREAM && scan->session->remote.has_statement_timeout ?
		FETCH_CURSOR : method;
}

/*
 * The method that EXPLAIN shows: of the last execution, or else the one for a
 * query that is asked for all of its rows.
 */
FetchMethod
method_explain(const ForeignScanState *node, const ScanPlan *plan)
{
	const RemoteScanState *scan = node->fdw_state;

	if (scan != NULL && scan->phase != SCAN_IDLE)
		return scan->method;
	if (!method_may_prefetch(node, plan, scan != NULL ? scan->session : NULL))
		return FETCH_CURSOR;
	return method_for(node, plan, reading_of_scan(node), true);
}
