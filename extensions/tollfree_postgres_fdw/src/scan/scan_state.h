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
 * Where a scan is:
 *
 *	IDLE -> SENT -> READING -> DONE		a query without a cursor
 *	IDLE -> SENT -> READING -> PAUSED -> SENT -> ... -> READING -> DONE
 *										a cursor, batch by batch of FETCHes
 *
 * and from any of these back to IDLE, to be executed again or ended.
 */
typedef enum ScanPhase
{
	SCAN_IDLE,					/* nothing has been asked for */
	SCAN_SENT,					/* nothing of the answers has been read */
	SCAN_READING,				/* answers, or the rest of them, are in flight */
	SCAN_PAUSED,				/* what was asked for is here; there may be
								 * more */
	SCAN_DONE					/* the last row has been received */
} ScanPhase;

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
	ScanPhase	phase;
	AsyncRequest *request;		/* the last, of an asynchronous scan */

	RemoteCommand query;		/* without a cursor */
	bool		declares;		/* is the first command sent a DECLARE? */

	List	   *results;		/* of PGresult, in query_context */
	Size		result_bytes;
	int			result;			/* position: result in the list, row in it */
	int			row;
	bool		is_short;		/* has a FETCH brought fewer rows than asked? */
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
	long		batch_took;		/* ms until all was received; -1 once the next
								 * batch has been sized by it */
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

/* Is an answer, or its rest, to be read? */
static inline bool
scan_is_in_flight(const RemoteScanState *scan)
{
	return scan->phase == SCAN_SENT || scan->phase == SCAN_READING;
}

#endif							/* TOLLFREE_FDW_SCAN_STATE_H */
