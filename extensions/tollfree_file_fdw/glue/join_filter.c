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
 * join_table.c finds these tuples.  Nothing is asked of a table but when a filter
 * is made of it, and that is forgotten when the scan starts again, as it does before
 * it reads for another table.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "executor/hashjoin.h"
#include "executor/nodeHash.h"
#include "utils/fmgrprotos.h"

#include "allocate.h"
#include "compat.h"
#include "join_filter.h"
#include "join_table.h"

/*
 * A filter is made when the join has been given a row for so many tuples of its
 * table.  By then it has taken longer to look these rows up than it takes to make
 * the filter.  So little is lost where few rows come, since conditions rule out
 * most of them, or since the scan starts again and again and stops early.
 */
#define TUPLES_FOR_ROW 16

/* What a filter takes for a tuple at most, bytes */
#define TUPLE_BYTES 4

/* A filter for a join, by columns of the batch (a list of integers). */
JoinFilter *
join_filter_create(HashJoinState *join, List *between, List *keys)
{
	JoinFilter *filter = palloc0(sizeof(JoinFilter));

	filter->join = join;
	filter->between = between;
	filter->nkeys = list_length(keys);
	filter->keys = palloc(sizeof(int) * filter->nkeys);
	for (int i = 0; i < filter->nkeys; i++)
		filter->keys[i] = list_nth_int(keys, i);
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
	filters->nwaiting++;
}

/* Adds a filter. */
void
join_filters_add(JoinFilters *filters, JoinFilter *filter)
{
	filters->filters = lappend(filters->filters, filter);
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
	foreach(cell, filters->filters)
		wait_for_table(filters, lfirst(cell));
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
	hash_filter_open(&filter->hashes, &allocator, (uint64) count);
	join_table_visit(filter->join, add_tuple, filter);
}

/*
 * Takes rows out of the selected ones that the join drops.  A row with an open
 * value stays: it might be an error.
 */
static void
apply_filter(const JoinFilter *filter, const BatchSource *source,
			 RowBitmap *selected)
{
	int			nwords = bitmap_words(source->batch->nrows);
	RowBitmap	rows = *selected;

	for (int word = 0; word < nwords; word++)
		rows.words[word] &= ~source->asks.words[word];
	hash_filter_run(&filter->hashes, source->batch, filter->keys,
					filter->nkeys, hash_bytes, &rows);
	for (int word = 0; word < nwords; word++)
		selected->words[word] = rows.words[word] |
			(selected->words[word] & source->asks.words[word]);
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
		if (filter->phase == JOIN_FILTER_USED && is_asked)
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
