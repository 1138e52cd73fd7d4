/*
 * digits.h
 *	  Decimal digits, eight at a time in one 64-bit word.
 *
 * A word holds text with its first byte lowest, as a little-endian load has
 * it.  "1996" at the end of a word, padded with zeros in front:
 *
 *		byte	 0   1   2   3   4   5   6   7
 *				'0' '0' '0' '0' '1' '9' '9' '6'
 *
 * A load ends with the last digit, so that padding costs one mask.  It may
 * begin before the first digit, in KERNEL_PADDING at worst.
 */
#ifndef CORE_DIGITS_H
#define CORE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/inline.h"

#define DIGITS_ZEROS	((uint64_t) 0x3030303030303030)

/* Returns the 8 bytes at p, the first one lowest. */
static ALWAYS_INLINE uint64_t
digits_load(const unsigned char *p)
{
	uint64_t	word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* Returns a mask of the last n bytes of a word, n from 0 to 8. */
static ALWAYS_INLINE uint64_t
digits_last(int n)
{
	return n == 0 ? 0 : ~(uint64_t) 0 << (64 - 8 * n);
}

/* Replaces all but the last n bytes by zeros. */
static ALWAYS_INLINE uint64_t
digits_keep(uint64_t word, int n)
{
	uint64_t	mask = digits_last(n);

	return (word & mask) | (DIGITS_ZEROS & ~mask);
}

/*
 * Are all 8 bytes digits?  A digit is 0x30 to 0x39: its high half is 3, and
 * still is 3 after adding 6.
 */
static ALWAYS_INLINE bool
digits_all(uint64_t word)
{
	const uint64_t high = 0xF0F0F0F0F0F0F0F0;

	return ((word & high) |
			(((word + 0x0606060606060606) & high) >> 4)) == 0x3333333333333333;
}

/* Returns the four numbers of two digits, in bytes 0, 2, 4 and 6. */
static ALWAYS_INLINE uint64_t
digits_pairs(uint64_t word)
{
	word -= DIGITS_ZEROS;
	return (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FF;
}

/*
 * Returns the number of 8 digits.  Each multiplication adds neighbours, the
 * first of them with its weight: pairs to fours, fours to the whole.
 */
static ALWAYS_INLINE uint64_t
digits_value(uint64_t word)
{
	word = digits_pairs(word);
	word = ((word * (1 + (100 << 16))) >> 16) & 0x0000FFFF0000FFFF;
	return (word * (1 + ((uint64_t) 10000 << 32))) >> 32;
}

/*
 * Reads the n digits, 1 to 18, that end before end.  Returns false if one of
 * them is not a digit.
 */
static ALWAYS_INLINE bool
digits_read(const unsigned char *end, int n, uint64_t *value)
{
	uint64_t	last = digits_keep(digits_load(end - 8), n < 8 ? n : 8);
	uint64_t	middle;
	uint64_t	first;

	if (!digits_all(last))
		return false;
	*value = digits_value(last);
	if (n <= 8)
		return true;

	middle = digits_keep(digits_load(end - 16), n < 16 ? n - 8 : 8);
	if (!digits_all(middle))
		return false;
	*value += digits_value(middle) * 100000000;
	if (n <= 16)
		return true;

	first = digits_keep(digits_load(end - 24), n - 16);
	if (!digits_all(first))
		return false;
	*value += digits_value(first) * 10000000000000000;
	return true;
}

/* Returns 10^n for n from 0 to 18. */
static ALWAYS_INLINE int64_t
digits_power(int n)
{
	static const int64_t powers[] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
		1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000,
		100000000000000, 1000000000000000, 10000000000000000,
		100000000000000000, 1000000000000000000
	};

	return powers[n];
}

#endif							/* CORE_DIGITS_H */
