/*
 * join_filter.c
 *	  Rows that a hash join above a scan would drop, dropped by the scan.
 *
 * A hash join compares a row only with tuples of its hash table that have the
 * row's hash value.  Where there is none, the join drops the row, unless it is an
 * outer join of that side.  So when the table has been built, the scan takes the
 * hash values of all its tuples, and of each batch passes on only rows that have
 * one of them:
 *
 *		HashJoinState -> hj_HashTable -> tuples with hash values
 *			|									|
 *			| asks for rows						v
 *			v								JoinFilter
 *		scan: batch -> selected rows <----------+
 *
 * What the operators or the tuples are does not matter, only how the key of a row
 * is hashed.  join_search.c finds the joins for which that is known.
 *
 * Where a record index says between which values a column is in a block, blocks are
 * not even read, in which no key is between the least and the greatest of those in
 * the table.
 *
 * join_table.c finds these tuples.  Nothing is asked of a table but when a filter
 * is made of it, and that is forgotten when the scan starts again, as it does before
 * it reads for another table.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "executor/hashjoin.h"
#include "executor/nodeHash.h"
#include "utils/fmgrprotos.h"

#include "base/allocate.h"
#include "base/compat.h"
#include "exec/join_filter.h"
#include "exec/join_table.h"

/*
 * A filter is made when the join has received a row for every TUPLES_FOR_ROW
 * tuples of its hash table.  Looking these rows up has then taken longer than
 * making the filter does.  So little is lost if few rows follow, because
 * conditions exclude most of them, or the scan is restarted often and stops early.
 */
#define TUPLES_FOR_ROW 16

/*
 * A filter that has tested TRIAL_ROWS rows, and dropped less than one of
 * DROPPED_SHARE, costs more than it saves: it pauses for PAUSE_BATCHES batches.
 * Then it is tried again, since the keys of a file may be sorted.
 */
#define TRIAL_ROWS 4096
#define DROPPED_SHARE 16
#define PAUSE_BATCHES 64

/* What a filter takes for a tuple at most, bytes */
#define TUPLE_BYTES 4

/*
 * A filter for a join, by columns of the batch, and of its tuples (lists of
 * integers).
 */
JoinFilter *
join_filter_create(HashJoinState *join, List *between, List *columns,
				   List *inner)
{
	JoinFilter *filter = palloc0(sizeof(JoinFilter));

	filter->join = join;
	filter->between = between;
	filter->nkeys = list_length(columns);
	filter->columns = palloc(sizeof(int) * filter->nkeys);
	filter->inner = palloc(sizeof(AttrNumber) * filter->nkeys);
	for (int i = 0; i < filter->nkeys; i++)
	{
		filter->columns[i] = list_nth_int(columns, i);
		filter->inner[i] = list_nth_int(inner, i);
	}
	return filter;
}

/* The filters of a scan, none as yet; in the current memory context. */
JoinFilters *
join_filters_create(void)
{
	JoinFilters *filters = palloc0(sizeof(JoinFilters));

	filters->context = AllocSetContextCreate(CurrentMemoryContext,
											 "tollfree_file_fdw join filters",
											 ALLOCSET_DEFAULT_SIZES);
	return filters;
}

/* Has a filter wait for its join. */
static void
wait_for_table(JoinFilters *filters, JoinFilter *filter)
{
	filter->phase = JOIN_FILTER_WAITING;
	filter->unused_reason = NULL;
	filter->has_paused = false;
	filters->nwaiting++;
}

/* Adds a filter. */
void
join_filters_add(JoinFilters *filters, JoinFilter *filter)
{
	filters->filters = lappend(filters->filters, filter);
	filters->nkeys += filter->nkeys;
	wait_for_table(filters, filter);
}

/* Forgets all hash tables, when the scan starts again. */
void
join_filters_reset(JoinFilters *filters)
{
	ListCell   *cell;

	MemoryContextReset(filters->context);
	filters->nwaiting = 0;
	filters->nrows = 0;
	filters->bounds = NULL;
	foreach(cell, filters->filters)
		wait_for_table(filters, lfirst(cell));
}

/*
 * Gives back what the filters are made of, behind the scan's last row: an Append can
 * have many scans.  What they have been used for is still told.
 */
void
join_filters_leave(JoinFilters *filters)
{
	MemoryContextReset(filters->context);
	filters->bounds = NULL;
}

/*
 * Has the join built its hash table?  It has when it asks for rows and there is
 * one.  A join below it that has not is still to build its own, and might not if
 * it were given no row; what that would raise as an ERROR must be raised.
 */
static bool
is_built(const JoinFilter *filter)
{
	ListCell   *cell;

	foreach(cell, filter->between)
	{
		if (lfirst_node(HashJoinState, cell)->hj_HashTable == NULL)
			return false;
	}
	return filter->join->hj_HashTable != NULL;
}

/* A TupleVisitor: adds a tuple's hash value to the filter. */
static void
add_tuple(void *context, uint32 hash, MinimalTuple tuple)
{
	hash_filter_add(&((JoinFilter *) context)->hashes, hash);
}

/* Why no filter can be made of a table that has been built; NULL if one can. */
static const char *
find_obstacle(const HashJoinState *join)
{
	if (join_table_count(join) > (double) (get_hash_memory_limit() / TUPLE_BYTES))
		return "the hash table has too many rows for hash_mem";
	return join_table_unusable(join);
}

/* What a TupleVisitor needs to find out between which values keys are. */
typedef struct BoundsVisit
{
	const JoinFilter *filter;
	TupleTableSlot *slot;		/* for a tuple of the table */
	FilterNode *ranges;			/* of each key */
} BoundsVisit;

/* An integer of a type that core/ keeps as such. */
static int64
integer_value(Datum value, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
		case DATEOID:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* A TupleVisitor: widens the ranges by the keys of a tuple. */
static void
widen_ranges(void *context, uint32 hash, MinimalTuple tuple)
{
	BoundsVisit *visit = context;
	TupleTableSlot *slot = visit->slot;

	ExecStoreMinimalTuple(tuple, slot, false);
	for (int i = 0; i < visit->filter->nkeys; i++)
	{
		AttrNumber	attnum = visit->filter->inner[i];
		FilterNode *range = &visit->ranges[i];
		bool		isnull;
		Datum		value;
		int64		key;

		if (attnum == 0)
			continue;
		value = slot_getattr(slot, attnum, &isnull);
		/* An outer join of that side keeps tuples that match nothing. */
		if (isnull)
			continue;
		key = integer_value(value,
							TupleDescAttr(slot->tts_tupleDescriptor,
										  attnum - 1)->atttypid);
		range->low = Min(range->low, key);
		range->high = Max(range->high, key);
	}
}

/* Adds what the keys of a join must be, by the tuples in its table. */
static void
add_bounds(JoinFilters *filters, const JoinFilter *filter)
{
	MemoryContext old = MemoryContextSwitchTo(filters->context);
	TupleDesc	desc = filter->join->hj_HashTupleSlot->tts_tupleDescriptor;
	BoundsVisit visit = {
		.filter = filter,
		.slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple),
		.ranges = palloc0(sizeof(FilterNode) * filter->nkeys)
	};

	for (int i = 0; i < filter->nkeys; i++)
	{
		FilterNode *range = &visit.ranges[i];

		range->kind = FILTER_COMPARE;
		range->column = filter->columns[i];
		range->low = PG_INT64_MAX;
		range->high = PG_INT64_MIN;
		if (filter->inner[i] != 0)
			filters->bounds->children[filters->bounds->nchildren++] = range;
	}
	if (filters->bounds->nchildren > 0)
		join_table_visit(filter->join, widen_ranges, &visit);
	ExecDropSingleTupleTableSlot(visit.slot);
	MemoryContextSwitchTo(old);
}

/* Has bounds be found of the filters that are made from now on. */
void
join_filters_want_bounds(JoinFilters *filters)
{
	if (filters->bounds != NULL)
		return;
	filters->bounds = MemoryContextAllocZero(filters->context,
											 sizeof(FilterNode));
	filters->bounds->kind = FILTER_AND;
	filters->bounds->children =
		MemoryContextAllocZero(filters->context,
							   sizeof(FilterNode *) * filters->nkeys);
}

/* Makes a filter that waits for its join, if the time for it has come. */
static void
make_filter(JoinFilters *filters, JoinFilter *filter)
{
	Allocator	allocator = memory_allocator(filters->context);
	const char *obstacle;
	double		count;

	Assert(hash_filter_integer(-5000000000) ==
		   DatumGetUInt32(DirectFunctionCall1(hashint8,
											  Int64GetDatum(-5000000000))));
	if (!is_built(filter))
		return;
	obstacle = find_obstacle(filter->join);
	count = join_table_count(filter->join);
	if (obstacle == NULL && (double) filters->nrows * TUPLES_FOR_ROW < count)
		return;
	filters->nwaiting--;
	filter->unused_reason = obstacle;
	filter->phase = obstacle == NULL ? JOIN_FILTER_USED : JOIN_FILTER_UNUSED;
	if (obstacle != NULL)
		return;
	filter->ntested = filter->ndropped = 0;
	filter->pause = 0;
	hash_filter_open(&filter->hashes, &allocator, (uint64) count);
	join_table_visit(filter->join, add_tuple, filter);
	if (filters->bounds != NULL)
		add_bounds(filters, filter);
}

/* Counts rows that were tested, and has the filter pause if few were dropped. */
static void
pause_useless_filter(JoinFilter *filter, int ntested, int ndropped)
{
	filter->ntested += ntested;
	filter->ndropped += ndropped;
	if (filter->ntested < TRIAL_ROWS)
		return;
	if (filter->ndropped * DROPPED_SHARE < filter->ntested)
	{
		filter->pause = PAUSE_BATCHES;
		filter->has_paused = true;
	}
	filter->ntested = filter->ndropped = 0;
}

/*
 * Takes rows out of the selected ones that the join drops.  A row with an
 * unresolved value stays: it might be an error.
 */
static void
apply_filter(JoinFilter *filter, const BatchSource *source,
			 RowBitmap *selected)
{
	int			nselected = bitmap_count(selected);
	int			nwords = bitmap_words(source->batch->nrows);
	RowBitmap	rows = *selected;

	for (int word = 0; word < nwords; word++)
		rows.words[word] &= ~source->unresolved.words[word];
	hash_filter_run(&filter->hashes, source->batch, filter->columns,
					filter->nkeys, hash_bytes, &rows);
	for (int word = 0; word < nwords; word++)
		selected->words[word] = rows.words[word] |
			(selected->words[word] & source->unresolved.words[word]);
	pause_useless_filter(filter, nselected, nselected - bitmap_count(selected));
}

/*
 * Takes rows that joins drop out of the selected ones, from that row of the batch
 * on; returns how many.  Row 0 begins a batch.  Of one that was begun before, only
 * the joins are asked that have built their tables since: often a join wants its
 * first row before.
 */
int
join_filters_apply(JoinFilters *filters, const BatchSource *source, int row,
				   RowBitmap *selected)
{
	int			nselected;
	ListCell   *cell;

	bitmap_remove_below(selected, row);
	nselected = bitmap_count(selected);
	if (row == 0)
		filters->nrows += nselected;
	foreach(cell, filters->filters)
	{
		JoinFilter *filter = lfirst(cell);
		bool		is_asked = row == 0 || filter->phase == JOIN_FILTER_WAITING;

		if (filter->phase == JOIN_FILTER_WAITING)
			make_filter(filters, filter);
		if (filter->phase != JOIN_FILTER_USED || !is_asked)
			continue;
		if (filter->pause > 0)
			filter->pause--;
		else
			apply_filter(filter, source, selected);
	}
	return nselected - bitmap_count(selected);
}

/* Why some filter does without its join; NULL if none does. */
const char *
join_filters_unused_reason(const JoinFilters *filters)
{
	ListCell   *cell;

	foreach(cell, filters->filters)
	{
		const JoinFilter *filter = lfirst(cell);

		if (filter->phase == JOIN_FILTER_UNUSED)
			return filter->unused_reason;
	}
	return NULL;
}

/* How many filters are used, or will be. */
int
join_filters_count(const JoinFilters *filters)
{
	int			count = 0;
	ListCell   *cell;

	foreach(cell, filters->filters)
		count += ((const JoinFilter *) lfirst(cell))->phase != JOIN_FILTER_UNUSED;
	return count;
}

/* How many of these have paused, since they dropped few rows. */
int
join_filters_count_paused(const JoinFilters *filters)
{
	int			count = 0;
	ListCell   *cell;

	foreach(cell, filters->filters)
		count += ((const JoinFilter *) lfirst(cell))->has_paused;
	return count;
}
