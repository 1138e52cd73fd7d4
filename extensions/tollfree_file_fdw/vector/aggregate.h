/*
 * aggregate.h
 *	  count, sum, avg, min and max of the rows of batches, plain or grouped.
 *
 *		RowBatch + selected rows
 *			-> group numbers (hash table over the keys, in order of arrival)
 *			-> one loop per aggregate over one AggregateState per group
 *
 * Results are exact: integers are summed in 128 bits, floats in the file's
 * order and with PostgreSQL's own recurrence.  A value that cannot be
 * represented gives a status, after which the aggregation is unusable and the
 * caller restarts on the slow path; so it must not have returned a row.
 */
#ifndef VECTOR_AGGREGATE_H
#define VECTOR_AGGREGATE_H

#include "core/allocator.h"
#include "core/batch.h"
#include "vector/arithmetic.h"
#include "vector/filter.h"

#define AGGREGATE_KEYS_MAX	8

typedef enum AggregateKind
{
	AGGREGATE_COUNT_ROWS,		/* count(*) */
	AGGREGATE_COUNT,			/* count(column), of any type */
	AGGREGATE_SUM,				/* of an expression; avg as well */
	AGGREGATE_SUM_FLOAT4,		/* sum(float4), added as floats */
	AGGREGATE_SUM_FLOAT8,
	AGGREGATE_MOMENTS,			/* avg of a float: N, sum x, sum of squares of
								 * the differences, as float8_accum has them */
	AGGREGATE_MIN,				/* of an expression */
	AGGREGATE_MAX,
	AGGREGATE_MIN_FLOAT,		/* of a float column */
	AGGREGATE_MAX_FLOAT,
	AGGREGATE_MIN_TEXT,			/* of a text column, in the order of C */
	AGGREGATE_MAX_TEXT
} AggregateKind;

typedef struct AggregateSpec
{
	AggregateKind kind;
	int			column;			/* of those that are not of an expression */
	Arithmetic *argument;		/* AGGREGATE_SUM, _MIN, _MAX */
	FilterNode *filter;			/* FILTER (WHERE ...), or NULL */
} AggregateSpec;

/* Aligned as all memory. */
typedef __int128 AggregateSum __attribute__((aligned(8)));

typedef struct AggregateState
{
	int64_t		count;			/* values taken, so neither null nor filtered
								 * out; if 0 the result of all but the counts
								 * is null */
	union
	{
		AggregateSum sum;		/* times 10^scale of the argument */
		int64_t		extreme;	/* likewise */
		double		floating;	/* sums, extremes */
		struct
		{
			double		n;
			double		sum;
			double		squares;
		}			moments;
		TextRef text;			/* in memory of the aggregation */
	}			u;
} AggregateState;

typedef struct AggregateOptions
{
	const ColumnSpec *columns;	/* of the batches */
	int			ncolumns;
	FileEncoding encoding;		/* of their texts: that of the database */
	const int  *keys;			/* GROUP BY: columns, of any type but floats
								 * and COLUMN_OTHER */
	int			nkeys;			/* 0: one group, even of no rows */
	const AggregateSpec *specs;
	int			nspecs;
	size_t		max_memory;		/* bytes of keys and states */
	Allocator	allocator;
} AggregateOptions;

typedef enum AggregateStatus
{
	AGGREGATE_OK,
	AGGREGATE_OVERFLOW,			/* of a type, of int64, or to infinity */
	AGGREGATE_NOT_FINITE,		/* a float is NaN or infinite */
	AGGREGATE_TOO_LARGE,		/* max_memory */
	AGGREGATE_NO_MEMORY
} AggregateStatus;

/* A value of a grouping column; the member is that of its type. */
typedef struct GroupKey
{
	bool		is_null;
	int64_t		integer;
	TextRef text;
	Uuid		uuid;
} GroupKey;

typedef struct Aggregation Aggregation;

/*
 * Returns NULL, or the reason why aggregate_open would fail, other than
 * memory.
 */
extern const char *aggregate_unsupported(const AggregateOptions *options);

/*
 * Returns an aggregation, or NULL: then *unsupported is the reason, or NULL
 * without memory.  Filters and arguments are prepared by it, and must last as
 * long.
 */
extern Aggregation *aggregate_open(const AggregateOptions *options,
								   const char **unsupported);

/* Adds the selected rows of a batch without unresolved values. */
extern AggregateStatus aggregate_add(Aggregation *aggregation,
									 const RowBatch *batch,
									 const RowBitmap *selected);

/* Groups are numbered from 0 in the order of their first rows. */
extern int	aggregate_ngroups(const Aggregation *aggregation);
extern GroupKey aggregate_key(const Aggregation *aggregation, int group,
							  int key);
extern const AggregateState *aggregate_state(const Aggregation *aggregation,
											 int group, int spec);

/* Forgets all rows. */
extern void aggregate_restart(Aggregation *aggregation);
extern void aggregate_close(Aggregation *aggregation);

#endif							/* VECTOR_AGGREGATE_H */
