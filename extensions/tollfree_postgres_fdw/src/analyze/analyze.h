/*
 * analyze.h
 *	  ANALYZE; the callback is named as in FdwRoutine.
 */
#ifndef TOLLFREE_FDW_ANALYZE_H
#define TOLLFREE_FDW_ANALYZE_H

#include "foreign/fdwapi.h"

extern bool tollfreeAnalyzeForeignTable(Relation rel,
										AcquireSampleRowsFunc *func,
										BlockNumber *totalpages);

#endif							/* TOLLFREE_FDW_ANALYZE_H */
