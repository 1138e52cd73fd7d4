/*
 * table.c
 *	  A batch of random rows for tests of what works on batches.
 */
#include "core/test/table.h"

static const ColumnSpec test_specs[TEST_COLUMNS] = {
	[TEST_INT4] = {.type = COLUMN_INT4},
	[TEST_INT4_TOO] = {.type = COLUMN_INT4},
	[TEST_NUMERIC] = {.type = COLUMN_NUMERIC,.precision = 6,.scale = 2},
	[TEST_NUMERIC_TOO] = {.type = COLUMN_NUMERIC,.precision = 8,.scale = 4},
	[TEST_FLOAT] = {.type = COLUMN_FLOAT8},
	[TEST_FLOAT_TOO] = {.type = COLUMN_FLOAT8},
	[TEST_TEXT] = {.type = COLUMN_TEXT},
	[TEST_TEXT_TOO] = {.type = COLUMN_TEXT},
	[TEST_BPCHAR] = {.type = COLUMN_BPCHAR},
	[TEST_BOOL] = {.type = COLUMN_BOOL},
	[TEST_UUID] = {.type = COLUMN_UUID}
};

void
test_table_init(TestTable *table)
{
	memset(table, 0, sizeof(*table));
	table->batch.columns = table->vectors;
	table->batch.ncolumns = TEST_COLUMNS;
	for (int i = 0; i < TEST_COLUMNS; i++)
	{
		ColumnVector *vector = &table->vectors[i];

		table->specs[i] = test_specs[i];
		table->specs[i].field = i;
		vector->spec = &table->specs[i];
		if (column_type_is_integer(vector->spec->type))
			vector->values.integers = table->integers[i];
		else if (column_type_is_float(vector->spec->type))
			vector->values.floats = table->floats[i];
		else if (column_type_is_text(vector->spec->type))
			vector->values.texts = table->texts[i];
		else
			vector->values.uuids = table->uuids[i];
	}
}

/* Up to TEST_TEXT_MAX bytes of a, b, blank and a character of two bytes. */
static TextRef
test_table_text(TestRandom *random, unsigned char *bytes)
{
	TextRef		result = {.bytes = bytes};
	uint32_t	length = 0;
	unsigned	most = test_random_below(random, 4) == 0 ? TEST_TEXT_MAX : 4;
	unsigned	n = test_random_below(random, most);

	while (length < n)
	{
		unsigned	choice = test_random_below(random, 6);

		if (choice == 5 && length + 2 <= n)
		{
			bytes[length++] = 0xC3;
			bytes[length++] = 0xA9;
		}
		else
			bytes[length++] = (unsigned char) "aabb "[choice % 5];
	}
	result.length = length;
	return result;
}

static void
test_table_fill_value(TestTable *table, TestRandom *random, int column,
					  int row)
{
	int64_t		number = (int64_t) test_random_below(random, 7) - 3;

	switch (table->specs[column].type)
	{
		case COLUMN_BOOL:
			table->integers[column][row] = number > 0;
			break;
		case COLUMN_NUMERIC:
			table->integers[column][row] = number *
				(column == TEST_NUMERIC ? 50 : 5000);
			break;
		case COLUMN_FLOAT8:
			table->floats[column][row] = (double) number / 2;
			break;
		case COLUMN_TEXT:
		case COLUMN_BPCHAR:
			table->texts[column][row] =
				test_table_text(random, table->bytes[column][row]);
			break;
		case COLUMN_UUID:
			table->uuids[column][row].bytes[number + 3] = 1;
			break;
		default:
			table->integers[column][row] = number;
			break;
	}
}

void
test_table_fill(TestTable *table, TestRandom *random, int nrows)
{
	test_table_init(table);
	table->batch.nrows = nrows;
	for (int column = 0; column < TEST_COLUMNS; column++)
		for (int row = 0; row < nrows; row++)
		{
			if (test_random_below(random, 5) == 0)
				bitmap_add(&table->vectors[column].nulls, row);
			else
				test_table_fill_value(table, random, column, row);
		}
}
