/*
 * fetch.c
 *	  How the rows of a scan arrive, and where they wait.
 *
 * Rows stay as they were received, in libpq's results or in a store (rowstore.c),
 * and are converted one at a time, when the scan's own node is asked for them:
 * that may run anybody's code, which must find the user and the settings that the
 * query has.  The results belong to the executor's query context.
 *
 * Nothing is read when a command is sent: a scan that is executed asynchronously
 * (async.c) goes on with others.  As long as an answer is in flight the session's
 * drain reads it to its end before anything else is sent.  What exceeds work_mem
 * then goes into the store.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "scan/fetch.h"
#include "scan/scan_state.h"
#include "session/error.h"
#include "session/portals.h"
#include "session/results.h"
#include "session/session.h"
#include "session/state.h"
#include "sql/command.h"
#include "wire/rows.h"
#include "wire/rowstore.h"

/* What is read together of a stream */
#define PIECE_BYTES (64 * 1024)

/* Forgets the rows at hand. */
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

/*
 * Puts the next row that is at hand into the slot, or clears it if there is
 * none.
 */
void
fetch_next_row(RemoteScanState *scan, TupleTableSlot *slot)
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
	MemoryContext old;

	if (res == NULL)
		return false;
	MemoryContextReset(scan->row_context);
	old = MemoryContextSwitchTo(scan->row_context);
	rows_store(scan->reader, res, 0, slot);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * Moves the rows at hand into the store, which is made if need be; its file must
 * last as long as the scan.
 */
void
fetch_spill(RemoteScanState *scan)
{
	bool		has_ended = scan->store != NULL &&
		rowstore_has_ended(scan->store);

	scan->dropped |= has_ended || scan->result > 0 || scan->row > 0;
	if (has_ended)
		fetch_drop_store(scan);
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
	fetch_clear(scan);
}

/* Is there a row at hand, beside those of the store? */
bool
fetch_has_row(const RemoteScanState *scan)
{
	int			left = list_length(scan->results) - scan->result;

	return left > 1 || (left == 1 && scan->row < PQntuples(llast(scan->results)));
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

/* Reads the answer to DECLARE. */
static void
read_declare(RemoteScanState *scan)
{
	Session    *session = scan->session;
	PGresult   *res = session_result(session);

	if (PQresultStatus(res) != PGRES_COMMAND_OK)
	{
		scan->cursor = 0;
		results_report(session, ERROR, res, scan->plan.command.shown);
	}
	PQclear(res);

	/* If the connection was replaced meanwhile its portals were forgotten. */
	portals_add(session, scan->cursor);
	res = session_result(session);
	if (res != NULL || PQstatus(session->conn) == CONNECTION_BAD)
		results_report(session, ERROR, res, scan->plan.command.shown);
}

/*
 * Reads the answers that come before the rows, which are to come in pieces.
 */
static void
begin_answer(RemoteScanState *scan)
{
	Session    *session = scan->session;
	void		(*drain) (void *arg) = session->pending.drain;

	session_await_front(session);
	if (scan->declares)
		read_declare(scan);
	compat_set_row_mode(session->conn, rows_in_piece(scan));
	scan->phase = SCAN_READING;
	/* They are lost if the session was replaced. */
	session->pending.drain = drain;
	session->pending.drain_arg = scan;
}

/* A FETCH has been answered; is there another one in the batch? */
static bool
next_answer(RemoteScanState *scan)
{
	scan->is_short |= scan->received < scan->asked;
	scan->batch_received += scan->received;
	scan->received = 0;
	return --scan->answers > 0;
}

/*
 * All of the batch has been received.  Its last rows tell whether further ones are
 * to come in binary form.
 */
static void
finish_batch(RemoteScanState *scan)
{
	int			version = PQserverVersion(scan->session->conn);

	scan->phase = scan->method != FETCH_CURSOR || scan->is_short ?
		SCAN_DONE : SCAN_PAUSED;
	scan->batches++;
	if (!scan->is_free || scan->phase == SCAN_DONE)
		return;
	scan->batch_took = TimestampDifferenceMilliseconds(scan->sent,
													   GetCurrentTimestamp());
	if (fastpath_is_on(scan->plan.fast_paths, FAST_BINARY_RESULTS) &&
		scan->results != NIL && version >= COMPAT_BINARY_VERSION)
		scan->binary = rows_prefer_binary(scan->reader, llast(scan->results),
										  version);
}

/* Has the scan's last result been lost, with whatever made the session lose it? */
static void
check_not_discarded(const RemoteScanState *scan)
{
	error_raise_kept(scan->session);
	if (scan->session->pending.drain_arg != scan)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the result of a foreign scan was discarded while it was read")));
}

/*
 * Reads one more piece of the answers in flight, which may be empty; false, with
 * the batch over, if there is none.  A part must not be taken for the whole,
 * whatever has become of the batch.
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
		session->pending.drain = NULL;
		session->pending.drain_arg = NULL;
		results_finish(session);
		finish_batch(scan);
		return false;
	}
	if (!compat_has_rows(res))
		results_report(session, ERROR, res, scan->plan.command.shown);
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
	if (!fetch_read(scan))
		return false;
	if (should_spill(scan))
	{
		scan->dropped |= scan->method != FETCH_WHOLE;
		fetch_spill(scan);
	}
	return true;
}

/* Reads all that is in flight. */
void
fetch_drain(RemoteScanState *scan)
{
	while (read_or_spill(scan))
		;
}

/*
 * The same before something else is sent, by whomever: no row is converted.
 */
static void
drain_scan(void *arg)
{
	fetch_drain(arg);
}

/*
 * Sends commands that last as long as the scan, the first of which opens a cursor
 * if it declares one, and waits for nothing.
 */
void
fetch_send(RemoteScanState *scan, const RemoteCommand *commands,
		   int ncommands, bool declares)
{
	Session    *session = scan->session;

	session_send_ahead(session, commands, ncommands, true);
	scan->phase = SCAN_SENT;
	scan->is_short = false;
	scan->declares = declares;
	session->pending.drain = drain_scan;
	session->pending.drain_arg = scan;
	/* If rows come first it has to be said now how. */
	if (session->pending.ahead == NULL && !declares)
		begin_answer(scan);
}

/*
 * Takes what has arrived; true if there is enough of it, or nothing in flight,
 * false if it has to be waited for.
 */
bool
fetch_receive(RemoteScanState *scan)
{
	while (scan_is_in_flight(scan))
	{
		if (scan->method != FETCH_WHOLE &&
			!scan->session->remote.has_statement_timeout &&
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
	return session->pending.drain == drain_scan ? session->pending.drain_arg : NULL;
}
