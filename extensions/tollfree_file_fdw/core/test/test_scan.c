/*
 * test_scan.c
 *	  Whole files through filescan.c: rows, nulls, unresolved, line numbers, and
 *	  where COPY's parser has to take over.
 *
 * Each file is scanned by every kernel and with several block sizes.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/filescan.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/show.h"
#include "core/test/tap.h"

#define COLUMNS_MAX		8

typedef struct ScanCase
{
	const char *name;
	Dialect		dialect;
	int			header;			/* records before the rows */
	int			nfields;
	int			ncolumns;
	ColumnSpec	columns[COLUMNS_MAX];
	const char *file;
	size_t		length;			/* of file; 0: up to its zero byte */
	const char *expected;
} ScanCase;

#define TEXT(null_string) { \
	.format = FILE_FORMAT_TEXT, .delimiter = '|', \
	.null = null_string, .null_length = sizeof(null_string) - 1 \
}
#define CSV(null_string) { \
	.format = FILE_FORMAT_CSV, .delimiter = ',', .quote = '"', .escape = '"', \
	.null = null_string, .null_length = sizeof(null_string) - 1 \
}
#define CSV_ESCAPE { \
	.format = FILE_FORMAT_CSV, .delimiter = ',', .quote = '"', .escape = '\\', \
	.null = "" \
}
#define CSV_MARKER { \
	.format = FILE_FORMAT_CSV, .delimiter = ',', .quote = '"', .escape = '"', \
	.null = "", .marker_in_csv = true \
}
#define TEXT_COLUMNS	{{.type = COLUMN_TEXT}, {.field = 1, .type = COLUMN_TEXT}}

static const ScanCase cases[] = {
	{
		"two columns of text", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\nc|\\N\n", 0, "1:a|b 2:c|NULL end"
	},
	{
		"no line end at the end", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\nc|d", 0, "1:a|b 2:c|d end"
	},
	{
		"one line without an end", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b", 0, "1:a|b end"
	},
	{
		"an empty file", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"", 0, "end"
	},
	{
		"carriage returns and newlines", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\r\nc|d\r\n", 0, "1:a|b 2:c|d end"
	},
	{
		"carriage returns", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\rc|d\r", 0, "handover 2 at 0 line 0"
	},
	{
		"a carriage return in a file with newlines", TEXT("\\N"), false, 2, 2,
		TEXT_COLUMNS, "a|b\nc|d\r\n", 0,
		"1:a|b handover 2 at 4 line 1"
	},
	{
		"a newline in a file with both", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\r\nc|d\ne|f\r\n", 0, "1:a|b handover 2 at 5 line 1"
	},
	{
		"a carriage return alone in a file with both", TEXT("\\N"), false, 2, 2,
		TEXT_COLUMNS, "a|b\r\nc|d\re|f\r\n", 0, "1:a|b handover 2 at 5 line 1"
	},
	{
		"a carriage return at the end of a file with both", TEXT("\\N"), false,
		2, 2, TEXT_COLUMNS, "a|b\r\nc|d\r", 0, "1:a|b handover 2 at 5 line 1"
	},
	{
		"escapes", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"\\t\\|\\\\|\\x41\\102\\q\n\\\n|\\Nx\n", 0,
		"1:\t|\\|ABq 2:\n|Nx end"
	},
	{
		"the null string is looked for before escapes are read", TEXT("N"),
		false, 2, 2, TEXT_COLUMNS, "N|\\N\n", 0, "1:NULL|N end"
	},
	{
		"a byte above ASCII written by number", TEXT("\\N"), false, 2, 2,
		TEXT_COLUMNS, "a|b\nc|\\303\\251\n", 0, "1:a|b handover 6 at 4 line 1"
	},
	{
		"a zero byte written by number", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\nc|\\0\n", 0, "1:a|b handover 6 at 4 line 1"
	},
	{
		"the end-of-data marker", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\n\\.\nc\n", 0, "1:a|b end"
	},
	{
		"a marker that is not alone", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\nc|\\.\n", 0, "1:a|b handover 5 at 4 line 1"
	},
	{
		"a marker without a line end", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\n\\.", 0, "1:a|b handover 5 at 4 line 1"
	},
	{
		"a backslash at the end of the file", TEXT("\\N"), false, 2, 2,
		TEXT_COLUMNS, "a|b\nc|d\\", 0, "1:a|b handover 4 at 4 line 1"
	},
	{
		"a missing field", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\nc\nd|e\n", 0, "1:a|b handover 3 at 4 line 1"
	},
	{
		"an extra field", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\nc|d|e\nf|g\n", 0, "1:a|b handover 3 at 4 line 1"
	},
	{
		"a line too many and one too few", TEXT("\\N"), false, 2, 2,
		TEXT_COLUMNS, "a|b|c\nd\n", 0, "handover 3 at 0 line 0"
	},
	{
		"a zero byte", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"a|b\nc|\0\n", 8, "1:a|b handover 1 at 4 line 1"
	},
	{
		"valid UTF-8", TEXT("\\N"), false, 2, 2, TEXT_COLUMNS,
		"\303\251|\342\202\254\n\360\237\230\200|x\n", 0,
		"1:\303\251|\342\202\254 2:\360\237\230\200|x end"
	},
	{
		"invalid UTF-8 where nobody looks", TEXT("\\N"), false, 2, 1,
		{{.type = COLUMN_TEXT}}, "a|b\nc|\303\n", 0,
		"1:a handover 1 at 4 line 1"
	},
	{
		"a header", TEXT("\\N"), true, 2, 2, TEXT_COLUMNS,
		"x|y|z\na|b\n", 0, "header x|y|z 2:a|b end"
	},
	{
		"a header of several records, one with a line end", CSV(""), 3, 2, 2,
		TEXT_COLUMNS, "x\n\"y\nz\",\n,,\na,b\n", 0,
		"header x header y\nz| header || 5:a|b end"
	},
	{
		"a file that ends within the header", CSV(""), 3, 2, 2, TEXT_COLUMNS,
		"x\na,b\n", 0, "header x header a|b end"
	},
	{
		"COPY goes on within the header", CSV(""), 2, 2, 2, TEXT_COLUMNS,
		"x\n\303,y\na,b\n", 0, "header x handover 1 at 2 line 1"
	},
	{
		"plain CSV", CSV(""), false, 2, 2, TEXT_COLUMNS,
		"a,b\n,\"\"\n", 0, "1:a|b 2:NULL| end"
	},
	{
		"quotes", CSV(""), false, 2, 2, TEXT_COLUMNS,
		"\"a,\"\"b\",c\"d\"e\n\"\"\"\",\"x\"\"\"\n", 0,
		"1:a,\"b|cde 2:\"|x\" end"
	},
	{
		"line ends between quotes", CSV(""), false, 2, 2, TEXT_COLUMNS,
		"a,b\n\"c\n\nd\",e\nf,g\n", 0, "1:a|b 4:c\n\nd|e 5:f|g end"
	},
	{
		"newlines between quotes of the first record do not count", CSV(""),
		false, 2, 2, TEXT_COLUMNS, "\"a\nb\",c\n\"d\ne\",f\n", 0,
		"1:a\nb|c 3:d\ne|f end"
	},
	{
		"carriage returns between quotes of the first record count", CSV(""),
		false, 2, 2, TEXT_COLUMNS, "\"a\rb\",c\n\"d\re\",f\n", 0,
		"2:a\rb|c 3:d\re|f end"
	},
	{
		"an unterminated quote", CSV(""), false, 2, 2, TEXT_COLUMNS,
		"a,b\nc,\"d\ne,f\n", 0, "1:a|b handover 4 at 4 line 1"
	},
	{
		"a CSV file with a marker, to PostgreSQL 18", CSV(""), false, 1, 1,
		{{.type = COLUMN_TEXT}}, "a\n\\.\nb\n", 0, "1:a 2:\\. 3:b end"
	},
	{
		"a CSV file with a marker, to PostgreSQL 17", CSV_MARKER, false, 1, 1,
		{{.type = COLUMN_TEXT}}, "a\n\\.x\n\"\\.\"\n\\.\nb\n", 0,
		"1:a 2:\\.x 3:\\. end"
	},
	{
		"another escape", CSV_ESCAPE, false, 2, 2, TEXT_COLUMNS,
		"\"a\\\"b\",c\\\n\"\\\\\",\"\\x\"\n", 0, "1:a\"b|c\\ 2:\\|\\x end"
	},
	{
		"FORCE_NULL and FORCE_NOT_NULL", CSV("n"), false, 3, 3,
		{
			{.type = COLUMN_TEXT,.force_null = true},
			{.field = 1,.type = COLUMN_TEXT,.force_not_null = true},
			{.field = 2,.type = COLUMN_INT4,.force_null = true}
		},
		"\"n\",n,\"12\"\nn,\"n\",\"n\"\n", 0, "1:NULL|n|12 2:NULL|n|NULL end"
	},
	{
		"FORCE_NULL with FORCE_NOT_NULL", CSV(""), false, 1, 1,
		{{.type = COLUMN_TEXT,.force_null = true,.force_not_null = true}},
		"\"\"\n\nx\n", 0, "1:NULL 2: 3:x end"
	},
	{
		"the integers' limits", TEXT("\\N"), false, 3, 3,
		{
			{.type = COLUMN_INT2},
			{.field = 1,.type = COLUMN_INT4},
			{.field = 2,.type = COLUMN_INT8}
		},
		"32767|2147483647|999999999999999999\n"
		"-32768|-2147483648|-999999999999999999\n"
		"32768|-2147483649|9223372036854775807\n"
		"+1|007|-0\n1 | 1|0x1\n|-|1_0\n", 0,
		"1:32767|2147483647|999999999999999999 "
		"2:-32768|-2147483648|-999999999999999999 "
		"3:?32768|?-2147483649|?9223372036854775807 "
		"4:1|7|0 5:?1 |? 1|?0x1 6:?|?-|?1_0 end"
	},
	{
		"numeric(5,2), numeric(18,0), numeric(18,18)", TEXT("\\N"), false, 3, 3,
		{
			{.type = COLUMN_NUMERIC,.precision = 5,.scale = 2},
			{.field = 1,.type = COLUMN_NUMERIC,.precision = 18},
			{.field = 2,.type = COLUMN_NUMERIC,.precision = 18,.scale = 18}
		},
		"999.99|999999999999999999|0.999999999999999999\n"
		"-1|-5|-0.1\n1000.00|1.0|1\n1.005|1e3|NaN\n.5|5.|+0\n-0.00||0.0\n", 0,
		"1:99999|999999999999999999|999999999999999999 "
		"2:-100|-5|-100000000000000000 3:?1000.00|?1.0|?1 "
		"4:?1.005|?1e3|?NaN 5:?.5|?5.|0 6:0|?|0 end"
	},
	{
		"floats", TEXT("\\N"), false, 2, 2,
		{{.type = COLUMN_FLOAT4}, {.field = 1,.type = COLUMN_FLOAT8}},
		"1.5|-2.5e3\n-0|1e22\n0.1|0.1\n16777217|9007199254740993\n"
		"inf|1e-23\n", 0,
		"1:1.5|-2500 2:-0|1e+22 3:0.10000000149011612|0.10000000000000001 "
		"4:?16777217|?9007199254740993 5:?inf|?1e-23 end"
	},
	{
		"dates and timestamps", TEXT("\\N"), false, 2, 2,
		{{.type = COLUMN_DATE}, {.field = 1,.type = COLUMN_TIMESTAMP,.scale = 6}},
		"2000-01-01|2000-01-01 00:00:00\n"
		"1999-12-31|1999-12-31 23:59:59.999999\n"
		"2000-02-29|2000-03-01 01:02:03.5\n1900-02-29|24:00:00\n"
		"0001-01-01|2000-01-01 24:00:00\n9999-12-31|2000-01-01T00:00:00\n"
		"0000-01-01|2000-13-01 00:00:00\ntoday|now\n", 0,
		"1:0|0 2:-1|-1 3:59|5187723500000 4:?1900-02-29|?24:00:00 "
		"5:-730119|?2000-01-01 24:00:00 6:2921939|0 "
		"7:?0000-01-01|?2000-13-01 00:00:00 8:?today|?now end"
	},
	{
		"timestamps with a time zone", TEXT("\\N"), false, 2, 2,
		{
			{.type = COLUMN_TIMESTAMPTZ,.scale = 6},
			{.field = 1,.type = COLUMN_TIMESTAMPTZ,.scale = 3}
		},
		"2000-01-01 00:00:00+00|2000-01-01 00:00:00-00:00\n"
		"2000-01-01T01:00:00+01|2000-01-01 00:00:00.5-00:01\n"
		"2000-01-01 05:29:59.999999+0530|2000-01-01 00:00:00.1234+00\n"
		"2000-01-01 00:00:00|2000-01-01 00:00:00Z\n"
		"2000-01-01 00:00:00+16|2000-01-01 00:00:00+1\n"
		"infinity|2000-01-01 00:00:00 CET\n"
		"2000-01-01T00:00:00.000001z|2000-01-01 00:00:00 Z\n", 0,
		"1:0|0 2:0|60500000 3:-1|?2000-01-01 00:00:00.1234+00 "
		"4:?2000-01-01 00:00:00|0 "
		"5:?2000-01-01 00:00:00+16|?2000-01-01 00:00:00+1 "
		"6:?infinity|?2000-01-01 00:00:00 CET "
		"7:1|?2000-01-01 00:00:00 Z end"
	},
	{
		"booleans, uuids and other types", TEXT("\\N"), false, 3, 3,
		{
			{.type = COLUMN_BOOL},
			{.field = 1,.type = COLUMN_UUID},
			{.field = 2,.type = COLUMN_OTHER}
		},
		"t|00112233-4455-6677-8899-aabbccddEEFF|x\n"
		"false|00112233445566778899aabbccddeeff|\\N\nyes|\\N|\n", 0,
		"1:1|00112233445566778899aabbccddeeff|?x "
		"2:0|?00112233445566778899aabbccddeeff|NULL 3:?yes|NULL|? end"
	},
	{
		"varchar(3)", TEXT("\\N"), false, 1, 1,
		{{.type = COLUMN_TEXT,.max_chars = 3}},
		"abc\nabcd\n\303\251\303\251\303\251\n\303\251\303\251\303\251x\n", 0,
		"1:abc 2:?abcd 3:\303\251\303\251\303\251 "
		"4:?\303\251\303\251\303\251x end"
	},
	{
		"quoted values", CSV(""), false, 2, 2,
		{{.type = COLUMN_INT4}, {.field = 1,.type = COLUMN_DATE}},
		"\"12\",\"2000-01-02\"\n1\"2\",\"\"\n", 0, "1:12|1 2:?12|? end"
	},
	{
		"the null string looks like a value", CSV("0"), false, 1, 1,
		{{.type = COLUMN_INT4}}, "0\n00\n\"0\"\n", 0, "1:NULL 2:0 3:0 end"
	},
};

/* Scans twice, the second time by a restart. */
static void
test_case(const ScanCase *test, const Kernel *kernel, size_t block_size,
		  bool begins_small)
{
	TestMemory	memory;
	FileScanOptions options = {
		.dialect = &test->dialect,
		.kernel = kernel,
		.columns = test->columns,
		.ncolumns = test->ncolumns,
		.nfields = test->nfields,
		.header = test->header,
		.block_size = block_size,
		.begins_small = begins_small,
		.allocator = test_memory_allocator(&memory)
	};
	size_t		length = test->length > 0 ? test->length : strlen(test->file);
	int			fd = test_file(test->file, length);
	SourceStatus status;
	FileScan   *scan = filescan_open(&options, fd, &status);
	Shown		shown = {0};

	for (int pass = 0; pass < 2; pass++)
	{
		show_reset(&shown);
		show_scan(&shown, scan);
		if (!TEST_OK(strcmp(shown.line, test->expected) == 0,
					 "%s: %s, blocks of %zu, pass %d", test->name,
					 kernel->name, block_size, pass + 1))
			printf("#   got      %s\n#   expected %s\n", shown.line,
				   test->expected);
		filescan_restart(scan);
	}
	show_free(&shown);
	filescan_close(scan);
	close(fd);
	TEST_EQUAL(memory.held, 0, "%s: all memory is back", test->name);
}

int
main(void)
{
	static const size_t block_sizes[] = {1, 2, 3, 7, 64, 4096};
	const Kernel *kernel;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		const char *unsupported = dialect_unsupported(&cases[i].dialect);

		TEST_OK(unsupported == NULL, "%s: the dialect", cases[i].name);
		for (int n = 0; (kernel = kernel_at(n)) != NULL; n++)
			for (size_t j = 0; j < sizeof(block_sizes) / sizeof(size_t); j++)
			{
				test_case(&cases[i], kernel, block_sizes[j], false);
				test_case(&cases[i], kernel, block_sizes[j], true);
			}
	}
	return test_done();
}
