/*
 * async.c
 *	  Scans on several servers at the same time, under an Append.
 *
 * A request is answered with a received row.  If there is none, the scan sends
 * its query, or the next batch of FETCHes, and the request stays pending.  The
 * Append executes its other scans and waits for all of them together.  Data is
 * read only as far as it has arrived.  A pending request is answered when the
 * whole batch has arrived, or SCAN_BYTES of it.  So no server is waited for while
 * another one has rows.
 *
 * Scans that share a session take turns.  If the session of a request is busy
 * for another scan of the same Append, the request waits for the event of that
 * scan.  If it is busy for something else, what is in flight is read to its
 * end when nothing else is left to do.
 */
#include "postgres.h"

#include "executor/execAsync.h"
#include "executor/instrument.h"

#include "scan/scan.h"
#include "scan/scan_state.h"
#include "session/batch.h"

/* The node that a request is for. */
static ForeignScanState *
requested_node(const AsyncRequest *request)
{
	return castNode(ForeignScanState, request->requestee);
}

/* The answer that a request is to be answered from. */
static ScanAnswer *
requested_answer(const AsyncRequest *request)
{
	return lookups_or_own_answer(requested_node(request)->fdw_state);
}

/* Is it a request of ours?  An Append may have those of other wrappers. */
static bool
is_ours(const AsyncRequest *request)
{
	return IsA(request->requestee, ForeignScanState) &&
		requested_node(request)->fdwroutine->ForeignAsyncRequest ==
		tollfreeForeignAsyncRequest;
}

/* Is something in flight in the session that is not the scan's? */
static bool
is_blocked(const ScanAnswer *answer)
{
	return !answer_is_in_flight(answer) &&
		batch_is_in_flight(answer->scan->session);
}

/*
 * Answers a request with the next row, or with none after the last one.
 * Leaves it pending if the row has to be waited for.
 */
static void
async_answer(AsyncRequest *request)
{
	ScanAnswer *answer = requested_answer(request);
	TupleTableSlot *slot;

	for (;;)
	{
		slot = request->requestee->ExecProcNodeReal(request->requestee);
		if (!TupIsNull(slot) || answer->phase == SCAN_DONE)
		{
			ExecAsyncRequestDone(request, slot);
			return;
		}
		if (!is_blocked(answer))
			scan_send_more(requested_node(request));
		if (is_blocked(answer) || !fetch_receive(answer))
		{
			ExecAsyncRequestPending(request);
			return;
		}
	}
}

/* Answers a pending request; false if it is pending again. */
static bool
async_answer_pending(AsyncRequest *request)
{
	request->callback_pending = false;
	async_answer(request);
	ExecAsyncResponse(request);
	if (request->requestee->instrument != NULL)
		InstrUpdateTupleCount(request->requestee->instrument,
							  TupIsNull(request->result) ? 0.0 : 1.0);
	return request->request_complete;
}

/*
 * Can a scan send its query without draining another one?  Computing the
 * parameters of a query may run any code, which may drain.
 */
static bool
can_send(const ScanAnswer *answer)
{
	return !is_blocked(answer) && !scan_may_outlive_batch(answer->scan) &&
		(answer->phase != SCAN_IDLE || answer->scan->params == NULL);
}

/*
 * Is a request's session busy for another scan that the same Append waits for?
 * Then this request waits, and the answer of the other scan is not drained.
 */
static bool
waits_for_sibling(const AsyncRequest *request)
{
	const ScanAnswer *answer = requested_answer(request);
	const RemoteScanState *other = fetch_in_flight(answer->scan->session);

	return is_blocked(answer) && other != NULL && other->request != NULL &&
		other->request->requestor == request->requestor &&
		other->request->callback_pending;
}

/*
 * Answers each pending request of the Append whose rows have arrived.  None is sent
 * that has waited for its session: the Append may need no more rows.
 */
static void
answer_arrived(AppendState *append)
{
	int			i = -1;

	while ((i = bms_next_member(append->as_asyncplans, i)) >= 0)
	{
		AsyncRequest *request = append->as_asyncrequests[i];

		if (request->callback_pending && is_ours(request) &&
			requested_answer(request)->phase != SCAN_IDLE &&
			fetch_receive(requested_answer(request)))
			(void) async_answer_pending(request);
	}
}

/*
 * Answers a request for a row, or leaves it pending.  The first one is pending
 * even if its rows come at once: the session would be free then, and a scan that
 * waits for it be sent, although the Append may need no more rows.
 */
void
tollfreeForeignAsyncRequest(AsyncRequest *request)
{
	ScanAnswer *answer = requested_answer(request);

	answer->scan->request = request;
	if (answer->phase != SCAN_IDLE)
	{
		async_answer(request);
		return;
	}
	if (!is_blocked(answer))
		scan_send_more(requested_node(request));
	ExecAsyncRequestPending(request);
}

/* What is done for a request when the Append is about to wait */
typedef enum AsyncStep
{
	ASYNC_NONE,					/* no event is needed, or no row yet */
	ASYNC_SEND,
	ASYNC_WAIT					/* for what is in flight */
} AsyncStep;

/* Decides that; may_answer is ConfigureWait's. */
static AsyncStep
async_choose_step(const AsyncRequest *request, bool may_answer)
{
	const AppendState *append = castNode(AppendState, request->requestor);
	const ScanAnswer *answer = requested_answer(request);

	/* Once a request is answered the Append has a row to return. */
	if (!bms_is_empty(append->as_needrequest) || !request->callback_pending)
		return ASYNC_NONE;
	if (answer_is_in_flight(answer))
		return ASYNC_WAIT;
	if (may_answer ? waits_for_sibling(request) : !can_send(answer))
		return ASYNC_NONE;
	return ASYNC_SEND;
}

/* Adds the event of what is in flight to the Append's set. */
static void
async_add_event(AsyncRequest *request)
{
	AppendState *append = castNode(AppendState, request->requestor);
	ScanAnswer *answer = requested_answer(request);
	PGconn	   *conn = answer->scan->session->conn;

	/* A lost connection has no socket; reading raises its error. */
	if (PQstatus(conn) == CONNECTION_BAD)
		(void) fetch_receive(answer);
	AddWaitEventToSet(append->as_eventset, WL_SOCKET_READABLE, PQsocket(conn),
					  NULL, request);
}

/*
 * Adds the event that a pending request waits for, or answers the request.
 *
 * Requests are answered only while the Append's set has no event of a scan, of
 * ours or of another wrapper.  If it had one the Append would wait for it,
 * even with a row to return.  And an answer may run any code, which may drain
 * what the event is for: then the event never comes.  A new set has one event of
 * the Append's own.
 */
void
tollfreeForeignAsyncConfigureWait(AsyncRequest *request)
{
	AppendState *append = castNode(AppendState, request->requestor);
	bool		may_answer = GetNumRegisteredWaitEvents(append->as_eventset) == 1;
	AsyncStep	step;

	if (may_answer)
		answer_arrived(append);
	step = async_choose_step(request, may_answer);
	if (step == ASYNC_SEND)
	{
		scan_send_more(requested_node(request));
		/* All of its answer may have been read. */
		if (may_answer && !answer_is_in_flight(requested_answer(request)) &&
			async_answer_pending(request))
			return;
	}
	if (step != ASYNC_NONE && answer_is_in_flight(requested_answer(request)))
		async_add_event(request);
}

/* Receives what has arrived; answers the request if that is enough. */
void
tollfreeForeignAsyncNotify(AsyncRequest *request)
{
	if (fetch_receive(requested_answer(request)))
		async_answer(request);
	else
		ExecAsyncRequestPending(request);
}
