/*
 * segment_filter.c
 *	  Column segments: conditions on encoded values.
 *
 * A range of integers becomes a range of packed numbers, of which a vector
 * instruction compares 16 or 8 at once.  A condition on texts with a
 * dictionary is evaluated for its few entries, and is then a bit for each
 * entry's number.
 */
#include <string.h>

#include "core/inline.h"
#include "core/segment.h"
#include "core/segment_format.h"
#include "core/text_word.h"

/* Packs 64 bytes, each 0 or 1, into a word: 8 by one multiplication. */
static inline uint64_t
word_of_flags(const uint8_t *flags)
{
	uint64_t	word = 0;

	for (int i = 0; i < 8; i++)
	{
		uint64_t	eight;

		memcpy(&eight, flags + 8 * i, sizeof(eight));
		eight = text_word_order(eight) * (uint64_t) 0x0102040810204080;
		word |= eight >> 56 << (8 * i);
	}
	return word;
}

/*
 * Is a number of that width low to low + span?  Below low it wraps around.  The width
 * is a constant where this is inlined.
 */
static ALWAYS_INLINE uint8_t
is_between(const void *packed, uint32_t width, uint64_t low, uint64_t span, int i)
{
	if (width == 1)
		return (uint8_t) (((const uint8_t *) packed)[i] - (uint8_t) low) <=
			(uint8_t) span;
	if (width == 2)
		return (uint16_t) (((const uint16_t *) packed)[i] - (uint16_t) low) <=
			(uint16_t) span;
	if (width == 4)
		return ((const uint32_t *) packed)[i] - (uint32_t) low <=
			(uint32_t) span;
	return ((const uint64_t *) packed)[i] - low <= span;
}

/* Compares 64 packed numbers; compilers vectorize this. */
static ALWAYS_INLINE void
set_flags(const void *restrict packed, uint32_t width, uint64_t low,
		  uint64_t span, uint8_t *restrict flags)
{
	for (int i = 0; i < 64; i++)
		flags[i] = is_between(packed, width, low, span, i);
}

static ALWAYS_INLINE void
test_packed(const unsigned char *packed, uint32_t width, uint64_t low,
			uint64_t span, int n, RowBitmap *inside)
{
	uint8_t		flags[64];
	int			i = 0;

	for (; i + 64 <= n; i += 64)
	{
		set_flags(packed + (size_t) i * width, width, low, span, flags);
		inside->words[i / 64] = word_of_flags(flags);
	}
	for (; i < n; i++)
	{
		if (is_between(packed, width, low, span, i))
			bitmap_add(inside, i);
	}
}

/* The greatest number of a width. */
static uint64_t
width_max(uint32_t width)
{
	return width >= 8 ? UINT64_MAX : ((uint64_t) 1 << (8 * width)) - 1;
}

/* Tests n numbers from the first on; false if the width is invalid. */
static bool
test_numbers(const SliceParts *parts, int first, int n, int64_t low,
			 int64_t high, RowBitmap *inside)
{
	const uint32_t width = parts->head->width;
	const int64_t base = parts->head->base;
	const unsigned char *packed = parts->numbers + (size_t) first * width;
	const uint64_t most = width_max(width);
	uint64_t	from = low > base ? (uint64_t) low - (uint64_t) base : 0;
	uint64_t	to = (uint64_t) high - (uint64_t) base;

	if (width != 0 && width != 1 && width != 2 && width != 4 && width != 8)
		return false;
	if (low > high || high < base || from > most)
		return true;
	to = to < most ? to : most;
	if (width == 0)
		bitmap_fill(inside, n);
	else if (width == 1)
		test_packed(packed, 1, from, to - from, n, inside);
	else if (width == 2)
		test_packed(packed, 2, from, to - from, n, inside);
	else if (width == 4)
		test_packed(packed, 4, from, to - from, n, inside);
	else
		test_packed(packed, 8, from, to - from, n, inside);
	return true;
}

/* Removes the rows that are null. */
static void
remove_nulls(const SliceParts *parts, int first, int n, RowBitmap *rows)
{
	for (int i = 0; parts->nulls != NULL && i < n; i++)
	{
		int			row = first + i;

		if (parts->nulls[row / 64] >> (row % 64) & 1)
			bitmap_remove(rows, i);
	}
}

/* Finds the slice of a row, with nrows rows from it on. */
static bool
find_rows(const Segment *segment, uint32_t row, int nrows, SliceParts *parts)
{
	return row < segment->header->nrows &&
		segment_find_parts(segment, row / BATCH_ROWS, parts) && nrows >= 0 &&
		nrows <= parts->nrows - (int) (row % BATCH_ROWS);
}

bool
segment_test_range(const Segment *segment, uint32_t row, int nrows,
				   int64_t low, int64_t high, bool negated, RowBitmap *inside)
{
	const int	first = (int) (row % BATCH_ROWS);
	SliceParts	parts;
	RowBitmap	all;

	bitmap_clear(inside);
	if (!column_type_is_integer((ColumnType) segment->header->type) ||
		!find_rows(segment, row, nrows, &parts) ||
		parts.head->encoding != SEGMENT_INTEGERS ||
		!test_numbers(&parts, first, nrows, low, high, inside))
		return false;
	bitmap_fill(&all, nrows);
	for (int i = 0; negated && i < BATCH_WORDS; i++)
		inside->words[i] ^= all.words[i];
	remove_nulls(&parts, first, nrows, inside);
	return true;
}

int
segment_entries(const Segment *segment, uint32_t row, TextRef *entries)
{
	SliceParts	parts;

	if (!column_type_is_text((ColumnType) segment->header->type) ||
		!find_rows(segment, row, 1, &parts) ||
		parts.head->encoding != SEGMENT_DICTIONARY ||
		!segment_find_entries(&parts, entries))
		return 0;
	return (int) parts.head->nentries;
}

bool
segment_test_entries(const Segment *segment, uint32_t row, int nrows,
					 const RowBitmap *entries, RowBitmap *rows)
{
	const int	first = (int) (row % BATCH_ROWS);
	SliceParts	parts;

	bitmap_clear(rows);
	/* Codes have one byte, or are all the same: there are few entries. */
	if (!find_rows(segment, row, nrows, &parts) ||
		parts.head->encoding != SEGMENT_DICTIONARY || parts.head->width > 1)
		return false;
	for (int i = 0; i < nrows; i++)
	{
		uint64_t	code = (uint64_t) parts.head->base +
			(parts.head->width == 0 ? 0 : parts.numbers[first + i]);

		if (code >= parts.head->nentries || code >= BATCH_ROWS)
			return false;
		rows->words[i / 64] |= (uint64_t) bitmap_has(entries, (int) code) <<
			(i % 64);
	}
	remove_nulls(&parts, first, nrows, rows);
	return true;
}
