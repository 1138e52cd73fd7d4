/*
 * async.c
 *	  Scans on several servers at the same time, under an Append.
 *
 * A request is answered with a row at hand.  If there is none, the scan sends
 * for more and the request is left pending; the Append goes on with others and
 * waits for all of them together.  What arrives is taken in as far as it is
 * there, and a request is not answered before the batch has arrived, or as
 * much of it as a scan means to hold: no server is waited for while another
 * one has something.
 *
 * Scans that share a session take turns.  A request whose session is busy for
 * another scan of the same Append waits for that one's event.  If it is busy
 * for something else, that is read to its end when nothing else is left to do.
 *
 * How a scan's rows are asked for and kept is scan.c's and cursor.c's business.
 */
#include "postgres.h"

#include "executor/execAsync.h"
#include "executor/instrument.h"

#include "scan/fetch.h"
#include "scan/scan.h"
#include "scan/scan_state.h"
#include "session/batch.h"

/* The scan that a request is for. */
static RemoteScanState *
requested_scan(const AsyncRequest *request)
{
	return castNode(ForeignScanState, request->requestee)->fdw_state;
}

/* Is it a request of ours?  An Append may have those of other wrappers. */
static bool
is_ours(const AsyncRequest *request)
{
	return IsA(request->requestee, ForeignScanState) &&
		castNode(ForeignScanState, request->requestee)->fdwroutine->ForeignAsyncRequest ==
		tollfreeForeignAsyncRequest;
}

/* Is the session of a scan busy for somebody else? */
static bool
is_blocked(const RemoteScanState *scan)
{
	return !scan_is_in_flight(scan) && batch_is_in_flight(scan->session);
}

/*
 * Answers a request with the next row, or with none after the last one; leaves
 * it pending if that has to be waited for.
 */
static void
answer(AsyncRequest *request)
{
	RemoteScanState *scan = requested_scan(request);
	ForeignScanState *node = castNode(ForeignScanState, request->requestee);
	TupleTableSlot *slot;

	for (;;)
	{
		slot = request->requestee->ExecProcNodeReal(request->requestee);
		if (!TupIsNull(slot) || scan->phase == SCAN_DONE)
		{
			ExecAsyncRequestDone(request, slot);
			return;
		}
		if (!is_blocked(scan))
			scan_proceed(node);
		if (is_blocked(scan) || !fetch_receive(scan))
		{
			ExecAsyncRequestPending(request);
			return;
		}
	}
}

/* Answers a pending request; true unless it is pending once more. */
static bool
answer_pending(AsyncRequest *request)
{
	request->callback_pending = false;
	answer(request);
	ExecAsyncResponse(request);
	if (request->requestee->instrument != NULL)
		InstrUpdateTupleCount(request->requestee->instrument,
							  TupIsNull(request->result) ? 0.0 : 1.0);
	return request->request_complete;
}

/* Is there nothing yet that the Append will wait for? */
static bool
waits_for_nothing(const AppendState *append)
{
	return GetNumRegisteredWaitEvents(append->as_eventset) == 1;
}

/*
 * Can a scan be sent for without reading what somebody else has in flight, or
 * running anybody's code, which may do that?
 */
static bool
can_send(const RemoteScanState *scan)
{
	return !is_blocked(scan) && !scan_may_outlive_batch(scan) &&
		(scan->phase != SCAN_IDLE || scan->params == NULL);
}

/*
 * Is a request's session busy for another scan that the Append waits for?  That
 * one's answer must not be read to its end for this one's sake.
 */
static bool
is_in_turn(const AsyncRequest *request)
{
	const RemoteScanState *scan = requested_scan(request);
	const RemoteScanState *other = fetch_in_flight(scan->session);

	return is_blocked(scan) && other != NULL && other->request != NULL &&
		other->request->requestor == request->requestor &&
		other->request->callback_pending;
}

/*
 * Answers those of the Append's pending requests whose rows have come in the
 * meantime.
 */
static void
answer_arrived(AppendState *append)
{
	int			i = -1;

	while ((i = bms_next_member(append->as_asyncplans, i)) >= 0)
	{
		AsyncRequest *request = append->as_asyncrequests[i];

		if (request->callback_pending && is_ours(request) &&
			fetch_receive(requested_scan(request)))
			(void) answer_pending(request);
	}
}

/* Takes a request for a row. */
void
tollfreeForeignAsyncRequest(AsyncRequest *request)
{
	requested_scan(request)->request = request;
	answer(request);
}

/*
 * Says what a pending request waits for.
 *
 * Requests are answered only before there is anything to wait for, be it of
 * another wrapper: the Append would wait for that first, and an answer may run
 * anything, such as what reads all that is in flight, so that nothing more comes.
 * Once one is answered nothing of ours is waited for: the Append has a row to
 * return.
 */
void
tollfreeForeignAsyncConfigureWait(AsyncRequest *request)
{
	RemoteScanState *scan = requested_scan(request);
	AppendState *append = castNode(AppendState, request->requestor);
	bool		answers = waits_for_nothing(append);

	if (answers)
		answer_arrived(append);
	if (!bms_is_empty(append->as_needrequest) || !request->callback_pending)
		return;
	if (!scan_is_in_flight(scan))
	{
		if (answers ? is_in_turn(request) : !can_send(scan))
			return;
		scan_proceed(castNode(ForeignScanState, request->requestee));
		if (answers && !scan_is_in_flight(scan) && answer_pending(request))
			return;
	}
	if (scan_is_in_flight(scan))
		AddWaitEventToSet(append->as_eventset, WL_SOCKET_READABLE,
						  PQsocket(scan->session->conn), NULL, request);
}

/* Takes in what has arrived for a pending request. */
void
tollfreeForeignAsyncNotify(AsyncRequest *request)
{
	if (fetch_receive(requested_scan(request)))
		answer(request);
	else
		ExecAsyncRequestPending(request);
}
