/*
 * lookups.c
 *	  Scans that return the rows for many values of their parameters.
 *
 * Whoever has the values (join/) sends them as one batch of keys.  The rows come
 * ordered by the number of their key, and keys are used in their order, so each
 * row is looked at once.  Rows of a key that nobody wants, as behind the first
 * match of a semi-join, are left out when the next key is used.
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
skip_row(RemoteScanState *scan)
{
	if (scan->batch->stored != NULL)
		scan->batch->stored = NULL;
	else
		scan->row++;
}

/* Puts the next row for the present key into the slot, or clears the slot. */
TupleTableSlot *
lookups_next(RemoteScanState *scan, TupleTableSlot *slot)
{
	PGresult   *res;
	int			row;

	ExecClearTuple(slot);
	while ((res = next_row(scan, &row)) != NULL)
	{
		int64		key = strtoll(PQgetvalue(res, row, PQnfields(res) - 1),
								  NULL, 10);

		if (key > scan->batch->key)
			break;
		if (key == scan->batch->key)
			fetch_convert(scan, res, row, slot);
		skip_row(scan);
		if (key == scan->batch->key)
			break;
	}
	return slot;
}
