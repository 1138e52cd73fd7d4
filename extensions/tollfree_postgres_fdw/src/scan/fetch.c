/*
 * fetch.c
 *	  Sending a query, and reading its answer.
 *
 * received.c has the rows until they are returned.  Each is converted when the
 * scan's own node is executed for it.  Converting may run any code, which must
 * find the user and the settings of the query.
 *
 * Nothing is read when a command is sent, so that an Append can execute other
 * scans meanwhile (async.c).  While an answer is in flight it is pending in the
 * session: before anything else is sent the session drains it, which reads it
 * to its end.  What exceeds work_mem then is put into the store.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "scan/scan_state.h"
#include "session/reader.h"
#include "session/results.h"
#include "session/session.h"

/* Bytes of rows that are read together from a stream */
#define PIECE_BYTES (64 * 1024)

/* Puts a row of a result into the slot, instead of the one returned last. */
void
fetch_convert(RemoteScanState *scan, ReceivedRow row, TupleTableSlot *slot)
{
	MemoryContext old;

	MemoryContextReset(scan->row_context);
	old = MemoryContextSwitchTo(scan->row_context);
	rows_store(scan->reader, row.res, row.row, slot);
	if (scan->states != NULL)
		states_make(scan->states, list_length(scan->plan.states),
					slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(old);
}

/*
 * Moves the received rows that have not been returned to the store; loses_rows is
 * received_spill's.
 */
void
fetch_spill(ScanAnswer *answer, bool loses_rows)
{
	answer->scan->session->counters.spills +=
		received_spill(answer->rows, loses_rows);
}

/*
 * How many rows libpq returns in one result: only one for a cursor's first
 * batch, which shows how wide the rows are.
 */
static int
rows_in_piece(const ScanAnswer *answer)
{
	switch (answer->method)
	{
		case FETCH_DIRECT:
			return COMPAT_ROWS_IN_CHUNK;
		case FETCH_STREAM:
			return PIECE_BYTES / Max(answer->scan->plan.width, 1);
		case FETCH_CURSOR:
			return cursor_is_opening(answer->scan) ? 1 : COMPAT_ROWS_IN_CHUNK;
	}
	return 1;
}

/* Does the batch in flight begin with the DECLARE of a cursor? */
static bool
is_declaring(const ScanAnswer *answer)
{
	return answer->method == FETCH_CURSOR && cursor_is_opening(answer->scan);
}

/*
 * Reads the answers that come before the rows, and has libpq return the rows
 * in pieces.
 */
static void
fetch_begin_answer(ScanAnswer *answer)
{
	Session    *session = answer->scan->session;

	session_await_front(session);
	if (is_declaring(answer))
		cursor_read_declare(answer->scan);
	compat_set_row_mode(session->conn, rows_in_piece(answer));
	answer->phase = SCAN_READING;
}

/*
 * Raises the error that the session keeps, or an ERROR if the session has lost
 * what was in flight for the scan.
 */
static void
check_not_discarded(const ScanAnswer *answer)
{
	Session    *session = answer->scan->session;

	error_raise_kept(session);
	if (!reader_is(session, answer))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the result of a foreign scan was discarded while it was read")));
}

/* Adds a result with rows to the received ones, and counts it. */
static void
fetch_keep(ScanAnswer *answer, PGresult *res)
{
	RemoteScanState *scan = answer->scan;

	if (answer->method == FETCH_CURSOR)
		cursor_note_rows(scan, res);
	received_add(answer->rows, res);
	usage_receive(&scan->usage, res, scan->node->ss.ps.state);
}

/* Ends an answer, or the batch of FETCHes in flight, all of which has been read. */
static void
fetch_end_answer(ScanAnswer *answer)
{
	Session    *session = answer->scan->session;
	bool		has_more;

	reader_release(session);
	results_finish(session);
	has_more = answer->method == FETCH_CURSOR &&
		cursor_end_batch(answer->scan);
	answer->phase = has_more ? SCAN_PAUSED : SCAN_DONE;
}

/*
 * Reads one more piece of the answer in flight, which may be empty; false, with
 * the answer ended, if there is none.  Whatever happens to the answer, some of its
 * rows must not be taken for all of them.
 */
static bool
fetch_read(ScanAnswer *answer)
{
	Session    *session = answer->scan->session;
	PGresult   *res;

	if (!answer_is_in_flight(answer))
		return false;
	check_not_discarded(answer);
	if (answer->phase == SCAN_SENT)
		fetch_begin_answer(answer);
	res = session_result(session);
	if (res == NULL && PQstatus(session->conn) == CONNECTION_OK)
	{
		if (answer->method == FETCH_CURSOR && cursor_end_fetch(answer->scan))
		{
			compat_set_row_mode(session->conn, rows_in_piece(answer));
			return true;
		}
		fetch_end_answer(answer);
		return false;
	}
	if (!compat_has_rows(res))
		results_report(session, ERROR, res, answer->scan->plan.command.shown);
	/* The last piece is empty; kept, it would be taken for more bytes. */
	if (PQntuples(res) == 0)
		PQclear(res);
	else
		fetch_keep(answer, res);
	return true;
}

/*
 * Moves received rows that exceed work_mem to the store; not while one of them is
 * being converted.
 */
static void
fetch_spill_excess(ScanAnswer *answer)
{
	if (received_exceeds_work_mem(answer->rows) &&
		!rows_is_converting(answer->scan->reader))
		fetch_spill(answer, answer->method != FETCH_DIRECT);
}

/* fetch_read; rows that exceed work_mem are put into the store. */
static bool
fetch_read_or_spill(ScanAnswer *answer)
{
	bool		has_read = fetch_read(answer);

	if (has_read)
		fetch_spill_excess(answer);
	return has_read;
}

/*
 * Reads all that is in flight for an answer.  It is also PendingWork's drain:
 * whoever needs the session calls it, perhaps as another user, so no row is
 * converted.
 */
void
fetch_drain(void *answer)
{
	while (fetch_read_or_spill(answer))
		;
}

/*
 * May the unread part of a direct result wait until it is used?  Not if the scan
 * may start again, nor where the query may be left in the middle.
 */
static bool
may_stream(const RemoteScanState *scan)
{
	return !scan->keeps_rows &&
		demand_reads(scan->node->ss.ps.state, &scan->demand, READS_ALL) &&
		!scan->demand.is_interleaved && scan_may_wait(scan);
}

/* Is a direct result larger than was expected, and not yet in the store? */
static bool
is_unexpectedly_large(const ReceivedRows *rows)
{
	return received_bytes(rows) > SCAN_BYTES &&
		received_bytes(rows) > received_work_mem(rows) / 2 &&
		!received_has_store(rows);
}

/*
 * Reads the direct result of a scan's own query.  One that is larger than was
 * expected becomes a stream, if it may, before it would be put into the store.
 */
void
fetch_direct(ScanAnswer *answer)
{
	while (fetch_read(answer))
	{
		if (is_unexpectedly_large(answer->rows) && may_stream(answer->scan))
		{
			answer->method = FETCH_STREAM;
			return;
		}
		fetch_spill_excess(answer);
	}
}

/* The scan whose rows are in flight, or NULL. */
RemoteScanState *
fetch_in_flight(const Session *session)
{
	const ScanAnswer *answer = reader_by(session, fetch_drain);

	return answer != NULL ? answer->scan : NULL;
}

/* Sends commands, which must last as long as the scan, without waiting. */
static void
fetch_send(ScanAnswer *answer, const RemoteCommand *commands, int ncommands)
{
	Session    *session = answer->scan->session;

	session_send_ahead(session, commands, ncommands, true);
	answer->phase = SCAN_SENT;
	reader_claim(session, fetch_drain, answer);

	/* libpq must be told now how to return the rows of a first answer. */
	if (!reader_is_ahead(session) && !is_declaring(answer))
		fetch_begin_answer(answer);
}

/*
 * Sends a query, whose parameters must last as long as the scan, by this method,
 * without waiting.
 */
void
fetch_start(ScanAnswer *answer, FetchMethod method, const RemoteCommand *query)
{
	const RemoteCommand *commands;
	int			ncommands = 1;

	answer->method = method;
	answer->query = *query;
	commands = method == FETCH_CURSOR ?
		cursor_open(answer->scan, query, &ncommands) : &answer->query;
	fetch_send(answer, commands, ncommands);
}

/* Sends the next batch of a cursor without waiting, if there is to be one now. */
void
fetch_send_more(ScanAnswer *answer)
{
	const RemoteCommand *commands;
	int			ncommands;

	if (answer->phase != SCAN_PAUSED)
		return;
	commands = cursor_next_batch(answer->scan, &ncommands);
	if (commands != NULL)
		fetch_send(answer, commands, ncommands);
}

/*
 * Receives more rows of a stream or a cursor after all have been returned; false
 * after the last.
 */
bool
fetch_more(ScanAnswer *answer)
{
	received_forget(answer->rows);
	while (received_is_empty(answer->rows))
	{
		if (answer->phase == SCAN_DONE)
			return false;
		fetch_send_more(answer);
		while (received_bytes(answer->rows) < SCAN_BYTES && fetch_read(answer))
			;
	}
	if (scan_may_wait(answer->scan))
		fetch_send_more(answer);
	else
		fetch_drain(answer);
	return true;
}

/*
 * Reads what has arrived.  True if there is enough of it, or if nothing is in
 * flight; false if more has to be waited for.
 */
bool
fetch_receive(ScanAnswer *answer)
{
	Session    *session = answer->scan->session;

	while (answer_is_in_flight(answer))
	{
		if (answer->method != FETCH_DIRECT && !questions_has_timeout(session) &&
			received_bytes(answer->rows) >= SCAN_BYTES)
			return true;
		if (!results_are_ready(session))
			return false;
		CHECK_FOR_INTERRUPTS();
		(void) fetch_read_or_spill(answer);
	}
	return true;
}

/*
 * Forgets an answer and its rows, so that a query can be sent again.  What is in
 * flight is read first: the session must not drain into a scan that has ended.
 */
void
fetch_discard(ScanAnswer *answer)
{
	while (reader_is(answer->scan->session, answer) &&
		   fetch_read(answer))
		received_clear(answer->rows);
	received_reset(answer->rows);
	answer->phase = SCAN_IDLE;
}
