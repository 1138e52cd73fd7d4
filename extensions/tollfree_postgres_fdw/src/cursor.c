/*
 * cursor.c
 *	  Large results, which come through a cursor.
 *
 * DECLARE and the first FETCH share a flight.  The first FETCH asks for
 * fetch_size rows and shows how large they are; the next ones ask for about
 * SCAN_BYTES.  From the second answer on, which shows that the consumer goes
 * on, the next FETCH is sent as soon as an answer has been received: the
 * remote server works on it while the rows at hand are converted and used.
 *
 * The rows of an answer are taken from the connection only as far as
 * SCAN_BYTES reach.  Rows that turn out wider than those before them wait in
 * the socket, and the remote server with them, so memory stays bounded.
 * Whoever else needs the connection has the rest read first (scan.c).
 *
 * No answer stays in the air at a deeper transaction level than the cursor was
 * opened at: rolling that level back would lose rows which the cursor, being
 * left alone, does not give again.
 */
#include "postgres.h"

#include "access/xact.h"

#include "compat.h"
#include "guc.h"
#include "scan.h"

#define FETCH_ROWS_MAX 10000

/* Answers after which the next FETCH is sent ahead */
#define ANSWERS_BEFORE_AHEAD 2

/* Writes the next FETCH; the buffer must last as long as the command. */
static RemoteCommand
make_fetch(const RemoteScanState *scan, char *buffer, size_t size)
{
	snprintf(buffer, size, "FETCH %d FROM c%u", scan->fetch_rows, scan->cursor);
	return (RemoteCommand)
	{
		.sql = buffer,.shown = scan->plan.sql,.binary = scan->binary
	};
}

/* The answer to a FETCH is to come. */
static void
expect_answer(RemoteScanState *scan)
{
	scan->asked = scan->fetch_rows;
	scan->received = 0;
	scan->received_bytes = 0;
	scan_await(scan);
}

/* Opens a cursor and fetches from it, in one flight. */
void
cursor_open(RemoteScanState *scan, const RemoteCommand *query)
{
	Session    *session = scan->session;
	RemoteCommand commands[2] = {*query};
	char		fetch[64];
	PGresult   *res;

	scan->cursor = ++session->cursors;
	scan->aborts = session->aborts;
	scan->level = GetCurrentTransactionNestLevel();
	scan->fetches = 0;
	scan->binary = false;
	commands[0].sql = psprintf("DECLARE c%u CURSOR FOR\n%s", scan->cursor,
							   scan->plan.sql);
	commands[1] = make_fetch(scan, fetch, sizeof(fetch));
	session_send(session, commands, 2, true);

	res = session_result(session);
	if (PQresultStatus(res) != PGRES_COMMAND_OK)
	{
		scan->cursor = 0;
		session_report(session, ERROR, res, scan->plan.sql);
	}
	PQclear(res);
	res = session_result(session);
	if (res != NULL || PQstatus(session->conn) == CONNECTION_BAD)
		session_report(session, ERROR, res, scan->plan.sql);
	expect_answer(scan);
}

/* Sends the next FETCH. */
static void
send_fetch(RemoteScanState *scan)
{
	char		fetch[64];
	RemoteCommand command = make_fetch(scan, fetch, sizeof(fetch));

	session_send(scan->session, &command, 1, true);
	expect_answer(scan);
}

/* An answer has been received: how much is to be asked for next? */
void
cursor_landed(RemoteScanState *scan)
{
	scan->fetches++;
	scan->at_end = scan->received < scan->asked;
	if (!scan->is_free || scan->received == 0)
		return;
	scan->fetch_rows = SCAN_BYTES /
		(scan->received_bytes / scan->received + 1);
	scan->fetch_rows = Max(1, Min(scan->fetch_rows, FETCH_ROWS_MAX));
	if (setting_binary_results && scan->results != NIL &&
		PQserverVersion(scan->session->conn) >= COMPAT_BINARY_VERSION)
		scan->binary = rows_prefer_binary(scan->reader, llast(scan->results));
}

/* May the next FETCH be sent while there are rows at hand? */
static bool
goes_ahead(const RemoteScanState *scan)
{
	return setting_read_ahead && scan->is_free && !scan->at_end &&
		!scan->in_air &&
		scan->fetches >= ANSWERS_BEFORE_AHEAD;
}

/* Gets more rows when there are none at hand; false after the last. */
bool
cursor_more(RemoteScanState *scan)
{
	scan->dropped |= scan->results != NIL;
	scan_clear(scan);
	while (scan->results == NIL)
	{
		if (!scan->in_air && scan->at_end)
			return false;
		if (!scan->in_air)
			send_fetch(scan);
		while (scan->result_bytes < SCAN_BYTES && scan_read(scan))
			;
	}
	if (scan->level < GetCurrentTransactionNestLevel())
		scan_land(scan);
	else if (goes_ahead(scan))
		send_fetch(scan);
	return true;
}

/*
 * Ends a cursor, if it is surely still there.  What is in the air for it is
 * read in any case, since nobody must read into a scan that is gone.
 */
void
cursor_close(RemoteScanState *scan)
{
	Session    *session = scan->session;

	while (scan->in_air && session->absorb_arg == scan && scan_read(scan))
		scan_clear(scan);
	if (scan->cursor != 0 && session->conn != NULL &&
		session->aborts == scan->aborts)
		session_close_later(session, scan->cursor);
	scan->cursor = 0;
	scan->in_air = false;
}
