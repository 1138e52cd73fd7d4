/*
 * test_record_index.c
 *	  Indexes of random batches, compared with a count of each value; indexes
 *	  that are damaged in any byte or cut at any length; and memory that runs
 *	  out at every single request.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/index_builder.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/table.h"

#define BATCHES		40
#define DAMAGES		20000
#define SECOND_NS	INT64_C(1000000000)

static const unsigned char key[] = "a key";
static const unsigned char id[INDEX_ID_SIZE] = "one";
static const unsigned char other_id[INDEX_ID_SIZE] = "two";

/* What the index is said to be of; a file with a hole. */
static Source source;

static IndexFacts
facts(void)
{
	static int	fd = -1;

	if (fd < 0)
		fd = test_file("a\n", 2);
	if (ftruncate(fd, 2000000000) != 0)
		abort();
	source.fd = fd;
	source.size = 1000000000;
	source.device = 7;
	source.inode = 8;
	source.modified_ns = 9;
	source.changed_ns = 10;
	return (IndexFacts)
	{
		.source = &source,.line_end = LINE_END_NL,.end = 999999999,
			.key = key,.key_length = sizeof(key),.id = id
	};
}

/* Feeds the same random batches, of those columns that are not deferred. */
static void
build_from(IndexBuilder *builder, const Allocator *allocator, TestTable *table,
		   uint64_t seed, unsigned deferred, int64_t offset)
{
	TestRandom	random = {seed};
	int64_t		at = offset / 10;

	for (int i = 0; i < TEST_COLUMNS; i++)
		table->specs[i].deferred = (deferred >> i & 1) != 0;
	index_builder_open(builder, allocator, table->specs, TEST_COLUMNS);
	for (int i = 0; i < BATCHES; i++)
	{
		int			nrows = (int) test_random_below(&random, BATCH_ROWS) + 1;

		test_table_fill(table, &random, nrows);
		if (i % 3 == 0)
			bitmap_add(&table->vectors[TEST_INT4].unresolved, nrows / 2);
		index_builder_add(builder, at * 10, at, &table->batch);
		at += nrows;
	}
	for (int i = 0; i < TEST_COLUMNS; i++)
		table->specs[i].deferred = false;
}

static void
build(IndexBuilder *builder, const Allocator *allocator, TestTable *table,
	  uint64_t seed, unsigned deferred)
{
	build_from(builder, allocator, table, seed, deferred, 1000);
}

/* Counts all values again and compares. */
static void
check_zones(const RecordIndex *index, TestTable *table, uint64_t seed)
{
	TestRandom	random = {seed};
	uint32_t	block = 0;
	uint32_t	rows = 0;
	int64_t		all_rows = 0;
	int64_t		low = INT64_MAX;
	uint32_t	nulls = 0;
	uint32_t	open = 0;
	int			wrong = 0;
	int			column = index_find_column(index, TEST_INT4);

	for (int i = 0; i < BATCHES; i++)
	{
		int			nrows = (int) test_random_below(&random, BATCH_ROWS) + 1;
		RowBitmap  *unresolved = &table->vectors[TEST_INT4].unresolved;
		const RowBitmap *null_rows = &table->vectors[TEST_INT4].nulls;

		test_table_fill(table, &random, nrows);
		if (i % 3 == 0)
			bitmap_add(unresolved, nrows / 2);
		for (int row = 0; row < nrows; row++)
		{
			nulls += bitmap_has(null_rows, row);
			open += bitmap_has(unresolved, row);
			if (!bitmap_has(null_rows, row) && !bitmap_has(unresolved, row) &&
				table->integers[TEST_INT4][row] < low)
				low = table->integers[TEST_INT4][row];
		}
		rows += (uint32_t) nrows;
		all_rows += nrows;
		if (rows >= INDEX_BLOCK_ROWS || i == BATCHES - 1)
		{
			const IndexBlock *made = index_block(index, block++);

			wrong += made->nrows != rows || made->zones[column].low != low ||
				made->zones[column].nulls != nulls ||
				made->zones[column].open != open;
			rows = nulls = open = 0;
			low = INT64_MAX;
		}
	}
	TEST_EQUAL(wrong, 0, "all of %u blocks are as counted", block);
	TEST_EQUAL(block, index->header->nblocks, "there are no others");
	TEST_EQUAL(all_rows, index->header->nrows, "nor other rows");
}

static void
test_zones(TestTable *table)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	const IndexFacts of_file = facts();
	IndexBuilder builder;
	RecordIndex index;
	size_t		length;
	unsigned char *bytes;

	build(&builder, &allocator, table, 1, 0);
	bytes = index_builder_finish(&builder, &of_file, NULL, &length);
	index_builder_close(&builder);
	TEST_OK(index_read(&index, bytes, length), "it can be read");
	TEST_OK(index_is_of(&index, &source, key, sizeof(key)), "it is of its file");
	TEST_OK(!index_is_of(&index, &source, key, 2), "not of another key");
	source.changed_ns++;
	TEST_OK(!index_is_of(&index, &source, key, sizeof(key)),
			"not of a file of another time");
	TEST_EQUAL(index_find_column(&index, TEST_COLUMNS), -1, "no such column");
	check_zones(&index, table, 1);
	allocator_free(&allocator, bytes, length);
	TEST_EQUAL(memory.held, 0, "all memory is given back");
}

/* Columns made one after the other are those made at once. */
static void
test_merging(TestTable *table)
{
	static const unsigned parts[] = {0x555, 0x2AA, 0x7F0, 0x00F};
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	IndexFacts	of_file = facts();
	IndexBuilder builder;
	RecordIndex index;
	unsigned char *whole;
	unsigned char *merged = NULL;
	size_t		whole_length;
	size_t		length = 0;

	build(&builder, &allocator, table, 1, 0);
	whole = index_builder_finish(&builder, &of_file, NULL, &whole_length);
	index_builder_close(&builder);
	for (int i = 0; i < 4; i++)
	{
		unsigned char *old = merged;
		size_t		old_length = length;

		build(&builder, &allocator, table, 1, parts[i]);
		merged = index_builder_finish(&builder, &of_file,
									  old == NULL ? NULL : &index, &length);
		of_file.id = other_id;
		index_builder_close(&builder);
		if (old != NULL)
			allocator_free(&allocator, old, old_length);
		index_read(&index, merged, length);
	}
	TEST_OK(length == whole_length && memcmp(merged, whole, length) == 0,
			"merged columns are those made at once");

	build(&builder, &allocator, table, 2, 0x7FE);
	allocator_free(&allocator, whole, whole_length);
	whole = index_builder_finish(&builder, &of_file, &index, &whole_length);
	index_builder_close(&builder);
	index_read(&index, whole, whole_length);
	TEST_EQUAL(index.header->ncolumns, 1, "other blocks are not merged");
	TEST_OK(memcmp(index.header->id, other_id, INDEX_ID_SIZE) == 0,
			"and have another id");
	allocator_free(&allocator, whole, whole_length);
	allocator_free(&allocator, merged, length);
	TEST_EQUAL(memory.held, 0, "all memory is given back");
}

/* Counts the blocks from n on in which something is known of a column. */
static uint32_t
count_known(const RecordIndex *index, int field, uint32_t n)
{
	int			column = index_find_column(index, field);
	uint32_t	known = 0;

	for (; n < index->header->nblocks; n++)
		known += index_block(index, n)->zones[column].open <
			index_block(index, n)->nrows;
	return known;
}

/* All blocks but the last are kept, and those behind have the same columns. */
static void
test_appending(TestTable *table)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	IndexFacts	of_file = facts();
	IndexBuilder builder;
	RecordIndex old;
	RecordIndex index;
	unsigned char *old_bytes;
	unsigned char *bytes;
	size_t		old_length;
	size_t		length;
	uint32_t	kept;

	build(&builder, &allocator, table, 1, 1u << TEST_TEXT);
	old_bytes = index_builder_finish(&builder, &of_file, NULL, &old_length);
	index_builder_close(&builder);
	index_read(&old, old_bytes, old_length);
	kept = old.header->nblocks - 1;
	source.size += 1000;
	of_file.end = source.size;
	of_file.id = other_id;
	build_from(&builder, &allocator, table, 2, 1u << TEST_INT4,
			   index_block(&old, kept)->offset);
	bytes = index_builder_extend(&builder, &of_file, &old, &length);
	TEST_OK(bytes != NULL && index_read(&index, bytes, length),
			"an index is made of the old one");
	TEST_EQUAL(index.header->nblocks, kept + builder.nblocks,
			   "its last block is replaced");
	TEST_OK(memcmp(index_block(&index, 0), index_block(&old, 0),
				   kept * old.stride) == 0, "the others are kept");
	TEST_OK(memcmp(index.header->id, id, INDEX_ID_SIZE) == 0, "as is its id");
	TEST_OK(index_find_column(&index, TEST_TEXT) < 0,
			"a column that the old one lacks is not added");
	TEST_EQUAL(count_known(&index, TEST_INT4, kept), 0,
			   "nothing is known of one that the batches lack");
	TEST_OK(count_known(&index, TEST_NUMERIC, kept) > 0, "but of the others");
	index_builder_close(&builder);
	allocator_free(&allocator, old_bytes, old_length);
	allocator_free(&allocator, bytes, length);
	TEST_EQUAL(memory.held, 0, "all memory is given back");
}

/* How many rows the blocks of a builder have. */
static int64_t
piece_rows(const IndexBuilder *piece)
{
	int64_t		rows = 0;

	for (size_t i = 0; i < piece->nblocks; i++)
		rows += ((const IndexBlock *) (piece->blocks +
									   i * piece->stride))->nrows;
	return rows;
}

/* Feeds some random batches, from that row on; returns the first row behind them. */
static int64_t
feed(IndexBuilder *builder, TestTable *table, TestRandom *random, int64_t row,
	 int64_t first_row)
{
	for (int i = 0; i < BATCHES / 4; i++)
	{
		int			nrows = (int) test_random_below(random, BATCH_ROWS) + 1;

		test_table_fill(table, random, nrows);
		index_builder_add(builder, row * 10, row - first_row, &table->batch);
		row += nrows;
	}
	return row;
}

/* Blocks that several have made, each counting from its first row, are put together. */
static void
test_collecting(TestTable *table)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	const IndexFacts of_file = facts();
	TestRandom	random = {3};
	TestRandom	random_again = {3};
	IndexBuilder whole;
	IndexBuilder collected;
	unsigned char *whole_bytes;
	unsigned char *bytes;
	size_t		whole_length;
	size_t		length;
	int64_t		row = 100;

	index_builder_open(&whole, &allocator, table->specs, TEST_COLUMNS);
	index_builder_open(&collected, &allocator, table->specs, TEST_COLUMNS);
	for (int i = 0; i < 4; i++)
	{
		IndexBuilder piece;

		index_builder_open(&piece, &allocator, table->specs, TEST_COLUMNS);
		/* The rows of the second are one block. */
		whole.ends_by_rows = piece.ends_by_rows = i != 1;
		index_builder_end_block(&whole);
		feed(&whole, table, &random_again, row, 0);
		row = feed(&piece, table, &random, row, row);
		index_builder_append(&collected, piece.blocks, piece.nblocks,
							 row - piece_rows(&piece));
		TEST_OK(i != 1 || piece.nblocks == 1, "a block ends where it is told to");
		index_builder_close(&piece);
	}
	whole_bytes = index_builder_finish(&whole, &of_file, NULL, &whole_length);
	bytes = index_builder_finish(&collected, &of_file, NULL, &length);
	TEST_OK(length == whole_length && memcmp(bytes, whole_bytes, length) == 0,
			"they are the blocks that one would have made");
	index_builder_close(&whole);
	index_builder_close(&collected);
	allocator_free(&allocator, whole_bytes, whole_length);
	allocator_free(&allocator, bytes, length);
	TEST_EQUAL(memory.held, 0, "all memory is given back");
}

/* A byte that is remembered is another one. */
static void
check_beginning(const RecordIndex *index, int64_t offset, bool is_seen)
{
	if (pwrite(source.fd, "x", 1, offset) != 1)
		abort();
	TEST_EQUAL(index_is_of_beginning(index, &source, key, sizeof(key)),
			   !is_seen, "another byte at %lld", (long long) offset);
	if (pwrite(source.fd, "", 1, offset) != 1)
		abort();
}

static void
test_beginning(TestTable *table)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	const IndexFacts of_file = facts();
	const int64_t size = source.size;
	IndexBuilder builder;
	RecordIndex index;
	size_t		length;
	unsigned char *bytes;

	build(&builder, &allocator, table, 1, 0);
	bytes = index_builder_finish(&builder, &of_file, NULL, &length);
	index_builder_close(&builder);
	index_read(&index, bytes, length);
	source.changed_ns++;
	source.size += 1000;
	TEST_OK(!index_is_of(&index, &source, key, sizeof(key)),
			"a longer file is another one");
	TEST_OK(index_is_of_beginning(&index, &source, key, sizeof(key)),
			"of which the index may be the beginning's");
	TEST_OK(!index_is_of_beginning(&index, &source, key, 2),
			"not by another key");
	check_beginning(&index, size - 1, true);
	check_beginning(&index, size, false);
	check_beginning(&index, size / INDEX_SAMPLES * 5, true);
	source.inode++;
	TEST_OK(!index_is_of_beginning(&index, &source, key, sizeof(key)),
			"nor is another file");
	source.inode--;
	source.size = size - 1;
	TEST_OK(!index_is_of_beginning(&index, &source, key, sizeof(key)),
			"nor a shorter one");
	allocator_free(&allocator, bytes, length);
}

/* Damage that is not seen leaves something that can be walked through. */
static void
test_damage(TestTable *table)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	const IndexFacts of_file = facts();
	TestRandom	random = {3};
	IndexBuilder builder;
	RecordIndex index;
	size_t		length;
	unsigned char *bytes;
	int			refused = 0;
	int			backward = 0;

	build(&builder, &allocator, table, 1, 0);
	bytes = index_builder_finish(&builder, &of_file, NULL, &length);
	index_builder_close(&builder);
	for (int i = 0; i < DAMAGES; i++)
	{
		size_t		at = test_random_below(&random, (unsigned)
										   (i % 2 == 0 ? 120 : length));
		unsigned char was = bytes[at];

		bytes[at] ^= (unsigned char) (1 << test_random_below(&random, 8));
		if (!index_read(&index, bytes, length))
			refused++;
		else
			for (uint32_t n = 0; n < index.header->nblocks; n++)
				backward += index_block_end(&index, n) <=
					index_block(&index, n)->offset;
		bytes[at] = was;
	}
	TEST_OK(refused > DAMAGES / 4, "%d of %d are refused", refused, DAMAGES);
	TEST_EQUAL(backward, 0, "no block ends before it begins");
	refused = 0;
	for (size_t cut = 0; cut < length; cut++)
		refused += !index_read(&index, bytes, cut);
	TEST_EQUAL(refused, length, "a cut index is refused");
	allocator_free(&allocator, bytes, length);
}

static void
test_no_memory(TestTable *table)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	const IndexFacts of_file = facts();
	unsigned char *bytes = NULL;
	size_t		length;
	int			tries;

	for (tries = 0; bytes == NULL && tries < 100; tries++)
	{
		IndexBuilder builder;

		memory.fail_after = tries;
		build(&builder, &allocator, table, 1, 0);
		bytes = index_builder_finish(&builder, &of_file, NULL, &length);
		index_builder_close(&builder);
		if (bytes == NULL && memory.held != 0)
			TEST_EQUAL(memory.held, 0, "given back after %d", tries);
	}
	TEST_OK(bytes != NULL && tries > 3, "without memory there is no index");
	if (bytes != NULL)
		allocator_free(&allocator, bytes, length);
}

static void
set_times(int fd, time_t seconds)
{
	const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

	(void) futimens(fd, times);
}

static void
test_settled(void)
{
	int			fd = test_file("a\n", 2);
	const struct timespec pause = {.tv_nsec = 50000000};
	Source		opened;

	source_open(&opened, fd);
	TEST_OK(!source_is_settled(&opened, SECOND_NS), "a new file is not settled");
	nanosleep(&pause, NULL);
	TEST_OK(source_is_settled(&opened, SECOND_NS / 100), "later it is");
	set_times(fd, 1000);
	TEST_OK(!source_is_settled(&opened, 0), "one that was touched is not");
	source_open(&opened, fd);
	TEST_OK(!source_is_settled(&opened, SECOND_NS),
			"nor is it by an old time that it was given just now");
	set_times(fd, time(NULL) + 1000);
	source_open(&opened, fd);
	nanosleep(&pause, NULL);
	TEST_OK(!source_is_settled(&opened, 0), "nor by one in the future");
	close(fd);
}

int
main(void)
{
	TestTable  *table = malloc(sizeof(TestTable));

	test_table_init(table);
	test_zones(table);
	test_merging(table);
	test_appending(table);
	test_collecting(table);
	test_beginning(table);
	test_damage(table);
	test_no_memory(table);
	test_settled();
	free(table);
	return test_done();
}
