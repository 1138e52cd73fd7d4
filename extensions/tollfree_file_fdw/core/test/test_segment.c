/*
 * test_segment.c
 *	  Segments of random values of every type, compared with what they were made
 *	  of, whole and in parts, decoded and by conditions; segments that are damaged in any byte or cut at any
 *	  length; and memory that runs out at every single request.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/segment.h"
#include "core/test/memory.h"
#include "core/test/tap.h"

#define ROWS		3000
#define TEXT_MAX	300			/* bytes */
#define DAMAGES		20000
#define CASES		400

static const unsigned char id[INDEX_ID_SIZE] = "an index";

static const ColumnType types[] = {
	COLUMN_BOOL, COLUMN_INT2, COLUMN_INT4, COLUMN_INT8, COLUMN_DATE,
	COLUMN_TIMESTAMP, COLUMN_TIMESTAMPTZ, COLUMN_NUMERIC, COLUMN_FLOAT4,
	COLUMN_FLOAT8, COLUMN_UUID, COLUMN_TEXT, COLUMN_BPCHAR
};

#define NTYPES	((unsigned) (sizeof(types) / sizeof(types[0])))

/* The values of a column, and a vector to take them in and out by. */
typedef struct Values
{
	ColumnSpec	spec;
	int			nrows;
	bool		nulls[ROWS];
	int64_t		integers[ROWS];
	double		floats[ROWS];
	Uuid		uuids[ROWS];
	TextRef		texts[ROWS];
	unsigned char bytes[ROWS][TEXT_MAX];
} Values;

typedef struct Vector
{
	ColumnVector vector;
	int64_t		integers[BATCH_ROWS];
	double		floats[BATCH_ROWS];
	Uuid		uuids[BATCH_ROWS];
	TextRef		texts[BATCH_ROWS];
} Vector;

static Values values;
static Vector in;
static Vector out;

static void
init_vector(Vector *vector, const ColumnSpec *spec)
{
	vector->vector.spec = spec;
	bitmap_clear(&vector->vector.nulls);
	bitmap_clear(&vector->vector.unresolved);
	if (column_type_is_integer(spec->type))
		vector->vector.values.integers = vector->integers;
	else if (column_type_is_float(spec->type))
		vector->vector.values.floats = vector->floats;
	else if (column_type_is_text(spec->type))
		vector->vector.values.texts = vector->texts;
	else
		vector->vector.values.uuids = vector->uuids;
}

/* Draws a value; bits says how many different ones there are. */
static void
draw_value(TestRandom *random, int row, unsigned bits, uint64_t base)
{
	uint64_t	drawn = test_random(random) &
		(bits == 64 ? UINT64_MAX : ((uint64_t) 1 << bits) - 1);
	unsigned char *bytes = values.bytes[row];
	uint32_t	length;

	values.integers[row] = (int64_t) (base + drawn);
	values.floats[row] = values.spec.type == COLUMN_FLOAT4 ?
		(double) (float) drawn / 4 : (double) drawn / 3;
	memset(&values.uuids[row], (int) drawn & 0xFF, sizeof(Uuid));
	length = (uint32_t) snprintf((char *) bytes, TEXT_MAX, "%*llu",
								 (int) (drawn % (bits > 8 ? 250 : 9)),
								 (unsigned long long) drawn);
	values.texts[row] = (TextRef)
	{
		bytes, drawn == 0 ? 0 : length
	};
}

/* Draws a column; nulls in a tenth of the rows, in all, or in none. */
static void
draw_values(TestRandom *random)
{
	static const unsigned bits[] = {0, 1, 3, 8, 9, 16, 31, 32, 40, 63, 64};
	unsigned	width = bits[test_random_below(random, 11)];
	uint64_t	base = test_random_below(random, 2) == 0 ? 0 :
		test_random(random);
	unsigned	nulls = test_random_below(random, 4);

	values.spec = (ColumnSpec)
	{
		.type = types[test_random_below(random, NTYPES)],.field = 3
	};
	values.nrows = 1 + (int) test_random_below(random, ROWS);
	for (int row = 0; row < values.nrows; row++)
	{
		draw_value(random, row, width, base);
		values.nulls[row] = nulls == 3 ||
			(nulls == 2 && test_random_below(random, 10) == 0);
		if (!values.nulls[row])
			continue;
		values.integers[row] = 0;
		values.floats[row] = 0;
		memset(&values.uuids[row], 0, sizeof(Uuid));
		memset(&values.texts[row], 0, sizeof(TextRef));
	}
}

/* Takes all rows in, in batches of any length. */
static void
build(SegmentBuilder *builder, TestRandom *random)
{
	for (int from = 0; from < values.nrows;)
	{
		int			n = 1 + (int) test_random_below(random, BATCH_ROWS);

		n = n < values.nrows - from ? n : values.nrows - from;
		init_vector(&in, &values.spec);
		memcpy(in.integers, values.integers + from, (size_t) n * 8);
		memcpy(in.floats, values.floats + from, (size_t) n * 8);
		memcpy(in.uuids, values.uuids + from, (size_t) n * sizeof(Uuid));
		memcpy(in.texts, values.texts + from, (size_t) n * sizeof(TextRef));
		for (int i = 0; i < n; i++)
		{
			if (values.nulls[from + i])
				bitmap_add(&in.vector.nulls, i);
		}
		segment_builder_add(builder, &in.vector, n);
		from += n;
	}
}

/* Is the value in the vector what it was? */
static bool
is_same(int i, int row)
{
	const ColumnType type = values.spec.type;

	if (bitmap_has(&out.vector.nulls, i) != values.nulls[row])
		return false;
	if (column_type_is_integer(type))
		return out.integers[i] == values.integers[row];
	if (column_type_is_float(type))
		return out.floats[i] == values.floats[row];
	if (type == COLUMN_UUID)
		return memcmp(&out.uuids[i], &values.uuids[row], sizeof(Uuid)) == 0;
	return out.texts[i].length == values.texts[row].length &&
		(out.texts[i].length == 0 ||
		 memcmp(out.texts[i].bytes, values.texts[row].bytes,
				out.texts[i].length) == 0);
}

/* How many rows have the code of another one, but not its text? */
static int
count_wrong_codes(int n)
{
	int			wrong = 0;

	for (int i = 1; out.vector.codes != NULL && i < n; i++)
	{
		const TextRef a = out.texts[i - 1];
		const TextRef b = out.texts[i];

		if (out.vector.codes[i] >= out.vector.ncodes)
			wrong++;
		if (bitmap_has(&out.vector.nulls, i - 1) ||
			bitmap_has(&out.vector.nulls, i))
			continue;
		wrong += (out.vector.codes[i - 1] == out.vector.codes[i]) !=
			(a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0);
	}
	return wrong;
}

/* Decodes all rows in parts; returns how many of those asked for are wrong. */
static int
count_wrong(const Segment *segment, TestRandom *random, bool by_rows)
{
	int			wrong = 0;

	for (int row = 0; row < values.nrows;)
	{
		int			end = (row / BATCH_ROWS + 1) * BATCH_ROWS;
		int			n = (end < values.nrows ? end : values.nrows) - row;
		RowBitmap	rows;

		n = test_random_below(random, 2) == 0 ? n :
			1 + (int) test_random_below(random, (unsigned) n);
		bitmap_clear(&rows);
		for (int i = 0; i < n; i++)
		{
			if (test_random_below(random, 20) == 0)
				bitmap_add(&rows, i);
		}
		init_vector(&out, &values.spec);
		if (!segment_decode(segment, (uint32_t) row, n, by_rows ? &rows : NULL,
							&out.vector))
			return -1;
		for (int i = 0; i < n; i++)
			wrong += (!by_rows || bitmap_has(&rows, i)) && !is_same(i, row + i);
		wrong += count_wrong_codes(n);
		row += n;
	}
	return wrong;
}

/* Tests a range between two of the values; returns how many rows are wrong. */
static int
count_wrong_in_range(const Segment *segment, TestRandom *random, int row, int n)
{
	const int64_t a = values.integers[test_random_below(random, (unsigned) values.nrows)];
	const int64_t b = values.integers[test_random_below(random, (unsigned) values.nrows)];
	const int64_t low = test_random_below(random, 8) == 0 ? INT64_MIN : a < b ? a : b;
	const int64_t high = test_random_below(random, 8) == 0 ? INT64_MAX :
		a < b ? b : a - (test_random_below(random, 4) == 0 && a > INT64_MIN);
	const bool	negated = test_random_below(random, 2) == 0;
	RowBitmap	inside;
	int			wrong = 0;

	if (!segment_test_range(segment, (uint32_t) row, n, low, high, negated,
							&inside))
		return n;
	for (int i = 0; i < BATCH_ROWS; i++)
	{
		const int64_t value = i < n ? values.integers[row + i] : 0;
		const bool	is_inside = low <= value && value <= high;

		wrong += bitmap_has(&inside, i) !=
			(i < n && !values.nulls[row + i] && is_inside != negated);
	}
	return wrong;
}

/* Does a text begin with a blank, or has no bytes?  The condition to be tested. */
static bool
is_blank(TextRef text)
{
	return text.length == 0 || text.bytes[0] == ' ';
}

/*
 * Tests a condition by the entries of a dictionary, if there is one, which is counted;
 * returns how many rows are wrong.
 */
static int
count_wrong_by_entries(const Segment *segment, int row, int n, int *ndictionaries)
{
	TextRef		entries[SEGMENT_ENTRIES_MAX];
	int			nentries = segment_entries(segment, (uint32_t) row, entries);
	RowBitmap	passing;
	RowBitmap	rows;
	int			wrong = 0;

	bitmap_clear(&passing);
	for (int i = 0; i < nentries; i++)
	{
		if (is_blank(entries[i]))
			bitmap_add(&passing, i);
	}
	if (segment_test_entries(segment, (uint32_t) row, n, &passing, &rows) !=
		(nentries > 0))
		return n;
	*ndictionaries += nentries > 0;
	for (int i = 0; nentries > 0 && i < BATCH_ROWS; i++)
		wrong += bitmap_has(&rows, i) !=
			(i < n && !values.nulls[row + i] && is_blank(values.texts[row + i]));
	return wrong;
}

/* Conditions of values that are not decoded. */
static void
test_conditions(void)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	TestRandom	random = {6};
	int			wrong = 0;
	int			nranges = 0;
	int			ndictionaries = 0;

	for (int i = 0; i < CASES; i++)
	{
		SegmentBuilder builder;
		Segment		segment;
		unsigned char *bytes;
		size_t		length;

		draw_values(&random);
		segment_builder_open(&builder, &allocator, &values.spec);
		build(&builder, &random);
		bytes = segment_builder_finish(&builder, id, 0, 0, &length);
		if (bytes == NULL || !segment_read(&segment, bytes, length))
			wrong++;
		for (int row = 0; bytes != NULL && row < values.nrows;)
		{
			int			end = (row / BATCH_ROWS + 1) * BATCH_ROWS;
			int			n = (end < values.nrows ? end : values.nrows) - row;

			n = test_random_below(&random, 2) == 0 ? n :
				1 + (int) test_random_below(&random, (unsigned) n);
			if (column_type_is_integer(values.spec.type))
				wrong += count_wrong_in_range(&segment, &random, row, n);
			else
				wrong += count_wrong_by_entries(&segment, row, n, &ndictionaries);
			nranges += column_type_is_integer(values.spec.type);
			row += n;
		}
		segment_builder_close(&builder);
	}
	TEST_EQUAL(wrong, 0, "conditions are true of the same rows, decoded or not");
	TEST_OK(nranges > 500 && ndictionaries > 20,
			"%d times in a range, %d times in a dictionary", nranges,
			ndictionaries);
	TEST_EQUAL(memory.held, 0, "all memory is given back");
}

static void
test_values(void)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	TestRandom	random = {1};
	int			wrong = 0;
	int			unread = 0;

	for (int i = 0; i < CASES; i++)
	{
		SegmentBuilder builder;
		Segment		segment;
		unsigned char *bytes;
		size_t		length;

		draw_values(&random);
		segment_builder_open(&builder, &allocator, &values.spec);
		/* A builder that is used again has nothing of what was before. */
		if (i % 2 == 0)
		{
			build(&builder, &random);
			segment_builder_reset(&builder);
		}
		build(&builder, &random);
		bytes = segment_builder_finish(&builder, id, 77, 3, &length);
		if (bytes == NULL || !segment_read(&segment, bytes, length) ||
			segment.header->nrows != (uint32_t) values.nrows ||
			segment.header->offset != 77 || segment.header->field != 3)
			unread++;
		else
			wrong += count_wrong(&segment, &random, false) != 0 ||
				count_wrong(&segment, &random, true) != 0;
		segment_builder_close(&builder);
	}
	TEST_EQUAL(unread, 0, "all of %d segments can be read", CASES);
	TEST_EQUAL(wrong, 0, "all values are what they were");
	TEST_EQUAL(memory.held, 0, "all memory is given back");
}

/* Small values take few bytes. */
static void
test_sizes(void)
{
	static const struct
	{
		ColumnType	type;
		unsigned	bits;
		size_t		most;		/* bytes a row */
	}			cases[] = {
		{COLUMN_INT4, 0, 0}, {COLUMN_NUMERIC, 8, 1}, {COLUMN_DATE, 12, 2},
		{COLUMN_INT8, 24, 4}, {COLUMN_TEXT, 2, 1}, {COLUMN_FLOAT4, 8, 4}
	};
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	TestRandom	random = {2};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		SegmentBuilder builder;
		size_t		length = 0;

		values.spec = (ColumnSpec)
		{
			.type = cases[i].type
		};
		values.nrows = ROWS;
		memset(values.nulls, 0, sizeof(values.nulls));
		for (int row = 0; row < ROWS; row++)
			draw_value(&random, row, cases[i].bits, 1000000);
		segment_builder_open(&builder, &allocator, &values.spec);
		build(&builder, &random);
		(void) segment_builder_finish(&builder, id, 0, 0, &length);
		segment_builder_close(&builder);
		TEST_OK(length > 0 && length < cases[i].most * ROWS + 1000,
				"%d values of type %d take %zu bytes", ROWS, cases[i].type,
				length);
	}
}

/* What is open is not stored. */
static void
test_open_values(void)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	TestRandom	random = {3};
	SegmentBuilder builder;
	size_t		length;

	draw_values(&random);
	segment_builder_open(&builder, &allocator, &values.spec);
	TEST_OK(segment_builder_finish(&builder, id, 0, 0, &length) == NULL,
			"there is no segment of no rows");
	segment_builder_reset(&builder);
	build(&builder, &random);
	bitmap_add(&in.vector.unresolved, 0);
	segment_builder_add(&builder, &in.vector, 1);
	bitmap_clear(&in.vector.unresolved);
	segment_builder_add(&builder, &in.vector, 1);
	TEST_OK(segment_builder_finish(&builder, id, 0, 0, &length) == NULL,
			"nor one with an unresolved value");
	segment_builder_reset(&builder);
	build(&builder, &random);
	TEST_OK(segment_builder_finish(&builder, id, 0, 0, &length) != NULL,
			"but the next one is made");
	segment_builder_close(&builder);
}

/* Decodes whatever the bytes are; what is refused is not looked at. */
static void
decode_all(const unsigned char *bytes, size_t length)
{
	Segment		segment;

	if (!segment_read(&segment, bytes, length))
		return;
	for (uint32_t row = 0; row < segment.header->nrows; row += BATCH_ROWS)
	{
		uint32_t	left = segment.header->nrows - row;
		int			n = left < BATCH_ROWS ? (int) left : BATCH_ROWS;
		TextRef		entries[SEGMENT_ENTRIES_MAX];
		RowBitmap	passing;
		RowBitmap	rows;

		init_vector(&out, &values.spec);
		(void) segment_decode(&segment, row, n, NULL, &out.vector);
		(void) segment_test_range(&segment, row, n, 0, INT64_MAX, true, &rows);
		bitmap_fill(&passing, segment_entries(&segment, row, entries));
		(void) segment_test_entries(&segment, row, n, &passing, &rows);
	}
}

/* The sanitizers tell of what is read beyond the bytes. */
static void
test_damages(void)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	TestRandom	random = {4};

	for (int i = 0; i < DAMAGES / 100; i++)
	{
		SegmentBuilder builder;
		unsigned char *bytes;
		size_t		length;

		draw_values(&random);
		segment_builder_open(&builder, &allocator, &values.spec);
		build(&builder, &random);
		bytes = segment_builder_finish(&builder, id, 0, 0, &length);
		for (int j = 0; j < 100; j++)
		{
			size_t		kept = j % 10 > 0 ? length :
				test_random_below(&random, (unsigned) length + 1);
			unsigned char *copy = malloc(kept > 0 ? kept : 1);

			memcpy(copy, bytes, kept);
			if (kept > 0)
				copy[test_random_below(&random, (unsigned) kept)] =
					(unsigned char) test_random(&random);
			decode_all(copy, kept);
			free(copy);
		}
		segment_builder_close(&builder);
	}
	TEST_EQUAL(memory.held, 0, "%d damages are survived", DAMAGES);
}

static void
test_no_memory(void)
{
	TestRandom	random = {5};
	int			failures = 0;

	values.spec.type = COLUMN_OTHER;
	while (!column_type_is_text(values.spec.type) || values.nrows < 2000)
		draw_values(&random);
	for (int64_t after = 0;; after++)
	{
		TestMemory	memory;
		const Allocator allocator = test_memory_allocator(&memory);
		SegmentBuilder builder;
		size_t		length;
		bool		is_made;

		memory.fail_after = after;
		segment_builder_open(&builder, &allocator, &values.spec);
		build(&builder, &random);
		is_made = segment_builder_finish(&builder, id, 0, 0, &length) != NULL;
		segment_builder_close(&builder);
		if (memory.held != 0)
			break;
		if (is_made)
		{
			TEST_OK(failures > 2, "no memory at each of %d requests", failures);
			return;
		}
		failures++;
	}
	TEST_OK(false, "memory is given back after a failure");
}

int
main(void)
{
	test_values();
	test_conditions();
	test_sizes();
	test_open_values();
	test_damages();
	test_no_memory();
	return test_done();
}
