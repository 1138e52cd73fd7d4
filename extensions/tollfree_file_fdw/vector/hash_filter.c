/*
 * hash_filter.c
 *	  Rows whose keys may have one of many hash values: a Bloom filter.
 *
 * Rows are tested by words of a bitmap, 64 at a time: first their hash values
 * are computed, by loops that compilers vectorize; then the filter is probed
 * without branches, so that many loads are in flight.
 */
#include "core/inline.h"
#include "vector/hash_filter.h"

#define WORD_ROWS	64

/* Minimum of words; the shift must be less than 64 */
#define WORDS_MIN	64

/* Maximum of values for each word, with 2 per cent of false positives. */
#define WORD_VALUES	4

/*------------------------------------------------------------------------
 * Hash values
 *------------------------------------------------------------------------
 */

static ALWAYS_INLINE uint32_t
rotate(uint32_t value, int bits)
{
	return (value << bits) | (value >> (32 - bits));
}

/*
 * A step of the final mix of Bob Jenkins' lookup3, PostgreSQL's hash function.
 */
static ALWAYS_INLINE uint32_t
mix(uint32_t value, uint32_t other, int bits)
{
	return (value ^ other) - rotate(other, bits);
}

/* Hashes one word of 4 bytes, by lookup3 with PostgreSQL's initial value. */
static ALWAYS_INLINE uint32_t
hash_word(uint32_t word)
{
	const uint32_t initial = 0x9E3779B9 + sizeof(uint32_t) + 3923095;
	uint32_t	a = initial + word;
	uint32_t	b = initial;
	uint32_t	c = initial;

	c = mix(c, b, 14);
	a = mix(a, c, 11);
	b = mix(b, a, 25);
	c = mix(c, b, 16);
	a = mix(a, c, 4);
	b = mix(b, a, 14);
	return mix(c, b, 24);
}

/*
 * Folds an int64 into the word that is hashed, so that values that fit into an
 * int32 hash as that.
 */
static ALWAYS_INLINE uint32_t
fold(int64_t value)
{
	uint32_t	high = (uint32_t) ((uint64_t) value >> 32);

	return (uint32_t) value ^ (value < 0 ? ~high : high);
}

uint32_t
hash_filter_integer(int64_t value)
{
	return hash_word(fold(value));
}

/*
 * Adds the hash values of a key to those of the keys before it.  Each loop has
 * one width and one destination, or it would not be vectorized.
 */
static ALWAYS_INLINE void
hash_integers(const int64_t *restrict values, uint32_t *restrict hashes)
{
	uint32_t	words[WORD_ROWS];

	for (int i = 0; i < WORD_ROWS; i++)
		words[i] = fold(values[i]);
	for (int i = 0; i < WORD_ROWS; i++)
		hashes[i] = rotate(hashes[i], 1) ^ hash_word(words[i]);
}

/* The same for texts; rows that are not in the set may have none. */
static void
hash_texts(const TextRef *texts, bool trim, HashBytes hash_bytes, uint64_t set,
		   uint32_t *hashes)
{
	for (; set != 0; set &= set - 1)
	{
		int			i = __builtin_ctzll(set);
		uint32_t	length = texts[i].length;

		while (trim && length > 0 && texts[i].bytes[length - 1] == ' ')
			length--;
		hashes[i] = rotate(hashes[i], 1) ^
			hash_bytes(texts[i].bytes, (int) length);
	}
}

bool
hash_filter_takes(const ColumnSpec *spec)
{
	switch (spec->type)
	{
		case COLUMN_INT2:
		case COLUMN_INT4:
		case COLUMN_INT8:
		case COLUMN_DATE:
		case COLUMN_TIMESTAMP:
		case COLUMN_TIMESTAMPTZ:
		case COLUMN_TEXT:
		case COLUMN_BPCHAR:
			return true;
		default:
			return false;
	}
}

/*------------------------------------------------------------------------
 * The filter
 *------------------------------------------------------------------------
 */

static ALWAYS_INLINE uint64_t
filter_bits(uint32_t hash)
{
	return (uint64_t) 1 << (hash & 63) | (uint64_t) 1 << (hash >> 6 & 63);
}

/* The upper bits of a product by an odd number depend on all bits of the hash. */
static ALWAYS_INLINE uint64_t
filter_word(const HashFilter *filter, uint32_t hash)
{
	return (hash * UINT64_C(0x9E3779B97F4A7C15)) >> filter->shift;
}

bool
hash_filter_open(HashFilter *filter, const Allocator *allocator,
				 uint64_t nvalues)
{
	uint64_t	nwords = WORDS_MIN;

	while (nwords * WORD_VALUES < nvalues)
		nwords *= 2;
	filter->allocator = *allocator;
	filter->nwords = nwords;
	filter->shift = 64 - __builtin_ctzll(nwords);
	filter->words = allocator_new(allocator, nwords * sizeof(uint64_t));
	if (filter->words == NULL)
		return false;
	memset(filter->words, 0, nwords * sizeof(uint64_t));
	return true;
}

void
hash_filter_add(HashFilter *filter, uint32_t hash)
{
	filter->words[filter_word(filter, hash)] |= filter_bits(hash);
}

/* Returns which of 64 hash values, of those in the set, may have been added. */
static uint64_t
find_hashes(const HashFilter *filter, const uint32_t *hashes, uint64_t set)
{
	uint64_t	found = 0;

	for (; set != 0; set &= set - 1)
	{
		int			i = __builtin_ctzll(set);
		uint64_t	bits = filter_bits(hashes[i]);
		uint64_t	word = filter->words[filter_word(filter, hashes[i])];

		found |= (uint64_t) ((word & bits) == bits) << i;
	}
	return found;
}

void
hash_filter_run(const HashFilter *filter, const RowBatch *batch,
				const int *keys, int nkeys, HashBytes hash_bytes,
				RowBitmap *rows)
{
	for (int word = 0; word < bitmap_words(batch->nrows); word++)
	{
		uint64_t	set = rows->words[word];
		uint32_t	hashes[WORD_ROWS] = {0};

		for (int i = 0; i < nkeys; i++)
			set &= ~batch->columns[keys[i]].nulls.words[word];
		for (int i = 0; i < nkeys && set != 0; i++)
		{
			const ColumnVector *vector = &batch->columns[keys[i]];
			ColumnType	type = vector->spec->type;

			if (column_type_is_text(type))
				hash_texts(vector->values.texts + word * WORD_ROWS,
						   type == COLUMN_BPCHAR, hash_bytes, set, hashes);
			else
				hash_integers(vector->values.integers + word * WORD_ROWS,
							  hashes);
		}
		rows->words[word] = find_hashes(filter, hashes, set);
	}
}

void
hash_filter_close(HashFilter *filter)
{
	allocator_free(&filter->allocator, filter->words,
				   filter->nwords * sizeof(uint64_t));
	filter->words = NULL;
}
