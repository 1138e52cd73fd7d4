/*
 * inner.h
 *	  The foreign scans that look up the rows of many outer rows at once.
 */
#ifndef TOLLFREE_FDW_INNER_H
#define TOLLFREE_FDW_INNER_H

#include "join/keys.h"
#include "nodes/execnodes.h"
#include "scan/scan_state.h"

#define INNER_BATCHES SCAN_LOOKUPS

/* The keys of a scan for a batch of outer rows */
typedef struct InnerBatch
{
	KeySet		keys;
	KeyBatch	batch;
	uint16	   *numbers;		/* of each outer row's key, 0 for none */
	int			size;			/* capacity, in outer rows */
} InnerBatch;

/* A scan */
typedef struct InnerScan
{
	RemoteScanState *scan;
	const AppendState *append;	/* that it is an input of, or NULL */
	int			position;		/* among the Append's inputs */
	InnerBatch	batches[INNER_BATCHES];
} InnerScan;

/* All scans of a node */
typedef struct InnerSide
{
	List	   *params;			/* NestLoopParams, which outer rows set */
	int			nscans;			/* 0 if nothing can be batched */
	int			nqueried[INNER_BATCHES];	/* scans with keys in a batch */
	InnerScan  *scans;
} InnerSide;

extern List *inner_queries(List *plans);
extern bool inner_has_scan(List *plans, const ForeignScan *scan);
extern void inner_find(InnerSide *side, EState *estate, List *plans,
					   List *params, MemoryContext *contexts);
extern const RemoteTraits *inner_remote(const InnerSide *side);
extern int	inner_first_rows(const InnerSide *side);
extern bool inner_has_timeout(const InnerSide *side);
extern Size inner_overhead(const InnerSide *side, int number, int nrows);
extern void inner_begin(InnerSide *side, int number);
extern void inner_add(InnerSide *side, int number, int row,
					  TupleTableSlot *slot);
extern int	inner_look_up(InnerSide *side, int number);
extern void inner_use_batch(InnerSide *side, int number);
extern void inner_use(InnerSide *side, int number, int row);
extern void inner_end(InnerSide *side);

#endif							/* TOLLFREE_FDW_INNER_H */
