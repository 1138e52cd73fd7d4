/*
 * ctids.c
 *	  The ctids of rows of several remote tables.
 *
 * postgres_fdw identifies the row to be modified by its ctid, which is unique
 * in one table only.  A remote table with partitions or children has rows of
 * other tables, too.  So the scan selects the table (sql/located.c): a row of
 * the table that it names has its ctid, one of another table its ctid
 * followed by the table's OID, as in (0,1)16384.
 *
 * A plan has room for a ctid only.  So such a row gets an artificial one: its
 * block is the number of an entry, which has the table and the block, and its
 * offset has the highest bit set.  No offset in a heap has that bit; if a
 * table access method sets it, the row gets an entry, too.  Consecutive rows
 * of one block share an entry.
 *
 * The entries of a modified table are its CtidMap, which lives as long as the
 * query.  A query that itself refers to ctids must not see artificial ones:
 * it fails.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "wire/ctids.h"

#define OWN_BIT 0x8000			/* of an offset */

#define ENTRIES_AT_FIRST 64

/* The table and block of rows */
typedef struct CtidEntry
{
	Oid			table;			/* InvalidOid: the one that the scan names */
	BlockNumber block;
	OffsetNumber bit;			/* OWN_BIT, if the rows' own offsets have it */
} CtidEntry;

typedef struct CtidMap
{
	dlist_node	node;			/* in the list of all */
	const EState *estate;
	Index		rtindex;
	CtidEntry  *entries;
	uint32		nentries;
	uint32		size;			/* room for entries */
	MemoryContext context;
	MemoryContextCallback forget;
} CtidMap;

/* The maps of all queries */
static dlist_head maps = DLIST_STATIC_INIT(maps);

/* Removes a map from the list when its memory is freed. */
static void
forget_map(void *arg)
{
	dlist_delete(&((CtidMap *) arg)->node);
}

/* The map of a table that a query modifies; NULL if there is none. */
static CtidMap *
find_map(const EState *estate, Index rtindex)
{
	dlist_iter	iter;

	dlist_foreach(iter, &maps)
	{
		CtidMap    *map = dlist_container(CtidMap, node, iter.cur);

		if (map->estate == estate && map->rtindex == rtindex)
			return map;
	}
	return NULL;
}

/* Makes the map of a column's table. */
static CtidMap *
make_map(const CtidColumn *column)
{
	MemoryContext context = column->estate->es_query_cxt;
	CtidMap    *map = MemoryContextAllocZero(context, sizeof(CtidMap));

	map->estate = column->estate;
	map->rtindex = column->rtindex;
	map->context = context;
	map->forget.func = forget_map;
	map->forget.arg = map;
	dlist_push_head(&maps, &map->node);
	MemoryContextRegisterResetCallback(context, &map->forget);
	return map;
}

/* Makes room for one more entry. */
static void
make_room(CtidMap *map)
{
	if (map->nentries < map->size)
		return;
	if (map->nentries >= MaxBlockNumber / 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows of remote partitions to be modified by one command")));
	map->size = Max(2 * map->size, ENTRIES_AT_FIRST);
	map->entries = map->entries == NULL ?
		MemoryContextAlloc(map->context, map->size * sizeof(CtidEntry)) :
		repalloc_huge(map->entries, (Size) map->size * sizeof(CtidEntry));
}

/* The number of the entry for such rows: the last one, or a new one. */
static BlockNumber
find_entry(CtidMap *map, CtidEntry entry)
{
	const CtidEntry *last = map->nentries == 0 ? NULL :
		&map->entries[map->nentries - 1];

	if (last != NULL && last->table == entry.table &&
		last->block == entry.block && last->bit == entry.bit)
		return map->nentries - 1;
	make_room(map);
	map->entries[map->nentries] = entry;
	return map->nentries++;
}

/* Raises an ERROR rather than show an artificial ctid. */
static void
refuse(const CtidColumn *column)
{
	const RangeTblEntry *rte = rt_fetch(column->rtindex,
										column->estate->es_range_table);

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot modify rows of foreign table \"%s\" by a command that refers to ctid",
					rte->eref->aliasname),
			 errdetail("The remote table has partitions or children, whose rows can have the same ctid."),
			 errhint("Use other columns in place of ctid, or a foreign table for each remote partition.")));
}

/*
 * The ctid for a column's text, in this context: the row's own, or an
 * artificial one for ctids_resolve.
 */
ItemPointer
ctids_read(CtidColumn *column, const char *string)
{
	const char *table = strrchr(string, ')');
	int			length = table == NULL ? strlen(string) : table + 1 - string;
	char	   *own = pnstrdup(string, length);
	ItemPointer ctid = (ItemPointer)
		DatumGetPointer(DirectFunctionCall1(tidin, CStringGetDatum(own)));
	OffsetNumber offset = ItemPointerGetOffsetNumberNoCheck(ctid);
	CtidEntry	entry = {
		.table = string[length] == '\0' ? InvalidOid :
		DatumGetObjectId(DirectFunctionCall1(oidin,
											 CStringGetDatum(string + length))),
		.block = ItemPointerGetBlockNumberNoCheck(ctid),
		.bit = offset & OWN_BIT
	};

	if (!OidIsValid(entry.table) && entry.bit == 0)
		return ctid;
	if (column->is_used)
		refuse(column);
	if (column->map == NULL)
		column->map = find_map(column->estate, column->rtindex);
	if (column->map == NULL)
		column->map = make_map(column);
	ItemPointerSet(ctid, find_entry(column->map, entry), offset | OWN_BIT);
	return ctid;
}

/*
 * Replaces a ctid that ctids_read has returned in this execution by the row's
 * own.  Returns its table, InvalidOid for the named one.
 */
Oid
ctids_resolve(const EState *estate, Index rtindex, ItemPointer ctid)
{
	OffsetNumber offset = ItemPointerGetOffsetNumberNoCheck(ctid);
	const CtidMap *map;
	const CtidEntry *entry;

	if ((offset & OWN_BIT) == 0)
		return InvalidOid;
	map = find_map(estate, rtindex);
	if (map == NULL ||
		ItemPointerGetBlockNumberNoCheck(ctid) >= map->nentries)
		elog(ERROR, "ctid of an unknown row");
	entry = &map->entries[ItemPointerGetBlockNumberNoCheck(ctid)];
	ItemPointerSet(ctid, entry->block, (offset & ~OWN_BIT) | entry->bit);
	return entry->table;
}
