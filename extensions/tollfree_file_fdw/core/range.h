/*
 * range.h
 *	  The minimum and maximum of many integers.
 */
#ifndef CORE_RANGE_H
#define CORE_RANGE_H

#include <stdint.h>

/* Empty: low is above high. */
typedef struct IntegerRange
{
	int64_t		low;
	int64_t		high;
} IntegerRange;

static inline void
range_add(IntegerRange *range, int64_t value)
{
	range->low = value < range->low ? value : range->low;
	range->high = value > range->high ? value : range->high;
}

/* Adds n integers, in two independent chains. */
static inline void
range_add_all(IntegerRange *range, const int64_t *values, int n)
{
	IntegerRange even = *range;
	IntegerRange odd = *range;
	int			i = 0;

	for (; i + 1 < n; i += 2)
	{
		range_add(&even, values[i]);
		range_add(&odd, values[i + 1]);
	}
	if (i < n)
		range_add(&even, values[i]);
	range->low = even.low < odd.low ? even.low : odd.low;
	range->high = even.high > odd.high ? even.high : odd.high;
}

#endif							/* CORE_RANGE_H */
