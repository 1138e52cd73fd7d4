/*
 * rowstore.c
 *	  Received rows, not yet converted, in memory or in a temporary file.
 *
 * Rows go into a store if they exceed work_mem, often because the connection
 * is needed for something else, under another user or other settings, or
 * where an error is not allowed.  Converting a value may run any code, so a
 * row is converted only when it is taken out again, as a PGresult of one row.
 *
 * A tuplestore keeps each row as one bytea: a byte that is 1 if the fields
 * are in binary format, then for each field its length, -1 for a null, and
 * its bytes.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "base/compat.h"
#include "wire/rowstore.h"

/* A larger buffer is freed after its row, not reused */
#define ROW_BYTES (64 * 1024)

struct RowStore
{
	MemoryContext context;		/* of all members, but for results */
	Tuplestorestate *rows;
	TupleDesc	tupdesc;		/* of a row in the tuplestore */
	TupleTableSlot *slot;
	StringInfoData packed;		/* buffer for a row to be added */
	PGresult   *forms[2];		/* results without rows, in text and in binary
								 * form, or NULL */
	PGresult   *row;			/* the row last taken out, or NULL */
	int			form;			/* of that row: index of forms */
	int			last;			/* the tuplestore's read pointer at that row */
	bool		has_ended;		/* have all rows been taken out? */
	MemoryContextCallback clear;	/* frees the results with context */
};

/* Frees the results of libpq, when the context is freed. */
static void
clear_results(void *arg)
{
	RowStore   *store = arg;

	PQclear(store->row);
	for (int i = 0; i < lengthof(store->forms); i++)
		PQclear(store->forms[i]);
}

/*
 * An empty store, which lives until it is freed, or the parent context is.
 * Rows beyond this many kilobytes go into a temporary file, which belongs to
 * the owner.
 */
RowStore *
rowstore_create(MemoryContext parent, ResourceOwner owner, int kilobytes)
{
	MemoryContext context = AllocSetContextCreate(parent,
												  "tollfree_postgres_fdw rows",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ResourceOwner before = CurrentResourceOwner;
	RowStore   *store = palloc0(sizeof(RowStore));

	store->context = context;
	store->clear.func = clear_results;
	store->clear.arg = store;
	MemoryContextRegisterResetCallback(context, &store->clear);
	CurrentResourceOwner = owner;
	store->rows = tuplestore_begin_heap(true, false, kilobytes);
	CurrentResourceOwner = before;
	store->last = tuplestore_alloc_read_pointer(store->rows, EXEC_FLAG_REWIND);
	store->tupdesc = CreateTemplateTupleDesc(1);
	TupleDescInitEntry(store->tupdesc, 1, "row", BYTEAOID, -1, 0);
	compat_finish_tupdesc(store->tupdesc);
	store->slot = MakeSingleTupleTableSlot(store->tupdesc,
										   &TTSOpsMinimalTuple);
	initStringInfo(&store->packed);
	MemoryContextSwitchTo(old);
	return store;
}

/* Raises an ERROR if libpq has run out of memory. */
static void
check_memory(bool has_it)
{
	if (!has_it)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
}

/* Packs a row as a bytea. */
static void
pack(StringInfo packed, const PGresult *res, int row, char form)
{
	resetStringInfo(packed);
	appendStringInfoSpaces(packed, VARHDRSZ);
	appendStringInfoChar(packed, form);
	for (int i = 0; i < PQnfields(res); i++)
	{
		int			length = PQgetisnull(res, row, i) ? -1 :
			PQgetlength(res, row, i);

		appendBinaryStringInfo(packed, (char *) &length, sizeof(length));
		if (length > 0)
			appendBinaryStringInfo(packed, PQgetvalue(res, row, i), length);
	}
	SET_VARSIZE(packed->data, packed->len);
}

/* Adds a row of a result, which must have as many columns as those before. */
void
rowstore_put(RowStore *store, const PGresult *res, int row)
{
	MemoryContext old = MemoryContextSwitchTo(store->context);
	int			form = PQnfields(res) > 0 && PQfformat(res, 0) == 1;
	Datum		value;
	bool		is_null = false;

	if (store->forms[form] == NULL)
	{
		store->forms[form] = PQcopyResult(res, PG_COPYRES_ATTRS);
		check_memory(store->forms[form] != NULL);
	}
	if (PQnfields(res) != PQnfields(store->forms[form]))
		elog(ERROR, "remote query result changes its columns");
	pack(&store->packed, res, row, (char) form);
	value = PointerGetDatum(store->packed.data);
	tuplestore_putvalues(store->rows, store->tupdesc, &value, &is_null);
	if (store->packed.maxlen > ROW_BYTES)
	{
		pfree(store->packed.data);
		initStringInfo(&store->packed);
	}
	MemoryContextSwitchTo(old);
}

/* Forgets the row last taken out. */
static void
clear_row(RowStore *store)
{
	PQclear(store->row);
	store->row = NULL;
}

/* Unpacks a row into the store's result of one row. */
static void
unpack(RowStore *store, bytea *packed)
{
	const char *data = VARDATA_ANY(packed);
	int			form = *data++;

	if (store->row != NULL &&
		(store->form != form || PQresultMemorySize(store->row) > ROW_BYTES))
		clear_row(store);
	if (store->row == NULL)
	{
		store->row = PQcopyResult(store->forms[form], PG_COPYRES_ATTRS);
		check_memory(store->row != NULL);
		store->form = form;
	}
	for (int i = 0; i < PQnfields(store->row); i++)
	{
		int			length;

		memcpy(&length, data, sizeof(length));
		data += sizeof(length);
		check_memory(PQsetvalue(store->row, 0, i,
								length < 0 ? NULL : unconstify(char *, data),
								length));
		data += Max(length, 0);
	}
}

/*
 * Takes out the next row, or NULL after the last one.  The result belongs to
 * the store, and lasts until the next call.
 */
PGresult *
rowstore_get(RowStore *store)
{
	MemoryContext old = MemoryContextSwitchTo(store->context);
	bool		is_null;

	tuplestore_copy_read_pointer(store->rows, 0, store->last);
	store->has_ended = !tuplestore_gettupleslot(store->rows, true, false,
												store->slot);
	if (!store->has_ended)
	{
		unpack(store, DatumGetByteaPP(slot_getattr(store->slot, 1, &is_null)));
		ExecClearTuple(store->slot);
	}
	else
		clear_row(store);
	MemoryContextSwitchTo(old);
	return store->row;
}

/* Have all rows been taken out?  Rows added later would not be returned. */
bool
rowstore_has_ended(const RowStore *store)
{
	return store->has_ended;
}

/* Has it a temporary file? */
bool
rowstore_is_on_disk(const RowStore *store)
{
	return !tuplestore_in_memory(store->rows);
}

/* Rewinds to the first row. */
void
rowstore_rescan(RowStore *store)
{
	tuplestore_rescan(store->rows);
	store->has_ended = false;
}

/*
 * A mark at the row last taken out, or after the last row if all were.  It
 * lasts as long as the store, to which no row may be added any more.
 */
int
rowstore_mark(RowStore *store)
{
	/*
	 * It gets the flags of all others, or else each copy would examine all
	 * pointers.
	 */
	int			mark = tuplestore_alloc_read_pointer(store->rows,
													 EXEC_FLAG_BACKWARD |
													 EXEC_FLAG_REWIND);

	tuplestore_copy_read_pointer(store->rows, store->last, mark);
	return mark;
}

/* Moves the read position to a mark. */
void
rowstore_go_to(RowStore *store, int mark)
{
	tuplestore_copy_read_pointer(store->rows, mark, 0);
	store->has_ended = false;
}

/* Frees the store, with its file. */
void
rowstore_free(RowStore *store)
{
	tuplestore_end(store->rows);
	ExecDropSingleTupleTableSlot(store->slot);
	MemoryContextDelete(store->context);
}
