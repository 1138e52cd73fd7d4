/*
 * bitmap.h
 *	  Sets of the rows of a batch: one bit a row, row 0 the lowest of word 0.
 *
 * Bits at and above the batch's number of rows are zero in every bitmap that
 * core/ and vector/ hand out.
 */
#ifndef CORE_BITMAP_H
#define CORE_BITMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BATCH_ROWS		1024	/* most rows of a batch; a multiple of 64 */
#define BATCH_WORDS		(BATCH_ROWS / 64)

typedef struct RowBitmap
{
	uint64_t	words[BATCH_WORDS];
} RowBitmap;

static inline int
bitmap_words(int nrows)
{
	return (nrows + 63) / 64;
}

static inline bool
bitmap_has(const RowBitmap *bitmap, int row)
{
	return (bitmap->words[row / 64] >> (row % 64)) & 1;
}

static inline void
bitmap_add(RowBitmap *bitmap, int row)
{
	bitmap->words[row / 64] |= (uint64_t) 1 << (row % 64);
}

static inline void
bitmap_remove(RowBitmap *bitmap, int row)
{
	bitmap->words[row / 64] &= ~((uint64_t) 1 << (row % 64));
}

static inline void
bitmap_clear(RowBitmap *bitmap)
{
	memset(bitmap, 0, sizeof(*bitmap));
}

/* Makes it the set of all rows of a batch of nrows. */
static inline void
bitmap_fill(RowBitmap *bitmap, int nrows)
{
	bitmap_clear(bitmap);
	memset(bitmap->words, 0xFF, (size_t) (nrows / 64) * sizeof(uint64_t));
	if (nrows % 64 != 0)
		bitmap->words[nrows / 64] = ((uint64_t) 1 << (nrows % 64)) - 1;
}

/* Removes all rows before that one, which is less than BATCH_ROWS. */
static inline void
bitmap_remove_below(RowBitmap *bitmap, int row)
{
	memset(bitmap->words, 0, (size_t) (row / 64) * sizeof(uint64_t));
	bitmap->words[row / 64] &= ~(uint64_t) 0 << (row % 64);
}

/* Returns the first row >= from in the set, or nrows when there is none. */
static inline int
bitmap_next(const RowBitmap *bitmap, int from, int nrows)
{
	int			word = from / 64;
	uint64_t	bits;

	if (from >= nrows)
		return nrows;
	bits = bitmap->words[word] & (~(uint64_t) 0 << (from % 64));
	while (bits == 0)
	{
		if (++word >= bitmap_words(nrows))
			return nrows;
		bits = bitmap->words[word];
	}
	return word * 64 + __builtin_ctzll(bits);
}

static inline bool
bitmap_is_empty(const RowBitmap *bitmap)
{
	uint64_t	any = 0;

	for (int i = 0; i < BATCH_WORDS; i++)
		any |= bitmap->words[i];
	return any == 0;
}

static inline int
bitmap_count(const RowBitmap *bitmap)
{
	int			count = 0;

	for (int i = 0; i < BATCH_WORDS; i++)
		count += __builtin_popcountll(bitmap->words[i]);
	return count;
}

#endif							/* CORE_BITMAP_H */
