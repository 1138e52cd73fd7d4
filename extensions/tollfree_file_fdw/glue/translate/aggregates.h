/*
 * aggregates.h
 *	  Aggregates of a query that are computed while the file is read.
 */
#ifndef TOLLFREE_FILE_AGGREGATES_H
#define TOLLFREE_FILE_AGGREGATES_H

#include "base/core.h"
#include "translate/quals.h"

/* How a result is made of an aggregate's state. */
typedef enum ResultKind
{
	RESULT_KEY,					/* a grouping column */
	RESULT_COUNT,				/* int8 */
	RESULT_INT8_SUM,
	RESULT_NUMERIC_SUM,
	RESULT_AVERAGE,				/* numeric: a sum by a count */
	RESULT_MEAN,				/* float8: likewise */
	RESULT_FLOAT4,
	RESULT_FLOAT8,
	RESULT_INTEGER,				/* an extreme that is a Datum as it is */
	RESULT_NUMERIC,				/* an extreme */
	RESULT_TEXT,				/* likewise */

	/* What PostgreSQL combines with the other processes' */
	STATE_INTEGER_SUM,			/* internal: of sum(int8), avg(int8) */
	STATE_NUMERIC_SUM,			/* internal: of sum(numeric), avg(numeric) */
	STATE_INTEGER_AVERAGE,		/* int8[]: of avg(int2), avg(int4) */
	STATE_FLOAT_AVERAGE			/* float8[]: of avg(float4), avg(float8) */
} ResultKind;

/* One column of the result. */
typedef struct AggregateTarget
{
	ResultKind	kind;
	int			index;			/* RESULT_KEY: in keys, otherwise in specs */
} AggregateTarget;

/* What is to be computed; an array for each number. */
typedef struct AggregateWork
{
	int		   *keys;			/* columns grouped by */
	int			nkeys;
	AggregateSpec *specs;
	int			nspecs;
	AggregateTarget *targets;
	int			ntargets;
} AggregateWork;

extern const char *aggregates_translate(const QualContext *context,
										List *targets, AggregateWork *work);
extern void aggregates_find_values(const AggregateWork *work, bool *used);
extern bool aggregates_may_overflow(const AggregateWork *work);
extern const char *aggregates_unsupported(const QualContext *context,
										  const AggregateWork *work);
extern Aggregation *aggregates_open(const QualContext *context,
									const AggregateWork *work,
									const char **unsupported);
extern Datum aggregates_result(const Aggregation *aggregation,
							   const QualContext *context,
							   const AggregateWork *work, int group,
							   int target, bool *isnull);

#endif							/* TOLLFREE_FILE_AGGREGATES_H */
