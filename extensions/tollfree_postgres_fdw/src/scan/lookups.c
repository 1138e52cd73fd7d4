/*
 * lookups.c
 *	  Scans that return the rows for many values of their parameters.
 *
 * Whoever has the values (join/) sends them as one batch of keys.  The rows come
 * ordered by the number of their key.  Keys are first used in that order, too, so
 * the scan goes on through the rows, and notes where those of each key begin: a
 * key that is used again has its rows returned again.
 *
 * Rows of a key that nobody wants, as behind the first match of a semi-join, are
 * passed over when the next key is used.
 */
#include "postgres.h"

#include "scan/scan_state.h"

/* The next row that was received, in *row of the result; NULL behind the last */
static PGresult *
next_row(RemoteScanState *scan, int *row)
{
	KeyBatch   *batch = scan->batch;

	*row = 0;
	if (scan->store != NULL && batch->stored == NULL)
		batch->stored = rowstore_get(scan->store);
	if (batch->stored != NULL)
		return batch->stored;
	for (; scan->result < list_length(scan->results); scan->result++)
	{
		PGresult   *res = list_nth(scan->results, scan->result);

		*row = scan->row;
		if (scan->row < PQntuples(res))
			return res;
		scan->row = 0;
	}
	return NULL;
}

/* Goes on to the row behind. */
static void
pass_row(RemoteScanState *scan)
{
	if (scan->batch->stored != NULL)
		scan->batch->stored = NULL;
	else
		scan->row++;
}

/* The number of a row's key. */
static int
key_of(const PGresult *res, int row)
{
	if (PQnfields(res) == 0)
		elog(ERROR, "remote query result does not match the foreign table");
	return atoi(PQgetvalue(res, row, PQnfields(res) - 1));
}

/* Goes back to where the rows of a key begin. */
static void
go_back(RemoteScanState *scan, int key)
{
	const KeyStart *start = &scan->batch->starts[key - 1];

	scan->batch->stored = NULL;
	if (scan->store != NULL)
		rowstore_go_to(scan->store, start->row);
	else
	{
		scan->result = start->result;
		scan->row = start->row;
	}
}

/* Goes on to the rows of the key behind the last one reached. */
static void
reach_next(RemoteScanState *scan)
{
	KeyBatch   *batch = scan->batch;
	KeyStart   *start = &batch->starts[batch->reached++];
	PGresult   *res;
	int			row;

	while ((res = next_row(scan, &row)) != NULL &&
		   key_of(res, row) < batch->reached)
		pass_row(scan);
	start->result = scan->result;
	start->row = scan->store != NULL ? rowstore_mark(scan->store) : scan->row;
}

/* Has the scan return the rows of this key next; 0 if it is not to be asked. */
void
lookups_set_key(RemoteScanState *scan, int key)
{
	KeyBatch   *batch = scan->batch;

	/* From rows of an earlier key on there is no way but by the last one. */
	if (batch->key < batch->reached && key > batch->reached)
		go_back(scan, batch->reached);
	batch->key = key;
	batch->is_at_key = false;
}

/* Goes to the rows of the present key. */
static void
go_to_key(RemoteScanState *scan)
{
	KeyBatch   *batch = scan->batch;

	if (batch->key <= batch->reached)
		go_back(scan, batch->key);
	while (batch->reached < batch->key)
		reach_next(scan);
	batch->is_at_key = true;
}

/* Puts the next row for the present key into the slot, or clears the slot. */
TupleTableSlot *
lookups_next(RemoteScanState *scan, TupleTableSlot *slot)
{
	PGresult   *res;
	int			row;

	ExecClearTuple(slot);
	if (scan->batch->key == 0)
		elog(ERROR, "rows were not looked up");
	if (!scan->batch->is_at_key)
		go_to_key(scan);
	res = next_row(scan, &row);
	if (res == NULL || key_of(res, row) != scan->batch->key)
		return slot;
	fetch_convert(scan, res, row, slot);
	pass_row(scan);
	return slot;
}
