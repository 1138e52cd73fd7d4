/*
 * method.c
 *	  How a scan asks for its rows.
 *
 * A result that is expected to be small is asked for directly: one round trip,
 * with START TRANSACTION if need be, brings all of it.
 *
 * A result of any size that will be read to its end (reading.c) is asked for in
 * the same way, but streamed: its rows are read as they are used, and the rest
 * waits in the socket, and the remote server with it.
 *
 * Other results come through a cursor (cursor.c), so that a consumer that stops
 * early has not had the rest sent.  A cursor is also used where the remote rows
 * are locked or updated by ctid: a direct result would lock far ahead of the
 * consumer.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/execnodes.h"

#include "base/fastpath.h"
#include "base/run.h"
#include "scan/method.h"
#include "scan/reading.h"
#include "scan/scan_state.h"
#include "session/state.h"
#include "sql/plan.h"
#include "wire/rows.h"

/* The largest result that is asked for directly */
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
 * Does the scan return locations of rows, by which they are to be updated?  What
 * it returns are columns of a table, or places in the target list of a join.
 */
static bool
returns_locations(const ForeignScan *plan, List *attrs)
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

/*
 * May more rows be fetched than have been asked for?  Those of an asynchronous
 * scan can be in flight for long, with the remote statement_timeout running.
 * The session is NULL if the plan is only explained.
 */
bool
method_is_free(const ForeignScanState *node, const ScanPlan *scan,
			   const Session *session)
{
	return !locks_rows(node->ss.ps.state) &&
		!returns_locations(castNode(ForeignScan, node->ss.ps.plan),
						   scan->attrs) &&
		!(node->ss.ps.async_capable && session != NULL &&
		  session->remote.has_statement_timeout);
}

/* Is the result expected to be small enough to be read at once? */
bool
method_is_small(const ScanPlan *scan)
{
	return scan->bytes <= DIRECT_BYTES;
}

/*
 * Is a large result asked for without a cursor if all of it is read?  With one the
 * first rows tell the remote types, and the others can be in binary form.
 */
static bool
can_stream(const ForeignScanState *node, const ScanPlan *scan)
{
	return !fastpath_is_on(scan->fast_paths, FAST_BINARY_RESULTS) ||
		!rows_gain_from_binary(node->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
							   scan->attrs);
}

/*
 * How a result is asked for that may be fetched freely.  Its query is asked for
 * all rows, or for the next few.
 */
static FetchMethod
method_for(const ForeignScanState *node, const ScanPlan *scan,
		   ScanReading reading, bool is_run_whole)
{
	if (!fastpath_is_on(scan->fast_paths, FAST_DIRECT_RESULTS))
		return FETCH_CURSOR;
	if (method_is_small(scan))
		return FETCH_WHOLE;
	return is_run_whole && reading == READS_ALL && can_stream(node, scan) ?
		FETCH_STREAM : FETCH_CURSOR;
}

/*
 * How the result is asked for now.  With a remote statement_timeout a stream
 * would have to be read within that.
 */
FetchMethod
method_choose(const ForeignScanState *node, const RemoteScanState *scan)
{
	FetchMethod method;

	if (!scan->is_free)
		return FETCH_CURSOR;
	method = method_for(node, &scan->plan, scan->reading,
						run_is_whole(node->ss.ps.state));
	return method == FETCH_STREAM && scan->session->remote.has_statement_timeout ?
		FETCH_CURSOR : method;
}

/* How the rows are asked for, or would be if all of them were. */
FetchMethod
method_explain(const ForeignScanState *node, const ScanPlan *plan)
{
	const RemoteScanState *scan = node->fdw_state;

	if (scan != NULL && scan->phase != SCAN_IDLE)
		return scan->method;
	if (!method_is_free(node, plan, scan != NULL ? scan->session : NULL))
		return FETCH_CURSOR;
	return method_for(node, plan, reading_of_scan(node), true);
}
