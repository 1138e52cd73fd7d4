/*
 * test_aggregate.c
 *	  Aggregates of random rows in several batches, compared with ones that are
 *	  computed row by row; and what must be refused or reported.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/test/memory.h"
#include "core/test/table.h"
#include "vector/aggregate.h"
#include "vector/compare.h"

#define BATCHES			5
#define NSPECS			10

/* price * (1 - discount) of two numerics, scales 2 and 4 */
static Arithmetic product = {
	.nsteps = 5,
	.steps = {
		{.op = ARITHMETIC_COLUMN,.column = TEST_NUMERIC},
		{.op = ARITHMETIC_CONSTANT,.constant = 1},
		{.op = ARITHMETIC_COLUMN,.column = TEST_NUMERIC_TOO},
		{.op = ARITHMETIC_SUBTRACT,.type = COLUMN_NUMERIC},
		{.op = ARITHMETIC_MULTIPLY,.type = COLUMN_NUMERIC}
	}
};
static Arithmetic column = {
	.nsteps = 1,
	.steps = {{.op = ARITHMETIC_COLUMN,.column = TEST_INT4}}
};
static Arithmetic constant = {
	.nsteps = 1,
	.steps = {{.op = ARITHMETIC_CONSTANT,.constant = 7}}
};
static FilterValue one = {.integer = 1};
static FilterNode is_positive = {
	.kind = FILTER_COMPARE,.op = FILTER_GE,.column = TEST_INT4,
	.values = &one,.nvalues = 1
};

static const AggregateSpec specs[NSPECS] = {
	{.kind = AGGREGATE_COUNT_ROWS},
	{.kind = AGGREGATE_COUNT,.column = TEST_UUID},
	{.kind = AGGREGATE_SUM,.argument = &product},
	{.kind = AGGREGATE_SUM,.argument = &constant,.filter = &is_positive},
	{.kind = AGGREGATE_MIN,.argument = &column},
	{.kind = AGGREGATE_MAX,.argument = &column},
	{.kind = AGGREGATE_SUM_FLOAT8,.column = TEST_FLOAT},
	{.kind = AGGREGATE_MOMENTS,.column = TEST_FLOAT},
	{.kind = AGGREGATE_MAX_TEXT,.column = TEST_TEXT},
	{.kind = AGGREGATE_MIN_FLOAT,.column = TEST_FLOAT}
};

static const AggregateOptions base = {
	.ncolumns = TEST_COLUMNS,
	.encoding = FILE_ENCODING_UTF8,
	.specs = specs,
	.nspecs = NSPECS,
	.max_memory = (size_t) 64 << 20
};

/* The rows that are taken in, of each table. */
static RowBitmap chosen[BATCHES];

/*------------------------------------------------------------------------
 * The slow way: all rows again for each group
 *------------------------------------------------------------------------
 */

/* A value with itself to be compared and printed. */
static bool
slow_same_key(const TestTable *a, int a_row, const TestTable *b, int b_row,
			  int key)
{
	bool		a_null = bitmap_has(&a->vectors[key].nulls, a_row);
	bool		b_null = bitmap_has(&b->vectors[key].nulls, b_row);

	if (a_null || b_null)
		return a_null && b_null;
	switch (a->specs[key].type)
	{
		case COLUMN_TEXT:
		case COLUMN_BPCHAR:
			return compare_texts(a->texts[key][a_row], b->texts[key][b_row],
								 key == TEST_BPCHAR) == 0;
		case COLUMN_UUID:
			return memcmp(&a->uuids[key][a_row], &b->uuids[key][b_row], 16) == 0;
		default:
			return a->integers[key][a_row] == b->integers[key][b_row];
	}
}

static bool
slow_in_group(const TestTable *tables, int table, int row, int first_table,
			  int first_row, const int *keys, int nkeys)
{
	for (int i = 0; i < nkeys; i++)
		if (!slow_same_key(&tables[table], row, &tables[first_table], first_row,
						   keys[i]))
			return false;
	return true;
}

/* Adds a row to what the aggregates should come to. */
static void
slow_add(AggregateState *expected, const TestTable *table, int row)
{
	bool		int_null = bitmap_has(&table->vectors[TEST_INT4].nulls, row);
	bool		float_null = bitmap_has(&table->vectors[TEST_FLOAT].nulls, row);
	int64_t		number = table->integers[TEST_INT4][row];
	double		value = table->floats[TEST_FLOAT][row];
	TextRef text = table->texts[TEST_TEXT][row];

	expected[0].count++;
	expected[1].count += !bitmap_has(&table->vectors[TEST_UUID].nulls, row);
	if (!bitmap_has(&table->vectors[TEST_NUMERIC].nulls, row) &&
		!bitmap_has(&table->vectors[TEST_NUMERIC_TOO].nulls, row))
	{
		expected[2].count++;
		expected[2].u.sum += table->integers[TEST_NUMERIC][row] *
			(10000 - table->integers[TEST_NUMERIC_TOO][row]);
	}
	if (!int_null && number >= 1)
	{
		expected[3].count++;
		expected[3].u.sum += 7;
	}
	if (!int_null)
	{
		if (expected[4].count++ == 0 || number < expected[4].u.extreme)
			expected[4].u.extreme = number;
		if (expected[5].count++ == 0 || number > expected[5].u.extreme)
			expected[5].u.extreme = number;
	}
	if (!float_null)
	{
		expected[6].count++;
		expected[6].u.floating += value;
		expected[7].count++;
		if (expected[9].count++ == 0 || value < expected[9].u.floating)
			expected[9].u.floating = value;
	}
	if (!bitmap_has(&table->vectors[TEST_TEXT].nulls, row) &&
		(expected[8].count++ == 0 ||
		 compare_texts(text, expected[8].u.text, false) > 0))
		expected[8].u.text = text;
}

/*------------------------------------------------------------------------
 * Comparing
 *------------------------------------------------------------------------
 */

static bool
states_agree(int spec, const AggregateState *got,
			 const AggregateState *expected)
{
	if (got->count != expected->count)
		return false;
	if (got->count == 0)
		return true;
	switch (specs[spec].kind)
	{
		case AGGREGATE_SUM:
			return got->u.sum == expected->u.sum;
		case AGGREGATE_MIN:
		case AGGREGATE_MAX:
			return got->u.extreme == expected->u.extreme;
		case AGGREGATE_SUM_FLOAT8:
		case AGGREGATE_MIN_FLOAT:
			return got->u.floating == expected->u.floating;
		case AGGREGATE_MOMENTS:
			return got->u.moments.n == (double) got->count;
		case AGGREGATE_MAX_TEXT:
			return compare_texts(got->u.text, expected->u.text, false) == 0;
		default:
			return true;
	}
}

/* Compares one group, which a row is the first of; returns its rows. */
static int
check_group(const Aggregation *aggregation, int group,
			const TestTable *tables, int table, int row, const int *keys,
			int nkeys, int *differences)
{
	AggregateState expected[NSPECS];

	memset(expected, 0, sizeof(expected));
	for (int t = 0; t < BATCHES; t++)
		for (int r = 0; r < tables[t].batch.nrows; r++)
			if (bitmap_has(&chosen[t], r) &&
				slow_in_group(tables, t, r, table, row, keys, nkeys))
				slow_add(expected, &tables[t], r);
	for (int i = 0; i < NSPECS; i++)
		if (!states_agree(i, aggregate_state(aggregation, group, i), &expected[i]))
		{
			printf("# group %d, aggregate %d differs\n", group, i);
			(*differences)++;
		}
	for (int i = 0; i < nkeys; i++)
	{
		GroupKey	key = aggregate_key(aggregation, group, i);

		if (key.is_null != bitmap_has(&tables[table].vectors[keys[i]].nulls, row))
			(*differences)++;
		else if (!key.is_null && keys[i] == TEST_TEXT &&
				 compare_texts(key.text, tables[table].texts[TEST_TEXT][row], false))
			(*differences)++;
		else if (!key.is_null && keys[i] == TEST_UUID &&
				 memcmp(&key.uuid, &tables[table].uuids[TEST_UUID][row], 16) != 0)
			(*differences)++;
	}
	return (int) expected[0].count;
}

/* Is the row the first of its group? */
static bool
is_first(const TestTable *tables, int table, int row, const int *keys,
		 int nkeys)
{
	for (int t = 0; t <= table; t++)
		for (int r = 0; r < (t == table ? row : tables[t].batch.nrows); r++)
			if (bitmap_has(&chosen[t], r) &&
				slow_in_group(tables, t, r, table, row, keys, nkeys))
				return false;
	return true;
}

/* Chooses all rows, or one of so many. */
static void
choose_rows(const TestTable *tables, unsigned share)
{
	TestRandom	random = {share};

	for (int t = 0; t < BATCHES; t++)
	{
		bitmap_fill(&chosen[t], tables[t].batch.nrows);
		for (int row = 0; row < tables[t].batch.nrows; row++)
			if (test_random_below(&random, share) > 0)
				bitmap_remove(&chosen[t], row);
	}
}

static void
test_grouping(TestTable *tables, const int *keys, int nkeys, const char *name)
{
	TestMemory	memory;
	AggregateOptions options = base;
	Aggregation *aggregation;
	const char *unsupported;
	int			differences = 0;
	int			group = 0;
	int			rows = 0;
	int			all = 0;

	options.allocator = test_memory_allocator(&memory);
	options.columns = tables[0].specs;
	options.keys = keys;
	options.nkeys = nkeys;
	aggregation = aggregate_open(&options, &unsupported);
	for (int pass = 0; pass < 2; pass++)
	{
		aggregate_restart(aggregation);
		for (int t = 0; t < BATCHES; t++)
		{
			if (aggregate_add(aggregation, &tables[t].batch, &chosen[t]) !=
				AGGREGATE_OK)
				differences++;
		}
	}
	for (int t = 0; t < BATCHES; t++)
		for (int r = 0; r < tables[t].batch.nrows; r++)
		{
			if (!bitmap_has(&chosen[t], r))
				continue;
			all++;
			if (is_first(tables, t, r, keys, nkeys))
				rows += check_group(aggregation, group++, tables, t, r, keys,
									nkeys, &differences);
		}
	if (nkeys == 0 && group == 0)
		group = 1;
	TEST_EQUAL(differences, 0, "%s: all agree", name);
	TEST_EQUAL(aggregate_ngroups(aggregation), group, "%s: groups", name);
	TEST_EQUAL(rows, all, "%s: every row is in one group", name);
	aggregate_close(aggregation);
	TEST_EQUAL(memory.held, 0, "%s: all memory is back", name);
}

/* Gives texts codes, up to so many, as if they came from a dictionary; no nulls. */
static void
give_codes(TestTable *table, int column, int ncodes)
{
	static uint8_t codes[BATCHES * TEST_COLUMNS][BATCH_ROWS];
	static int	next;
	ColumnVector *vector = &table->vectors[column];
	uint8_t    *own = codes[next++ % (BATCHES * TEST_COLUMNS)];

	bitmap_clear(&vector->nulls);
	for (int row = 0; row < table->batch.nrows; row++)
	{
		own[row] = (uint8_t) (row * 7 % ncodes);
		if (row >= ncodes)
			table->texts[column][row] = table->texts[column][row * 7 % ncodes];
	}
	/* Row i of the first ones, too, has the text of its code. */
	for (int row = 0; row < ncodes && row < table->batch.nrows; row++)
		own[row] = (uint8_t) row;
	vector->codes = own;
	vector->ncodes = ncodes;
}

/* Texts with codes in some of the batches, equal ones with different codes among them. */
static void
test_codes(TestTable *tables)
{
	static const int text_key[] = {TEST_TEXT};
	static const int two_keys[] = {TEST_BPCHAR, TEST_TEXT};
	static const int mixed_keys[] = {TEST_TEXT, TEST_BOOL};

	for (int t = 0; t < BATCHES - 1; t++)
	{
		give_codes(&tables[t], TEST_TEXT, 20 + t);
		give_codes(&tables[t], TEST_BPCHAR, t == 2 ? 90 : 9);
	}
	bitmap_add(&tables[1].vectors[TEST_TEXT].nulls, 5);
	for (unsigned share = 1; share <= 10; share += 3)
	{
		choose_rows(tables, share);
		test_grouping(tables, text_key, 1, "a text with codes");
		test_grouping(tables, two_keys, 2, "two texts with codes");
		test_grouping(tables, mixed_keys, 2, "a text with codes and a boolean");
	}
	for (int t = 0; t < BATCHES; t++)
		tables[t].vectors[TEST_TEXT].codes = tables[t].vectors[TEST_BPCHAR].codes = NULL;
}

/* Adds two values with one spec; returns what becomes of the second. */
static AggregateStatus
add_two(AggregateSpec spec, TestTable *table)
{
	TestMemory	memory;
	AggregateOptions options = base;
	const char *unsupported;
	Aggregation *aggregation;
	AggregateStatus status;
	RowBitmap	selected;

	options.allocator = test_memory_allocator(&memory);
	options.columns = table->specs;
	options.specs = &spec;
	options.nspecs = 1;
	aggregation = aggregate_open(&options, &unsupported);
	table->batch.nrows = 2;
	bitmap_fill(&selected, 2);
	status = aggregate_add(aggregation, &table->batch, &selected);
	aggregate_close(aggregation);
	return status;
}

static void
test_statuses(TestTable *table)
{
	Arithmetic	doubled = {
		.nsteps = 3,
		.steps = {
			{.op = ARITHMETIC_COLUMN,.column = TEST_INT4},
			{.op = ARITHMETIC_CONSTANT,.constant = 2},
			{.op = ARITHMETIC_MULTIPLY,.type = COLUMN_INT4}
		}
	};
	AggregateSpec sum = {.kind = AGGREGATE_SUM,.argument = &doubled};
	AggregateSpec floats = {.kind = AGGREGATE_SUM_FLOAT8,.column = TEST_FLOAT};
	AggregateSpec moments = {.kind = AGGREGATE_MOMENTS,.column = TEST_FLOAT};

	test_table_init(table);
	table->integers[TEST_INT4][1] = 1073741823;
	TEST_EQUAL(add_two(sum, table), AGGREGATE_OK, "2147483646 is an int4");
	table->integers[TEST_INT4][1] = 1073741824;
	TEST_EQUAL(add_two(sum, table), AGGREGATE_OVERFLOW, "2147483648 is none");
	bitmap_add(&table->vectors[TEST_INT4].nulls, 1);
	TEST_EQUAL(add_two(sum, table), AGGREGATE_OK, "unless it is null");

	table->floats[TEST_FLOAT][0] = table->floats[TEST_FLOAT][1] = 1e308;
	TEST_EQUAL(add_two(floats, table), AGGREGATE_OVERFLOW,
			   "a sum that becomes infinite");
	table->floats[TEST_FLOAT][1] = -1e308;
	TEST_EQUAL(add_two(floats, table), AGGREGATE_OK, "one that does not");
	TEST_EQUAL(add_two(moments, table), AGGREGATE_OVERFLOW,
			   "squares that become infinite");
	table->floats[TEST_FLOAT][1] = INFINITY;
	TEST_EQUAL(add_two(floats, table), AGGREGATE_NOT_FINITE, "infinity");
	table->floats[TEST_FLOAT][1] = NAN;
	TEST_EQUAL(add_two(moments, table), AGGREGATE_NOT_FINITE, "not a number");
}

/*
 * Overflows of (a - 1) * b: of a product that takes the place of its operand, and
 * of a difference that is multiplied with null.
 */
static void
test_overflows(TestTable *table)
{
	Arithmetic	product = {
		.nsteps = 5,
		.steps = {
			{.op = ARITHMETIC_COLUMN,.column = TEST_INT4},
			{.op = ARITHMETIC_CONSTANT,.constant = 1},
			{.op = ARITHMETIC_SUBTRACT,.type = COLUMN_INT4},
			{.op = ARITHMETIC_COLUMN,.column = TEST_INT4_TOO},
			{.op = ARITHMETIC_MULTIPLY,.type = COLUMN_INT4}
		}
	};
	AggregateSpec sum = {.kind = AGGREGATE_SUM,.argument = &product};
	RowBitmap  *nulls = &table->vectors[TEST_INT4].nulls;
	RowBitmap  *nulls_too = &table->vectors[TEST_INT4_TOO].nulls;

	test_table_init(table);
	table->integers[TEST_INT4][1] = -2147483647;
	table->integers[TEST_INT4_TOO][1] = -1;
	TEST_EQUAL(add_two(sum, table), AGGREGATE_OVERFLOW,
			   "-2147483648 * -1 is no int4, though times -1 again it is");
	table->integers[TEST_INT4_TOO][1] = 0;
	TEST_EQUAL(add_two(sum, table), AGGREGATE_OK, "-2147483648 * 0 is one");

	table->integers[TEST_INT4][1] = -2147483648;
	bitmap_add(nulls_too, 1);
	TEST_EQUAL(add_two(sum, table), AGGREGATE_OVERFLOW,
			   "-2147483648 - 1 overflows before it is multiplied with null");
	bitmap_add(nulls, 1);
	TEST_EQUAL(add_two(sum, table), AGGREGATE_OK, "unless it is null itself");
}

/* Adds these rows, by chosen, of a table; returns what becomes of them. */
static AggregateStatus
add_chosen(AggregateSpec spec, const TestTable *table,
		   const RowBitmap *selected)
{
	TestMemory	memory;
	AggregateOptions options = base;
	const char *unsupported;
	Aggregation *aggregation;
	AggregateStatus status;

	options.allocator = test_memory_allocator(&memory);
	options.columns = table->specs;
	options.specs = &spec;
	options.nspecs = 1;
	aggregation = aggregate_open(&options, &unsupported);
	status = aggregate_add(aggregation, &table->batch, selected);
	aggregate_close(aggregation);
	return status;
}

/* a * b of int8: what overflows counts in rows that are taken in, few or many. */
static void
test_overflows_of_some(TestTable *table)
{
	Arithmetic	product = {
		.nsteps = 3,
		.steps = {
			{.op = ARITHMETIC_COLUMN,.column = TEST_INT4},
			{.op = ARITHMETIC_COLUMN,.column = TEST_INT4_TOO},
			{.op = ARITHMETIC_MULTIPLY,.type = COLUMN_INT8}
		}
	};
	AggregateSpec sum = {.kind = AGGREGATE_SUM,.argument = &product};
	const int	nrows = 200;

	test_table_init(table);
	table->batch.nrows = nrows;
	table->integers[TEST_INT4][120] = INT64_MAX;
	table->integers[TEST_INT4_TOO][120] = 2;
	for (int n = 1; n <= nrows; n += 40)
	{
		RowBitmap	selected;

		bitmap_fill(&selected, n);
		bitmap_remove(&selected, 120);
		TEST_EQUAL(add_chosen(sum, table, &selected), AGGREGATE_OK,
				   "%d rows without that which overflows", n);
		bitmap_add(&selected, 120);
		TEST_EQUAL(add_chosen(sum, table, &selected), AGGREGATE_OVERFLOW,
				   "%d rows with it", n);
	}
}

/* Constants whose scaling overflows, and steps that need none. */
static void
test_constants(TestTable *table)
{
	Arithmetic	sum_of = {
		.nsteps = 3,
		.steps = {
			{.op = ARITHMETIC_COLUMN,.column = TEST_NUMERIC},
			{.op = ARITHMETIC_CONSTANT,.constant = INT64_MAX / 10},
			{.op = ARITHMETIC_ADD,.type = COLUMN_NUMERIC}
		}
	};
	AggregateSpec sum = {.kind = AGGREGATE_SUM,.argument = &sum_of};
	RowBitmap	selected;

	test_table_init(table);
	table->batch.nrows = 1;
	bitmap_fill(&selected, 1);
	TEST_EQUAL(add_chosen(sum, table, &selected), AGGREGATE_OVERFLOW,
			   "a constant that overflows at the column's scale");
	sum_of.steps[1].constant = INT64_MAX / 100;
	TEST_EQUAL(add_chosen(sum, table, &selected), AGGREGATE_OK,
			   "one that does not");
	table->integers[TEST_NUMERIC][0] = 100;
	TEST_EQUAL(add_chosen(sum, table, &selected), AGGREGATE_OVERFLOW,
			   "until the column's value is added");
	sum_of.steps[0] = sum_of.steps[1];
	TEST_EQUAL(add_chosen(sum, table, &selected), AGGREGATE_OK,
			   "two constants");
}

/* More groups than there may be memory, and requests that fail. */
static void
test_memory_limits(TestTable *table)
{
	static const int keys[] = {TEST_INT4};
	TestMemory	memory;
	AggregateOptions options = base;
	AggregateStatus status = AGGREGATE_OK;
	const char *unsupported;
	Aggregation *aggregation;
	RowBitmap	selected;
	int			batches = 0;

	options.allocator = test_memory_allocator(&memory);
	options.columns = table->specs;
	options.keys = keys;
	options.nkeys = 1;
	options.max_memory = (size_t) 4 << 20;
	aggregation = aggregate_open(&options, &unsupported);
	test_table_init(table);
	table->batch.nrows = BATCH_ROWS;
	bitmap_fill(&selected, BATCH_ROWS);
	while (status == AGGREGATE_OK && batches < 1000)
	{
		for (int row = 0; row < BATCH_ROWS; row++)
			table->integers[TEST_INT4][row] = batches * BATCH_ROWS + row;
		status = aggregate_add(aggregation, &table->batch, &selected);
		batches++;
	}
	TEST_EQUAL(status, AGGREGATE_TOO_LARGE, "too many groups");
	TEST_EQUAL(aggregate_ngroups(aggregation), batches * BATCH_ROWS,
			   "all groups were kept up to then");
	TEST_OK(memory.peak < (size_t) 16 << 20, "memory is bounded");
	aggregate_restart(aggregation);
	memory.fail_after = 0;
	TEST_EQUAL(aggregate_add(aggregation, &table->batch, &selected),
			   AGGREGATE_NO_MEMORY, "no memory for groups");
	aggregate_close(aggregation);
	TEST_EQUAL(memory.held, 0, "all memory is back");
	TEST_OK(aggregate_open(&options, &unsupported) == NULL && unsupported == NULL,
			"no memory to begin with");
}

int
main(void)
{
	static const int integer_key[] = {TEST_INT4};
	static const int text_key[] = {TEST_TEXT};
	static const int two_keys[] = {TEST_BPCHAR, TEST_BOOL};
	static const int all_keys[] = {TEST_TEXT, TEST_BPCHAR, TEST_UUID, TEST_BOOL};
	TestTable  *tables = malloc(BATCHES * sizeof(TestTable));
	TestRandom	random = {7};

	for (int t = 0; t < BATCHES; t++)
		test_table_fill(&tables[t], &random, 100 + (int) test_random_below(&random, 100));
	/* All rows, a half, and so few that they are computed by themselves. */
	for (unsigned share = 1; share <= 10; share += share < 2 ? 1 : 8)
	{
		choose_rows(tables, share);
		test_grouping(tables, NULL, 0, "no keys");
		test_grouping(tables, integer_key, 1, "an integer");
		test_grouping(tables, text_key, 1, "a text");
		test_grouping(tables, two_keys, 2,
					  "a blank-padded text and a boolean");
		test_grouping(tables, all_keys, 4, "four keys");
	}
	test_codes(tables);
	test_statuses(&tables[0]);
	test_overflows(&tables[0]);
	test_overflows_of_some(&tables[0]);
	test_constants(&tables[0]);
	test_memory_limits(&tables[0]);
	free(tables);
	return test_done();
}
