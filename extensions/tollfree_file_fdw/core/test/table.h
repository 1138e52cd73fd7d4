/*
 * table.h
 *	  A batch of random rows for tests of what works on batches.
 */
#ifndef CORE_TEST_TABLE_H
#define CORE_TEST_TABLE_H

#include "core/batch.h"
#include "core/test/tap.h"

/* One column of each kind of values, and a second one to compare it with. */
typedef enum TestColumn
{
	TEST_INT4,
	TEST_INT4_TOO,
	TEST_NUMERIC,				/* numeric(6,2) */
	TEST_NUMERIC_TOO,			/* numeric(8,4) */
	TEST_FLOAT,
	TEST_FLOAT_TOO,
	TEST_TEXT,
	TEST_TEXT_TOO,
	TEST_BPCHAR,
	TEST_BOOL,
	TEST_UUID,
	TEST_COLUMNS
} TestColumn;

#define TEST_TEXT_MAX	12		/* bytes */

typedef struct TestTable
{
	RowBatch	batch;
	ColumnSpec	specs[TEST_COLUMNS];
	ColumnVector vectors[TEST_COLUMNS];
	int64_t		integers[TEST_COLUMNS][BATCH_ROWS];
	double		floats[TEST_COLUMNS][BATCH_ROWS];
	TextRef		texts[TEST_COLUMNS][BATCH_ROWS];
	Uuid		uuids[TEST_COLUMNS][BATCH_ROWS];
	unsigned char bytes[TEST_COLUMNS][BATCH_ROWS][TEST_TEXT_MAX];
} TestTable;

/* Sets up the columns, without rows. */
extern void test_table_init(TestTable *table);

/* Fills it with rows of few different values, about one in five null. */
extern void test_table_fill(TestTable *table, TestRandom *random, int nrows);

#endif							/* CORE_TEST_TABLE_H */
