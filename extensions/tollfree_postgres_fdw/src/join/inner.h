/*
 * inner.h
 *	  The foreign scans on the inner side of a nested loop that batches lookups.
 */
#ifndef TOLLFREE_FDW_INNER_H
#define TOLLFREE_FDW_INNER_H

#include "join/keys.h"
#include "nodes/execnodes.h"
#include "scan/scan_state.h"

/* A scan, and what it is asked for */
typedef struct InnerScan
{
	RemoteScanState *scan;
	int			position;		/* among the Append's inputs */
	KeySet		keys;
	KeyBatch	batch;
	int		   *numbers;		/* of each outer row's key, 0 for none */
	int			size;			/* outer rows that there is room for */
} InnerScan;

/* The inner side: one scan, or the inputs of an Append that are such scans */
typedef struct InnerSide
{
	List	   *params;			/* NestLoopParams, which outer rows set */
	const AppendState *append;	/* NULL for one scan */
	int			nscans;			/* 0 if nothing can be batched */
	InnerScan  *scans;
} InnerSide;

extern List *inner_queries(const NestLoop *loop);
extern void inner_find(InnerSide *side, EState *estate, const NestLoop *loop,
					   MemoryContext context);
extern bool inner_has_timeout(const InnerSide *side);
extern void inner_begin(InnerSide *side);
extern void inner_add(InnerSide *side, int row, TupleTableSlot *slot);
extern int	inner_look_up(InnerSide *side);
extern void inner_use(InnerSide *side, int row);
extern void inner_end(InnerSide *side);

#endif							/* TOLLFREE_FDW_INNER_H */
