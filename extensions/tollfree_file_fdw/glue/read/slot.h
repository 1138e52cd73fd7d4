/*
 * slot.h
 *	  A slot that makes the values of a batch's row when they are asked for.
 */
#ifndef TOLLFREE_FILE_SLOT_H
#define TOLLFREE_FILE_SLOT_H

#include "nodes/execnodes.h"

#include "read/batch.h"

extern void slot_replace(ForeignScanState *node);
extern TupleTableSlot *slot_store_values(TupleTableSlot *slot,
										 TupleTableSlot *source);
extern void slot_store_row(TupleTableSlot *slot, BatchSource *source,
						   int row);

#endif							/* TOLLFREE_FILE_SLOT_H */
