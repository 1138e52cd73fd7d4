/*
 * aggregate_scan.h
 *	  A scan that returns groups instead of rows.
 */
#ifndef TOLLFREE_FILE_AGGREGATE_SCAN_H
#define TOLLFREE_FILE_AGGREGATE_SCAN_H

#include "exec/scan_state.h"
#include "translate/aggregates.h"

/*
 * How far the work has come.
 *
 *		PENDING --> GROUPS --> FINISHED
 *			|
 *			+-----> BELOW
 *
 * A scan that starts again is PENDING, but for one that is BELOW, for good.
 */
typedef enum AggregatePhase
{
	AGGREGATE_PENDING,			/* the file has not been read */
	AGGREGATE_GROUPS,			/* there are groups to be returned */
	AGGREGATE_FINISHED,			/* all have been returned */
	AGGREGATE_BELOW				/* the plan below makes the groups */
} AggregatePhase;

/* In the aggregate of a FileScanState. */
typedef struct AggregateScan
{
	QualContext context;
	AggregateWork work;
	FileScanState *below;		/* the scan in the plan below, whose input
								 * opens and closes the file */
	AggregatePhase phase;
	Aggregation *aggregation;	/* the groups, or NULL */
	int			group;			/* the next to be returned */
	const char *fallback;		/* BELOW: why; else NULL */
	bool	   *kept;			/* of each column: are its values looked at? */
	bool		may_overflow;	/* may the arithmetic raise an ERROR? */
	MemoryContext batch_memory; /* texts asked for in a batch */
	MemoryContext row_memory;	/* what input functions make of a row */
} AggregateScan;

extern void aggregate_scan_begin(ForeignScanState *node);
extern bool aggregate_scan_work(ForeignScanState *node);
extern TupleTableSlot *aggregate_scan_next(ForeignScanState *node);
extern void aggregate_scan_reset(ForeignScanState *node);
extern void aggregate_scan_end(ForeignScanState *node);

#endif							/* TOLLFREE_FILE_AGGREGATE_SCAN_H */
