/*
 * cursor.c
 *	  Large results, which come through a cursor.
 *
 * FETCHes are sent in batches: a link with a long round trip is in use for as
 * long as the batch lasts.  The remote server collects all rows of a FETCH before
 * it sends the first one, so each asks for about SCAN_BYTES, and a batch is made
 * larger by more FETCHes.  None asks for fewer rows than fetch_size.
 *
 * DECLARE goes with the first batch, a FETCH of fetch_size rows, which shows how
 * large they are.  The next batches ask for SCAN_BYTES, or for what comes in
 * ROUND_TRIPS round trips if that is more; but for no more than comes within a
 * second, and ten times as many rows as before, since whoever stops early waits
 * for all that was asked for.  A query that is certain to read the rest
 * (reading.c) has all batches as large as they may be.  From the second answer on,
 * which shows that the consumer goes on, the next batch is sent as soon as one
 * has been received, unless it would take longer: the remote server works on it
 * while the rows at hand are converted and used.
 *
 * The rows of an answer are taken from the connection only as far as
 * SCAN_BYTES reach.  The rest waits in the socket, and the remote server with
 * it, so memory stays bounded.  Whoever else needs the connection has the rest
 * read first (scan.c).
 *
 * Where a remote statement_timeout runs meanwhile, which it would not with
 * postgres_fdw, each answer is read whole, and what memory has no room for goes
 * into a store.  Then nothing is asked for ahead.
 *
 * No answer stays in flight in another subtransaction than the scan began in:
 * rolling that back would lose rows which the cursor, being left alone, does not
 * give again.
 */
#include "postgres.h"

#include "base/fastpath.h"
#include "base/run.h"
#include "scan/cursor.h"
#include "scan/fetch.h"
#include "scan/reading.h"
#include "scan/scan_state.h"
#include "session/portals.h"
#include "sql/command.h"

/* In the first batch if all rows will be read: most results are short */
#define FIRST_FETCHES 16

/* As many as a batch lasts at least, of which one is waited for */
#define BATCH_ROUND_TRIPS 10

/* By how much a batch may grow at a time, for consumers that stop early */
#define BATCH_GROWTH 10

/* What a batch of more rows than fetch_size should take at most, in ms */
#define BATCH_MSECS 1000

/* Answers after which the next batch is sent ahead */
#define ANSWERS_BEFORE_AHEAD 2

/*
 * Will so much be read, and nothing else be asked for in between?  A remote
 * statement_timeout would run all the time.
 */
static bool
is_read(const RemoteScanState *scan, ScanReading reading)
{
	return fastpath_is_on(scan->plan.fast_paths, FAST_DIRECT_RESULTS) &&
		scan->is_free &&
		scan->reading >= reading && run_is_whole(scan->estate) &&
		!scan->session->remote.has_statement_timeout && !scan_may_outlive_batch(scan);
}

/* Of how many FETCHes should the next batch be? */
static int
choose_fetches(const RemoteScanState *scan, bool declares)
{
	if (declares)
		return is_read(scan, READS_ALL) ? FIRST_FETCHES : 1;
	return is_read(scan, READS_REST) ? SCAN_FETCHES : scan->batch_fetches;
}

/* Asks for more rows, together with the DECLARE if the cursor is new. */
static void
send_batch(RemoteScanState *scan, bool declares)
{
	RemoteCommand fetch = {
		.sql = scan->fetch,.shown = scan->plan.command.shown,.binary = scan->binary
	};
	RemoteCommand *commands = &scan->commands[declares ? 1 : 0];

	snprintf(scan->fetch, sizeof(scan->fetch), "FETCH %d FROM c%u",
			 scan->fetch_rows, scan->cursor);
	scan->asked = scan->fetch_rows;
	scan->answers = choose_fetches(scan, declares);
	for (int i = 0; i < scan->answers; i++)
		commands[i] = fetch;
	scan->batch_asked = (int64) scan->asked * scan->answers;
	scan->batch_received = scan->batch_bytes = scan->received = 0;
	scan->sent = GetCurrentTimestamp();
	scan->fetches_ahead += scan->results != NIL ? scan->answers : 0;
	scan->fetches_binary += scan->binary ? scan->answers : 0;
	fetch_send(scan, scan->commands, scan->answers + (declares ? 1 : 0),
			   declares);
}

/* Opens a cursor for the query and fetches from it, in one batch. */
void
cursor_open(RemoteScanState *scan, const RemoteCommand *query)
{
	MemoryContext old = MemoryContextSwitchTo(scan->query_context);

	scan->cursor = ++scan->session->cursors.names;
	scan->fetch_rows = scan->plan.fetch_size;
	scan->batch_fetches = 1;
	scan->batches = 0;
	scan->batch_took = -1;
	scan->binary = false;
	if (scan->declare != NULL)
		pfree(scan->declare);
	scan->declare = psprintf("DECLARE c%u CURSOR FOR\n%s", scan->cursor,
							 scan->plan.command.sql);
	if (scan->commands == NULL)
		scan->commands = palloc((1 + SCAN_FETCHES) * sizeof(RemoteCommand));
	MemoryContextSwitchTo(old);
	scan->commands[0] = *query;
	scan->commands[0].sql = scan->declare;
	portals_add(scan->session, scan->cursor);
	send_batch(scan, true);
}

/*
 * Chooses how many rows the next batch asks for.  They are waited for together,
 * also by whoever needs but one, or ends the scan: so not more where they come
 * slowly.  The round trip is not theirs; the shortest one seen counts, and of a
 * batch that took no longer half of it.
 */
static void
size_batch(RemoteScanState *scan)
{
	long		took = scan->batch_took;
	long		round_trip = Min(scan->session->remote.round_trip, took);
	double		per_ms = (double) scan->batch_received /
		Max(took - Min(round_trip, took / 2), 1);
	double		in_time = per_ms * BATCH_MSECS;
	double		at_once = SCAN_BYTES /
		((double) scan->batch_bytes / scan->batch_received + 1);
	double		rows = Max(at_once, per_ms * round_trip * BATCH_ROUND_TRIPS);

	scan->session->remote.round_trip = round_trip;
	rows = Min(rows, (double) scan->batch_asked * BATCH_GROWTH);
	rows = Min(rows, in_time);
	rows = Max(rows, scan->plan.fetch_size);
	at_once = Max(Min(at_once, rows), scan->plan.fetch_size);
	scan->fetch_rows = (int) Min(at_once, INT_MAX);
	scan->batch_fetches = (int) Min(rows / at_once, SCAN_FETCHES);
	scan->is_slow = rows > in_time;
	scan->batch_took = -1;
}

/* May the next batch be sent while there are rows at hand? */
static bool
goes_ahead(const RemoteScanState *scan)
{
	return fastpath_is_on(scan->plan.fast_paths, FAST_READ_AHEAD) &&
		scan->is_free && !scan->is_slow &&
		scan->batches >= ANSWERS_BEFORE_AHEAD;
}

/* Lets go of the rows at hand, which have been used. */
void
cursor_forget_rows(RemoteScanState *scan)
{
	scan->dropped |= scan->results != NIL;
	fetch_clear(scan);
}

/*
 * Sends for more if that is due: if there is nothing at hand, or if it is to
 * be sent ahead.
 */
void
cursor_proceed(RemoteScanState *scan)
{
	if (scan->phase != SCAN_PAUSED)
		return;
	if (scan->batch_took >= 0)
		size_batch(scan);
	if (scan->results == NIL || goes_ahead(scan))
		send_batch(scan, false);
}

/* Gets more rows when there are none at hand; false after the last. */
bool
cursor_more(RemoteScanState *scan)
{
	cursor_forget_rows(scan);
	while (scan->results == NIL)
	{
		if (scan->phase == SCAN_DONE)
			return false;
		cursor_proceed(scan);
		while (scan->result_bytes < SCAN_BYTES && fetch_read(scan))
			;
	}
	if (scan->session->remote.has_statement_timeout || scan_may_outlive_batch(scan))
		fetch_drain(scan);
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
