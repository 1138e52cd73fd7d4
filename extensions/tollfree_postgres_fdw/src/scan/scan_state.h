/*
 * scan_state.h
 *	  The state of a scan, and what the files of scan/ do with it.
 */
#ifndef TOLLFREE_FDW_SCAN_STATE_H
#define TOLLFREE_FDW_SCAN_STATE_H

#include "access/xact.h"
#include "lib/ilist.h"
#include "nodes/execnodes.h"

#include "scan/received.h"
#include "session/questions.h"
#include "session/session.h"
#include "sql/plan.h"
#include "wire/rows.h"
#include "wire/states.h"

/*
 * Bytes of received rows after which a scan reads no further.  As much again
 * may be in flight.
 */
#define SCAN_BYTES (512 * 1024)

/* Which rows of a scan its query reads */
typedef enum ScanReading
{
	READS_SOME,					/* it may stop anywhere */
	READS_REMAINING,			/* all, if it reads a second row */
	READS_ALL
} ScanReading;

/* What a query wants of the rows of a scan */
typedef struct ScanDemand
{
	ScanReading reading;		/* if all rows of the query are read */
	bool		at_once;		/* or any number of them, as below a sort */
	bool		is_output;		/* is each row one of the query's result? */
	bool		is_interleaved; /* may the query use the server before all
								 * rows have been read? */
	int64		limit;			/* of rows that are used; 0 if there is none.
								 * The others hold if no more are returned. */
} ScanDemand;

/* How rows are requested */
typedef enum FetchMethod
{
	FETCH_DIRECT,				/* the query itself; all is read at once, but
								 * a large result may become a stream */
	FETCH_STREAM,				/* the query itself; rows are read as used */
	FETCH_CURSOR
} FetchMethod;

/*
 * Where a query is:
 *
 *	IDLE -> SENT -> READING -> DONE
 *		without a cursor
 *	IDLE -> SENT -> READING -> PAUSED -> SENT -> ... -> READING -> DONE
 *		with a cursor; each round is a batch of FETCHes
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

typedef struct RemoteScanState RemoteScanState;

/* The answer to a query.  Written by fetch.c; its rows by received.c. */
typedef struct ScanAnswer
{
	RemoteScanState *scan;
	FetchMethod method;			/* of the last execution */
	ScanPhase	phase;
	RemoteCommand query;		/* that was sent without a cursor */
	ReceivedRows *rows;
} ScanAnswer;

/* The custom scan that has many keys looked up, and returns the rows below it */
#define LOOKUP_NODE "Batched Foreign Lookup"

/* The one above a join that has rows to be modified looked up (join/store.c) */
#define LOOKUP_STORE "Lookups Before Writes"

/* Batches of keys at the same time: one is used, the next is in flight */
#define SCAN_LOOKUPS 2

/* Many values of a scan's parameters, whose rows come by one query */
typedef struct KeyBatch
{
	const char *sql;			/* its last column is the number of a key, by
								 * which rows are ordered */
	int			nparams;
	const char **params;		/* the text of an array for each parameter */
	ReceivedPlace *starts;		/* room for where each key's rows begin */
} KeyBatch;

/* A cursor.  Only cursor.c knows what is in it. */
typedef struct CursorState CursorState;

/* Batches of keys that are looked up.  Only lookups.c knows what is in it. */
typedef struct LookupStates LookupStates;

/*
 * A scan.  It executes its own query, with the present values of its parameters.
 * Or it has batches of keys looked up, and returns the rows of one of them.
 * Written by scan.c, but for what is said.
 */
struct RemoteScanState
{
	const ForeignScanState *node;
	ScanPlan	plan;
	Session    *session;
	RowReader  *reader;
	StateMaker *states;			/* to be made in each row, or NULL */
	ParamWriter *params;		/* NULL if there are none */
	dlist_node	parameterized;	/* in scan.c's list, if it has parameters */
	SubTransactionId begun_in;
	bool		may_prefetch;	/* may rows be fetched before they are needed? */
	bool		locks_rows;		/* does the query lock rows, or update them by
								 * ctid? */
	bool		keeps_rows;		/* may it be scanned again, with the same
								 * parameters? */
	SessionUsage usage;			/* of lookups, too */
	MemoryContext row_context;	/* of the row last returned */
	MemoryContextCallback clear;	/* frees results with the query's context */

	ScanDemand	demand;			/* method.c adds the LIMIT of a run */
	char	   *sql;			/* the query that is executed, with the LIMIT;
								 * NULL before the first execution; method.c's */
	ScanAnswer	own;			/* to its own query */
	CursorState *cursor;		/* of its own query; NULL if it has had none;
								 * cursor.c's */
	LookupStates *lookups;		/* NULL if it has had none; lookups.c's */
	AsyncRequest *request;		/* last one, of an asynchronous scan;
								 * async.c's */
};

/*
 * Could a rollback of the present subtransaction lose what is in flight for
 * the scan, which may be read after it?
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

/* Is an answer, or the end of one, still to be read? */
static inline bool
answer_is_in_flight(const ScanAnswer *answer)
{
	return answer->phase == SCAN_SENT || answer->phase == SCAN_READING;
}

/* demand.c */
extern ScanDemand demand_of_plan(EState *estate, const Plan *plan);
extern bool demand_reads(const EState *estate, const ScanDemand *demand,
						 ScanReading reading);

/* autocommit.c */
extern bool autocommit_suits_plan(ForeignScanState *node, const ScanPlan *plan);
extern List *autocommit_relations(ForeignScanState *node, const ScanPlan *plan);

/* method.c */
extern bool method_is_free(const ForeignScanState *node, const ScanPlan *scan);
extern bool method_may_look_up(const ForeignScanState *node,
							   const ScanPlan *scan);
extern bool method_may_prefetch(const ForeignScanState *node,
								const ScanPlan *scan, Session *session);
extern ScanDemand method_demand(const ForeignScanState *node,
								const ScanPlan *scan);
extern void method_write_query(RemoteScanState *scan);
extern FetchMethod method_choose(const RemoteScanState *scan);
extern FetchMethod method_expect(const ForeignScanState *node,
								 const ScanPlan *plan, Session *session);

/* cursor.c */
extern const RemoteCommand *cursor_open(RemoteScanState *scan,
										const RemoteCommand *query,
										int *ncommands);
extern const RemoteCommand *cursor_next_batch(const RemoteScanState *scan,
											  int *ncommands);
extern bool cursor_is_opening(const RemoteScanState *scan);
extern void cursor_read_declare(const RemoteScanState *scan);
extern void cursor_note_rows(const RemoteScanState *scan, const PGresult *res);
extern bool cursor_end_fetch(const RemoteScanState *scan);
extern bool cursor_end_batch(const RemoteScanState *scan);
extern void cursor_close(const RemoteScanState *scan);
extern void cursor_explain(const RemoteScanState *scan, ExplainState *es);

/* fetch.c */
extern void fetch_start(ScanAnswer *answer, FetchMethod method,
						const RemoteCommand *query);
extern void fetch_send_more(ScanAnswer *answer);
extern bool fetch_more(ScanAnswer *answer);
extern bool fetch_receive(ScanAnswer *answer);
extern void fetch_direct(ScanAnswer *answer);
extern void fetch_drain(void *answer);
extern void fetch_spill(ScanAnswer *answer, bool loses_rows);
extern void fetch_discard(ScanAnswer *answer);
extern RemoteScanState *fetch_in_flight(const Session *session);
extern void fetch_convert(RemoteScanState *scan, ReceivedRow row,
						  TupleTableSlot *slot);

/* lookups.c, for scan.c */
extern ScanAnswer *lookups_answer(const RemoteScanState *scan);
extern ScanAnswer *lookups_or_own_answer(RemoteScanState *scan);
extern bool lookups_were_sent(const RemoteScanState *scan);
extern TupleTableSlot *lookups_next(RemoteScanState *scan,
									TupleTableSlot *slot);
extern void lookups_rescan(const RemoteScanState *scan);
extern void lookups_clear(const RemoteScanState *scan);

/* lookups.c, for join/ */
extern void lookups_begin(RemoteScanState *scan);
extern void lookups_send(RemoteScanState *scan, int number,
						 const KeyBatch *keys);
extern void lookups_use(RemoteScanState *scan, int number);
extern void lookups_set_key(RemoteScanState *scan, int key);
extern void lookups_end(RemoteScanState *scan);

/* merge.c */
extern List *merge_find_members(const ForeignScanState *node);

/* scan.c */
extern void scan_send_more(ForeignScanState *node);
extern RemoteScanState *scan_find(const EState *estate, const Plan *plan);

#endif							/* TOLLFREE_FDW_SCAN_STATE_H */
