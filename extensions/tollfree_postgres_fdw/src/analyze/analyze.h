/*
 * analyze.h
 *	  ANALYZE; the callback is named as in FdwRoutine.
 */
#ifndef TOLLFREE_FDW_ANALYZE_H
#define TOLLFREE_FDW_ANALYZE_H

#include "foreign/fdwapi.h"

#include "session/state.h"
#include "sql/deparse.h"

/* The obstacle to an import if the remote server refuses the query */
#define IMPORT_REFUSED "The remote server does not tell its user what it knows of the table."

extern bool tollfreeAnalyzeForeignTable(Relation rel,
										AcquireSampleRowsFunc *func,
										BlockNumber *totalpages);

/* import_stats.c */
extern const char *import_statistics(Relation rel, Session *session);

/* sample.c */
extern int	sample_read(Session *session, Relation rel, const SamplePlan *plan,
						HeapTuple *rows, int target, double *seen);

#endif							/* TOLLFREE_FDW_ANALYZE_H */
