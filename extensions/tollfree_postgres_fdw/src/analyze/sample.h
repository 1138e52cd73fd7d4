/*
 * sample.h
 *	  The sample of a foreign table's rows, read as it arrives.
 */
#ifndef TOLLFREE_FDW_SAMPLE_H
#define TOLLFREE_FDW_SAMPLE_H

#include "session/state.h"
#include "sql/deparse.h"

extern int	sample_read(Session *session, Relation rel, const SamplePlan *plan,
						HeapTuple *rows, int target, double *seen);

#endif							/* TOLLFREE_FDW_SAMPLE_H */
