/*
 * test_hash_filter.c
 *	  Hash values beside PostgreSQL's, and which rows a filter keeps.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/test/memory.h"
#include "core/test/table.h"
#include "vector/hash_filter.h"

#define ROUNDS		400
#define MANY		100000
#define ROUNDS_FAR	100

/* What SELECT hashint8(...) returns */
static void
test_integers(void)
{
	static const struct
	{
		int64_t		value;
		int32_t		hash;
	}			known[] = {
		{0, -272711505},
		{1, -1905060026},
		{-1, 385747274},
		{42, 1509752520},
		{INT32_MIN, -1524351049},
		{3000000000, 778767573},
		{-3000000000, 425352551},
		{INT64_MAX, -1524351049},
		{INT64_MIN, -96758253}
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		TEST_EQUAL((int32_t) hash_filter_integer(known[i].value), known[i].hash,
				   "%lld is hashed as by PostgreSQL", (long long) known[i].value);
}

/* Any function will do. */
static uint32_t
hash_bytes(const unsigned char *bytes, int length)
{
	uint32_t	hash = 2166136261u;

	for (int i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

/* The hash value of a row; false if a key is null. */
static bool
slow_hash(const RowBatch *batch, const int *keys, int nkeys, int row,
		  uint32_t *hash)
{
	*hash = 0;
	for (int i = 0; i < nkeys; i++)
	{
		const ColumnVector *vector = &batch->columns[keys[i]];
		TextRef text = {NULL, 0};

		if (bitmap_has(&vector->nulls, row))
			return false;
		*hash = (*hash << 1) | (*hash >> 31);
		if (!column_type_is_text(vector->spec->type))
		{
			*hash ^= hash_filter_integer(vector->values.integers[row]);
			continue;
		}
		text = vector->values.texts[row];

		while (vector->spec->type == COLUMN_BPCHAR && text.length > 0 &&
			   text.bytes[text.length - 1] == ' ')
			text.		length--;

		*hash ^= hash_bytes(text.bytes, (int) text.length);
	}
	return true;
}

/* Draws one to three keys. */
static int
draw_keys(TestRandom *random, int *keys)
{
	static const int columns[] = {TEST_INT4, TEST_INT4_TOO, TEST_TEXT, TEST_BPCHAR};
	int			nkeys = (int) test_random_below(random, 3) + 1;

	for (int i = 0; i < nkeys; i++)
		keys[i] = columns[test_random_below(random, 4)];
	return nkeys;
}

/* Runs a filter of some of the rows' hash values on some of the rows. */
static void
run_round(TestTable *table, TestRandom *random, const Allocator *allocator,
		  int *lost, int *wrong)
{
	int			nrows = (int) test_random_below(random, BATCH_ROWS) + 1;
	int			keys[3];
	int			nkeys = draw_keys(random, keys);
	HashFilter	filter;
	RowBitmap	added;
	RowBitmap	rows;
	RowBitmap	kept;
	uint32_t	hash;

	test_table_fill(table, random, nrows);
	bitmap_clear(&added);
	bitmap_clear(&rows);
	hash_filter_open(&filter, allocator, (uint64_t) nrows);
	for (int row = 0; row < nrows; row++)
	{
		if (test_random_below(random, 4) != 0)
			bitmap_add(&rows, row);
		if (test_random_below(random, 8) != 0 ||
			!slow_hash(&table->batch, keys, nkeys, row, &hash))
			continue;
		hash_filter_add(&filter, hash);
		bitmap_add(&added, row);
	}
	kept = rows;
	hash_filter_run(&filter, &table->batch, keys, nkeys, hash_bytes, &kept);
	for (int row = 0; row < BATCH_ROWS; row++)
	{
		bool		is_null = row < nrows &&
			!slow_hash(&table->batch, keys, nkeys, row, &hash);

		*lost += bitmap_has(&rows, row) && bitmap_has(&added, row) &&
			!bitmap_has(&kept, row);
		*wrong += bitmap_has(&kept, row) && (is_null || !bitmap_has(&rows, row));
	}
	hash_filter_close(&filter);
}

static void
test_rows(TestTable *table, const Allocator *allocator)
{
	TestRandom	random = {7};
	int			lost = 0;
	int			wrong = 0;

	test_table_init(table);
	for (int i = 0; i < ROUNDS; i++)
		run_round(table, &random, allocator, &lost, &wrong);
	TEST_EQUAL(lost, 0, "a row whose hash value was added is kept");
	TEST_EQUAL(wrong, 0, "a row with a null, or outside of the set, is not");
}

/* How many of ROUNDS_FAR batches' rows are kept that were not added. */
static int
count_kept(TestTable *table, const HashFilter *filter)
{
	int			key = TEST_INT4;
	int			kept = 0;

	table->batch.nrows = BATCH_ROWS;
	bitmap_clear(&table->vectors[key].nulls);
	for (int i = 0; i < ROUNDS_FAR; i++)
	{
		RowBitmap	rows;

		bitmap_fill(&rows, BATCH_ROWS);
		for (int row = 0; row < BATCH_ROWS; row++)
			table->integers[key][row] = 10 * MANY + i * BATCH_ROWS + row;
		hash_filter_run(filter, &table->batch, &key, 1, hash_bytes, &rows);
		kept += bitmap_count(&rows);
	}
	return kept;
}

static void
test_hits(TestTable *table, const Allocator *allocator)
{
	static const int sizes[] = {0, 1, 60, 511, 4096, MANY, 131072};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		HashFilter	filter;

		hash_filter_open(&filter, allocator, (uint64_t) sizes[i]);
		for (int value = 0; value < sizes[i]; value++)
			hash_filter_add(&filter, hash_filter_integer(value));
		TEST_OK(count_kept(table, &filter) < ROUNDS_FAR * BATCH_ROWS / 20,
				"of %d values, fewer than 5 in 100 others are kept", sizes[i]);
		hash_filter_close(&filter);
	}
}

static void
test_memory(TestMemory *memory, const Allocator *allocator)
{
	HashFilter	filter;

	TEST_EQUAL(memory->held, 0, "all memory is given back");
	memory->fail_after = 0;
	TEST_OK(!hash_filter_open(&filter, allocator, MANY), "none is noticed");
}

int
main(void)
{
	TestTable  *table = malloc(sizeof(TestTable));
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);

	test_integers();
	test_rows(table, &allocator);
	test_hits(table, &allocator);
	test_memory(&memory, &allocator);
	free(table);
	return test_done();
}
