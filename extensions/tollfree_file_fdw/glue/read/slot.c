/*
 * slot.c
 *	  A slot that makes the values of a batch's row when they are asked for.
 *
 * core/ has checked all values of a row; to make Datums of them, numerics above
 * all, costs as much again.  A join often looks at its key alone and drops the
 * row.  So a row is stored as a reference, and values are made up to the column
 * that somebody wants, as those of a heap tuple are:
 *
 *		RowSlot	--> BatchSource --> batch, until the next batch
 *			|			row
 *			v
 *		tts_values[0 .. tts_nvalid)		in the memory of the scan's tuple
 *
 * Apart from that it is a slot for heap tuples, as every scan of a foreign table
 * has; it becomes an ordinary one where a tuple is stored or made in it.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "base/compat.h"
#include "read/slot.h"

typedef struct RowSlot
{
	HeapTupleTableSlot base;
	MemoryContext memory;		/* for values; reset with each row */
	BatchSource *source;		/* of the row, or NULL if there is none */
	int			row;
	int			column;			/* the first of the source's not yet made */
} RowSlot;

/* Empties the slot. */
static void
clear_row(TupleTableSlot *slot)
{
	((RowSlot *) slot)->source = NULL;
	TTSOpsHeapTuple.clear(slot);
}

/* Makes the values of columns up to the one of that number. */
static void
make_values(TupleTableSlot *slot, int natts)
{
	RowSlot    *row_slot = (RowSlot *) slot;
	BatchSource *source = row_slot->source;
	MemoryContext old;

	if (source == NULL)
	{
		TTSOpsHeapTuple.getsomeattrs(slot, natts);
		return;
	}
	old = MemoryContextSwitchTo(row_slot->memory);
	while (row_slot->column < source->columns.ncolumns &&
		   source->columns.attnums[row_slot->column] <= natts)
	{
		int			column = row_slot->column++;
		int			i = source->columns.attnums[column] - 1;
		const ColumnVector *vector = &source->batch->columns[column];

		slot->tts_isnull[i] = bitmap_has(&vector->nulls, row_slot->row);
		if (!slot->tts_isnull[i])
			slot->tts_values[i] = batch_value(source, row_slot->row, column);
	}
	slot->tts_nvalid = natts;
	MemoryContextSwitchTo(old);
}

/* Makes all values; the slot is one of values from then on. */
static void
make_all_values(TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	((RowSlot *) slot)->source = NULL;
}

static void
materialize_row(TupleTableSlot *slot)
{
	make_all_values(slot);
	TTSOpsHeapTuple.materialize(slot);
}

static HeapTuple
get_heap_tuple(TupleTableSlot *slot)
{
	make_all_values(slot);
	return TTSOpsHeapTuple.get_heap_tuple(slot);
}

static HeapTuple
copy_heap_tuple(TupleTableSlot *slot)
{
	make_all_values(slot);
	return TTSOpsHeapTuple.copy_heap_tuple(slot);
}

/* Straight from the values; a slot for heap tuples would make one first. */
static MinimalTuple
copy_minimal_tuple(TupleTableSlot *slot COMPAT_EXTRA_PARAMETER)
{
	if (((RowSlot *) slot)->source == NULL)
		return TTSOpsHeapTuple.copy_minimal_tuple(slot COMPAT_EXTRA_ARGUMENT);
	slot_getallattrs(slot);
	return heap_form_minimal_tuple(slot->tts_tupleDescriptor, slot->tts_values,
								   slot->tts_isnull COMPAT_EXTRA_ARGUMENT);
}

/* A batched INSERT keeps its rows in slots of the kind that the scan has. */
static void
copy_slot(TupleTableSlot *slot, TupleTableSlot *source)
{
	ExecMaterializeSlot(slot_store_values(slot, source));
}

/* The operations of a heap tuple's slot, with ours in between. */
static const TupleTableSlotOps *
row_slot_operations(void)
{
	static TupleTableSlotOps operations;

	operations = TTSOpsHeapTuple;
	operations.base_slot_size = sizeof(RowSlot);
	operations.clear = clear_row;
	operations.getsomeattrs = make_values;
	operations.materialize = materialize_row;
	operations.get_heap_tuple = get_heap_tuple;
	operations.copyslot = copy_slot;
	operations.copy_heap_tuple = copy_heap_tuple;
	operations.copy_minimal_tuple = copy_minimal_tuple;
	return &operations;
}

/*
 * Gives a scan of rows such a slot in place of the one that the executor has
 * made.  What PostgreSQL does with the rows of a foreign scan takes any kind.
 */
void
slot_replace(ForeignScanState *node)
{
	TupleTableSlot *slot =
		ExecInitExtraTupleSlot(node->ss.ps.state,
							   node->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
							   row_slot_operations());

	((RowSlot *) slot)->memory =
		node->ss.ps.ps_ExprContext->ecxt_per_tuple_memory;
	node->ss.ss_ScanTupleSlot = slot;
}

/*
 * Stores the values of another slot, of the same columns, which remain where
 * they are.
 */
TupleTableSlot *
slot_store_values(TupleTableSlot *slot, TupleTableSlot *source)
{
	int			natts = slot->tts_tupleDescriptor->natts;

	slot_getallattrs(source);
	ExecClearTuple(slot);
	memcpy(slot->tts_values, source->tts_values, natts * sizeof(Datum));
	memcpy(slot->tts_isnull, source->tts_isnull, natts * sizeof(bool));
	return ExecStoreVirtualTuple(slot);
}

/*
 * Stores a row of the source's present batch that holds no unresolved value.
 * Columns that the source does not convert keep what the slot says of them: null.
 */
void
slot_store_row(TupleTableSlot *slot, BatchSource *source, int row)
{
	RowSlot    *row_slot = (RowSlot *) slot;

	ExecClearTuple(slot);
	row_slot->source = source;
	row_slot->row = row;
	row_slot->column = 0;
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
}
