/*
 * aggregate_scan.h
 *	  A scan that returns groups instead of rows.
 */
#ifndef TOLLFREE_FILE_AGGREGATE_SCAN_H
#define TOLLFREE_FILE_AGGREGATE_SCAN_H

#include "aggregates.h"
#include "scan.h"

/* In the aggregate of a FileScanState. */
typedef struct AggregateScan
{
	QualContext context;
	AggregateWork work;
	Aggregation *aggregation;	/* NULL before all rows were read */
	int			group;			/* the next to be returned */
	bool		is_finished;	/* has the last one been returned? */
	const char *fallback;		/* why the plan below does the work, or NULL */
	MemoryContext batch_memory; /* values asked for in a batch */
} AggregateScan;

extern void aggregate_scan_begin(ForeignScanState *node);
extern bool aggregate_scan_work(ForeignScanState *node);
extern TupleTableSlot *aggregate_scan_next(ForeignScanState *node);
extern void aggregate_scan_reset(ForeignScanState *node);
extern void aggregate_scan_end(ForeignScanState *node);

#endif							/* TOLLFREE_FILE_AGGREGATE_SCAN_H */
