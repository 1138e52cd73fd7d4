/*
 * scan.c
 *	  Scans of foreign tables, joins and aggregates.
 *
 * How a scan asks for its rows is chosen in method.c, how they arrive is fetch.c's
 * business, what a cursor asks for cursor.c's.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/xact.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/settings.h"
#include "scan/autocommit.h"
#include "scan/cursor.h"
#include "scan/fetch.h"
#include "scan/method.h"
#include "scan/reading.h"
#include "scan/scan.h"
#include "scan/scan_state.h"
#include "session/usage.h"
#include "sql/command.h"
#include "sql/plan.h"
#include "wire/rows.h"
#include "wire/rowstore.h"
#include "xact/transaction.h"

/* When the query's memory goes, which the list is part of. */
static void
clear_scan(void *arg)
{
	fetch_clear(arg);
}

/* Prepares a scan; connects if that has not been done. */
void
tollfreeBeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	EState	   *estate = node->ss.ps.state;
	RemoteScanState *scan;
	RangeTblEntry *rte;
	Relation	rel = NULL;
	Oid			user;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	scan = palloc0(sizeof(RemoteScanState));
	scan->plan = plan_read_scan(plan->fdw_private);
	rte = exec_rt_fetch(compat_scan_rtindex(plan), estate);
	user = compat_scan_user(plan, rte);
	scan->session = transaction_get_session(user,
											GetForeignServerIdByRelId(rte->relid));

	if (plan->scan.scanrelid > 0)
		rel = node->ss.ss_currentRelation;
	scan->reader = rows_reader_for_scan(node, rel, scan->plan.attrs,
										scan->session->remote.same_encoding);
	scan->params = rows_params(&node->ss.ps, plan->fdw_exprs);
	scan->is_free = method_is_free(node, &scan->plan, scan->session);
	scan->estate = estate;
	if (!method_is_small(&scan->plan))
		scan->reading = reading_of_scan(node);
	scan->begun_in = GetCurrentSubTransactionId();
	scan->fetch_rows = scan->plan.fetch_size;

	scan->work_mem = work_mem;
	scan->owner = CurrentResourceOwner;
	scan->query_context = estate->es_query_cxt;
	scan->row_context = AllocSetContextCreate(estate->es_query_cxt,
											  "tollfree_postgres_fdw tuple",
											  ALLOCSET_SMALL_SIZES);
	scan->clear.func = clear_scan;
	scan->clear.arg = scan;
	MemoryContextRegisterResetCallback(scan->query_context, &scan->clear);
	node->fdw_state = scan;
}

/* Sends the query, with the parameters' present values. */
static void
send_query(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	RemoteCommand command = {
		.sql = scan->plan.command.sql,.shown = scan->plan.command.shown
	};
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

	scan->method = method_choose(node, scan);
	settings_require(REQUIRE_DIRECT, scan->method != FETCH_CURSOR);
	if (scan->params != NULL)
	{
		rows_write_params(scan->params, econtext);
		command.nparams = scan->params->count;
		command.params = scan->params->values;
		command.types = scan->plan.command.types;
	}
	command.hints.is_cacheable = scan->method == FETCH_WHOLE &&
		scan->plan.command.is_cacheable;
	command.hints.in_pieces = scan->method != FETCH_CURSOR;
	MemoryContextSwitchTo(old);
	if (scan->method != FETCH_CURSOR)
		command.hints.sole_relids = autocommit_relations(node, &scan->plan);
	scan->query = command;
	if (scan->method == FETCH_CURSOR)
		cursor_open(scan, &command);
	else
		fetch_send(scan, &scan->query, 1, false);
}

/* The same, and waits for the result if it is asked for directly. */
static void
execute_and_wait(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;

	usage_start(scan->session, &scan->usage);
	send_query(node);
	if (scan->method == FETCH_WHOLE)
		fetch_drain(scan);
	if (scan->store != NULL)
		fetch_spill(scan);
	usage_stop(scan->session, &scan->usage);
}

/* Gets more rows through the cursor; false if there are none. */
static bool
fetch_more(RemoteScanState *scan)
{
	bool		found;

	usage_start(scan->session, &scan->usage);
	found = cursor_more(scan);
	usage_stop(scan->session, &scan->usage);
	return found;
}

/*
 * The next row, or an empty slot after the last one; in an asynchronous scan,
 * after the last one at hand.
 */
TupleTableSlot *
tollfreeIterateForeignScan(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	bool		waits = !node->ss.ps.async_capable;

	if (scan->phase == SCAN_IDLE && waits)
		execute_and_wait(node);
	do
	{
		if (scan->store != NULL && fetch_next_stored(scan, slot))
			return slot;
		fetch_next_row(scan, slot);
		if (!TupIsNull(slot) || scan->method == FETCH_WHOLE)
			return slot;
		fetch_drop_store(scan);
	} while (waits && fetch_more(scan));
	return slot;
}

/*
 * Sends for more rows when those at hand have been used, without waiting.  There
 * may be some that have not: another scan that used the session had them read.
 * In another subtransaction than the scan's it does wait: what is in flight would
 * be lost when that is rolled back.
 */
void
scan_proceed(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;

	if (fetch_has_row(scan))
		return;
	usage_start(scan->session, &scan->usage);
	if (scan->phase == SCAN_IDLE)
		send_query(node);
	else if (scan->method != FETCH_WHOLE)
	{
		cursor_forget_rows(scan);
		cursor_proceed(scan);
	}
	if (scan_may_outlive_batch(scan))
		fetch_drain(scan);
	usage_stop(scan->session, &scan->usage);
}

/*
 * Forgets all rows, and the cursor.  What is in flight is read in any case,
 * since nobody must read into a scan that is gone.
 */
static void
discard(RemoteScanState *scan)
{
	while (scan->session->pending.drain_arg == scan && fetch_read(scan))
		fetch_clear(scan);
	cursor_close(scan);
	fetch_drop_store(scan);
	fetch_clear(scan);
	scan->phase = SCAN_IDLE;
	scan->dropped = false;
}

/*
 * Starts again; asks the remote server again only if the rows are not here.  If a
 * direct result is still in flight, under an asynchronous Append, some of it may
 * be in the store, so all of it is read first.  What a cursor has in flight
 * comes behind the rows at hand, as before.
 */
void
tollfreeReScanForeignScan(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	bool		changes = node->ss.ps.chgParam != NULL;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	scan->result = scan->row = 0;
	if (!changes && scan->method == FETCH_WHOLE)
		fetch_drain(scan);
	if (changes || scan->dropped)
		discard(scan);
	else if (scan->store != NULL)
		rowstore_rescan(scan->store);
}

/* Ends a scan. */
void
tollfreeEndForeignScan(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;

	if (scan != NULL)
		discard(scan);
}

/* Shows how the rows are carried, and what that took. */
void
scan_explain(ForeignScanState *node, ExplainState *es)
{
	RemoteScanState *scan = node->fdw_state;
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	ScanPlan	remote = plan_read_scan(plan->fdw_private);
	static const char *const names[] = {"direct", "streamed", "cursor"};
	FetchMethod method = method_explain(node, &remote);

	if (!es->verbose)
		return;
	ExplainPropertyText("Fetch Method", names[method], es);
	if (method != FETCH_CURSOR && autocommit_suits_plan(node, &remote))
		ExplainPropertyText("Autocommit", "possible", es);
	if (!es->analyze || scan == NULL)
		return;
	usage_explain(&scan->usage, es);
	if (method != FETCH_CURSOR)
		return;
	ExplainPropertyInteger("Fetches Ahead", NULL, scan->fetches_ahead, es);
	ExplainPropertyInteger("Binary Fetches", NULL, scan->fetches_binary, es);
}
