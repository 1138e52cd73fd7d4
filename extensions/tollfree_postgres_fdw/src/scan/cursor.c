/*
 * cursor.c
 *	  The size of a cursor's batches, and when they are sent.
 *
 * A batch consists of FETCHes, so that a link with a long round trip is used
 * for longer.  This file chooses batches and counts what is received; fetch.c
 * sends them and reads their answers.
 *
 * The remote server collects all rows of a FETCH before it sends the first one.
 * So a FETCH is for about SCAN_BYTES, but for fetch_size rows at least, and a
 * batch grows by more FETCHes.
 *
 * The first batch has DECLARE and a FETCH of fetch_size rows, or of those that
 * this run of the executor returns if each row is one of the result.  Its answer
 * shows how large the rows are.  A later batch is for SCAN_BYTES, or for what
 * arrives in BATCH_ROUND_TRIPS round trips if that is more, but for no more than
 * arrives within BATCH_MSECS, and for at most BATCH_GROWTH times as many rows as
 * the batch before.
 *
 * A query that stops early should receive hardly more rows than with
 * postgres_fdw, which fetches fetch_size rows at a time.  So where the query is
 * not certain to read all remaining rows (demand.c), a batch is for no more than
 * postgres_fdw would have received for the next row, and one in SPARE_RATIO of
 * these.
 *
 * A query that is certain to read all remaining rows fetches all that are
 * expected at once.
 *
 * After a second answer the consumer is known to read on.  From then on the next
 * batch is sent ahead, as soon as one has been received, unless it would take
 * longer than BATCH_MSECS, or is kept small because its rows may not be used.  The
 * remote server executes it while the rows of the last one are converted and used.
 *
 * Rows are taken from the connection until SCAN_BYTES are in memory.  The
 * remote server waits while the socket is full, so memory stays bounded here
 * and there.  Before anything else is sent in the session, what is in flight is
 * read (fetch.c).
 *
 * Rows that are locked, or will be updated by ctid, are fetched only when needed,
 * fetch_size rows at a time.  Only where all of them will be locked do batches
 * grow: to what is fetched and used within BATCH_MSECS, so that no row is locked
 * for much longer.
 *
 * A remote statement_timeout would run while the remote server waits, which it
 * does not with postgres_fdw.  So where there is one, each answer is read
 * whole at once, what exceeds work_mem is put into a store, and no batch is sent
 * ahead.
 *
 * No answer stays in flight in a subtransaction other than the one that the
 * scan began in.  Rolling back that subtransaction would lose the rows in
 * flight, and the cursor, which survives, would not return them again.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/fastpath.h"
#include "base/run.h"
#include "scan/scan_state.h"
#include "session/facts.h"
#include "session/portals.h"

/*
 * FETCHes in the first batch if all rows are read: most results are short, and an
 * empty FETCH has its messages, too.  And their rows, which are received one by one.
 */
#define FIRST_FETCHES 4
#define FIRST_ROWS 1600

/* Round trips that a batch lasts at least; one of them is waited for */
#define BATCH_ROUND_TRIPS 10

/* Factor by which a batch may grow at a time, for queries that stop early */
#define BATCH_GROWTH 10

/* One more row is fetched for this many that postgres_fdw would have received */
#define SPARE_RATIO 20

/* Share of rows beyond the expected number that still fit into one batch */
#define ROWS_MARGIN 0.1

/* The longest that a batch of more rows than fetch_size should take, in ms */
#define BATCH_MSECS 1000

/* Answers after which the next batch is sent ahead */
#define ANSWERS_BEFORE_AHEAD 2

/* FETCHes in a batch, at most */
#define BATCH_FETCHES 64

struct CursorState
{
	uint32		number;			/* in its name; 0 if none is open */
	char	   *declare;		/* text of the DECLARE */
	RemoteCommand *commands;	/* last batch: perhaps a DECLARE, then at most
								 * BATCH_FETCHES FETCHes */
	char		fetch[64];		/* text of a FETCH */
	bool		binary;			/* are further rows to come in binary form? */
	bool		is_short;		/* has a FETCH returned fewer rows than its
								 * count? */
	int			batches;		/* number of batches received */
	int64		total_received; /* rows of all batches */
	int64		fetches_ahead;	/* FETCHes sent before all received rows had
								 * been returned */
	int64		fetches_binary; /* FETCHes for rows in binary form */

	/* the next batch */
	int			fetch_rows;		/* count of each FETCH of the batch in flight,
								 * or else of the next one */
	int			batch_fetches;	/* FETCHes of the next batch, at most */
	bool		is_slow;		/* would it take longer than BATCH_MSECS? */

	/* the batch in flight, or else the last one */
	int			answers;		/* FETCHes in flight; the first is being read */
	int			received;		/* rows of the FETCH being read */
	TimestampTz sent;			/* when it was sent */
	long		batch_took;		/* ms until all of it was received; -1 once
								 * the next batch has been sized by it */
	int64		batch_requested;	/* rows that its FETCHes requested */
	int64		batch_received; /* rows of its FETCHes answered so far */
	Size		batch_bytes;	/* bytes of its rows received so far */
};

/* Is the query certain to read this part of the scan? */
static bool
cursor_is_read(const RemoteScanState *scan, ScanReading reading)
{
	return demand_reads(scan->node->ss.ps.state, &scan->demand, reading);
}

/*
 * Is the same certain, with nothing else sent in between?  Not under a remote
 * statement_timeout, which would run all the time.
 */
static bool
cursor_is_read_alone(const RemoteScanState *scan, ScanReading reading)
{
	return fastpath_is_on(scan->plan.fast_paths, FAST_DIRECT_RESULTS) &&
		scan->may_prefetch && !scan->demand.is_interleaved &&
		cursor_is_read(scan, reading) && scan_may_wait(scan);
}

/*
 * Is the query certain to read, and so to lock, all remaining rows of the
 * cursor?  Then a batch of them may grow, too.  Not under a remote
 * statement_timeout: more rows can be locked by others.
 */
static bool
locks_remaining(const RemoteScanState *scan)
{
	return fastpath_is_on(scan->plan.fast_paths, FAST_READ_AHEAD) &&
		scan->locks_rows && cursor_is_read(scan, READS_REMAINING) && scan_may_wait(scan);
}

/* Rows that the query is certain to use, if there are that many; or 0. */
static int64
rows_needed(const RemoteScanState *scan)
{
	return scan->demand.is_output && scan->may_prefetch ?
		run_rows_left(scan->node->ss.ps.state) : 0;
}

/*
 * The number of FETCHes, at most BATCH_FETCHES, for all remaining rows that are
 * expected.  FETCHes behind the last row cost as much as any.
 */
static int
fetches_for_remaining(const RemoteScanState *scan)
{
	const CursorState *cursor = scan->cursor;
	double		left = scan->plan.rows * (1 + ROWS_MARGIN) - cursor->total_received;

	if (scan->plan.rows < 0)
		return BATCH_FETCHES;
	return (int) Min(Max(left, 0) / cursor->fetch_rows + 1, BATCH_FETCHES);
}

/* Chooses the first batch: DECLARE and FETCHes. */
static void
cursor_size_first(const RemoteScanState *scan)
{
	CursorState *cursor = scan->cursor;
	int			size = scan->plan.fetch_size;
	int64		needed = rows_needed(scan);
	int			at_once = Max(size, SCAN_BYTES / Max(scan->plan.width, 1));

	cursor->fetch_rows = size;
	cursor->answers = 1;
	if (cursor_is_read_alone(scan, READS_ALL))
	{
		cursor->fetch_rows = Max(size, FIRST_ROWS / FIRST_FETCHES);
		cursor->answers = Max(Min(fetches_for_remaining(scan),
								  FIRST_ROWS / cursor->fetch_rows), 1);
	}
	else if (needed > size)
	{
		cursor->fetch_rows = (int) Min(needed, at_once);
		cursor->answers = (int) Min(needed / cursor->fetch_rows, BATCH_FETCHES);
	}
}

/*
 * Chooses a later batch: what cursor_size_batch has found to be best, but no more than
 * spare rows if they may not be used.
 */
static void
cursor_size_next(const RemoteScanState *scan, int64 spare)
{
	CursorState *cursor = scan->cursor;
	int64		rows = (int64) cursor->fetch_rows * cursor->batch_fetches;

	cursor->answers = cursor->batch_fetches;
	if (cursor_is_read_alone(scan, READS_REMAINING))
		cursor->answers = Max(cursor->answers, fetches_for_remaining(scan));
	else if (!cursor_is_read(scan, READS_REMAINING) && rows > spare)
	{
		rows = Max(spare, Min(rows, rows_needed(scan)));
		cursor->fetch_rows = (int) Min(cursor->fetch_rows, rows);
		cursor->answers = (int) (rows / cursor->fetch_rows);
	}
}

/*
 * Rows that may be fetched without being used, by what postgres_fdw would have
 * received for the next row.  If those received last are not used yet either, they
 * count.
 */
static int64
spare_rows(const RemoteScanState *scan)
{
	const CursorState *cursor = scan->cursor;
	int64		size = scan->plan.fetch_size;
	int64		of_stock = (cursor->total_received / size + 1) * size;
	int64		spare = of_stock + of_stock / SPARE_RATIO - cursor->total_received;

	return received_is_empty(scan->own.rows) ? spare : spare / 3;
}

/*
 * Writes the commands that ask for a batch of the chosen size, together with the
 * DECLARE if the cursor is new; sets their number.
 */
static const RemoteCommand *
cursor_write_batch(const RemoteScanState *scan, int *ncommands)
{
	CursorState *cursor = scan->cursor;
	int			first = cursor->batches == 0 ? 1 : 0;
	RemoteCommand fetch = {
		.sql = cursor->fetch,.shown = scan->plan.command.shown,
		.binary = cursor->binary
	};

	snprintf(cursor->fetch, sizeof(cursor->fetch), "FETCH %d FROM c%u",
			 cursor->fetch_rows, cursor->number);
	for (int i = 0; i < cursor->answers; i++)
		cursor->commands[first + i] = fetch;
	cursor->batch_requested = (int64) cursor->fetch_rows * cursor->answers;
	cursor->batch_received = cursor->batch_bytes = cursor->received = 0;
	cursor->is_short = false;
	cursor->sent = GetCurrentTimestamp();
	cursor->fetches_ahead += received_is_empty(scan->own.rows) ? 0
		: cursor->answers;
	cursor->fetches_binary += cursor->binary ? cursor->answers : 0;
	*ncommands = first + cursor->answers;
	return cursor->commands;
}

/* The cursor of a scan, which is made if need be, as it is before it is opened. */
static CursorState *
cursor_prepare(RemoteScanState *scan)
{
	CursorState *cursor = scan->cursor;

	if (cursor == NULL)
	{
		cursor = scan->cursor = palloc0(sizeof(CursorState));
		cursor->commands = palloc((1 + BATCH_FETCHES) * sizeof(RemoteCommand));
	}
	cursor->batch_fetches = 1;
	cursor->batches = 0;
	cursor->total_received = 0;
	cursor->batch_took = -1;
	cursor->binary = false;
	if (cursor->declare != NULL)
		pfree(cursor->declare);
	cursor->declare = NULL;
	return cursor;
}

/*
 * Names a cursor for the query; returns the commands that open it and fetch from
 * it, in one batch, and sets their number.
 */
const RemoteCommand *
cursor_open(RemoteScanState *scan, const RemoteCommand *query, int *ncommands)
{
	MemoryContext old = MemoryContextSwitchTo(scan->node->ss.ps.state->es_query_cxt);
	CursorState *cursor = cursor_prepare(scan);

	cursor->number = portals_next(scan->session);
	cursor->declare = psprintf("DECLARE c%u CURSOR FOR\n%s", cursor->number,
							   scan->sql);
	MemoryContextSwitchTo(old);
	cursor->commands[0] = *query;
	cursor->commands[0].sql = cursor->declare;
	portals_add(scan->session, cursor->number);
	cursor_size_first(scan);
	return cursor_write_batch(scan, ncommands);
}

/*
 * Chooses the size of the next batch from how fast the last one arrived.  A query
 * that needs only one row, or ends the scan, waits for all rows of the batch: so
 * it is small where rows arrive slowly.
 *
 * The rows' rate leaves out the round trip: the shortest one seen, but at most
 * half of the time that the batch took.
 */
static void
cursor_size_batch(const RemoteScanState *scan)
{
	CursorState *cursor = scan->cursor;
	long		took = cursor->batch_took;
	long		round_trip = Min(scan->session->remote.round_trip, took);
	double		per_ms = (double) cursor->batch_received /
		Max(took - Min(round_trip, took / 2), 1);
	double		in_time = per_ms * BATCH_MSECS;
	double		at_once = SCAN_BYTES /
		((double) cursor->batch_bytes / cursor->batch_received + 1);
	double		rows = Max(at_once, per_ms * round_trip * BATCH_ROUND_TRIPS);

	facts_note_round_trip(scan->session, round_trip);
	rows = Min(rows, (double) cursor->batch_requested * BATCH_GROWTH);
	rows = Min(rows, in_time);
	rows = Max(rows, scan->plan.fetch_size);
	at_once = Max(Min(at_once, rows), scan->plan.fetch_size);
	cursor->fetch_rows = (int) Min(at_once, INT_MAX);
	cursor->batch_fetches = (int) Min(rows / at_once, BATCH_FETCHES);
	cursor->is_slow = rows > in_time;
	cursor->batch_took = -1;
}

/* May the next batch be sent before all received rows have been returned? */
static bool
cursor_may_send_ahead(const RemoteScanState *scan)
{
	const CursorState *cursor = scan->cursor;

	return fastpath_is_on(scan->plan.fast_paths, FAST_READ_AHEAD) &&
		scan->may_prefetch && !cursor->is_slow &&
		cursor->batches >= ANSWERS_BEFORE_AHEAD &&
		(cursor_is_read(scan, READS_REMAINING) ||
		 spare_rows(scan) >= (int64) cursor->fetch_rows * cursor->batch_fetches);
}

/*
 * The commands of the next batch, if no rows are left or if it may be sent ahead,
 * and sets their number; NULL if it is not to be sent now.
 */
const RemoteCommand *
cursor_next_batch(const RemoteScanState *scan, int *ncommands)
{
	CursorState *cursor = scan->cursor;
	bool		is_ahead = !received_is_empty(scan->own.rows);

	if (!is_ahead && locks_remaining(scan))
		cursor->batch_took = TimestampDifferenceMilliseconds(cursor->sent,
															 GetCurrentTimestamp());
	if (cursor->batch_took >= 0)
		cursor_size_batch(scan);
	if (is_ahead && !cursor_may_send_ahead(scan))
		return NULL;
	cursor_size_next(scan, spare_rows(scan));
	return cursor_write_batch(scan, ncommands);
}

/* Is the batch in flight the first one, which begins with the DECLARE? */
bool
cursor_is_opening(const RemoteScanState *scan)
{
	return scan->cursor->batches == 0;
}

/* Reads the answer to the DECLARE.  If it fails there is no cursor to be closed. */
void
cursor_read_declare(const RemoteScanState *scan)
{
	CursorState *cursor = scan->cursor;
	uint32		number = cursor->number;

	cursor->number = 0;
	session_finish_command(scan->session, scan->plan.command.shown);
	cursor->number = number;
	/* If the connection was replaced meanwhile its portals were forgotten. */
	portals_add(scan->session, number);
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

/* Are further rows to come in binary form, by the types of these first ones? */
static bool
prefers_binary(const RemoteScanState *scan, const PGresult *res)
{
	int			version = PQserverVersion(scan->session->conn);

	return scan->may_prefetch &&
		fastpath_is_on(scan->plan.fast_paths, FAST_BINARY_RESULTS) &&
		version >= COMPAT_BINARY_VERSION &&
		rows_prefer_binary(scan->reader, res, version);
}

/*
 * Counts the rows of a result.  The types of the first ones tell whether those of
 * later batches are to come in binary form.
 */
void
cursor_note_rows(const RemoteScanState *scan, const PGresult *res)
{
	CursorState *cursor = scan->cursor;

	if (cursor->batches == 0 && received_is_empty(scan->own.rows))
		cursor->binary = prefers_binary(scan, res);
	cursor->received += PQntuples(res);
	cursor->batch_bytes += bytes_of_rows(res);
}

/* Counts a FETCH as answered; does the batch have another one? */
bool
cursor_end_fetch(const RemoteScanState *scan)
{
	CursorState *cursor = scan->cursor;

	cursor->is_short |= cursor->received < cursor->fetch_rows;
	cursor->batch_received += cursor->received;
	cursor->total_received += cursor->received;
	cursor->received = 0;
	return --cursor->answers > 0;
}

/* Counts a batch as received; may the cursor have more rows? */
bool
cursor_end_batch(const RemoteScanState *scan)
{
	CursorState *cursor = scan->cursor;

	cursor->batches++;
	if (scan->may_prefetch && !cursor->is_short)
		cursor->batch_took = TimestampDifferenceMilliseconds(cursor->sent,
															 GetCurrentTimestamp());
	return !cursor->is_short;
}

/* Has the cursor, if one is open, closed later; it may have been rolled back. */
void
cursor_close(const RemoteScanState *scan)
{
	if (scan->cursor == NULL)
		return;
	if (scan->cursor->number != 0 && scan->session->conn != NULL)
		portals_close_later(scan->session, scan->cursor->number);
	scan->cursor->number = 0;
}

/* Shows in EXPLAIN what was fetched; a scan without a cursor has fetched nothing. */
void
cursor_explain(const RemoteScanState *scan, ExplainState *es)
{
	const CursorState *cursor = scan->cursor;

	ExplainPropertyInteger("Fetches Ahead", NULL,
						   cursor != NULL ? cursor->fetches_ahead : 0, es);
	ExplainPropertyInteger("Binary Fetches", NULL,
						   cursor != NULL ? cursor->fetches_binary : 0, es);
}
