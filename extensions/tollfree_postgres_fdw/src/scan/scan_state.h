/*
 * scan_state.h
 *	  The state of a scan, and how its rows arrive.
 */
#ifndef TOLLFREE_FDW_SCAN_STATE_H
#define TOLLFREE_FDW_SCAN_STATE_H

#include "access/xact.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "scan/reading.h"
#include "session/usage.h"
#include "sql/plan.h"
#include "wire/rows.h"
#include "wire/rowstore.h"

/*
 * What a scan means to hold in memory: the rows at hand, and as much again
 * that is on its way.
 */
#define SCAN_BYTES (512 * 1024)

/* FETCHes in a batch, at most */
#define SCAN_FETCHES 64

/* How the remote server is asked for rows */
typedef enum FetchMethod
{
	FETCH_WHOLE,				/* the query itself; all is read at once */
	FETCH_STREAM,				/* the query itself; rows are read when used */
	FETCH_CURSOR
} FetchMethod;

/*
 * Rows come in this order: those in the store, if there is one; those of
 * the results, from position (result, row) on; those in flight; those that
 * the cursor still has.
 */
typedef struct RemoteScanState
{
	ScanPlan	plan;
	Session    *session;
	RowReader  *reader;
	ParamWriter *params;		/* NULL if there are none */
	FetchMethod method;			/* since it was last executed */
	const EState *estate;
	ScanReading reading;		/* by a query that is asked for all rows */
	SessionUsage usage;
	bool		is_executed;	/* since it began or was last reset */
	AsyncRequest *request;		/* the last, of an asynchronous scan */

	RemoteCommand query;		/* without a cursor */
	bool		declares;
	bool		unanswered;		/* has nothing of the answers been read? */

	List	   *results;		/* of PGresult, in query_context */
	Size		result_bytes;
	int			result;			/* position: result in the list, row in it */
	int			row;
	bool		in_flight;		/* is an answer, or its rest, to be read? */
	bool		at_end;			/* has the last row been received? */
	bool		dropped;		/* have rows been let go that a rescan needs? */
	MemoryContext query_context;
	MemoryContext row_context;	/* of the row last returned */
	MemoryContextCallback clear;

	int			work_mem;		/* in kB, as it was when the scan began */
	RowStore   *store;			/* of what exceeds that, else NULL */
	ResourceOwner owner;		/* of its file */
	SubTransactionId begun_in;

	/* of a cursor */
	uint32		cursor;			/* 0 if none is open */
	char	   *declare;		/* its text */
	RemoteCommand *commands;	/* last sent: perhaps DECLARE, then
								 * SCAN_FETCHES at most */
	char		fetch[64];
	bool		is_free;		/* may more be fetched than was asked for? */
	bool		binary;			/* are further rows to come in binary form? */
	int			batches;		/* of FETCHes, received */
	int64		fetches_ahead;	/* FETCHes sent while rows were at hand */
	int64		fetches_binary; /* FETCHes for rows in binary form */
	int			fetch_rows;		/* that each FETCH of the next batch asks for */
	int			batch_fetches;	/* of how many it is, if it may stop early */
	bool		is_slow;		/* would that take longer than it should? */
	int			asked;			/* rows, by each FETCH in flight */
	int			received;		/* of the one whose answer is being read */
	int			answers;		/* FETCHes in flight, that one being the first */
	TimestampTz sent;			/* when the batch was */
	int64		batch_asked;	/* rows */
	int64		batch_received; /* by FETCHes that have been answered */
	Size		batch_bytes;	/* of rows received */
} RemoteScanState;

/*
 * Could a rollback of the present subtransaction leave the scan, but take what
 * is in flight for it?
 */
static inline bool
scan_may_outlive_batch(const RemoteScanState *scan)
{
	return scan->begun_in != GetCurrentSubTransactionId();
}

/* scan.c */
extern void scan_send(RemoteScanState *scan, const RemoteCommand *commands,
					  int ncommands, bool declares);
extern bool scan_read(RemoteScanState *scan);
extern void scan_drain(RemoteScanState *scan);
extern void scan_clear(RemoteScanState *scan);

/* scan.c, for async.c */
extern bool scan_is_done(const RemoteScanState *scan);
extern bool scan_receive(RemoteScanState *scan);
extern void scan_proceed(ForeignScanState *node);
extern RemoteScanState *scan_in_flight(const Session *session);

/* cursor.c */
extern void cursor_open(RemoteScanState *scan, const RemoteCommand *query);
extern void cursor_opened(RemoteScanState *scan);
extern void cursor_forget_rows(RemoteScanState *scan);
extern void cursor_proceed(RemoteScanState *scan);
extern bool cursor_more(RemoteScanState *scan);
extern bool cursor_answered(RemoteScanState *scan);
extern void cursor_received(RemoteScanState *scan);
extern void cursor_close(RemoteScanState *scan);

#endif							/* TOLLFREE_FDW_SCAN_STATE_H */
