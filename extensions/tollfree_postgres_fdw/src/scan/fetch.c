/*
 * fetch.c
 *	  How the rows of a scan arrive, and where they wait.
 *
 * Rows stay as they were received, in libpq's results or in a store
 * (rowstore.c).  Each is converted when the scan's own node is asked for it.
 * Converting may run any code, which must find the user and the settings of
 * the query.  The results live as long as the executor's query context.
 *
 * Nothing is read when a command is sent, so that an Append can go on with
 * other scans (async.c).  While an answer is in flight it is pending in the
 * session: before anything else is sent the session drains it, which reads it
 * to its end.  What exceeds work_mem then goes into the store.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "scan/scan_state.h"
#include "session/portals.h"
#include "session/results.h"
#include "session/session.h"

/* Bytes of rows that are read together from a stream */
#define PIECE_BYTES (64 * 1024)

/* Frees the received rows, but not those of the store. */
void
fetch_clear(RemoteScanState *scan)
{
	ListCell   *cell;

	foreach(cell, scan->results)
		PQclear(lfirst(cell));
	list_free(scan->results);
	scan->results = NIL;
	scan->result_bytes = 0;
	scan->result = scan->row = 0;
}

/*
 * How many bytes the rows of a result had on the wire, if all are like the
 * last one.  In memory short rows take several times as much.
 */
static Size
bytes_of_rows(const PGresult *res)
{
	Size		bytes = 0;

	for (int i = 0; i < PQnfields(res); i++)
		bytes += sizeof(int32) + PQgetlength(res, PQntuples(res) - 1, i);
	return bytes * PQntuples(res);
}

/* Adds a result to the received rows; the scan owns it from here on. */
static void
keep_result(RemoteScanState *scan, PGresult *res)
{
	MemoryContext old = MemoryContextSwitchTo(scan->node->ss.ps.state->es_query_cxt);
	Size		bytes = PQresultMemorySize(res);

	scan->results = lappend(scan->results, res);
	scan->result_bytes += bytes;
	scan->received += PQntuples(res);
	scan->batch_bytes += bytes_of_rows(res);
	usage_receive(scan->usage, res, scan->node->ss.ps.state);
	MemoryContextSwitchTo(old);
}

/* Puts a row of a result into the slot, instead of the one returned last. */
void
fetch_convert(RemoteScanState *scan, PGresult *res, int row,
			  TupleTableSlot *slot)
{
	MemoryContext old;

	MemoryContextReset(scan->row_context);
	old = MemoryContextSwitchTo(scan->row_context);
	rows_store(scan->reader, res, row, slot);
	if (scan->states != NULL)
		states_make(scan->states, list_length(scan->plan.states),
					slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(old);
}

/*
 * Puts the next received row into the slot, or clears the slot if there is
 * none.  Rows of the store are not looked at.
 */
void
fetch_next_row(RemoteScanState *scan, TupleTableSlot *slot)
{
	while (scan->result < list_length(scan->results))
	{
		PGresult   *res = list_nth(scan->results, scan->result);

		if (scan->row < PQntuples(res))
		{
			fetch_convert(scan, res, scan->row++, slot);
			return;
		}
		scan->result++;
		scan->row = 0;
	}
	ExecClearTuple(slot);
}

/* Frees the store, if there is one. */
void
fetch_drop_store(RemoteScanState *scan)
{
	if (scan->store != NULL)
		rowstore_free(scan->store);
	scan->store = NULL;
}

/* Puts the next row of the store into the slot; false after the last. */
bool
fetch_next_stored(RemoteScanState *scan, TupleTableSlot *slot)
{
	PGresult   *res = rowstore_get(scan->store);

	if (res != NULL)
		fetch_convert(scan, res, 0, slot);
	return res != NULL;
}

/*
 * Moves the received rows that have not been returned into the store, which is
 * made if need be.  Its file must last as long as the scan.
 */
void
fetch_spill(RemoteScanState *scan)
{
	bool		has_ended = scan->store != NULL &&
		rowstore_has_ended(scan->store);
	bool		was_on_disk;

	scan->dropped |= has_ended || scan->result > 0 || scan->row > 0;
	if (has_ended)
		fetch_drop_store(scan);
	if (scan->store == NULL)
		scan->store = rowstore_create(scan->node->ss.ps.state->es_query_cxt,
									  scan->owner, scan->work_mem);
	was_on_disk = rowstore_is_on_disk(scan->store);
	for (; scan->result < list_length(scan->results); scan->result++)
	{
		PGresult   *res = list_nth(scan->results, scan->result);

		for (; scan->row < PQntuples(res); scan->row++)
			rowstore_put(scan->store, res, scan->row);
		scan->row = 0;
	}
	scan->session->counters.spills += !was_on_disk &&
		rowstore_is_on_disk(scan->store);
	fetch_clear(scan);
}

/* Is there a received row to be returned, other than those of the store? */
bool
fetch_has_row(const RemoteScanState *scan)
{
	int			left = list_length(scan->results) - scan->result;

	return left > 1 || (left == 1 && scan->row < PQntuples(llast(scan->results)));
}

/*
 * How many rows libpq returns in one result: only one for a cursor's first
 * batch, which shows how wide the rows are.
 */
static int
rows_in_piece(const RemoteScanState *scan)
{
	switch (scan->method)
	{
		case FETCH_DIRECT:
			return COMPAT_ROWS_IN_CHUNK;
		case FETCH_STREAM:
			return PIECE_BYTES / Max(scan->plan.width, 1);
		case FETCH_CURSOR:
			return scan_declares(scan) ? 1 : COMPAT_ROWS_IN_CHUNK;
	}
	return 1;
}

/* Reads the answer to DECLARE. */
static void
read_declare(RemoteScanState *scan)
{
	uint32		cursor = scan->cursor;

	scan->cursor = 0;
	session_finish_command(scan->session, scan->plan.command.shown);
	scan->cursor = cursor;
	/* If the connection was replaced meanwhile its portals were forgotten. */
	portals_add(scan->session, cursor);
}

/*
 * Reads the answers that come before the rows, and has libpq return the rows
 * in pieces.
 */
static void
begin_answer(RemoteScanState *scan)
{
	Session    *session = scan->session;
	PendingAction drain = session->pending.drain;

	session_await_front(session);
	if (scan_declares(scan))
		read_declare(scan);
	compat_set_row_mode(session->conn, rows_in_piece(scan));
	scan->phase = SCAN_READING;
	/* If the connection was replaced meanwhile this was forgotten. */
	session->pending.drain = drain;
}

/* Counts a FETCH as answered; does the batch have another one? */
static bool
next_answer(RemoteScanState *scan)
{
	scan->is_short |= scan->received < scan->fetch_rows;
	scan->batch_received += scan->received;
	scan->total_received += scan->received;
	scan->received = 0;
	return --scan->answers > 0;
}

/*
 * The types of a cursor's first rows tell whether those of later batches are
 * to come in binary form.
 */
static void
choose_binary(RemoteScanState *scan, const PGresult *res)
{
	int			version = PQserverVersion(scan->session->conn);

	if (scan_declares(scan) && scan->results == NIL && scan->may_prefetch &&
		fastpath_is_on(scan->plan.fast_paths, FAST_BINARY_RESULTS) &&
		version >= COMPAT_BINARY_VERSION)
		scan->binary = rows_prefer_binary(scan->reader, res, version);
}

/* Notes that all of the batch has been received. */
static void
finish_batch(RemoteScanState *scan)
{
	scan->phase = scan->method != FETCH_CURSOR || scan->is_short ?
		SCAN_DONE : SCAN_PAUSED;
	scan->batches++;
	if (scan->may_prefetch && scan->phase == SCAN_PAUSED)
		scan->batch_took = TimestampDifferenceMilliseconds(scan->sent,
														   GetCurrentTimestamp());
}

/*
 * Raises the error that the session keeps, or an ERROR if the session has lost
 * what was in flight for the scan.
 */
static void
check_not_discarded(const RemoteScanState *scan)
{
	error_raise_kept(scan->session);
	if (scan->session->pending.drain.arg != scan)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the result of a foreign scan was discarded while it was read")));
}

/*
 * Reads one more piece of the answers in flight, which may be empty; false,
 * with the batch finished, if there is none.  Whatever happens to the batch,
 * some of its rows must not be taken for all of them.
 */
bool
fetch_read(RemoteScanState *scan)
{
	Session    *session = scan->session;
	PGresult   *res;

	if (!scan_is_in_flight(scan))
		return false;
	check_not_discarded(scan);
	if (scan->phase == SCAN_SENT)
		begin_answer(scan);
	res = session_result(session);
	if (res == NULL && PQstatus(session->conn) == CONNECTION_OK)
	{
		if (scan->method == FETCH_CURSOR && next_answer(scan))
		{
			compat_set_row_mode(session->conn, rows_in_piece(scan));
			return true;
		}
		session->pending.drain = NOTHING_PENDING;
		results_finish(session);
		finish_batch(scan);
		return false;
	}
	if (!compat_has_rows(res))
		results_report(session, ERROR, res, scan->plan.command.shown);
	/* The last piece is empty; kept, it would be taken for more bytes. */
	if (PQntuples(res) == 0)
	{
		PQclear(res);
		return true;
	}
	choose_binary(scan, res);
	keep_result(scan, res);
	return true;
}

/*
 * Do the received rows exceed work_mem?  A single row stays where it is, however
 * large it is.  Rows must not move to the store while one of them is being
 * converted.
 */
static bool
should_spill(const RemoteScanState *scan)
{
	bool		is_single = scan->store == NULL &&
		list_length(scan->results) == 1 &&
		PQntuples(linitial(scan->results)) == 1;

	return scan->result_bytes > (Size) scan->work_mem * 1024 && !is_single &&
		!rows_is_converting(scan->reader);
}

/* Moves the received rows that exceed work_mem into the store. */
static void
spill_excess(RemoteScanState *scan)
{
	if (!should_spill(scan))
		return;
	scan->dropped |= scan->method != FETCH_DIRECT;
	fetch_spill(scan);
}

/* fetch_read; rows that exceed work_mem go into the store. */
static bool
read_or_spill(RemoteScanState *scan)
{
	bool		has_read = fetch_read(scan);

	if (has_read)
		spill_excess(scan);
	return has_read;
}

/* Reads all that is in flight for the scan. */
void
fetch_drain(RemoteScanState *scan)
{
	while (read_or_spill(scan))
		;
}

/*
 * May the rest of a direct result wait until it is used?  Not if the scan may start
 * again, nor where the query may be left in the middle.
 */
static bool
may_stream(const RemoteScanState *scan)
{
	return scan->batch == NULL && !scan->keeps_rows &&
		method_reads(scan->node, &scan->demand, READS_ALL) &&
		!scan->demand.is_interleaved && scan_may_wait(scan);
}

/*
 * Reads a direct result.  One that is larger than was expected goes on as a
 * stream, if it may, before it comes to go into the store.
 */
void
fetch_direct(RemoteScanState *scan)
{
	Size		most = Max(SCAN_BYTES, (Size) scan->work_mem * 1024 / 2);

	while (fetch_read(scan))
	{
		if (scan->store == NULL && scan->result_bytes > most && may_stream(scan))
		{
			scan->method = FETCH_STREAM;
			return;
		}
		spill_excess(scan);
	}
}

/*
 * PendingWork's drain for a scan.  Whoever needs the session calls it, perhaps
 * as another user, so no row is converted.
 */
static void
drain_scan(void *arg)
{
	fetch_drain(arg);
}

/* Sends commands, which must last as long as the scan, without waiting. */
void
fetch_send(RemoteScanState *scan, const RemoteCommand *commands,
		   int ncommands)
{
	Session    *session = scan->session;

	session_send_ahead(session, commands, ncommands, true);
	scan->phase = SCAN_SENT;
	scan->is_short = false;
	session->pending.drain = pending_action(drain_scan, scan);

	/* libpq must be told now how to return the rows of a first answer. */
	if (session->pending.ahead == NULL && !scan_declares(scan))
		begin_answer(scan);
}

/*
 * Reads what has arrived.  True if there is enough of it, or if nothing is in
 * flight; false if more has to be waited for.
 */
bool
fetch_receive(RemoteScanState *scan)
{
	while (scan_is_in_flight(scan))
	{
		if (scan->method != FETCH_DIRECT &&
			!questions_has_timeout(scan->session) &&
			scan->result_bytes >= SCAN_BYTES)
			return true;
		if (!results_are_ready(scan->session))
			return false;
		CHECK_FOR_INTERRUPTS();
		(void) read_or_spill(scan);
	}
	return true;
}

/* The scan whose rows are in flight, or NULL. */
RemoteScanState *
fetch_in_flight(const Session *session)
{
	return session->pending.drain.act == drain_scan ?
		session->pending.drain.arg : NULL;
}
