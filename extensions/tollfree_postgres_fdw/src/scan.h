/*
 * scan.h
 *	  The state of a scan, and how its rows arrive.
 */
#ifndef TOLLFREE_FDW_SCAN_H
#define TOLLFREE_FDW_SCAN_H

#include "access/xact.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "plan.h"
#include "rows.h"
#include "rowstore.h"
#include "session.h"

/*
 * What a scan means to hold in memory: the rows at hand, and as much again
 * that is on its way.
 */
#define SCAN_BYTES (512 * 1024)

/*
 * Rows come in this order: those in the store, if there is one; those of
 * the results, from position (result, row) on; those in the air; those that
 * the cursor still has.
 */
typedef struct RemoteScanState
{
	ScanPlan	plan;
	Session    *session;
	RowReader  *reader;
	ParamWriter *params;		/* NULL if there are none */
	bool		is_direct;
	SessionUsage usage;
	bool		is_executed;	/* since it began or was last reset */
	AsyncRequest *request;		/* the last, of an asynchronous scan */

	RemoteCommand commands[2];	/* last sent: DECLARE, if one is, then what
								 * brings rows */
	bool		declares;
	bool		unanswered;		/* has nothing of the answers been read? */

	List	   *results;		/* of PGresult, in query_context */
	Size		result_bytes;
	int			result;			/* position: result in the list, row in it */
	int			row;
	bool		in_air;			/* is an answer, or its rest, to be read? */
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
	char		fetch[64];
	bool		is_free;		/* may more be fetched than was asked for? */
	bool		binary;			/* are further rows to come in binary form? */
	int			fetches;		/* answers received */
	int64		fetches_ahead;	/* FETCHes sent while rows were at hand */
	int64		fetches_binary; /* FETCHes for rows in binary form */
	int			fetch_rows;		/* that the next FETCH asks for */
	bool		is_slow;		/* would that take longer than it should? */
	int			asked;			/* rows, by the FETCH in the air */
	TimestampTz sent;			/* when that was */
	int			received;		/* of them */
	Size		received_bytes;
} RemoteScanState;

/*
 * Could a rollback of the present subtransaction leave the scan, but take what
 * is in the air for it?
 */
static inline bool
scan_may_outlive_flight(const RemoteScanState *scan)
{
	return scan->begun_in != GetCurrentSubTransactionId();
}

/* scan.c */
extern void scan_launch(RemoteScanState *scan, bool declares);
extern bool scan_read(RemoteScanState *scan);
extern void scan_land(RemoteScanState *scan);
extern void scan_clear(RemoteScanState *scan);

/* scan.c, for async.c */
extern bool scan_is_done(const RemoteScanState *scan);
extern bool scan_receive(RemoteScanState *scan);
extern void scan_proceed(ForeignScanState *node);
extern RemoteScanState *scan_in_air(const Session *session);

/* cursor.c */
extern void cursor_open(RemoteScanState *scan, const RemoteCommand *query);
extern void cursor_opened(RemoteScanState *scan);
extern void cursor_forget_rows(RemoteScanState *scan);
extern void cursor_proceed(RemoteScanState *scan);
extern bool cursor_more(RemoteScanState *scan);
extern void cursor_landed(RemoteScanState *scan);
extern void cursor_close(RemoteScanState *scan);

#endif							/* TOLLFREE_FDW_SCAN_H */
