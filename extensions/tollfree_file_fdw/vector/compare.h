/*
 * compare.h
 *	  Comparisons, each with the order of the type's btree operator class.
 *
 * All return a negative number, zero or a positive one.
 */
#ifndef VECTOR_COMPARE_H
#define VECTOR_COMPARE_H

#include <math.h>

#include "core/digits.h"
#include "vector/filter.h"

static inline int
compare_integers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Compares a / 10^a_scale with b / 10^b_scale, scales 0 to 18. */
static inline int
compare_scaled(int64_t a, int a_scale, int64_t b, int b_scale)
{
	__int128	x = a;
	__int128	y = b;

	if (a_scale == b_scale)
		return compare_integers(a, b);
	x *= digits_power(b_scale > a_scale ? b_scale - a_scale : 0);
	y *= digits_power(a_scale > b_scale ? a_scale - b_scale : 0);
	return (x > y) - (x < y);
}

/* NaN equals NaN and is greater than everything else. */
static inline int
compare_floats(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

static inline uint32_t
compare_trimmed_length(TextRef text)
{
	uint32_t	length = text.length;

	while (length > 0 && text.bytes[length - 1] == ' ')
		length--;
	return length;
}

/* Compares bytes, without trailing blanks if they are to be ignored. */
static inline int
compare_texts(TextRef a, TextRef b, bool ignore_blanks)
{
	uint32_t	a_length = ignore_blanks ? compare_trimmed_length(a) : a.length;
	uint32_t	b_length = ignore_blanks ? compare_trimmed_length(b) : b.length;
	uint32_t	common = a_length < b_length ? a_length : b_length;
	int			order = common == 0 ? 0 : memcmp(a.bytes, b.bytes, common);

	return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

/* The same for equality only: most texts differ in length. */
static inline bool
compare_equal_texts(TextRef a, TextRef b, bool ignore_blanks)
{
	uint32_t	a_length = ignore_blanks ? compare_trimmed_length(a) : a.length;
	uint32_t	b_length = ignore_blanks ? compare_trimmed_length(b) : b.length;

	return a_length == b_length &&
		(a_length == 0 || (a.bytes[0] == b.bytes[0] &&
						   memcmp(a.bytes, b.bytes, a_length) == 0));
}

/* Evaluates a op b, given the result of comparing a with b. */
static inline bool
compare_holds(CompareOp op, int order)
{
	switch (op)
	{
		case FILTER_EQ:
			return order == 0;
		case FILTER_NE:
			return order != 0;
		case FILTER_LT:
			return order < 0;
		case FILTER_LE:
			return order <= 0;
		case FILTER_GT:
			return order > 0;
		case FILTER_GE:
			return order >= 0;
	}
	return false;
}

#endif							/* VECTOR_COMPARE_H */
