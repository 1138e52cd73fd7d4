/*
 * scan.c
 *	  Scans of foreign tables, joins and aggregates.
 *
 * A result that is expected to be small is asked for directly: one round trip,
 * with START TRANSACTION if need be, brings all of it.  Should it turn out
 * larger than work_mem, it goes into a store (rowstore.c) as it arrives.
 *
 * A result of any size that will be read to its end (reading.c) is asked for in
 * the same way, but streamed: its rows are read as they are used, SCAN_BYTES at
 * a time, and the rest waits in the socket, and the remote server with it.
 *
 * Other results come through a cursor (cursor.c), so that a consumer that stops
 * early has not had the rest sent.  A cursor is also used where the remote rows
 * are locked or updated by ctid: a direct result would lock far ahead of the
 * consumer.
 *
 * Rows stay as they were received, in libpq's results or in the store, and are
 * converted one at a time, when the scan's own node is asked for them: that may
 * run anybody's code, which must find the user and the settings that the query
 * has.  The results belong to the executor's query context.
 *
 * As long as an answer is in flight the session's absorb reads it to its end
 * before anything else is sent.  Nothing is read when a query is sent: a scan
 * that is executed asynchronously (async.c) goes on with others.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/xact.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/run.h"
#include "base/settings.h"
#include "scan/autocommit.h"
#include "scan/reading.h"
#include "scan/scan.h"
#include "scan/scan_state.h"
#include "session/error.h"
#include "session/results.h"
#include "session/session.h"
#include "session/state.h"
#include "session/usage.h"
#include "sql/command.h"
#include "sql/plan.h"
#include "wire/rows.h"
#include "wire/rowstore.h"
#include "xact/transaction.h"

/* The largest result that is asked for directly */
#define DIRECT_BYTES (1024 * 1024)

/* What is read together of a stream */
#define PIECE_BYTES (64 * 1024)

/* Forgets the rows at hand. */
void
scan_clear(RemoteScanState *scan)
{
	ListCell   *cell;

	foreach(cell, scan->results)
		PQclear(lfirst(cell));
	list_free(scan->results);
	scan->results = NIL;
	scan->result_bytes = 0;
	scan->result = scan->row = 0;
}

/* When the query's memory goes, which the list is part of. */
static void
clear_results(void *arg)
{
	scan_clear(arg);
}

/*
 * How many bytes the rows of a piece are in transmission, if all are like the
 * last one.  What they take here is several times as much if they are short.
 */
static Size
bytes_of_rows(const PGresult *res)
{
	Size		bytes = 0;

	for (int i = 0; i < PQnfields(res); i++)
		bytes += sizeof(int32) + PQgetlength(res, PQntuples(res) - 1, i);
	return bytes * PQntuples(res);
}

/* Keeps a result, which the scan owns from here on. */
static void
keep_result(RemoteScanState *scan, PGresult *res)
{
	MemoryContext old = MemoryContextSwitchTo(scan->query_context);
	Size		bytes = PQresultMemorySize(res);

	scan->results = lappend(scan->results, res);
	scan->result_bytes += bytes;
	scan->received += PQntuples(res);
	scan->batch_bytes += bytes_of_rows(res);
	MemoryContextSwitchTo(old);
}

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
static bool
is_free(const ForeignScanState *node, const ScanPlan *scan, const Session *session)
{
	return !locks_rows(node->ss.ps.state) &&
		!returns_locations(castNode(ForeignScan, node->ss.ps.plan),
						   scan->attrs) &&
		!(node->ss.ps.async_capable && session != NULL && session->remote.has_statement_timeout);
}

/* Is the result expected to be small enough to be read at once? */
static bool
is_small(const ScanPlan *scan)
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
	return !setting_binary_results ||
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
	if (!setting_direct_results)
		return FETCH_CURSOR;
	if (is_small(scan))
		return FETCH_WHOLE;
	return is_run_whole && reading == READS_ALL && can_stream(node, scan) ?
		FETCH_STREAM : FETCH_CURSOR;
}

/*
 * How the result is asked for now.  With a remote statement_timeout a stream
 * would have to be read within that.
 */
static FetchMethod
choose_method(const ForeignScanState *node, const RemoteScanState *scan)
{
	FetchMethod method;

	if (!scan->is_free)
		return FETCH_CURSOR;
	method = method_for(node, &scan->plan, scan->reading,
						run_is_whole(node->ss.ps.state));
	return method == FETCH_STREAM && scan->session->remote.has_statement_timeout ?
		FETCH_CURSOR : method;
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
	scan->is_free = is_free(node, &scan->plan, scan->session);
	scan->estate = estate;
	if (!is_small(&scan->plan))
		scan->reading = reading_of_scan(node);
	scan->begun_in = GetCurrentSubTransactionId();
	scan->fetch_rows = scan->plan.fetch_size;

	scan->work_mem = work_mem;
	scan->owner = CurrentResourceOwner;
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
			rows_store(scan->reader, res, scan->row++, slot);
			MemoryContextSwitchTo(old);
			return;
		}
		scan->result++;
		scan->row = 0;
	}
	ExecClearTuple(slot);
}

/* Forgets the store, if there is one. */
static void
drop_store(RemoteScanState *scan)
{
	if (scan->store != NULL)
		rowstore_free(scan->store);
	scan->store = NULL;
}

/*
 * Moves the rows at hand into the store, which is made if need be; its file must
 * last as long as the scan.
 */
static void
spill(RemoteScanState *scan)
{
	bool		has_ended = scan->store != NULL &&
		rowstore_has_ended(scan->store);

	scan->dropped |= has_ended || scan->result > 0 || scan->row > 0;
	if (has_ended)
		drop_store(scan);
	if (scan->store == NULL)
		scan->store = rowstore_create(scan->query_context, scan->owner,
									  scan->work_mem);
	for (; scan->result < list_length(scan->results); scan->result++)
	{
		PGresult   *res = list_nth(scan->results, scan->result);

		for (; scan->row < PQntuples(res); scan->row++)
			rowstore_put(scan->store, res, scan->row);
		scan->row = 0;
	}
	scan_clear(scan);
}

/* How many rows are read together: one while nobody knows how wide they are. */
static int
rows_in_piece(const RemoteScanState *scan)
{
	switch (scan->method)
	{
		case FETCH_WHOLE:
			return COMPAT_ROWS_IN_CHUNK;
		case FETCH_STREAM:
			return PIECE_BYTES / Max(scan->plan.width, 1);
		case FETCH_CURSOR:
			return scan->batches > 0 ? COMPAT_ROWS_IN_CHUNK : 1;
	}
	return 1;
}

/*
 * Reads the answers that come before the rows, which are to come in pieces.
 */
static void
begin_answer(RemoteScanState *scan)
{
	Session    *session = scan->session;
	void		(*absorb) (void *arg) = session->pending.drain;

	session_await_front(session);
	if (scan->declares)
		cursor_opened(scan);
	compat_set_row_mode(session->conn, rows_in_piece(scan));
	scan->unanswered = false;
	/* They are lost if the session was replaced. */
	session->pending.drain = absorb;
	session->pending.drain_arg = scan;
}

/*
 * Reads one more piece of the answers in flight, which may be empty; false, with
 * the batch over, if there is none.  A part must not be taken for the whole, whatever has
 * become of the batch.
 */
bool
scan_read(RemoteScanState *scan)
{
	Session    *session = scan->session;
	PGresult   *res;

	if (!scan->in_flight)
		return false;
	error_raise_kept(session);
	if (session->pending.drain_arg != scan)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the result of a foreign scan was discarded while it was read")));
	if (scan->unanswered)
		begin_answer(scan);
	res = session_result(session);
	if (res == NULL && PQstatus(session->conn) == CONNECTION_OK)
	{
		if (scan->method == FETCH_CURSOR && cursor_answered(scan))
		{
			compat_set_row_mode(session->conn, rows_in_piece(scan));
			return true;
		}
		scan->in_flight = false;
		session->pending.drain = NULL;
		session->pending.drain_arg = NULL;
		results_finish(session);
		if (scan->method == FETCH_CURSOR)
			cursor_received(scan);
		else
			scan->at_end = true;
		return false;
	}
	if (!compat_has_rows(res))
		results_report(session, ERROR, res, scan->plan.sql);
	/* The last piece is empty; kept, it would be taken for more bytes. */
	if (PQntuples(res) == 0)
		PQclear(res);
	else
		keep_result(scan, res);
	return true;
}

/*
 * Is the store the place for the rows at hand?  Not while one of them is being
 * converted.
 */
static bool
should_spill(const RemoteScanState *scan)
{
	return scan->result_bytes > (Size) scan->work_mem * 1024 &&
		!rows_is_converting(scan->reader);
}

/* The same; large results go into the store. */
static bool
read_or_spill(RemoteScanState *scan)
{
	if (!scan_read(scan))
		return false;
	if (should_spill(scan))
	{
		scan->dropped |= scan->method != FETCH_WHOLE;
		spill(scan);
	}
	return true;
}

/* Reads all that is in flight. */
void
scan_drain(RemoteScanState *scan)
{
	while (read_or_spill(scan))
		;
}

/*
 * The same before something else is sent, by whomever: no row is converted.
 */
static void
absorb(void *arg)
{
	scan_drain(arg);
}

/*
 * Sends commands that last as long as the scan, the first of which opens a cursor
 * if it declares one, and waits for nothing.
 */
void
scan_send(RemoteScanState *scan, const RemoteCommand *commands,
		  int ncommands, bool declares)
{
	Session    *session = scan->session;

	session_send_ahead(session, commands, ncommands, true);
	scan->in_flight = scan->unanswered = true;
	scan->at_end = false;
	scan->declares = declares;
	session->pending.drain = absorb;
	session->pending.drain_arg = scan;
	/* If rows come first it has to be said now how. */
	if (session->pending.ahead == NULL && !declares)
		begin_answer(scan);
}

/* Sends the query, with the parameters' present values. */
static void
execute(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	RemoteCommand command = {.sql = scan->plan.sql,.shown = scan->plan.sql};
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

	scan->method = choose_method(node, scan);
	settings_require(REQUIRE_DIRECT, scan->method != FETCH_CURSOR);
	if (scan->params != NULL)
	{
		rows_write_params(scan->params, econtext);
		command.nparams = scan->params->count;
		command.params = scan->params->values;
	}
	command.hints.is_cacheable = scan->method == FETCH_WHOLE;
	command.hints.in_pieces = scan->method != FETCH_CURSOR;
	command.hints.is_short = plan_is_short(castNode(ForeignScan, node->ss.ps.plan));
	MemoryContextSwitchTo(old);
	if (scan->method != FETCH_CURSOR)
		command.hints.sole_relids = autocommit_relations(node, scan->plan.attrs);
	scan->is_executed = true;
	scan->query = command;
	if (scan->method == FETCH_CURSOR)
		cursor_open(scan, &command);
	else
		scan_send(scan, &scan->query, 1, false);
}

/* The same, and waits for the result if it is asked for directly. */
static void
execute_and_wait(ForeignScanState *node)
{
	RemoteScanState *scan = node->fdw_state;

	usage_start(scan->session, &scan->usage);
	execute(node);
	if (scan->method == FETCH_WHOLE)
		scan_drain(scan);
	if (scan->store != NULL)
		spill(scan);
	usage_stop(scan->session, &scan->usage);
}

/* Puts the next row of the store into the slot; false after the last. */
static bool
next_stored(RemoteScanState *scan, TupleTableSlot *slot)
{
	PGresult   *res = rowstore_get(scan->store);
	MemoryContext old;

	if (res == NULL)
		return false;
	MemoryContextReset(scan->row_context);
	old = MemoryContextSwitchTo(scan->row_context);
	rows_store(scan->reader, res, 0, slot);
	MemoryContextSwitchTo(old);
	return true;
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

	if (!scan->is_executed && waits)
		execute_and_wait(node);
	do
	{
		if (scan->store != NULL && next_stored(scan, slot))
			return slot;
		next_row(scan, slot);
		if (!TupIsNull(slot) || scan->method == FETCH_WHOLE)
			return slot;
		drop_store(scan);
	} while (waits && fetch_more(scan));
	return slot;
}

/* Has the last row been received? */
bool
scan_is_done(const RemoteScanState *scan)
{
	return scan->is_executed && scan->at_end && !scan->in_flight;
}

/*
 * Takes what has arrived; true if there is enough of it, or nothing in flight,
 * false if it has to be waited for.
 */
bool
scan_receive(RemoteScanState *scan)
{
	while (scan->in_flight)
	{
		if (scan->method != FETCH_WHOLE && !scan->session->remote.has_statement_timeout &&
			scan->result_bytes >= SCAN_BYTES)
			return true;
		if (!results_are_ready(scan->session))
			return false;
		CHECK_FOR_INTERRUPTS();
		(void) read_or_spill(scan);
	}
	return true;
}

/* Is there a row at hand, beside those of the store? */
static bool
has_row(const RemoteScanState *scan)
{
	int			left = list_length(scan->results) - scan->result;

	return left > 1 || (left == 1 && scan->row < PQntuples(llast(scan->results)));
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

	if (has_row(scan))
		return;
	usage_start(scan->session, &scan->usage);
	if (!scan->is_executed)
		execute(node);
	else if (scan->method != FETCH_WHOLE)
	{
		cursor_forget_rows(scan);
		cursor_proceed(scan);
	}
	if (scan_may_outlive_batch(scan))
		scan_drain(scan);
	usage_stop(scan->session, &scan->usage);
}

/* The scan whose rows are in flight, or NULL. */
RemoteScanState *
scan_in_flight(const Session *session)
{
	return session->pending.drain == absorb ? session->pending.drain_arg : NULL;
}

/*
 * Forgets all rows, and the cursor.  What is in flight is read in any case,
 * since nobody must read into a scan that is gone.
 */
static void
discard(RemoteScanState *scan)
{
	while (scan->session->pending.drain_arg == scan && scan_read(scan))
		scan_clear(scan);
	scan->in_flight = false;
	cursor_close(scan);
	drop_store(scan);
	scan_clear(scan);
	scan->is_executed = scan->dropped = false;
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
		scan_drain(scan);
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

/* How the rows are asked for, or would be if all of them were. */
static FetchMethod
explained_method(const ForeignScanState *node, const ScanPlan *plan)
{
	const RemoteScanState *scan = node->fdw_state;

	if (scan != NULL && scan->is_executed)
		return scan->method;
	if (!is_free(node, plan, scan != NULL ? scan->session : NULL))
		return FETCH_CURSOR;
	return method_for(node, plan, reading_of_scan(node), true);
}

/* Shows how the rows are carried, and what that took. */
void
scan_explain(ForeignScanState *node, ExplainState *es)
{
	RemoteScanState *scan = node->fdw_state;
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	ScanPlan	remote = plan_read_scan(plan->fdw_private);
	static const char *const names[] = {"direct", "streamed", "cursor"};
	FetchMethod method = explained_method(node, &remote);

	if (!es->verbose)
		return;
	ExplainPropertyText("Fetch Method", names[method], es);
	if (method != FETCH_CURSOR && autocommit_suits_plan(node, remote.attrs))
		ExplainPropertyText("Autocommit", "possible", es);
	if (!es->analyze || scan == NULL)
		return;
	usage_explain(&scan->usage, es);
	if (method != FETCH_CURSOR)
		return;
	ExplainPropertyInteger("Fetches Ahead", NULL, scan->fetches_ahead, es);
	ExplainPropertyInteger("Binary Fetches", NULL, scan->fetches_binary, es);
}
