/*
 * analyze.h
 *	  ANALYZE; the callback is named as in FdwRoutine.
 */
#ifndef TOLLFREE_FDW_ANALYZE_H
#define TOLLFREE_FDW_ANALYZE_H

#include "foreign/fdwapi.h"

#include "session/state.h"
#include "sql/deparse.h"

/* Reported if the remote server refuses the query for statistics */
#define IMPORT_REFUSED "The remote user may not read the statistics of the table."

/* A sample of the rows of a table */
typedef struct Sample
{
	Relation	rel;
	SamplePlan	plan;
	HeapTuple  *rows;			/* rows kept */
	int			target;			/* target number of rows */
	int			nrows;			/* rows kept, at most target */
	double		seen;			/* rows sent, kept or not */
} Sample;

/*
 * What both imports read of pg_stats, behind four columns of their own in the
 * query's result
 */
#define STATISTICS_COLUMNS \
	"null_frac, avg_width, n_distinct, most_common_vals, most_common_freqs," \
	" histogram_bounds, correlation"

enum
{
	NULL_FRAC = 4,
	AVG_WIDTH,
	N_DISTINCT,
	COMMON_VALUES,
	COMMON_FREQUENCIES,
	BOUNDS,
	CORRELATION,
	END_OF_STATISTICS
};

extern bool tollfreeAnalyzeForeignTable(Relation rel,
										AcquireSampleRowsFunc *func,
										BlockNumber *totalpages);

/* import_stats.c */
extern const char *import_statistics(Relation rel, Session *session);

/* restore_stats.c */
extern void restore_stats_install(FdwRoutine *routine);

/* sample.c */
extern void sample_read(Sample *sample, Session *session);

#endif							/* TOLLFREE_FDW_ANALYZE_H */
