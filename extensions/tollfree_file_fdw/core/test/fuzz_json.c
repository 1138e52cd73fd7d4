/*
 * fuzz_json.c
 *	  A fuzz target: any bytes as a file of JSON lines.
 *
 * The scan by the best kernel with small blocks has to come to what the scan by the
 * scalar kernel with one block does, and a field is never longer than was said.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json_records.h"
#include "core/json_sniff.h"
#include "core/simd/kernels.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/show.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const JsonField fields[] = {
	{.path = "/a",.path_length = 2,.take = JSON_TAKE_TEXT},
	{.path = "/a/b",.path_length = 4,.take = JSON_TAKE_JSON},
	{.path = "/c/0",.path_length = 4,.take = JSON_TAKE_SCALAR},
	{.path = "",.path_length = 0,.take = JSON_TAKE_JSON},
	{.path = "",.is_rest = true,.take = JSON_TAKE_JSON}
};

static const ColumnSpec columns[] = {
	{.field = 0,.type = COLUMN_TEXT,.max_chars = 5},
	{.field = 1,.type = COLUMN_OTHER},
	{.field = 2,.type = COLUMN_NUMERIC,.precision = 9,.scale = 3},
	{.field = 3,.type = COLUMN_TEXT},
	{.field = 4,.type = COLUMN_OTHER}
};

static void
scan(Shown *shown, int fd, FileEncoding encoding, const Kernel *kernel,
	 size_t block_size)
{
	const Dialect dialect = {
		.format = FILE_FORMAT_JSON_LINES,
		.encoding = encoding,
		.null = JSON_NULL_STRING,
		.null_length = JSON_NULL_STRING_LENGTH
	};
	TestMemory	memory;
	FileScanOptions options = {
		.dialect = &dialect,
		.json_fields = fields,
		.kernel = kernel,
		.columns = columns,
		.ncolumns = 5,
		.nfields = 5,
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

/* Fields are written into memory of just the size that is asked for. */
static void
read_line(const uint8_t *data, size_t size)
{
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	JsonField	wanted[5];
	JsonReader	reader;

	memcpy(wanted, fields, sizeof(fields));
	for (int i = 0; i < 5; i++)
		wanted[i].is_wanted = true;
	if (!json_reader_open(&reader, &allocator, wanted, 5))
		abort();
	if (json_reader_read(&reader, data, size) == JSON_SOUND)
		for (int i = 0; i < 5; i++)
		{
			JsonFault	fault;
			unsigned char *to;

			if (json_field_is_null(&reader, i))
				continue;
			to = malloc(json_field_room(&reader, i));
			if (json_field_write(&reader, i, to, &fault) > json_field_room(&reader, i))
				abort();
			free(to);
		}
	json_reader_close(&reader);
	if (memory.held != 0)
		abort();
}

/* What is found in it is named in it. */
static void
look(const uint8_t *data, size_t size)
{
	static Sniff sniff;
	const SniffPiece piece = {data, size, true};
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);

	if (json_sniff_pieces(&sniff, &piece, 1, &allocator))
		for (size_t i = 0; i < sniff.ncolumns; i++)
			if (sniff.columns[i].name < data ||
				sniff.columns[i].name + sniff.columns[i].name_length > data + size)
				abort();
	if (memory.held != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Shown expected;
	static Shown got;
	FileEncoding encoding;
	int			fd;

	if (size < 1)
		return 0;
	encoding = (data[0] & 1) != 0 ? FILE_ENCODING_UTF8 : FILE_ENCODING_ASCII;
	read_line(data + 1, size - 1);
	look(data + 1, size - 1);
	fd = test_file(data + 1, size - 1);
	scan(&expected, fd, encoding, &scalar_kernel, (size_t) 64 << 10);
	scan(&got, fd, encoding, kernel_find("auto"), SCAN_BLOCK_MIN + data[0]);
	close(fd);
	if (expected.length != got.length ||
		memcmp(expected.line, got.line, got.length) != 0)
		abort();
	return 0;
}
