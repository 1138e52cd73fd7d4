/*
 * received.c
 *	  Rows of a query that have been received.
 *
 * They stay as they were received: in libpq's results, or in a store
 * (rowstore.c) if they exceed work_mem.  They are returned in this order: those
 * in the store, then those of the results, from the position on.
 *
 * Rows that have been returned are freed early where they can be had again.
 * That is noted (has_lost_rows), since a scan that starts again then has to send
 * its query again.
 *
 * The results are malloc'ed by libpq.  The owner of the state calls
 * received_clear before its memory is freed.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"

#include "scan/received.h"
#include "wire/rowstore.h"

struct ReceivedRows
{
	MemoryContext context;		/* of the list of results, and of the store */
	List	   *results;		/* of PGresult */
	Size		bytes;			/* memory that they take */
	int			result;			/* position: result in the list, row in it */
	int			row;
	bool		has_lost_rows;	/* have rows been freed that a rescan needs? */

	RowStore   *store;			/* rows that exceed work_mem, or NULL */
	PGresult   *stored;			/* its next row, if that has been peeked at */
	ResourceOwner owner;		/* of the store's file */
	int			work_mem;		/* in kB, as it was when this was created */
};

/*
 * Makes an empty state in this context.  The owner, of a temporary file, lasts
 * as long as the scan.
 */
ReceivedRows *
received_create(MemoryContext context, ResourceOwner owner)
{
	ReceivedRows *rows = MemoryContextAllocZero(context, sizeof(ReceivedRows));

	rows->context = context;
	rows->owner = owner;
	rows->work_mem = work_mem;
	return rows;
}

/* Makes another one, with the same context, owner and work_mem. */
ReceivedRows *
received_create_like(const ReceivedRows *rows)
{
	ReceivedRows *made = received_create(rows->context, rows->owner);

	made->work_mem = rows->work_mem;
	return made;
}

/* Adds a result, which has rows; it is owned here from now on. */
void
received_add(ReceivedRows *rows, PGresult *res)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	rows->results = lappend(rows->results, res);
	rows->bytes += PQresultMemorySize(res);
	MemoryContextSwitchTo(old);
}

/* Are there no results?  Those whose rows have been returned count. */
bool
received_is_empty(const ReceivedRows *rows)
{
	return rows->results == NIL;
}

/* The memory that the results take, in bytes. */
Size
received_bytes(const ReceivedRows *rows)
{
	return rows->bytes;
}

/* Is there a store? */
bool
received_has_store(const ReceivedRows *rows)
{
	return rows->store != NULL;
}

/* Is there a row to be returned, other than those of the store? */
bool
received_has_row(const ReceivedRows *rows)
{
	int			left = list_length(rows->results) - rows->result;

	return left > 1 ||
		(left == 1 && rows->row < PQntuples(llast(rows->results)));
}

/* The work_mem of the scan, in bytes. */
Size
received_work_mem(const ReceivedRows *rows)
{
	return (Size) rows->work_mem * 1024;
}

/* Do the results exceed work_mem?  A single row stays, however large it is. */
bool
received_exceeds_work_mem(const ReceivedRows *rows)
{
	bool		is_single = rows->store == NULL &&
		list_length(rows->results) == 1 &&
		PQntuples(linitial(rows->results)) == 1;

	return rows->bytes > received_work_mem(rows) && !is_single;
}

/* Have rows been freed that a rescan needs? */
bool
received_has_lost_rows(const ReceivedRows *rows)
{
	return rows->has_lost_rows;
}

/* The next row of the results, from the position on. */
static inline ReceivedRow
peek_at_results(ReceivedRows *rows)
{
	for (; rows->result < list_length(rows->results); rows->result++)
	{
		PGresult   *res = list_nth(rows->results, rows->result);

		if (rows->row < PQntuples(res))
			return (ReceivedRow)
		{
			res, rows->row
		};
		rows->row = 0;
	}
	return (ReceivedRow)
	{
		NULL, 0
	};
}

/* The next row, which is not passed: the next call returns it again. */
ReceivedRow
received_peek(ReceivedRows *rows)
{
	if (rows->store != NULL && rows->stored == NULL)
		rows->stored = rowstore_get(rows->store);
	if (rows->stored != NULL)
		return (ReceivedRow)
	{
		rows->stored, 0
	};
	return peek_at_results(rows);
}

/* Passes the row that received_peek has returned. */
void
received_pass(ReceivedRows *rows)
{
	if (rows->stored != NULL)
		rows->stored = NULL;
	else
		rows->row++;
}

/* The next row, which is passed: the next call returns the one behind it. */
ReceivedRow
received_next(ReceivedRows *rows)
{
	ReceivedRow next = {NULL, 0};

	if (rows->store != NULL)
		next.res = rowstore_get(rows->store);
	if (next.res != NULL)
		return next;
	next = peek_at_results(rows);
	rows->row += next.res != NULL;
	return next;
}

/* The place of the row that received_peek returns. */
ReceivedPlace
received_place(const ReceivedRows *rows)
{
	return (ReceivedPlace)
	{
		.result = rows->result,
			.row = rows->store != NULL ? rowstore_mark(rows->store) : rows->row
	};
}

/* Goes back to a place; none of the rows since may have been freed. */
void
received_go_to(ReceivedRows *rows, ReceivedPlace place)
{
	rows->stored = NULL;
	if (rows->store != NULL)
		rowstore_go_to(rows->store, place.row);
	else
	{
		rows->result = place.result;
		rows->row = place.row;
	}
}

/* Goes to the first row of the results. */
void
received_rewind(ReceivedRows *rows)
{
	rows->result = rows->row = 0;
}

/* Goes to the first row of the store, if there is one. */
void
received_rewind_store(ReceivedRows *rows)
{
	if (rows->store != NULL)
		rowstore_rescan(rows->store);
}

/*
 * Moves the rows that have not been returned from the results to the store, which
 * is made if need be.  loses_rows says that a rescan has to send the query again
 * anyway.  Returns true if the store has now begun to write to a file.
 */
bool
received_spill(ReceivedRows *rows, bool loses_rows)
{
	bool		has_ended = rows->store != NULL &&
		rowstore_has_ended(rows->store);
	bool		was_on_disk;

	rows->has_lost_rows |= loses_rows || has_ended || rows->result > 0 ||
		rows->row > 0;
	if (has_ended)
		received_drop_store(rows);
	if (rows->store == NULL)
		rows->store = rowstore_create(rows->context, rows->owner,
									  rows->work_mem);
	was_on_disk = rowstore_is_on_disk(rows->store);
	for (; rows->result < list_length(rows->results); rows->result++)
	{
		PGresult   *res = list_nth(rows->results, rows->result);

		for (; rows->row < PQntuples(res); rows->row++)
			rowstore_put(rows->store, res, rows->row);
		rows->row = 0;
	}
	received_clear(rows);
	return !was_on_disk && rowstore_is_on_disk(rows->store);
}

/* Frees the store, if there is one. */
void
received_drop_store(ReceivedRows *rows)
{
	if (rows->store != NULL)
		rowstore_free(rows->store);
	rows->store = NULL;
	rows->stored = NULL;
}

/* Frees the results, all of whose rows have been returned. */
void
received_forget(ReceivedRows *rows)
{
	rows->has_lost_rows |= rows->results != NIL;
	received_clear(rows);
}

/* Frees all rows, which have been returned. */
void
received_release(ReceivedRows *rows)
{
	received_drop_store(rows);
	received_clear(rows);
	rows->has_lost_rows = true;
}

/* Frees the results, but not the store. */
void
received_clear(ReceivedRows *rows)
{
	ListCell   *cell;

	foreach(cell, rows->results)
		PQclear(lfirst(cell));
	list_free(rows->results);
	rows->results = NIL;
	rows->bytes = 0;
	rows->result = rows->row = 0;
}

/* Frees all rows, before the query is sent again. */
void
received_reset(ReceivedRows *rows)
{
	received_drop_store(rows);
	received_clear(rows);
	rows->has_lost_rows = false;
}
