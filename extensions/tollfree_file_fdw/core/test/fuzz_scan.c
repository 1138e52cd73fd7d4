/*
 * fuzz_scan.c
 *	  A fuzz target: any bytes as a file, in a dialect chosen by the first three.
 *
 * The scan by the best kernel with small blocks has to come to what the scan by
 * the scalar kernel with one block does; sanitizers watch both.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/simd/kernels.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/show.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ColumnSpec columns[] = {
	{.field = 0,.type = COLUMN_TEXT,.max_chars = 5},
	{.field = 1,.type = COLUMN_NUMERIC,.precision = 9,.scale = 3,.force_null = true},
	{.field = 2,.type = COLUMN_FLOAT8},
	{.field = 3,.type = COLUMN_TIMESTAMP,.scale = 3},
	{.field = 4,.type = COLUMN_UUID,.force_not_null = true},
	{.field = 5,.type = COLUMN_BOOL},
	{.field = 6,.type = COLUMN_OTHER,.syntax = SYNTAX_JSON}
};

static Dialect
dialect_of(uint8_t bits)
{
	Dialect		dialect = {
		.format = (FileFormat) (bits & 1),
		.encoding = (FileEncoding) ((bits >> 1) % 3),
		.delimiter = (bits & 0x10) != 0 ? ',' : '\t',
		.quote = '"',
		.escape = (bits & 0x20) != 0 ? '\\' : '"',
		.marker_in_csv = (bits & 0x40) != 0,
		.null = (bits & 0x80) != 0 ? "\\N" : "",
		.null_length = (bits & 0x80) != 0 ? 2 : 0
	};

	return dialect;
}

static RecordPolicy
policy_of(uint8_t bits)
{
	RecordPolicy policy = {
		.skip_mark = (bits & 1) != 0,
		.skip_lines = (bits >> 1) & 3,
		.comment = (bits & 8) != 0 ? "##" : NULL,
		.comment_length = 1 + (bits >> 7),
		.skip_blank = (bits & 0x10) != 0,
		.pad_missing = (bits & 0x20) != 0,
		.cut_extra = (bits & 0x40) != 0
	};

	return policy;
}

static void
scan(Shown *shown, const Dialect *dialect, int fd, uint8_t bits,
	 const Kernel *kernel, size_t block_size)
{
	TestMemory	memory;
	int			nfields = (bits & 7) + 1;
	FileScanOptions options = {
		.dialect = dialect,
		.kernel = kernel,
		.columns = columns,
		.ncolumns = nfields < 7 ? nfields : 7,
		.nfields = nfields,
		.header = (bits & 8) != 0 ? 1 + (bits >> 7) : 0,
		.block_size = block_size,
		.allocator = test_memory_allocator(&memory)
	};
	SourceStatus status;
	FileScan   *file = filescan_open(&options, fd, &status);

	show_reset(shown);
	show_scan(shown, file);
	filescan_close(file);
	if (memory.held != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Shown expected;
	static Shown got;
	Dialect		dialect;
	int			fd;

	if (size < 3)
		return 0;
	dialect = dialect_of(data[0]);
	dialect.policy = policy_of(data[2]);
	fd = test_file(data + 3, size - 3);
	scan(&expected, &dialect, fd, data[1], &scalar_kernel, (size_t) 64 << 10);
	scan(&got, &dialect, fd, data[1], kernel_find("auto"),
		 (size_t) (data[1] >> 4) * 16 + 1);
	close(fd);
	if (expected.length != got.length ||
		memcmp(expected.line, got.line, got.length) != 0)
		abort();
	return 0;
}
