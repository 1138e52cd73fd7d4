/*
 * join_filter.h
 *	  Rows that a hash join above a scan would drop, dropped by the scan.
 */
#ifndef TOLLFREE_FILE_JOIN_FILTER_H
#define TOLLFREE_FILE_JOIN_FILTER_H

#include "nodes/execnodes.h"

#include "read/batch.h"

/*
 *		WAITING --> USED		the join has built its hash table
 *			|
 *			+-----> UNUSED		it cannot filter
 *
 * The scan's next execution begins with WAITING.
 */
typedef enum JoinFilterPhase
{
	JOIN_FILTER_WAITING,
	JOIN_FILTER_USED,
	JOIN_FILTER_UNUSED
} JoinFilterPhase;

/* What one hash join tells a scan. */
typedef struct JoinFilter
{
	HashJoinState *join;
	List	   *between;		/* HashJoinState: those below it, above the
								 * scan */
	int			nkeys;
	int		   *columns;		/* of the batch: the keys, in the join's order */
	AttrNumber *inner;			/* of each: the column of the tuples in the
								 * hash table that it must be equal to, as
								 * integers; 0 if that is not known */
	JoinFilterPhase phase;
	const char *unused_reason;	/* UNUSED: why, in a few words */
	HashFilter	hashes;			/* USED: of the rows in the hash table, until
								 * the scan's last row */
	uint64		ntested;		/* USED: rows, since it was made or has
								 * paused, as the next */
	uint64		ndropped;
	int			pause;			/* USED: batches not to be tested */
	bool		has_paused;		/* in this execution of the scan */
} JoinFilter;

/* All those of a scan. */
typedef struct JoinFilters
{
	List	   *filters;		/* JoinFilter */
	int			nkeys;			/* of all of them */
	int			nwaiting;		/* filters that are WAITING */
	uint64		nrows;			/* selected by conditions, in this execution
								 * of the scan */
	FilterNode *bounds;			/* what integer keys must be for a row to be
								 * joined, by those USED: an AND of ranges, as
								 * prepared; NULL if nobody wants to know */
	MemoryContext context;		/* of what they are made of */
} JoinFilters;

extern JoinFilter *join_filter_create(HashJoinState *join, List *between,
									  List *columns, List *inner);
extern JoinFilters *join_filters_create(void);
extern void join_filters_add(JoinFilters *filters, JoinFilter *filter);
extern void join_filters_reset(JoinFilters *filters);
extern void join_filters_leave(JoinFilters *filters);
extern void join_filters_want_bounds(JoinFilters *filters);
extern int	join_filters_apply(JoinFilters *filters, const BatchSource *source,
							   int row, RowBitmap *selected);
extern const char *join_filters_unused_reason(const JoinFilters *filters);
extern int	join_filters_count(const JoinFilters *filters);
extern int	join_filters_count_paused(const JoinFilters *filters);

#endif							/* TOLLFREE_FILE_JOIN_FILTER_H */
