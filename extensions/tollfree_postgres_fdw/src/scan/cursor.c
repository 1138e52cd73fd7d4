/*
 * cursor.c
 *	  Large results, which come through a cursor.
 *
 * FETCHes are sent in batches, so that a link with a long round trip is used
 * for longer.  The remote server collects all rows of a FETCH before it sends
 * the first one.  So each FETCH asks for about SCAN_BYTES, but for fetch_size
 * rows at least, and a batch grows by more FETCHes.
 *
 * The first batch has DECLARE and a FETCH of fetch_size rows, or of what the
 * executor is asked for now if each row is one of the result.  Its answer shows
 * how large the rows are.  A later batch asks for SCAN_BYTES, or for what comes in
 * BATCH_ROUND_TRIPS round trips if that is more, but for no more than comes within
 * BATCH_MSECS, and for at most BATCH_GROWTH times as many rows as the batch before.
 *
 * Whoever stops early is to get hardly more rows than through postgres_fdw, which
 * asks for fetch_size rows at a time.  So where the query is not certain to read
 * the rest (demand.c), no more are asked for than postgres_fdw would have received
 * for the next row, and one in SPARE_RATIO of these.
 *
 * A query that is certain to read the rest asks at once for all rows that are
 * expected to be left.
 *
 * A second answer shows that the consumer goes on.  From then on the next
 * batch is sent ahead, as soon as one has been received, unless it would take
 * longer than BATCH_MSECS, or be kept small by what may not be used.  The remote
 * server works on it while the rows of the last one are converted and used.
 *
 * Rows are taken from the connection until SCAN_BYTES are in memory.  The
 * remote server waits while the socket is full, so memory stays bounded here
 * and there.  If something else is to be sent in the session the rest is read
 * first (fetch.c).
 *
 * Rows that are locked, or are to be updated by ctid, are not fetched before they
 * are asked for, and fetch_size rows at a time.  Only where all of them come to be
 * locked do batches grow: to what is fetched and used within BATCH_MSECS, so that
 * no row is locked for much longer.
 *
 * A remote statement_timeout would run while the remote server waits, which it
 * does not with postgres_fdw.  So where there is one, each answer is read
 * whole at once, what exceeds work_mem goes into a store, and no batch is sent
 * ahead.
 *
 * No answer stays in flight in a subtransaction other than the one that the
 * scan began in.  Rolling back that subtransaction would lose the rows in
 * flight, and the cursor, which survives, would not return them again.
 */
#include "postgres.h"

#include "base/fastpath.h"
#include "base/run.h"
#include "scan/scan_state.h"
#include "session/portals.h"

/*
 * FETCHes in the first batch if all rows are read, for most results are short, and an
 * empty FETCH has its messages, too; and their rows, which come one by one.
 */
#define FIRST_FETCHES 4
#define FIRST_ROWS 1600

/* Round trips that a batch lasts at least; one of them is waited for */
#define BATCH_ROUND_TRIPS 10

/* Factor by which a batch may grow at a time, for consumers that stop early */
#define BATCH_GROWTH 10

/* For so many rows that postgres_fdw would have received there may be one more */
#define SPARE_RATIO 20

/* By this share a result may have more rows than expected to come in one batch */
#define ROWS_MARGIN 0.1

/* The longest that a batch of more rows than fetch_size should take, in ms */
#define BATCH_MSECS 1000

/* Answers after which the next batch is sent ahead */
#define ANSWERS_BEFORE_AHEAD 2

/* Is the query certain to read so much of the scan? */
static bool
is_read(const RemoteScanState *scan, ScanReading reading)
{
	return method_reads(scan->node, &scan->demand, reading);
}

/*
 * Is the same certain, with nothing else sent in between?  Not under a remote
 * statement_timeout, which would run all the time.
 */
static bool
is_read_alone(const RemoteScanState *scan, ScanReading reading)
{
	return fastpath_is_on(scan->plan.fast_paths, FAST_DIRECT_RESULTS) &&
		scan->may_prefetch && !scan->demand.is_interleaved &&
		is_read(scan, reading) && scan_may_wait(scan);
}

/*
 * Is the query certain to read, and so to lock, all rows that the cursor has
 * left?  Then a batch of them may grow, too.  Not under a remote
 * statement_timeout: more rows can be locked by others.
 */
static bool
locks_rest(const RemoteScanState *scan)
{
	return fastpath_is_on(scan->plan.fast_paths, FAST_READ_AHEAD) &&
		scan->locks_rows && is_read(scan, READS_REST) && scan_may_wait(scan);
}

/* Rows that the query is certain to use if there are as many, or 0. */
static int64
rows_needed(const RemoteScanState *scan)
{
	return scan->demand.is_output && scan->may_prefetch ?
		run_rows_left(scan->node->ss.ps.state) : 0;
}

/*
 * The number of FETCHes, at most SCAN_FETCHES, for all rows that are expected to be
 * left.  FETCHes behind the last row cost as much as any.
 */
static int
fetches_for_rest(const RemoteScanState *scan)
{
	double		left = scan->plan.rows * (1 + ROWS_MARGIN) - scan->total_received;

	if (scan->plan.rows < 0)
		return SCAN_FETCHES;
	return (int) Min(Max(left, 0) / scan->fetch_rows + 1, SCAN_FETCHES);
}

/* Chooses the first batch: DECLARE and FETCHes. */
static void
size_first_batch(RemoteScanState *scan)
{
	int			size = scan->plan.fetch_size;
	int64		needed = rows_needed(scan);
	int			at_once = Max(size, SCAN_BYTES / Max(scan->plan.width, 1));

	scan->fetch_rows = size;
	scan->answers = 1;
	if (is_read_alone(scan, READS_ALL))
	{
		scan->fetch_rows = Max(size, FIRST_ROWS / FIRST_FETCHES);
		scan->answers = Max(Min(fetches_for_rest(scan),
								FIRST_ROWS / scan->fetch_rows), 1);
	}
	else if (needed > size)
	{
		scan->fetch_rows = (int) Min(needed, at_once);
		scan->answers = (int) Min(needed / scan->fetch_rows, SCAN_FETCHES);
	}
}

/*
 * Chooses a later batch: what size_batch has found to be best, but no more than
 * spare rows if they may not be used.
 */
static void
size_next_batch(RemoteScanState *scan, int64 spare)
{
	int64		rows = (int64) scan->fetch_rows * scan->batch_fetches;

	scan->answers = scan->batch_fetches;
	if (is_read_alone(scan, READS_REST))
		scan->answers = Max(scan->answers, fetches_for_rest(scan));
	else if (!is_read(scan, READS_REST) && rows > spare)
	{
		rows = Max(spare, Min(rows, rows_needed(scan)));
		scan->fetch_rows = (int) Min(scan->fetch_rows, rows);
		scan->answers = (int) (rows / scan->fetch_rows);
	}
}

/*
 * Rows that may be asked for without being used, by what postgres_fdw would have
 * received for the next row.  If those received last have yet to be used, too, they
 * take their part.
 */
static int64
spare_rows(const RemoteScanState *scan)
{
	int64		size = scan->plan.fetch_size;
	int64		of_stock = (scan->total_received / size + 1) * size;
	int64		spare = of_stock + of_stock / SPARE_RATIO - scan->total_received;

	return scan->results == NIL ? spare : spare / 3;
}

/*
 * Asks for more rows, together with the DECLARE if the cursor is new.  The size of
 * the batch has been chosen.
 */
static void
send_batch(RemoteScanState *scan)
{
	int			first = scan_declares(scan) ? 1 : 0;
	RemoteCommand fetch = {
		.sql = scan->fetch,.shown = scan->plan.command.shown,.binary = scan->binary
	};

	snprintf(scan->fetch, sizeof(scan->fetch), "FETCH %d FROM c%u",
			 scan->fetch_rows, scan->cursor);
	for (int i = 0; i < scan->answers; i++)
		scan->commands[first + i] = fetch;
	scan->batch_asked = (int64) scan->fetch_rows * scan->answers;
	scan->batch_received = scan->batch_bytes = scan->received = 0;
	scan->sent = GetCurrentTimestamp();
	scan->fetches_ahead += scan->results != NIL ? scan->answers : 0;
	scan->fetches_binary += scan->binary ? scan->answers : 0;
	fetch_send(scan, scan->commands, first + scan->answers);
}

/* Opens a cursor for the query and fetches from it, in one batch. */
void
cursor_open(RemoteScanState *scan, const RemoteCommand *query)
{
	MemoryContext old = MemoryContextSwitchTo(scan->node->ss.ps.state->es_query_cxt);

	scan->cursor = ++scan->session->cursors.names;
	scan->batch_fetches = 1;
	scan->batches = 0;
	scan->total_received = 0;
	scan->batch_took = -1;
	scan->binary = false;
	if (scan->declare != NULL)
		pfree(scan->declare);
	scan->declare = psprintf("DECLARE c%u CURSOR FOR\n%s", scan->cursor,
							 scan->sql);
	if (scan->commands == NULL)
		scan->commands = palloc((1 + SCAN_FETCHES) * sizeof(RemoteCommand));
	MemoryContextSwitchTo(old);
	scan->commands[0] = *query;
	scan->commands[0].sql = scan->declare;
	portals_add(scan->session, scan->cursor);
	size_first_batch(scan);
	send_batch(scan);
}

/*
 * Chooses how many rows the next batch asks for, from how fast the last one
 * came.  Whoever needs but one row, or ends the scan, waits for all rows of
 * the batch: so it is small where rows come slowly.
 *
 * The rows' rate leaves out the round trip: the shortest one seen, but at most
 * half of the time that the batch took.
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

/* May the next batch be sent before all received rows have been returned? */
static bool
may_send_ahead(const RemoteScanState *scan)
{
	return fastpath_is_on(scan->plan.fast_paths, FAST_READ_AHEAD) &&
		scan->may_prefetch && !scan->is_slow &&
		scan->batches >= ANSWERS_BEFORE_AHEAD &&
		(is_read(scan, READS_REST) ||
		 spare_rows(scan) >= (int64) scan->fetch_rows * scan->batch_fetches);
}

/* Frees the received rows, all of which have been returned. */
void
cursor_forget_rows(RemoteScanState *scan)
{
	scan->dropped |= scan->results != NIL;
	fetch_clear(scan);
}

/* Sends the next batch if no rows are left, or if it may be sent ahead. */
void
cursor_send_more(RemoteScanState *scan)
{
	if (scan->phase != SCAN_PAUSED)
		return;
	if (scan->results == NIL && locks_rest(scan))
		scan->batch_took = TimestampDifferenceMilliseconds(scan->sent,
														   GetCurrentTimestamp());
	if (scan->batch_took >= 0)
		size_batch(scan);
	if (scan->results != NIL && !may_send_ahead(scan))
		return;
	size_next_batch(scan, spare_rows(scan));
	send_batch(scan);
}

/* Receives more rows after all have been returned; false after the last. */
bool
cursor_more(RemoteScanState *scan)
{
	cursor_forget_rows(scan);
	while (scan->results == NIL)
	{
		if (scan->phase == SCAN_DONE)
			return false;
		cursor_send_more(scan);
		while (scan->result_bytes < SCAN_BYTES && fetch_read(scan))
			;
	}
	if (scan_may_wait(scan))
		cursor_send_more(scan);
	else
		fetch_drain(scan);
	return true;
}

/* Has the cursor, which may have been rolled back, closed later. */
void
cursor_close(RemoteScanState *scan)
{
	if (scan->cursor != 0 && scan->session->conn != NULL)
		portals_let_go(scan->session, scan->cursor);
	scan->cursor = 0;
}
