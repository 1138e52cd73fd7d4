/*
 * scan.c
 *	  Scans of foreign tables, joins and aggregates.
 *
 * A result that is expected to be small is asked for directly: one flight,
 * with START TRANSACTION if need be, brings all of it.  Should it turn out
 * larger than work_mem, it goes into a tuplestore as it arrives.  Other
 * results come through a cursor, whose DECLARE and first FETCH share a flight;
 * a consumer that stops early has not fetched the rest, and how many rows the
 * next FETCH asks for follows from the size of those before.  A cursor is also used
 * where the remote rows are locked or updated by ctid: a direct result would
 * lock far ahead of the consumer, and a tuplestore does not keep the ctid.
 *
 * Rows stay in libpq's results and are converted one at a time, when asked
 * for.  The results belong to the executor's query context.
 *
 * Asynchronous execution: a request is answered at once, so nothing is ever
 * pending.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/execAsync.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "cache.h"
#include "callbacks.h"
#include "guc.h"
#include "plan.h"
#include "rows.h"

/* The largest result that is asked for directly, and that one FETCH brings */
#define RESULT_BYTES (1024 * 1024)

/* The same while nothing is known about the table */
#define UNKNOWN_ROWS 100

#define FETCH_ROWS_MAX 10000

typedef struct RemoteScanState
{
	ScanPlan	plan;
	Session    *session;
	RowReader  *reader;
	ParamWriter *params;		/* NULL if there are none */
	bool		is_direct;
	bool		is_executed;	/* since it began or was last reset */
	SessionUsage usage;

	List	   *results;		/* of PGresult, in query_context */
	Size		result_bytes;
	int			result;			/* position: result in the list, row in it */
	int			row;
	MemoryContext query_context;
	MemoryContext row_context;	/* of the tuple last returned */
	MemoryContextCallback clear;

	Tuplestorestate *store;		/* of a large direct result, else NULL */
	TupleTableSlot *store_slot;

	uint32		cursor;			/* 0 if none is open */
	uint32		aborts;			/* the session's when it was opened */
	int			fetch_rows;		/* that the next FETCH asks for */
	bool		fetches_ahead;	/* may that be more than fetch_size? */
	int			fetches;
	bool		at_end;			/* has the last row been received? */
} RemoteScanState;

/* Forgets all rows. */
static void
clear_results(void *arg)
{
	RemoteScanState *scan = arg;
	ListCell   *cell;

	foreach(cell, scan->results)
		PQclear(lfirst(cell));
	scan->results = NIL;
	scan->result_bytes = 0;
	scan->result = scan->row = 0;
}

/* Keeps a result, which the scan owns from here on. */
static void
keep_result(RemoteScanState *scan, PGresult *res)
{
	MemoryContext old = MemoryContextSwitchTo(scan->query_context);

	scan->results = lappend(scan->results, res);
	scan->result_bytes += PQresultMemorySize(res);
	MemoryContextSwitchTo(old);
}

/* Does the query lock rows? */
static bool
locks_rows(EState *estate)
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

/* Should the result be asked for directly? */
static bool
is_direct(ForeignScanState *node, const ScanPlan *scan)
{
	const Plan *plan = node->ss.ps.plan;
	Relation	rel = node->ss.ss_currentRelation;
	bool		is_known = rel == NULL || rel->rd_rel->reltuples >= 0;

	return setting_direct_results &&
		!list_member_int(scan->attrs, SelfItemPointerAttributeNumber) &&
		!locks_rows(node->ss.ps.state) &&
		plan->plan_rows * Max(plan->plan_width, 1) <= RESULT_BYTES &&
		(is_known || plan->plan_rows <= UNKNOWN_ROWS);
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
	scan->session = cache_get_session(GetUserMapping(user,
													 GetForeignTable(rte->relid)->serverid));

	if (plan->scan.scanrelid > 0)
		rel = node->ss.ss_currentRelation;
	scan->reader = rows_reader_for_scan(node, rel, scan->plan.attrs);
	scan->params = rows_params(&node->ss.ps, plan->fdw_exprs);
	scan->is_direct = is_direct(node, &scan->plan);
	settings_require(REQUIRE_DIRECT, scan->is_direct);
	scan->fetch_rows = scan->plan.fetch_size;
	scan->fetches_ahead = !scan->reader->has_ctid && !locks_rows(estate);

	scan->query_context = estate->es_query_cxt;
	scan->row_context = AllocSetContextCreate(estate->es_query_cxt,
											  "tollfree_postgres_fdw tuple",
											  ALLOCSET_SMALL_SIZES);
	scan->clear.func = clear_results;
	scan->clear.arg = scan;
	MemoryContextRegisterResetCallback(scan->query_context, &scan->clear);
	node->fdw_state = scan;
}

/*
 * Puts the next row that is at hand into the slot, or clears it if there is
 * none.
 */
static void
next_row(RemoteScanState *scan, TupleTableSlot *slot)
{
	while (scan->result < list_length(scan->results))
	{
		PGresult   *res = list_nth(scan->results, scan->result);
		MemoryContext old;

		if (scan->row < PQntuples(res))
		{
			MemoryContextReset(scan->row_context);
			old = MemoryContextSwitchTo(scan->row_context);
			ExecStoreHeapTuple(rows_read(scan->reader, res, scan->row++),
							   slot, false);
			MemoryContextSwitchTo(old);
			return;
		}
		scan->result++;
		scan->row = 0;
	}
	ExecClearTuple(slot);
}

/* Moves the rows at hand into the tuplestore, which is made if need be. */
static void
spill(RemoteScanState *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->query_context);

	if (scan->store == NULL)
	{
		scan->store = tuplestore_begin_heap(true, false, work_mem);
		scan->store_slot = MakeSingleTupleTableSlot(scan->reader->tupdesc,
													&TTSOpsMinimalTuple);
	}
	MemoryContextSwitchTo(scan->row_context);
	for (int i = 0; i < list_length(scan->results); i++)
	{
		PGresult   *res = list_nth(scan->results, i);

		for (int row = 0; row < PQntuples(res); row++)
		{
			MemoryContextReset(scan->row_context);
			tuplestore_puttuple(scan->store,
								rows_read(scan->reader, res, row));
		}
	}
	MemoryContextSwitchTo(old);
	clear_results(scan);
}

/*
 * Reads one more result of a direct scan; false after the last.  Part of a
 * result must not be taken for all of it, whatever has become of the flight.
 */
static bool
read_result(RemoteScanState *scan)
{
	Session    *session = scan->session;
	PGresult   *res;

	if (scan->at_end)
		return false;
	if (!session_is_flying(session) &&
		PQstatus(session->conn) == CONNECTION_OK)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the result of a foreign scan was discarded while it was read")));
	res = session_result(session);
	if (res == NULL && PQstatus(session->conn) == CONNECTION_OK)
	{
		scan->at_end = true;
		return false;
	}
	if (!compat_has_rows(res))
		session_report(session, ERROR, res, scan->plan.sql);
	keep_result(scan, res);
	return true;
}

/*
 * Reads all that is left, so that the session can be used for something else.
 * This happens if a type's input function does that.
 */
static void
absorb(void *arg)
{
	RemoteScanState *scan = arg;

	scan->session->absorb = NULL;
	while (read_result(scan))
		;
	session_finish(scan->session);
}

/* Asks for the whole result, and reads it. */
static void
execute_direct(RemoteScanState *scan, const RemoteCommand *command)
{
	Session    *session = scan->session;

	session_send(session, command, 1, true);
	scan->at_end = false;
	session->absorb = absorb;
	session->absorb_arg = scan;
	while (read_result(scan))
	{
		if (scan->result_bytes > (Size) work_mem * 1024)
			spill(scan);
	}
	session->absorb = NULL;
	session_finish(session);
	if (scan->store != NULL)
		spill(scan);
}

/*
 * Takes the rows of a FETCH.  The first brought fetch_size of them, and showed
 * how large they are: the next ones bring what fits.
 */
static void
take_fetch(RemoteScanState *scan, PGresult *res)
{
	int			nrows = PQntuples(res);

	clear_results(scan);
	keep_result(scan, res);
	scan->fetches++;
	scan->at_end = nrows < scan->fetch_rows;
	if (scan->fetches_ahead && nrows > 0)
	{
		Size		fitting = RESULT_BYTES / (scan->result_bytes / nrows + 1);

		scan->fetch_rows = Max(1, Min(fitting, FETCH_ROWS_MAX));
	}
}

/* Opens a cursor and fetches from it, in one flight. */
static void
open_cursor(RemoteScanState *scan, RemoteCommand *declare)
{
	uint32		cursor = ++scan->session->cursors;
	char		fetch[64];
	RemoteCommand commands[2] = {*declare};

	snprintf(fetch, sizeof(fetch), "FETCH %d FROM c%u", scan->fetch_rows, cursor);
	commands[0].sql = psprintf("DECLARE c%u CURSOR FOR\n%s", cursor,
							   scan->plan.sql);
	commands[1] = (RemoteCommand)
	{
		.sql = fetch,.shown = scan->plan.sql
	};
	scan->aborts = scan->session->aborts;
	scan->fetches = 0;
	take_fetch(scan, session_execute(scan->session, commands, 2, true));
	scan->cursor = cursor;
}

/* Fetches more. */
static void
fetch_more(RemoteScanState *scan)
{
	char		fetch[64];
	RemoteCommand command = {.sql = fetch,.shown = scan->plan.sql};

	snprintf(fetch, sizeof(fetch), "FETCH %d FROM c%u", scan->fetch_rows,
			 scan->cursor);
	session_start_usage(scan->session, &scan->usage);
	take_fetch(scan, session_execute(scan->session, &command, 1, true));
	session_stop_usage(scan->session, &scan->usage);
}

/* Sends the query, with the parameters' present values. */
static void
execute(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	RemoteCommand command = {.sql = scan->plan.sql,.shown = scan->plan.sql};
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

	if (scan->params != NULL)
	{
		rows_write_params(scan->params, econtext);
		command.nparams = scan->params->count;
		command.params = scan->params->values;
	}
	command.is_cacheable = command.in_pieces = scan->is_direct;
	session_start_usage(scan->session, &scan->usage);
	if (scan->is_direct)
		execute_direct(scan, &command);
	else
		open_cursor(scan, &command);
	session_stop_usage(scan->session, &scan->usage);
	MemoryContextSwitchTo(old);
	scan->is_executed = true;
}

/* The next row of the tuplestore, or an empty slot. */
static TupleTableSlot *
next_stored(RemoteScanState *scan, TupleTableSlot *slot)
{
	/* The slot frees what it holds later than the executor's short memory. */
	MemoryContext old = MemoryContextSwitchTo(scan->query_context);
	bool		found = tuplestore_gettupleslot(scan->store, true, false,
												scan->store_slot);

	MemoryContextSwitchTo(old);
	return found ? ExecCopySlot(slot, scan->store_slot) : ExecClearTuple(slot);
}

/* The next row, or an empty slot after the last one. */
TupleTableSlot *
tollfreeIterateForeignScan(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	if (!scan->is_executed)
		execute(node);
	if (scan->store != NULL)
		return next_stored(scan, slot);
	next_row(scan, slot);
	if (TupIsNull(slot) && !scan->is_direct && !scan->at_end)
	{
		fetch_more(scan);
		next_row(scan, slot);
	}
	return slot;
}

/* Closes the cursor, if it is still there, and forgets the rows. */
static void
discard(RemoteScanState *scan)
{
	if (scan->cursor != 0 && scan->session->conn != NULL &&
		scan->session->aborts == scan->aborts)
		session_close_later(scan->session, scan->cursor);
	scan->cursor = 0;
	if (scan->store != NULL)
	{
		tuplestore_end(scan->store);
		ExecDropSingleTupleTableSlot(scan->store_slot);
	}
	scan->store = NULL;
	clear_results(scan);
	scan->is_executed = false;
}

/* Starts again; asks the remote server again only if the rows are not here. */
void
tollfreeReScanForeignScan(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (node->ss.ps.chgParam != NULL ||
		(!scan->is_direct && scan->fetches > 1))
		discard(scan);
	else if (scan->store != NULL)
		tuplestore_rescan(scan->store);
	scan->result = scan->row = 0;
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

	if (!es->verbose)
		return;
	ExplainPropertyText("Fetch Method",
						is_direct(node, &remote) ? "direct" : "cursor", es);
	if (es->analyze && scan != NULL)
		session_explain_usage(&scan->usage, es);
}

/* Answers a request at once. */
void
tollfreeForeignAsyncRequest(AsyncRequest *areq)
{
	ExecAsyncRequestDone(areq,
						 areq->requestee->ExecProcNodeReal(areq->requestee));
}

/* No request is ever pending. */
void
tollfreeForeignAsyncConfigureWait(AsyncRequest *areq)
{
	elog(ERROR, "unexpected asynchronous wait for a foreign scan");
}

/* No request is ever pending. */
void
tollfreeForeignAsyncNotify(AsyncRequest *areq)
{
	elog(ERROR, "unexpected asynchronous event of a foreign scan");
}
