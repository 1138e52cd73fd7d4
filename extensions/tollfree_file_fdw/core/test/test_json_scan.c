/*
 * test_json_scan.c
 *	  Files of JSON lines, scanned.
 *
 * The same random rows are written as JSON, whose members come in any order and among
 * others, and in COPY's text format: both scans have the same rows.  Then lines are
 * blank or broken: whatever the cut in blocks and chunks, rows, lines and end are those
 * of one scan.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/chunk.h"
#include "core/json_records.h"
#include "core/simd/kernels.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/show.h"
#include "core/test/tap.h"

#define FILES		500
#define ROWS_MAX	60
#define FILE_SIZE	((size_t) 64 << 10)
#define FIELDS		5
#define BUFFER_SIZE	(2 * KERNEL_PADDING + 37)

static const JsonField fields[FIELDS] = {
	{.path = "/id",.path_length = 3,.take = JSON_TAKE_TEXT},
	{.path = "/in/text",.path_length = 8,.take = JSON_TAKE_TEXT},
	{.path = "/x",.path_length = 2,.take = JSON_TAKE_TEXT},
	{.path = "/n",.path_length = 2,.take = JSON_TAKE_SCALAR},
	{.path = "/in/other",.path_length = 9,.take = JSON_TAKE_JSON}
};

static const ColumnSpec columns[] = {
	{.field = 0,.type = COLUMN_INT4},
	{.field = 1,.type = COLUMN_TEXT},
	{.field = 3,.type = COLUMN_NUMERIC,.precision = 9,.scale = 2},
	{.field = 4,.type = COLUMN_OTHER}
};

static const Dialect json_dialect = {
	.format = FILE_FORMAT_JSON_LINES,.null = JSON_NULL_STRING,
	.null_length = JSON_NULL_STRING_LENGTH
};

static const Dialect text_dialect = {
	.format = FILE_FORMAT_TEXT,.delimiter = '\t',.null = "\\N",.null_length = 2
};

/* A piece of a text: as JSON has it, and as COPY's text format does */
static const char *const pieces[][2] = {
	{"a", "a"}, {"word ", "word "}, {"\\n", "\\n"}, {"\\t", "\\t"}, {"\\\\N", "\\\\N"},
	{"\\\"", "\""}, {"\\u00e9", "\xC3\xA9"}, {"\xE2\x82\xAC", "\xE2\x82\xAC"},
	{"\\ud83d\\ude00", "\xF0\x9F\x98\x80"}, {"\\/", "/"}, {"\\r", "\\r"}, {"{}", "{}"}
};

static const char *const numbers[] = {"0", "7", "-12", "123456", "1.5", "1e2", "true"};

/* Values of other members, which are of no column, and of /in/other */
static const char *const others[] = {
	"1", "\"x\"", "[1, {\"id\": 5}]", "{\"id\": [], \"n\": 1}", "false", "\"\\u0000\""
};

typedef struct Bytes
{
	char		bytes[FILE_SIZE];
	size_t		length;
} Bytes;

static void
put(Bytes *to, const char *text)
{
	size_t		length = strlen(text);

	if (to->length + length > FILE_SIZE)
		abort();
	memcpy(to->bytes + to->length, text, length);
	to->length += length;
}

static const char *
one_of(TestRandom *random, const char *const *texts, size_t n)
{
	return texts[test_random_below(random, (unsigned) n)];
}

#define ONE_OF(random, texts) one_of(random, texts, sizeof(texts) / sizeof((texts)[0]))

/* A value of a field, in both forms; null may be nothing at all in JSON. */
static bool
make_value(TestRandom *random, int field, char *json, char *text)
{
	json[0] = '\0';
	if (test_random_below(random, 5) == 0)
	{
		strcpy(text, "\\N");
		strcpy(json, "null");
		return test_random_below(random, 2) == 0;
	}
	strcpy(text, "");
	if (field == 1)
	{
		strcpy(json, "\"");
		for (unsigned n = test_random_below(random, 5); n > 0; n--)
		{
			unsigned	piece = test_random_below(random, sizeof(pieces) / sizeof(pieces[0]));

			strcat(json, pieces[piece][0]);
			strcat(text, pieces[piece][1]);
		}
		strcat(json, "\"");
		return true;
	}
	strcpy(text, field == 4 ? others[test_random_below(random, 5)] : ONE_OF(random, numbers));
	/* A number may stand in a string. */
	sprintf(json, field != 4 && test_random_below(random, 4) == 0 ? "\"%s\"" : "%s", text);
	return true;
}

/* Adds members of an object, those of fields with that prefix, in any order. */
static void
put_object(TestRandom *random, Bytes *json, char values[][200], const bool *has,
		   const char *prefix)
{
	static const char *const blanks[] = {"", " ", "", "\t", "  \r"};
	int			first = (int) test_random_below(random, FIELDS);
	bool		is_inner = strlen(prefix) > 1;
	const char *between = "{";

	for (int i = 0; i < FIELDS; i++)
	{
		int			field = (first + i) % FIELDS;
		const char *name = fields[field].path + strlen(prefix);

		if (!has[field] || strncmp(fields[field].path, prefix, strlen(prefix)) != 0 ||
			strchr(name, '/') != NULL)
			continue;
		for (unsigned copies = test_random_below(random, 8) == 0 ? 2 : 1; copies > 0; copies--)
		{
			put(json, between);
			put(json, ONE_OF(random, blanks));
			put(json, "\"");
			put(json, name);
			put(json, "\":");
			put(json, ONE_OF(random, blanks));
			put(json, copies > 1 ? ONE_OF(random, others) : values[field]);
			between = ",";
		}
	}
	for (; test_random_below(random, 3) == 0; between = ",")
	{
		put(json, between);
		put(json, is_inner ? "\"deep\": " : "\"other\": ");
		put(json, ONE_OF(random, others));
	}
	if (!is_inner)
	{
		put(json, between);
		put(json, "\"in\": ");
		put_object(random, json, values, has, "/in/");
	}
	else if (*between == '{')
		put(json, "{");
	put(json, "}");
}

/* Adds a row in both forms. */
static void
put_row(TestRandom *random, Bytes *json, Bytes *text)
{
	char		values[FIELDS][200];
	bool		has[FIELDS];

	for (int field = 0; field < FIELDS; field++)
	{
		char		plain[200];

		has[field] = make_value(random, field, values[field], plain);
		put(text, field == 0 ? "" : "\t");
		/* A backslash is escaped in JSON texts, too. */
		put(text, plain);
	}
	put_object(random, json, values, has, "/");
	put(json, test_random_below(random, 20) == 0 ? "\r\n" : "\n");
	put(text, "\n");
}

static FileScan *
open_scan(const Dialect *dialect, int fd, const Kernel *kernel, size_t block_size,
		  TestMemory *memory)
{
	FileScanOptions options = {
		.dialect = dialect,
		.json_fields = fields,
		.kernel = kernel,
		.columns = columns,
		.ncolumns = sizeof(columns) / sizeof(columns[0]),
		.nfields = FIELDS,
		.block_size = block_size,
		.allocator = test_memory_allocator(memory)
	};
	SourceStatus status;

	return filescan_open(&options, fd, &status);
}

/* Shows all of a file. */
static void
show_whole(Shown *shown, const Dialect *dialect, const Bytes *bytes,
		   const Kernel *kernel, size_t block_size)
{
	int			fd = test_file(bytes->bytes, bytes->length);
	TestMemory	memory;
	FileScan   *scan = open_scan(dialect, fd, kernel, block_size, &memory);

	show_reset(shown);
	show_scan(shown, scan);
	filescan_close(scan);
	close(fd);
	if (memory.held != 0)
		TEST_OK(false, "all memory is given back");
}

/* Shows a file chunk by chunk, up to a handover; false if it cannot be cut. */
static bool
show_chunks(Shown *shown, const Bytes *bytes, TestRandom *random)
{
	static unsigned char buffer[BUFFER_SIZE];
	int			fd = test_file(bytes->bytes, bytes->length);
	TestMemory	memory;
	FileScan   *scan = open_scan(&json_dialect, fd, kernel_find("auto"), 64, &memory);
	Allocator	allocator = {test_memory_resize, &memory};
	ChunkLayout layout;
	FileChunk	chunk = {0};
	ChunkState	state = {0};
	bool		goes_on = chunk_layout(filescan_source(scan), &json_dialect, 0,
									   &allocator, &layout);

	show_reset(shown);
	while (goes_on && chunk.to < layout.end)
	{
		ScanRange	range;
		bool		empty;

		chunk.from = chunk.to;
		chunk.to += 1 + test_random_below(random, 400);
		if (chunk.to > layout.end)
			chunk.to = layout.end;
		chunk_count(filescan_source(scan), kernel_find("auto"), &layout, buffer,
					BUFFER_SIZE, &chunk);
		chunk_resolve(&layout, &state, &chunk);
		chunk_start(filescan_source(scan), &layout, buffer, BUFFER_SIZE, &chunk,
					&range, &empty);
		if (empty)
			continue;
		filescan_set_range(scan, &range);
		goes_on = show_scan(shown, scan);
		if (goes_on)
			shown->line[shown->length -= 3] = '\0';
	}
	if (goes_on)
	{
		memcpy(shown->line + shown->length, "end", 4);
		shown->length += 3;
	}
	filescan_close(scan);
	close(fd);
	return layout.end > 0;
}

static void
compare(const Shown *expected, const Shown *got, const char *what, int file)
{
	if (expected->length == got->length &&
		memcmp(expected->line, got->line, got->length) == 0)
		return;
	TEST_OK(false, "%s: file %d", what, file);
	printf("#   expected %.1500s\n#   got      %.1500s\n", expected->line, got->line);
}

static void
test_rows(void)
{
	TestRandom	random = {11};
	static Bytes json;
	static Bytes text;
	Shown		expected = {0};
	Shown		got = {0};

	for (int i = 0; i < FILES; i++)
	{
		json.length = text.length = 0;

		for (unsigned n = test_random_below(&random, ROWS_MAX); n > 0; n--)
			put_row(&random, &json, &text);
		/* The last line may have no end. */
		json.length -= json.length > 0 && i % 2 == 0;
		show_whole(&expected, &text_dialect, &text, &scalar_kernel, 0);
		show_whole(&got, &json_dialect, &json, kernel_find("auto"), 0);
		compare(&expected, &got, "as in text format", i);
		show_whole(&got, &json_dialect, &json, kernel_find("auto"),
				   SCAN_BLOCK_MIN + test_random_below(&random, 300));
		compare(&expected, &got, "in blocks", i);
	}
	TEST_OK(true, "%d files of the same rows", FILES);
	show_free(&expected);
	show_free(&got);
}

/* Adds a line that is no record, or blank. */
static void
put_odd_line(TestRandom *random, Bytes *json)
{
	static const char *const lines[] = {
		"\n", "\r\n", "  \n", "\n\n\n", "\n", "\n", "{\"id\": 1\n", "{\"n\": [1]}\n",
		"{\"id\": \"\\u0000\"}\n", "{\"x\": \"\xFF\"}\n", "[]\n", "{\"x\": \"\\\n"
	};

	put(json, lines[test_random_below(random, test_random_below(random, 8) == 0 ?
									  sizeof(lines) / sizeof(lines[0]) : 6)]);
}

static void
test_odd_lines(void)
{
	TestRandom	random = {12};
	static Bytes json;
	static Bytes text;
	Shown		expected = {0};
	Shown		got = {0};
	int			nends = 0;

	for (int i = 0; i < FILES; i++)
	{
		json.length = text.length = 0;

		for (unsigned n = test_random_below(&random, ROWS_MAX); n > 0; n--)
			if (test_random_below(&random, 4) == 0)
				put_odd_line(&random, &json);
			else
				put_row(&random, &json, &text);
		show_whole(&expected, &json_dialect, &json, &scalar_kernel, (size_t) 1 << 20);
		nends += strcmp(expected.line + expected.length - 3, "end") == 0;
		show_whole(&got, &json_dialect, &json, kernel_find("auto"),
				   SCAN_BLOCK_MIN + test_random_below(&random, 300));
		compare(&expected, &got, "odd lines in blocks", i);
		if (show_chunks(&got, &json, &random))
			compare(&expected, &got, "odd lines in chunks", i);
	}
	TEST_OK(nends > FILES / 4 && nends < FILES * 3 / 4, "%d of %d files end well",
			nends, FILES);
	show_free(&expected);
	show_free(&got);
}

static void
check_file(const char *text, const char *expected, const char *what)
{
	static Bytes json;
	Shown		got = {0};

	json.length = 0;
	put(&json, text);
	show_whole(&got, &json_dialect, &json, &scalar_kernel, 0);
	if (!TEST_OK(strcmp(got.line, expected) == 0, "%s", what))
		printf("# got %s\n", got.line);
	show_free(&got);
}

/* A byte order mark is passed over, at the beginning of a file only. */
static void
test_mark(void)
{
	check_file("\xEF\xBB\xBF{\"id\": 1}\n{\"id\": 2}", "1:1|NULL|NULL|NULL 2:2|NULL|NULL|NULL end",
			   "a mark");
	check_file("\xEF\xBB\xBF\n{\"id\": 1}\n", "2:1|NULL|NULL|NULL end", "a mark alone on a line");
	check_file("\xEF\xBB\xBF", "end", "nothing but a mark");
	check_file("\n\xEF\xBB\xBF{\"id\": 1}\n", "handover 8 at 1 line 1", "a mark in the second line");
}

/* Whatever request for memory fails, that is said and all of it is given back. */
static void
test_no_memory(void)
{
	static Bytes json;
	TestMemory	memory = {0};
	ScanStatus	status = SCAN_NO_MEMORY;
	int			requests = 0;
	int			fd;

	put(&json, "{\"id\": 1, \"in\": {\"other\": [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}}\n");
	fd = test_file(json.bytes, json.length);
	for (; status == SCAN_NO_MEMORY && requests < 1000; requests++)
	{
		FileScanOptions options = {
			.dialect = &json_dialect,.json_fields = fields,
			.kernel = &scalar_kernel,.columns = columns,.ncolumns = 4,
			.nfields = FIELDS,.allocator = test_memory_allocator(&memory)
		};
		SourceStatus source_status;
		FileScan   *scan;
		RowBatch   *batch;

		memory.fail_after = requests;
		scan = filescan_open(&options, fd, &source_status);
		if (scan == NULL)
			continue;
		do
			status = filescan_next(scan, &batch);
		while (status == SCAN_AGAIN || status == SCAN_BATCH);
		filescan_close(scan);
		if (memory.held != 0)
			break;
	}
	close(fd);
	TEST_EQUAL(status, SCAN_END, "read when there is memory enough");
	TEST_EQUAL(memory.held, 0, "all memory is given back");
}

int
main(void)
{
	test_rows();
	test_odd_lines();
	test_mark();
	test_no_memory();
	return test_done();
}
