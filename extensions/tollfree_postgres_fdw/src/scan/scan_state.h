/*
 * scan_state.h
 *	  The state of a scan, and what the files of scan/ do with it.
 */
#ifndef TOLLFREE_FDW_SCAN_STATE_H
#define TOLLFREE_FDW_SCAN_STATE_H

#include "access/xact.h"
#include "lib/ilist.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "session/questions.h"
#include "session/session.h"
#include "sql/plan.h"
#include "wire/rows.h"
#include "wire/rowstore.h"
#include "wire/states.h"

/*
 * Bytes of received rows after which a scan reads no further.  As much again
 * may be in flight.
 */
#define SCAN_BYTES (512 * 1024)

/* FETCHes in a batch, at most */
#define SCAN_FETCHES 64

/* How much of a scan its query reads */
typedef enum ScanReading
{
	READS_SOME,					/* it may stop anywhere */
	READS_REST,					/* all, if it reads a second row */
	READS_ALL
} ScanReading;

/* What a query wants of the rows of a scan */
typedef struct ScanDemand
{
	ScanReading reading;		/* if the query is asked for all of its rows */
	bool		at_once;		/* or for any number of them, as below a sort */
	bool		is_output;		/* is each row one of the query's result? */
	bool		is_interleaved; /* may the query use the server before all
								 * rows have been read? */
	int64		limit;			/* of rows that are used; 0 if there is none.
								 * The others hold if no more are returned. */
} ScanDemand;

/* How the remote server is asked for rows */
typedef enum FetchMethod
{
	FETCH_DIRECT,				/* the query itself; all is read at once, but
								 * a large result goes on as a stream */
	FETCH_STREAM,				/* the query itself; rows are read as used */
	FETCH_CURSOR
} FetchMethod;

/*
 * Where a scan is:
 *
 *	IDLE -> SENT -> READING -> DONE
 *		a query without a cursor
 *	IDLE -> SENT -> READING -> PAUSED -> SENT -> ... -> READING -> DONE
 *		a cursor; each round is a batch of FETCHes
 *
 * and from any of these back to IDLE, to be executed again or ended.
 */
typedef enum ScanPhase
{
	SCAN_IDLE,					/* nothing has been sent */
	SCAN_SENT,					/* commands have been sent, no answer read */
	SCAN_READING,				/* answers before the rows have been read */
	SCAN_PAUSED,				/* all answers have been read; the cursor may
								 * have more rows */
	SCAN_DONE					/* the last row has been received */
} ScanPhase;

/* Where the rows of a key begin: in a result, or as a mark in the store */
typedef struct KeyStart
{
	int			result;
	int			row;
} KeyStart;

/* The custom scan that has many keys looked up, and returns the rows below it */
#define LOOKUP_NODE "Batched Foreign Lookup"

/* Many values of a scan's parameters, whose rows come by one query */
typedef struct KeyBatch
{
	const char *sql;			/* its last column is the number of a key, by
								 * which rows are ordered */
	int			nparams;
	const char **params;		/* the text of an array for each parameter */
	int			key;			/* whose rows are wanted; numbers begin with 1 */
	bool		is_at_key;		/* has the scan gone to its rows? */
	int			reached;		/* the last key that it has gone to so far */
	KeyStart   *starts;			/* of the keys up to that one */
	PGresult   *stored;			/* the next row, if it comes from the store */
} KeyBatch;

/*
 * Rows are returned in this order: those in the store, if there is one; those
 * of the results, from position (result, row) on; those in flight; those that
 * the cursor still has.
 */
typedef struct RemoteScanState
{
	ScanPlan	plan;
	Session    *session;
	RowReader  *reader;
	StateMaker *states;			/* to be made in each row, or NULL */
	ParamWriter *params;		/* NULL if there are none */
	KeyBatch   *batch;			/* in place of these parameters, or NULL */
	bool		looks_up;		/* has there been a batch? */
	const ForeignScanState *node;
	dlist_node	parameterized;	/* in scan.c's list, if it has parameters */
	FetchMethod method;			/* of the last execution */
	ScanDemand	demand;
	char	   *sql;			/* the query that is executed, with the LIMIT;
								 * NULL before the first execution */
	SessionUsage *usage;		/* of the twin, too */
	struct RemoteScanState *twin;	/* has another batch of keys looked up
									 * while the rows of one are used; NULL if
									 * there is none */
	ScanPhase	phase;
	AsyncRequest *request;		/* last one, of an asynchronous scan */

	RemoteCommand query;		/* the query itself, sent without a cursor */

	List	   *results;		/* of PGresult: the received rows */
	Size		result_bytes;
	int			result;			/* position: result in the list, row in it */
	int			row;
	bool		is_short;		/* has a FETCH brought fewer rows than asked? */
	bool		dropped;		/* have rows been freed that a rescan needs? */
	bool		keeps_rows;		/* may it be scanned again, with the same
								 * parameters? */
	MemoryContext row_context;	/* of the row last returned */
	MemoryContextCallback clear;	/* frees results with the query's context */

	int			work_mem;		/* in kB, as it was when the scan began */
	RowStore   *store;			/* rows that exceed work_mem, or NULL */
	ResourceOwner owner;		/* of the store's file */
	SubTransactionId begun_in;

	/* of a cursor */
	uint32		cursor;			/* 0 if none is open */
	char	   *declare;		/* text of the DECLARE */
	RemoteCommand *commands;	/* last batch: perhaps a DECLARE, then at most
								 * SCAN_FETCHES FETCHes */
	char		fetch[64];		/* text of a FETCH */
	bool		may_prefetch;	/* may rows be fetched before they are asked
								 * for? */
	bool		locks_rows;		/* does the query lock rows, or update them by
								 * ctid? */
	bool		binary;			/* are further rows to come in binary form? */
	int			batches;		/* number of batches received */
	int64		fetches_ahead;	/* FETCHes sent before all received rows had
								 * been returned */
	int64		fetches_binary; /* FETCHes for rows in binary form */
	int			fetch_rows;		/* that each FETCH of the batch in flight, or
								 * else of the next one, asks for at most */
	int			batch_fetches;	/* FETCHes of the next batch, at most */
	bool		is_slow;		/* would the next batch take longer than
								 * BATCH_MSECS? */
	int			received;		/* rows of the FETCH being read */
	int			answers;		/* FETCHes in flight; the first is being read */
	TimestampTz sent;			/* when the last batch was sent */
	long		batch_took;		/* ms until all of it was received; -1 once
								 * the next batch has been sized by it */
	int64		total_received; /* rows of all batches */
	int64		batch_asked;	/* rows that it asked for */
	int64		batch_received; /* rows of its FETCHes answered so far */
	Size		batch_bytes;	/* bytes of its rows received so far */
} RemoteScanState;

/*
 * Could a rollback of the present subtransaction lose what is in flight for
 * the scan, which goes on after it?
 */
static inline bool
scan_may_outlive_batch(const RemoteScanState *scan)
{
	return scan->begun_in != GetCurrentSubTransactionId();
}

/*
 * May answers to the scan wait until their rows are used?  A remote
 * statement_timeout counts that time, too.
 */
static inline bool
scan_may_wait(const RemoteScanState *scan)
{
	return !questions_has_timeout(scan->session) &&
		!scan_may_outlive_batch(scan);
}

/* Is an answer, or the rest of one, still to be read? */
static inline bool
scan_is_in_flight(const RemoteScanState *scan)
{
	return scan->phase == SCAN_SENT || scan->phase == SCAN_READING;
}

/* Does the batch in flight open the cursor? */
static inline bool
scan_declares(const RemoteScanState *scan)
{
	return scan->method == FETCH_CURSOR && scan->batches == 0;
}

/* demand.c */
extern ScanDemand demand_of_plan(EState *estate, const Plan *plan);

/* autocommit.c */
extern bool autocommit_suits_plan(ForeignScanState *node, const ScanPlan *plan);
extern List *autocommit_relations(ForeignScanState *node, const ScanPlan *plan);

/* method.c */
extern bool method_is_free(const ForeignScanState *node, const ScanPlan *scan);
extern bool method_may_prefetch(const ForeignScanState *node,
								const ScanPlan *scan, Session *session);
extern ScanDemand method_demand(const ForeignScanState *node,
								const ScanPlan *scan);
extern bool method_reads(const ForeignScanState *node, const ScanDemand *demand,
						 ScanReading reading);
extern FetchMethod method_choose(const ForeignScanState *node,
								 RemoteScanState *scan);
extern FetchMethod method_explain(const ForeignScanState *node,
								  const ScanPlan *plan);

/* cursor.c */
extern void cursor_open(RemoteScanState *scan, const RemoteCommand *query);
extern void cursor_forget_rows(RemoteScanState *scan);
extern void cursor_send_more(RemoteScanState *scan);
extern bool cursor_more(RemoteScanState *scan);
extern void cursor_close(RemoteScanState *scan);

/* fetch.c: sending commands, and reading their answers */
extern void fetch_send(RemoteScanState *scan, const RemoteCommand *commands,
					   int ncommands);
extern bool fetch_read(RemoteScanState *scan);
extern bool fetch_receive(RemoteScanState *scan);
extern void fetch_direct(RemoteScanState *scan);
extern void fetch_drain(RemoteScanState *scan);
extern RemoteScanState *fetch_in_flight(const Session *session);

/* fetch.c: rows that have been received */
extern bool fetch_has_row(const RemoteScanState *scan);
extern void fetch_convert(RemoteScanState *scan, PGresult *res, int row,
						  TupleTableSlot *slot);
extern void fetch_next_row(RemoteScanState *scan, TupleTableSlot *slot);
extern bool fetch_next_stored(RemoteScanState *scan, TupleTableSlot *slot);
extern void fetch_clear(RemoteScanState *scan);
extern void fetch_spill(RemoteScanState *scan);
extern void fetch_drop_store(RemoteScanState *scan);

/* lookups.c */
extern void lookups_set_key(RemoteScanState *scan, int key);
extern TupleTableSlot *lookups_next(RemoteScanState *scan,
									TupleTableSlot *slot);

/* merge.c */
extern void merge_start_others(const ForeignScanState *node);

/* scan.c, for async.c, merge.c and join/ */
extern void scan_send_more(ForeignScanState *node);
extern RemoteScanState *scan_find(const EState *estate, const Plan *plan);
extern RemoteScanState *scan_make_twin(RemoteScanState *scan);
extern void scan_look_up(RemoteScanState *scan, KeyBatch *batch);
extern void scan_use_lookup(RemoteScanState *scan);
extern void scan_end_lookups(RemoteScanState *scan);

#endif							/* TOLLFREE_FDW_SCAN_STATE_H */
