/*
 * test_deferred.c
 *	  Columns that are converted of some rows alone have there what they have
 *	  when all rows are converted, and nothing elsewhere.
 */
#include <string.h>
#include <unistd.h>

#include "core/filescan.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/random_file.h"
#include "core/test/tap.h"

#define FILES	300
#define BYTES	6000

static FileScan *
open_scan(const RandomFile *file, const ColumnSpec *columns, int fd,
		  Allocator allocator)
{
	const FileScanOptions options = {
		.dialect = &file->dialect,
		.kernel = kernel_find("auto"),
		.columns = columns,
		.ncolumns = RANDOM_COLUMNS,
		.nfields = RANDOM_COLUMNS,
		.header = file->header,
		.block_size = 1000,
		.allocator = allocator
	};
	SourceStatus status;

	return filescan_open(&options, fd, &status);
}

static ScanStatus
next_batch(FileScan *scan, RowBatch **batch)
{
	ScanStatus	status;

	do
		status = filescan_next(scan, batch);
	while (status == SCAN_AGAIN || status == SCAN_HEADER);
	return status;
}

static bool
is_same_value(const ColumnVector *x, const ColumnVector *y, int row)
{
	size_t		size = column_value_size(x->spec->type);

	if (bitmap_has(&x->nulls, row) != bitmap_has(&y->nulls, row) ||
		bitmap_has(&x->unresolved, row) != bitmap_has(&y->unresolved, row))
		return false;
	if (column_type_is_text(x->spec->type))
		return x->values.texts[row].length == y->values.texts[row].length &&
			(x->values.texts[row].length == 0 ||
			 memcmp(x->values.texts[row].bytes, y->values.texts[row].bytes,
					x->values.texts[row].length) == 0);
	return size == 0 || memcmp((char *) x->values.any + size * (size_t) row,
							   (char *) y->values.any + size * (size_t) row,
							   size) == 0;
}

/* Has the row no value, as where it was not converted? */
static bool
is_nothing(const ColumnVector *vector, int row)
{
	static const char nothing[sizeof(Uuid)];
	size_t		size = column_value_size(vector->spec->type);

	return !bitmap_has(&vector->nulls, row) && !bitmap_has(&vector->unresolved, row) &&
		(size == 0 || memcmp((char *) vector->values.any + size * (size_t) row,
							 nothing, size) == 0);
}

/* Compares a batch, of which these rows are converted, with one of all. */
static int
count_wrong(const RowBatch *batch, const RowBatch *whole, const RowBitmap *rows)
{
	int			wrong = 0;

	for (int row = 0; row < batch->nrows; row++)
	{
		bool		unresolved = false;

		for (int i = 0; i < batch->ncolumns; i++)
		{
			const ColumnVector *vector = &batch->columns[i];

			if (vector->spec->deferred && !bitmap_has(rows, row))
				wrong += !is_nothing(vector, row);
			else
				wrong += !is_same_value(vector, &whole->columns[i], row);
			unresolved |= bitmap_has(&vector->unresolved, row);
		}
		wrong += unresolved != bitmap_has(&batch->unresolved, row);
	}
	return wrong;
}

/* Reads a file twice, once with columns that are deferred. */
static void
test_file_with_deferred(RandomFile *file, TestRandom *random)
{
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	ColumnSpec	columns[RANDOM_COLUMNS];
	int			fd = test_file(file->bytes, file->length);
	FileScan   *whole;
	FileScan   *scan;
	RowBatch   *expected;
	RowBatch   *batch;
	ScanStatus	status;
	int			wrong = 0;

	memcpy(columns, file->columns, sizeof(columns));
	for (int i = 0; i < RANDOM_COLUMNS; i++)
		columns[i].deferred = test_random_below(random, 2) == 0;
	whole = open_scan(file, file->columns, fd, allocator);
	scan = open_scan(file, columns, fd, allocator);
	do
	{
		RowBitmap	rows;

		status = next_batch(scan, &batch);
		wrong += next_batch(whole, &expected) != status;
		if (status != SCAN_BATCH || wrong > 0)
			break;
		bitmap_clear(&rows);
		for (int row = 0; row < batch->nrows; row++)
			if (test_random_below(random, 3) > 0)
				bitmap_add(&rows, row);
		for (int i = 0; i < RANDOM_COLUMNS; i++)
			wrong += columns[i].deferred &&
				!filescan_convert_column(scan, i, &rows);
		wrong += batch->nrows != expected->nrows;
		wrong += count_wrong(batch, expected, &rows);
	} while (wrong == 0);
	TEST_EQUAL(wrong, 0, "values of deferred columns");
	filescan_close(whole);
	filescan_close(scan);
	close(fd);
	TEST_EQUAL(memory.held, 0, "all memory is back");
}

int
main(void)
{
	TestRandom	random = {1};
	RandomFile	file = {0};

	for (int i = 0; i < FILES; i++)
	{
		random_file_make(&file, &random, BYTES, i % 2 == 1);
		test_file_with_deferred(&file, &random);
	}
	random_file_free(&file);
	return test_done();
}
