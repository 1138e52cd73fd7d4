/*
 * scan.c
 *	  Scans of foreign tables, joins and aggregates.
 *
 * method.c chooses how a query is sent, cursor.c how much a cursor fetches.
 * fetch.c sends and reads, received.c has the rows.  lookups.c has the rows for
 * many values of the parameters.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/settings.h"
#include "rewrite/zone_values.h"
#include "scan/scan.h"
#include "scan/scan_state.h"
#include "session/batch.h"
#include "session/facts.h"
#include "xact/transaction.h"

/* Bytes of a direct result that is kept in case the scan starts again */
#define KEPT_BYTES (64 * 1024)

/* The scans of all queries that have parameters */
static dlist_head parameterized = DLIST_STATIC_INIT(parameterized);

/* The scan of a query by a plan with parameters; NULL if it has not begun. */
RemoteScanState *
scan_find(const EState *estate, const Plan *plan)
{
	dlist_iter	iter;

	dlist_foreach(iter, &parameterized)
	{
		RemoteScanState *scan = dlist_container(RemoteScanState, parameterized,
												iter.cur);

		if (scan->node->ss.ps.state == estate && scan->node->ss.ps.plan == plan)
			return scan;
	}
	return NULL;
}

/*
 * Frees the results of libpq.  Called when the query's memory is freed, which
 * has the list of them.
 */
static void
scan_clear(void *arg)
{
	RemoteScanState *scan = arg;

	received_clear(scan->own.rows);
	if (scan->lookups != NULL)
		lookups_clear(scan);
	if (scan->params != NULL)
		dlist_delete(&scan->parameterized);
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
	{
		rel = node->ss.ss_currentRelation;
		facts_note_wanted(scan->session, rte->relid);
	}
	scan->reader = rows_reader_for_scan(node, rel, scan->plan.attrs,
										scan->session->remote.same_encoding);
	scan->reader->ctid = (CtidColumn)
	{
		.attno = scan->plan.target.attno,.estate = estate,
			.rtindex = scan->plan.target.rtindex,
			.is_used = scan->plan.target.uses_ctid
	};
	scan->states = states_read(scan->plan.states);
	scan->params = rows_params(&node->ss.ps, zone_values_fix(plan->fdw_exprs));
	scan->may_prefetch = method_may_prefetch(node, &scan->plan, scan->session);
	scan->locks_rows = !method_is_free(node, &scan->plan);
	scan->demand = method_demand(node, &scan->plan);
	scan->begun_in = GetCurrentSubTransactionId();
	scan->keeps_rows = (eflags & EXEC_FLAG_REWIND) != 0;

	scan->own.scan = scan;
	scan->own.rows = received_create(estate->es_query_cxt,
									 CurrentResourceOwner);
	scan->row_context = AllocSetContextCreate(estate->es_query_cxt,
											  "tollfree_postgres_fdw tuple",
											  ALLOCSET_SMALL_SIZES);
	scan->clear.func = scan_clear;
	scan->clear.arg = scan;
	scan->node = node;
	if (scan->params != NULL)
		dlist_push_head(&parameterized, &scan->parameterized);
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &scan->clear);
	node->fdw_state = scan;
}

/* Sends the scan's own query, with the parameters' present values. */
static void
scan_send_query(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	RemoteCommand command = {.shown = scan->plan.command.shown};
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	FetchMethod method;

	if (scan->sql == NULL)
		method_write_query(scan);
	method = method_choose(scan);
	command.sql = scan->sql;
	settings_require(REQUIRE_DIRECT, method != FETCH_CURSOR);
	if (scan->params != NULL)
	{
		rows_write_params(scan->params, econtext);
		command.nparams = scan->params->count;
		command.params = scan->params->values;
		command.types = scan->plan.command.types;
	}
	command.hints.is_cacheable = method == FETCH_DIRECT &&
		scan->plan.command.is_cacheable;
	command.hints.in_pieces = method != FETCH_CURSOR;
	MemoryContextSwitchTo(old);
	if (method != FETCH_CURSOR)
		command.hints.sole_relids = autocommit_relations(node, &scan->plan);
	fetch_start(&scan->own, method, &command);
}

/*
 * May and can a scan below a MergeAppend send its query before it is executed?
 * Under a statement_timeout its answer could have to wait for too long.
 */
static bool
can_start_early(const RemoteScanState *scan)
{
	return scan->own.phase == SCAN_IDLE && scan->params == NULL &&
		scan->may_prefetch &&
		fastpath_is_on(scan->plan.fast_paths, FAST_READ_AHEAD) &&
		!batch_is_in_flight(scan->session) && scan_may_wait(scan);
}

/* Has the other inputs of the MergeAppend above a scan send their queries, too. */
static void
start_merge_members(const ForeignScanState *node)
{
	List	   *members = merge_find_members(node);
	ListCell   *cell;

	foreach(cell, members)
	{
		ForeignScanState *member = lfirst(cell);

		if (can_start_early(member->fdw_state))
			scan_send_more(member);
	}
	list_free(members);
}

/*
 * Sends the query, unless it was sent as that of a member of a MergeAppend;
 * receives the whole result of a direct one that does not become a stream.  If its
 * rows exceed work_mem all of them are put into the store, the last ones too.
 */
static void
scan_execute(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;

	usage_start(scan->session, &scan->usage);
	if (scan->own.phase == SCAN_IDLE)
	{
		scan_send_query(node);
		if (scan->plan.is_sorted_member && scan->may_prefetch &&
			fastpath_is_on(scan->plan.fast_paths, FAST_READ_AHEAD))
			start_merge_members(node);
	}
	if (scan->own.method == FETCH_DIRECT)
		fetch_direct(&scan->own);
	if (received_has_store(scan->own.rows))
		fetch_spill(&scan->own, false);
	usage_stop(scan->session, &scan->usage);
}

/* Is there nothing to be returned before the query, or its answer, is? */
static bool
needs_execution(const RemoteScanState *scan)
{
	return scan->own.phase == SCAN_IDLE ||
		(scan->own.method == FETCH_DIRECT && answer_is_in_flight(&scan->own));
}

/* Receives more rows of a stream or a cursor; false if there are none. */
static bool
receive_more(RemoteScanState *scan)
{
	bool		found;

	usage_start(scan->session, &scan->usage);
	found = fetch_more(&scan->own);
	usage_stop(scan->session, &scan->usage);
	return found;
}

/* May a query write to anything but a local table? */
static bool
writes_elsewhere(EState *estate)
{
	for (Index rtindex = 1; rtindex <= estate->es_range_table_size; rtindex++)
	{
		if (compat_is_target(estate->es_plannedstmt, rtindex) &&
			exec_rt_fetch(rtindex, estate)->relkind != RELKIND_RELATION)
			return true;
	}
	return false;
}

/*
 * Frees the rows of a direct result once all of them have been returned: below an
 * Append many scans end one after the other.  Few rows are kept, and so are those of
 * a scan that may start again.  Should another one start again, it sends its query
 * once more.  If the query writes to foreign tables, that would show what it has
 * written, so it keeps all rows.
 */
static void
release_returned_rows(RemoteScanState *scan)
{
	if (scan->own.phase != SCAN_DONE || scan->keeps_rows ||
		(!received_has_store(scan->own.rows) &&
		 received_bytes(scan->own.rows) <= KEPT_BYTES) ||
		writes_elsewhere(scan->node->ss.ps.state))
		return;
	received_release(scan->own.rows);
}

/*
 * The next row, or an empty slot after the last one.  An asynchronous scan
 * does not wait: it returns an empty slot after the last row that has been
 * received.
 */
TupleTableSlot *
tollfreeIterateForeignScan(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	ReceivedRows *rows = scan->own.rows;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	bool		waits = !node->ss.ps.async_capable;
	ReceivedRow row;

	if (scan->lookups != NULL && lookups_answer(scan) != NULL)
		return lookups_next(scan, slot);
	if (waits && needs_execution(scan))
		scan_execute(node);
	while ((row = received_next(rows)).res == NULL)
	{
		ExecClearTuple(slot);
		if (scan->own.method == FETCH_DIRECT)
		{
			release_returned_rows(scan);
			return slot;
		}
		received_drop_store(rows);
		if (!waits || !receive_more(scan))
			return slot;
	}
	fetch_convert(scan, row, slot);
	return slot;
}

/*
 * Sends the query, or the next batch of FETCHes, without waiting, once all received
 * rows have been returned.  Some may be left: another use of the session may have
 * drained this scan.  Waits in a subtransaction other than the one that the scan
 * began in: rolling that back would lose what is in flight.
 */
void
scan_send_more(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	ScanAnswer *answer = lookups_or_own_answer(scan);

	if (received_has_row(answer->rows))
		return;
	usage_start(scan->session, &scan->usage);
	if (answer->phase == SCAN_IDLE)
		scan_send_query(node);
	else if (answer->method != FETCH_DIRECT)
	{
		received_forget(answer->rows);
		fetch_send_more(answer);
	}
	if (scan_may_outlive_batch(scan))
		fetch_drain(answer);
	usage_stop(scan->session, &scan->usage);
}

/* Ends the execution of the scan's own query, so that it can be sent again. */
static void
scan_discard(RemoteScanState *scan)
{
	fetch_discard(&scan->own);
	cursor_close(scan);
}

/*
 * Starts again.  Sends the query again only if its parameters change or rows have
 * been freed.
 *
 * A direct result may still be in flight under an asynchronous Append, with
 * some of its rows in the store: then all of it is read first.  What a cursor
 * has in flight comes behind the received rows, as before.
 */
void
tollfreeReScanForeignScan(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	ScanAnswer *own = &scan->own;
	bool		changes = node->ss.ps.chgParam != NULL;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (scan->lookups != NULL && lookups_answer(scan) != NULL)
	{
		lookups_rescan(scan);
		return;
	}
	received_rewind(own->rows);
	scan->keeps_rows |= !changes;
	if (!changes && own->method == FETCH_DIRECT)
		fetch_drain(own);
	if (changes || received_has_lost_rows(own->rows))
		scan_discard(scan);
	else
		received_rewind_store(own->rows);
}

/* Ends a scan. */
void
tollfreeEndForeignScan(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;

	if (scan == NULL)
		return;
	scan_discard(scan);
	if (scan->lookups != NULL)
		lookups_end(scan);
}

/* The method that EXPLAIN shows: of the last execution, or else the expected one. */
static FetchMethod
shown_method(const ForeignScanState *node, const ScanPlan *plan)
{
	RemoteScanState *scan = node->fdw_state;

	if (scan != NULL && lookups_or_own_answer(scan)->phase != SCAN_IDLE)
		return lookups_or_own_answer(scan)->method;
	return method_expect(node, plan, scan != NULL ? scan->session : NULL);
}

/*
 * Shows in EXPLAIN how rows are requested, and what executing that took.  looks_up
 * says whether the plan has rows looked up in batches; an execution knows better.
 */
void
scan_explain(ForeignScanState *node, bool looks_up, ExplainState *es)
{
	RemoteScanState *scan = node->fdw_state;
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	ScanPlan	remote = plan_read_scan(plan->fdw_private);
	static const char *const names[] = {"direct", "streamed", "cursor"};
	FetchMethod method;
	int64		limit;

	if (!es->verbose)
		return;
	if (es->analyze && scan != NULL ? lookups_were_sent(scan) : looks_up)
		ExplainPropertyText("Lookups", "in batches", es);
	method = shown_method(node, &remote);
	ExplainPropertyText("Fetch Method", names[method], es);
	limit = scan != NULL ? scan->demand.limit : method_demand(node, &remote).limit;
	if (limit > 0)
		ExplainPropertyInteger("Remote Limit", NULL, limit, es);
	if (method != FETCH_CURSOR && autocommit_suits_plan(node, &remote))
		ExplainPropertyText("Autocommit", "possible", es);
	if (!es->analyze || scan == NULL)
		return;
	usage_explain(&scan->usage, es);
	if (method == FETCH_CURSOR)
		cursor_explain(scan, es);
}
