/*
 * partial.h
 *	  Transition states of PostgreSQL's aggregates.
 */
#ifndef TOLLFREE_FILE_PARTIAL_H
#define TOLLFREE_FILE_PARTIAL_H

#include "base/core.h"

extern Datum partial_integer_average(int64 count, int64 sum);
extern Datum partial_float_average(double n, double sum, double squares);
extern Datum partial_integer_sum(__int128 sum, uint64 count);
extern Datum partial_numeric_sum(__int128 sum, uint64 count, int scale);

#endif							/* TOLLFREE_FILE_PARTIAL_H */
