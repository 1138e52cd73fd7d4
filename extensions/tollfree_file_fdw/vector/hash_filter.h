/*
 * hash_filter.h
 *	  Rows whose keys may have one of many hash values: a Bloom filter.
 *
 *		HashFilter
 *		words	| 0 | 1 | 2 | ...			2 bits in one word for each value
 *				  ^
 *		hash ----+---- which word, by all of its bits
 *				 +---- which two bits, by the lowest 12
 *
 * It keeps every row whose hash value was added, and some two per cent of the
 * others.  Hash values are those of PostgreSQL's hash joins: the keys of a
 * row are combined in order, and a row with a null is never kept.
 */
#ifndef VECTOR_HASH_FILTER_H
#define VECTOR_HASH_FILTER_H

#include "core/allocator.h"
#include "core/batch.h"

typedef struct HashFilter
{
	Allocator	allocator;
	uint64_t   *words;
	uint64_t	nwords;			/* a power of two */
	int			shift;			/* 64 minus its logarithm */
} HashFilter;

/* Hashes bytes as PostgreSQL's hash_bytes does. */
typedef uint32_t (*HashBytes) (const unsigned char *bytes, int length);

/* Can keys in such a column be hashed? */
extern bool hash_filter_takes(const ColumnSpec *spec);

/*
 * Opens a filter for this many values, of two to four bytes each.  Returns
 * false without memory.
 */
extern bool hash_filter_open(HashFilter *filter, const Allocator *allocator,
							 uint64_t nvalues);

extern void hash_filter_add(HashFilter *filter, uint32_t hash);

/*
 * Removes rows from the set whose keys, which are columns of the batch, were
 * not added.  The keys of the rows in the set must have been converted.
 */
extern void hash_filter_run(const HashFilter *filter, const RowBatch *batch,
							const int *keys, int nkeys, HashBytes hash_bytes,
							RowBitmap *rows);

extern void hash_filter_close(HashFilter *filter);

/* Hashes an integer as PostgreSQL's hashint2, hashint4 and hashint8 do. */
extern uint32_t hash_filter_integer(int64_t value);

#endif							/* VECTOR_HASH_FILTER_H */
