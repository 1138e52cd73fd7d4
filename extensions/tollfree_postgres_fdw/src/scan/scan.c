/*
 * scan.c
 *	  Scans of foreign tables, joins and aggregates.
 *
 * method.c chooses how a scan asks for its rows, cursor.c what a cursor asks
 * for.  fetch.c receives the rows.
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
#include "scan/scan.h"
#include "scan/scan_state.h"
#include "session/questions.h"
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
clear_scan(void *arg)
{
	RemoteScanState *scan = arg;

	fetch_clear(scan);
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
	scan->usage = palloc0(sizeof(SessionUsage));
	scan->plan = plan_read_scan(plan->fdw_private);
	rte = exec_rt_fetch(compat_scan_rtindex(plan), estate);
	user = compat_scan_user(plan, rte);
	scan->session = transaction_get_session(user,
											GetForeignServerIdByRelId(rte->relid));

	if (plan->scan.scanrelid > 0)
	{
		rel = node->ss.ss_currentRelation;
		questions_note_wanted(scan->session, rte->relid);
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
	scan->params = rows_params(&node->ss.ps, plan->fdw_exprs);
	scan->may_prefetch = method_may_prefetch(node, &scan->plan, scan->session);
	scan->locks_rows = !method_is_free(node, &scan->plan);
	scan->demand = method_demand(node, &scan->plan);
	scan->begun_in = GetCurrentSubTransactionId();
	scan->keeps_rows = (eflags & EXEC_FLAG_REWIND) != 0;

	scan->work_mem = work_mem;
	scan->owner = CurrentResourceOwner;
	scan->row_context = AllocSetContextCreate(estate->es_query_cxt,
											  "tollfree_postgres_fdw tuple",
											  ALLOCSET_SMALL_SIZES);
	scan->clear.func = clear_scan;
	scan->clear.arg = scan;
	scan->node = node;
	if (scan->params != NULL)
		dlist_push_head(&parameterized, &scan->parameterized);
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &scan->clear);
	node->fdw_state = scan;
}

/* Puts the parameters' present values, or those of many keys, into a command. */
static void
set_params(RemoteScanState *scan, ExprContext *econtext,
		   RemoteCommand *command)
{
	if (scan->batch != NULL)
	{
		command->sql = command->shown = scan->batch->sql;
		command->nparams = scan->batch->nparams;
		command->params = scan->batch->params;
	}
	else if (scan->params != NULL)
	{
		rows_write_params(scan->params, econtext);
		command->nparams = scan->params->count;
		command->params = scan->params->values;
		command->types = scan->plan.command.types;
	}
}

/* Sends the query, with the parameters' present values. */
static void
send_query(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	RemoteCommand command = {.shown = scan->plan.command.shown};
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

	scan->method = scan->batch != NULL ? FETCH_DIRECT : method_choose(node, scan);
	command.sql = scan->sql;
	settings_require(REQUIRE_DIRECT, scan->method != FETCH_CURSOR);
	set_params(scan, econtext, &command);
	command.hints.is_cacheable = scan->method == FETCH_DIRECT &&
		scan->plan.command.is_cacheable;
	command.hints.in_pieces = scan->method != FETCH_CURSOR;
	MemoryContextSwitchTo(old);
	if (scan->method != FETCH_CURSOR && scan->batch == NULL)
		command.hints.sole_relids = autocommit_relations(node, &scan->plan);
	scan->query = command;
	if (scan->method == FETCH_CURSOR)
		cursor_open(scan, &command);
	else
		fetch_send(scan, &scan->query, 1);
}

/*
 * Sends the query, unless merge.c has sent it; receives the whole result if it
 * is asked for directly, and does not go on as a stream.  If its rows exceed
 * work_mem all of them go into the store, the last ones too.
 */
static void
execute_and_wait(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;

	usage_start(scan->session, scan->usage);
	if (scan->phase == SCAN_IDLE)
	{
		send_query(node);
		if (scan->plan.is_sorted_member && scan->may_prefetch &&
			fastpath_is_on(scan->plan.fast_paths, FAST_READ_AHEAD))
			merge_start_others(node);
	}
	if (scan->method == FETCH_DIRECT)
		fetch_direct(scan);
	if (scan->store != NULL)
		fetch_spill(scan);
	usage_stop(scan->session, scan->usage);
}

/* Is there nothing to be returned before the query, or its answer, is? */
static bool
needs_execution(const RemoteScanState *scan)
{
	return scan->phase == SCAN_IDLE ||
		(scan->method == FETCH_DIRECT && scan_is_in_flight(scan));
}

/* Receives more rows of a stream or a cursor; false if there are none. */
static bool
fetch_more(RemoteScanState *scan)
{
	bool		found;

	usage_start(scan->session, scan->usage);
	found = cursor_more(scan);
	usage_stop(scan->session, scan->usage);
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
 * a scan that may start again.  Should another one start again, the remote server
 * is asked once more.  If the query writes to foreign tables, that would show what
 * it has written, so it keeps all rows.
 */
static void
let_go(RemoteScanState *scan)
{
	if (scan->phase != SCAN_DONE || scan->keeps_rows ||
		(scan->store == NULL && scan->result_bytes <= KEPT_BYTES) ||
		writes_elsewhere(scan->node->ss.ps.state))
		return;
	cursor_forget_rows(scan);
	fetch_drop_store(scan);
	scan->dropped = true;
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
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	bool		waits = !node->ss.ps.async_capable;

	if (scan->batch != NULL)
		return lookups_next(scan, slot);
	if (waits && needs_execution(scan))
		execute_and_wait(node);
	do
	{
		if (scan->store != NULL && fetch_next_stored(scan, slot))
			return slot;
		fetch_next_row(scan, slot);
		if (!TupIsNull(slot))
			return slot;
		if (scan->method == FETCH_DIRECT)
		{
			let_go(scan);
			return slot;
		}
		fetch_drop_store(scan);
	} while (waits && fetch_more(scan));
	return slot;
}

/*
 * Asks for more rows, without waiting, once all received ones have been
 * returned.  Some may be left: another use of the session may have drained
 * this scan.  Waits in a subtransaction other than the one that the scan began
 * in: rolling that back would lose what is in flight.
 */
void
scan_send_more(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;

	if (fetch_has_row(scan))
		return;
	usage_start(scan->session, scan->usage);
	if (scan->phase == SCAN_IDLE)
		send_query(node);
	else if (scan->method != FETCH_DIRECT)
	{
		cursor_forget_rows(scan);
		cursor_send_more(scan);
	}
	if (scan_may_outlive_batch(scan))
		fetch_drain(scan);
	usage_stop(scan->session, scan->usage);
}

/*
 * Forgets all rows, and the cursor.  What is in flight is read first, since
 * the session must not drain into a scan that has ended.
 */
static void
discard(RemoteScanState *scan)
{
	while (scan->session->pending.drain.arg == scan && fetch_read(scan))
		fetch_clear(scan);
	cursor_close(scan);
	fetch_drop_store(scan);
	fetch_clear(scan);
	scan->phase = SCAN_IDLE;
	scan->dropped = false;
}

/* Frees the results of a twin, when the query's memory is freed. */
static void
clear_twin(void *arg)
{
	fetch_clear(arg);
}

/*
 * Makes a second state of a scan, in this context, which lasts as long as the
 * query.  It asks for a batch of keys while the rows of another one are used.
 */
RemoteScanState *
scan_make_twin(RemoteScanState *scan)
{
	RemoteScanState *twin = palloc(sizeof(RemoteScanState));

	Assert(scan->phase == SCAN_IDLE && scan->twin == NULL);
	*twin = *scan;
	twin->row_context = AllocSetContextCreate(CurrentMemoryContext,
											  "tollfree_postgres_fdw tuple",
											  ALLOCSET_SMALL_SIZES);
	twin->clear.func = clear_twin;
	twin->clear.arg = twin;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &twin->clear);
	twin->twin = scan;
	scan->twin = twin;
	return twin;
}

/*
 * Asks for the rows of a batch of keys, which must last as long as they are
 * used; NULL if there is no key.  The scan goes on returning what it does.
 */
void
scan_look_up(RemoteScanState *scan, KeyBatch *batch)
{
	ForeignScanState *node = unconstify(ForeignScanState *, scan->node);
	RemoteScanState *used = node->fdw_state;

	discard(scan);
	scan->batch = batch;
	if (batch == NULL)
		return;
	batch->key = batch->reached = 0;
	batch->stored = NULL;
	scan->looks_up = scan->twin->looks_up = true;
	node->fdw_state = scan;
	usage_start(scan->session, scan->usage);
	send_query(node);
	usage_stop(scan->session, scan->usage);
	node->fdw_state = used;
}

/* Waits for the rows of a batch of keys, and has the scan return these. */
void
scan_use_lookup(RemoteScanState *scan)
{
	ForeignScanState *node = unconstify(ForeignScanState *, scan->node);

	node->fdw_state = scan;
	scan->reader->nextra = scan->batch != NULL ? 1 : 0;
	if (scan->batch != NULL)
		execute_and_wait(node);
}

/* Has the scan ask for its parameters again. */
void
scan_end_lookups(RemoteScanState *scan)
{
	scan_look_up(scan, NULL);
	if (scan->twin != NULL)
		scan_look_up(scan->twin, NULL);
	scan_use_lookup(scan);
}

/*
 * Starts again.  Asks the remote server again only if its parameters change or
 * rows have been dropped.
 *
 * A direct result may still be in flight under an asynchronous Append, with
 * some of its rows in the store: then all of it is read first.  What a cursor
 * has in flight comes behind the received rows, as before.
 */
void
tollfreeReScanForeignScan(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	bool		changes = node->ss.ps.chgParam != NULL;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (scan->batch != NULL)
	{
		scan->batch->is_at_key = false;
		return;
	}
	scan->result = scan->row = 0;
	scan->keeps_rows |= !changes;
	if (!changes && scan->method == FETCH_DIRECT)
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

	if (scan == NULL)
		return;
	discard(scan);
	if (scan->twin != NULL)
		discard(scan->twin);
}

/*
 * Shows in EXPLAIN how rows are asked for, and what executing that took.  looks_up
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
	if (es->analyze && scan != NULL ? scan->looks_up : looks_up)
		ExplainPropertyText("Lookups", "in batches", es);
	method = method_explain(node, &remote);
	ExplainPropertyText("Fetch Method", names[method], es);
	limit = scan != NULL ? scan->demand.limit : method_demand(node, &remote).limit;
	if (limit > 0)
		ExplainPropertyInteger("Remote Limit", NULL, limit, es);
	if (method != FETCH_CURSOR && autocommit_suits_plan(node, &remote))
		ExplainPropertyText("Autocommit", "possible", es);
	if (!es->analyze || scan == NULL)
		return;
	usage_explain(scan->usage, es);
	if (method != FETCH_CURSOR)
		return;
	ExplainPropertyInteger("Fetches Ahead", NULL, scan->fetches_ahead, es);
	ExplainPropertyInteger("Binary Fetches", NULL, scan->fetches_binary, es);
}
