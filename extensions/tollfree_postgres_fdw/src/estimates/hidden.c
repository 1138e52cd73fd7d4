/*
 * hidden.c
 *	  Planning by postgres_fdw without use_remote_estimate.
 *
 * With use_remote_estimate postgres_fdw gets estimates over a connection of
 * its own.  It reads the option only in GetForeignRelSize, from the rows of
 * the table and the server in the system cache.  While that callback runs,
 * the cache's entries point to copies of these rows without the option.  The
 * entries are pinned, and restored also after an error.  Only this backend
 * sees the copies.
 *
 * If an entry is invalidated meanwhile, postgres_fdw gets estimates as
 * without us.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "estimates/hidden.h"

#define HIDDEN_OPTION "use_remote_estimate="

/* An entry of the system cache */
typedef struct CacheEntry
{
	HeapTuple	tuple;			/* pinned */
	HeapTupleData shown;		/* its row */
	HeapTupleData stripped;		/* its copy without the option */
} CacheEntry;

/* An array of options without this one; *is_null if it becomes empty. */
static Datum
strip_option(Datum options, bool *is_null)
{
	Datum	   *elements;
	int			count;
	int			kept = 0;

	deconstruct_array(DatumGetArrayTypeP(options), TEXTOID, -1, false,
					  TYPALIGN_INT, &elements, NULL, &count);
	for (int i = 0; i < count; i++)
	{
		if (strncmp(TextDatumGetCString(elements[i]), HIDDEN_OPTION,
					strlen(HIDDEN_OPTION)) != 0)
			elements[kept++] = elements[i];
	}
	*is_null = kept == 0;
	return PointerGetDatum(construct_array(elements, kept, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

/* A copy of a catalog's row without the option; its options are this column. */
static HeapTuple
strip_row(HeapTuple row, Oid catalog, AttrNumber column)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	TupleDesc	tupdesc = RelationGetDescr(rel);
	Datum		values[Natts_pg_foreign_server] = {0};
	bool		nulls[Natts_pg_foreign_server] = {0};
	bool		replaced[Natts_pg_foreign_server] = {0};
	bool		is_null;
	Datum		options = heap_getattr(row, column, tupdesc, &is_null);
	HeapTuple	copy = row;

	StaticAssertStmt(Natts_pg_foreign_table <= Natts_pg_foreign_server,
					 "a row of pg_foreign_server is the longer one");
	if (!is_null)
	{
		values[column - 1] = strip_option(options, &nulls[column - 1]);
		replaced[column - 1] = true;
		copy = heap_modify_tuple(row, tupdesc, values, nulls, replaced);
	}
	table_close(rel, AccessShareLock);
	return copy;
}

/* Pins the entry of an object, and prepares its row without the option. */
static CacheEntry
find_entry(int cache, Oid object, Oid catalog, AttrNumber column)
{
	CacheEntry	entry = {.tuple = SearchSysCache1(cache, ObjectIdGetDatum(object))};

	if (!HeapTupleIsValid(entry.tuple))
		elog(ERROR, "cache lookup failed for foreign object %u", object);
	entry.shown = *entry.tuple;
	entry.stripped = *strip_row(entry.tuple, catalog, column);
	return entry;
}

/* Makes an entry point to this row. */
static void
show(const CacheEntry *entry, const HeapTupleData *row)
{
	entry->tuple->t_data = row->t_data;
	entry->tuple->t_len = row->t_len;
}

/* Has postgres_fdw prepare a table's relation as if the option were off. */
void
hidden_plan_size(GetForeignRelSize_function plan, PlannerInfo *root,
				 RelOptInfo *rel, Oid tableid)
{
	CacheEntry	server = find_entry(FOREIGNSERVEROID, rel->serverid,
									ForeignServerRelationId,
									Anum_pg_foreign_server_srvoptions);
	CacheEntry	table = find_entry(FOREIGNTABLEREL, tableid,
								   ForeignTableRelationId,
								   Anum_pg_foreign_table_ftoptions);

	show(&server, &server.stripped);
	show(&table, &table.stripped);
	PG_TRY();
	{
		plan(root, rel, tableid);
	}
	PG_FINALLY();
	{
		show(&server, &server.shown);
		show(&table, &table.shown);
	}
	PG_END_TRY();
	ReleaseSysCache(server.tuple);
	ReleaseSysCache(table.tuple);
}
