/*
 * cursor.c
 *	  Large results, which come through a cursor.
 *
 * DECLARE and the first FETCH share a flight.  The first FETCH asks for
 * fetch_size rows and shows how large they are; the next ones ask for about
 * SCAN_BYTES, as far as these come within a second and are not ten times as many
 * as before.  From the second answer on, which shows that the consumer goes on,
 * the next FETCH is sent as soon as an answer has been received, unless it would
 * take longer: the remote server works on it while the rows at hand are converted
 * and used.
 *
 * The rows of an answer are taken from the connection only as far as
 * SCAN_BYTES reach.  Rows that turn out wider than those before them wait in
 * the socket, and the remote server with them, so memory stays bounded.
 * Whoever else needs the connection has the rest read first (scan.c).
 *
 * Where a remote statement_timeout runs meanwhile, which it would not with
 * postgres_fdw, each answer is read whole, and what memory has no room for goes
 * into a store.  Then nothing is asked for ahead.
 *
 * No answer stays in the air in another subtransaction than the scan began in:
 * rolling that back would lose rows which the cursor, being left alone, does not
 * give again.
 */
#include "postgres.h"

#include "compat.h"
#include "guc.h"
#include "portals.h"
#include "scan.h"

#define FETCH_ROWS_MAX 10000

/* By how much it may grow at a time, for consumers that stop early */
#define FETCH_GROWTH 10

/* What a FETCH of more rows than fetch_size should take at most, in ms */
#define FETCH_MSECS 1000

/* Answers after which the next FETCH is sent ahead */
#define ANSWERS_BEFORE_AHEAD 2

/* Asks for more rows, together with the DECLARE if the cursor is new. */
static void
send_fetch(RemoteScanState *scan, bool declares)
{
	snprintf(scan->fetch, sizeof(scan->fetch), "FETCH %d FROM c%u",
			 scan->fetch_rows, scan->cursor);
	scan->commands[declares ? 1 : 0] = (RemoteCommand)
	{
		.sql = scan->fetch,.shown = scan->plan.sql,.binary = scan->binary
	};
	scan->asked = scan->fetch_rows;
	scan->sent = GetCurrentTimestamp();
	scan->fetches_ahead += scan->results != NIL;
	scan->fetches_binary += scan->binary;
	scan->received = 0;
	scan->received_bytes = 0;
	scan_launch(scan, declares);
}

/* Opens a cursor and fetches from it, in one flight. */
void
cursor_open(RemoteScanState *scan, const RemoteCommand *query)
{
	MemoryContext old = MemoryContextSwitchTo(scan->query_context);

	scan->cursor = ++scan->session->cursors;
	scan->fetch_rows = scan->plan.fetch_size;
	scan->fetches = 0;
	scan->binary = false;
	if (scan->declare != NULL)
		pfree(scan->declare);
	scan->declare = psprintf("DECLARE c%u CURSOR FOR\n%s", scan->cursor,
							 scan->plan.sql);
	MemoryContextSwitchTo(old);
	scan->commands[0] = *query;
	scan->commands[0].sql = scan->declare;
	portals_add(scan->session, scan->cursor);
	send_fetch(scan, true);
}

/* Reads the answer to DECLARE. */
void
cursor_opened(RemoteScanState *scan)
{
	Session    *session = scan->session;
	PGresult   *res = session_result(session);

	if (PQresultStatus(res) != PGRES_COMMAND_OK)
	{
		scan->cursor = 0;
		session_report(session, ERROR, res, scan->plan.sql);
	}
	PQclear(res);

	/* If the connection was replaced meanwhile its portals were forgotten. */
	portals_add(session, scan->cursor);
	res = session_result(session);
	if (res != NULL || PQstatus(session->conn) == CONNECTION_BAD)
		session_report(session, ERROR, res, scan->plan.sql);
}

/*
 * Lowers how many rows are to be asked for next where rows come slowly: they are
 * waited for together, also by whoever needs but one, or ends the scan.  The
 * round trip is not theirs; but the one that is known may have been a slow one.
 */
static void
limit_fetch(RemoteScanState *scan)
{
	long		took = TimestampDifferenceMilliseconds(scan->sent,
													   GetCurrentTimestamp());
	long		of_way = Min(scan->session->round_trip, took / 2);
	int64		in_time = (int64) scan->received * FETCH_MSECS /
		Max(took - of_way, 1);

	scan->fetch_rows = Min(scan->fetch_rows,
						   Max(in_time, scan->plan.fetch_size));
	scan->is_slow = scan->fetch_rows > in_time;
}

/* An answer has been received: how much is to be asked for next? */
void
cursor_landed(RemoteScanState *scan)
{
	int			version = PQserverVersion(scan->session->conn);

	scan->fetches++;
	scan->at_end = scan->received < scan->asked;
	if (!scan->is_free || scan->received == 0)
		return;
	scan->fetch_rows = SCAN_BYTES /
		(scan->received_bytes / scan->received + 1);
	scan->fetch_rows = Max(1, Min(scan->fetch_rows, FETCH_ROWS_MAX));
	scan->fetch_rows = Min(scan->fetch_rows, (int64) scan->asked * FETCH_GROWTH);
	limit_fetch(scan);
	if (setting_binary_results && scan->results != NIL &&
		version >= COMPAT_BINARY_VERSION)
		scan->binary = rows_prefer_binary(scan->reader, llast(scan->results),
										  version);
}

/* May the next FETCH be sent while there are rows at hand? */
static bool
goes_ahead(const RemoteScanState *scan)
{
	return setting_read_ahead && scan->is_free && !scan->at_end &&
		!scan->in_air && !scan->is_slow &&
		scan->fetches >= ANSWERS_BEFORE_AHEAD;
}

/* Lets go of the rows at hand, which have been used. */
void
cursor_forget_rows(RemoteScanState *scan)
{
	scan->dropped |= scan->results != NIL;
	scan_clear(scan);
}

/*
 * Sends for more if that is due: if there is nothing at hand, or if it is to
 * be sent ahead.
 */
void
cursor_proceed(RemoteScanState *scan)
{
	if (goes_ahead(scan) ||
		(scan->results == NIL && !scan->in_air && !scan->at_end))
		send_fetch(scan, false);
}

/* Gets more rows when there are none at hand; false after the last. */
bool
cursor_more(RemoteScanState *scan)
{
	cursor_forget_rows(scan);
	while (scan->results == NIL)
	{
		if (!scan->in_air && scan->at_end)
			return false;
		cursor_proceed(scan);
		while (scan->result_bytes < SCAN_BYTES && scan_read(scan))
			;
	}
	if (scan->session->is_timed || scan_may_outlive_flight(scan))
		scan_land(scan);
	else
		cursor_proceed(scan);
	return true;
}

/* Ends a cursor, which may have been rolled back. */
void
cursor_close(RemoteScanState *scan)
{
	if (scan->cursor != 0 && scan->session->conn != NULL)
		portals_let_go(scan->session, scan->cursor);
	scan->cursor = 0;
}
