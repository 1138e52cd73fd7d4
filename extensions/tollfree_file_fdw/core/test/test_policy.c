/*
 * test_policy.c
 *	  Records that COPY would refuse, or take for rows.
 *
 * Named cases; then random bytes: the file scanned by a policy has the rows that the
 * same file has once clean.c and skip.c have made it plain.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clean.h"
#include "core/filescan.h"
#include "core/footer.h"
#include "core/skip.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/show.h"
#include "core/test/tap.h"

#define NFIELDS		3
#define RANDOM_FILES	3000
#define RANDOM_LENGTH	60
#define PLAIN_LENGTH	2000

typedef struct PolicyCase
{
	const char *name;
	RecordPolicy policy;
	int			header;			/* records before the rows */
	const char *file;
	const char *expected;
} PolicyCase;

#define COMMENT(string) .comment = string, .comment_length = sizeof(string) - 1

static const ColumnSpec columns[NFIELDS] = {
	{.field = 0,.type = COLUMN_TEXT},
	{.field = 1,.type = COLUMN_INT4},
	{.field = 2,.type = COLUMN_TEXT,.force_not_null = true}
};

/* None of them is asked for where a record lacks it. */
static const ColumnSpec texts[NFIELDS] = {
	{.field = 0,.type = COLUMN_TEXT},
	{.field = 1,.type = COLUMN_TEXT,.force_null = true},
	{.field = 2,.type = COLUMN_TEXT}
};

static const NullStrings nulls = {
	.count = 3,
	.strings = {"a", "-", "1 1 1 1 1"},
	.lengths = {1, 1, 9}
};

static const PolicyCase cases[] = {
	{"a byte order mark", {.skip_mark = true}, 0, "\xEF\xBB\xBF" "a,1,b\n", "1:a|1|b end"},
	{"a part of one", {.skip_mark = true}, 0, "\xEF\xBB", "handover 1 at 0 line 0"},
	{"lines, then a header", {.skip_lines = 2}, 1, "x\"\r\n\nh\na,1,b\n", "header h 4:a|1|b end"},
	{"more lines than there are", {.skip_lines = 9}, 1, "x\ny", "end"},
	{"comments", {COMMENT("//")}, 1, "//\"\nh,,\n// x\n/,1,\"\n//\"\n//", "header h|| 5:/|1|\n// end"},
	{"empty lines", {.skip_blank = true}, 0, "\n\r\na,1,b\n\n\nc,2,d\n\n", "3:a|1|b 6:c|2|d end"},
	{"a CR that ends no line", {.skip_blank = true}, 0, "a,1,b\n\rc,2,d\n", "1:a|1|b handover 2 at 6 line 1"},
	{"missing fields", {.pad_missing = true}, 0, "a\n\"b\",2\nc,3,d\n\n", "1:a|NULL|? 2:b|2|? 3:c|3|d 4:NULL|NULL|? end"},
	{"missing and no other", {.pad_missing = true}, 0, "a\nb,2,c,d\n", "1:a|NULL|? handover 3 at 2 line 1"},
	{"extra fields", {.cut_extra = true}, 0, "a,1,b,\"\n\"\nc,2,d\ne,3,f,,,\n", "1:a|1|b 2:c|2|d 3:e|3|f end"},
	{"null strings", {.nulls = &nulls}, 0, "a,-,\"a\"\n1 1 1 1 1,1,-\nab,,a\n", "1:NULL|NULL|a 2:NULL|1|- 3:ab|NULL|a end"},
	{"blanks around quotes", {.skip_quote_blanks = true}, 0, " \"a\" , \"1\",\t\"b\"c \nd \"e\", 2 ,  \n", "1:a|1|bc  2:d e|? 2 |   end"},
	{"extra and no other", {.cut_extra = true}, 0, "a,1,b,c\nd\n", "1:a|1|b handover 3 at 8 line 1"}
};

static Dialect
dialect_with(const RecordPolicy *policy)
{
	Dialect		dialect = {
		.format = FILE_FORMAT_CSV,.delimiter = ',',.quote = '"',.escape = '"',
		.null = ""
	};

	dialect.policy = *policy;
	return dialect;
}

/* Adds what a scan of these bytes has. */
static void
show_bytes(Shown *shown, const Dialect *dialect, const ColumnSpec *specs,
		   int header, const void *bytes, size_t length, size_t block_size)
{
	TestMemory	memory;
	FileScanOptions options = {
		.dialect = dialect,
		.kernel = kernel_find("auto"),
		.columns = specs,
		.ncolumns = NFIELDS,
		.nfields = NFIELDS,
		.header = header,
		.block_size = block_size,
		.begins_small = block_size % 2 == 0,
		.allocator = test_memory_allocator(&memory)
	};
	int			fd = test_file(bytes, length);
	SourceStatus status;
	FileScan   *scan = filescan_open(&options, fd, &status);

	show_reset(shown);
	show_scan(shown, scan);
	filescan_close(scan);
	close(fd);
	TEST_EQUAL(memory.held, 0, "all memory is back");
}

static void
test_case(const PolicyCase *test, size_t block_size)
{
	const Dialect dialect = dialect_with(&test->policy);
	Shown		shown = {0};

	show_bytes(&shown, &dialect, columns, test->header, test->file,
			   strlen(test->file), block_size);
	if (!TEST_OK(strcmp(shown.line, test->expected) == 0, "%s: blocks of %zu",
				 test->name, block_size))
		printf("#   got      %s\n#   expected %s\n", shown.line, test->expected);
	show_free(&shown);
}

/* Makes all records plain; returns how many bytes there are then. */
static size_t
make_plain(const Dialect *dialect, const unsigned char *bytes, size_t length,
		   unsigned char *to)
{
	LineSkip	skip = skip_begin(&dialect->policy);
	LineEnd		line_end = LINE_END_UNKNOWN;
	size_t		written = 0;

	for (size_t i = 0; i < length;)
	{
		CleanRecord record;
		unsigned char cut[PLAIN_LENGTH];
		size_t		kept;
		size_t		length_before;
		bool		more;

		i += skip_lines(&skip, &dialect->policy, line_end, bytes + i,
						length - i, true, &more);
		if (i == length)
			break;
		record = clean_find_record(dialect, line_end, NFIELDS, bytes + i,
								   length - i, true);
		if (line_end == LINE_END_UNKNOWN && record.line_end > 0)
			line_end = record.line_end == 2 ? LINE_END_CRNL :
				bytes[i + record.length - 1] == '\n' ? LINE_END_NL : LINE_END_CR;
		clean_write(dialect, &record, NFIELDS, bytes + i, cut);
		length_before = written;
		kept = clean_length(dialect, &record, NFIELDS) - record.line_end;
		if (record.is_open)
			memcpy(to + written, cut, kept);
		written += record.is_open ? kept :
			clean_fields(dialect, texts, NFIELDS, cut, kept, to + written);
		memcpy(to + written, cut + kept, record.line_end);
		written += record.line_end;
		/* A record of which nothing is left is one. */
		if (written == length_before)
			to[written++] = '\n';
		i += record.length;
	}
	return written;
}

/* Removes lines' numbers and where the scan has ended. */
static void
drop_places(Shown *shown)
{
	char	   *to = shown->line;

	for (char *from = shown->line; *from != '\0'; from++)
	{
		size_t		digits = strspn(from, "0123456789");

		if ((from == shown->line || from[-1] == ' ') && digits > 0 &&
			from[digits] == ':')
			from += digits;
		if (strncmp(from, " at ", 4) == 0)
			break;
		*to++ = *from;
	}
	*to = '\0';
}

/* A random file of few different bytes, of which most matter. */
static size_t
make_random(TestRandom *random, unsigned char *bytes)
{
	static const char alphabet[] = "a1-,,,\"  ##\n\n\n";
	size_t		length = test_random_below(random, RANDOM_LENGTH);

	for (size_t i = 0; i < length; i++)
		bytes[i] = (unsigned char) alphabet[test_random_below(random,
															  sizeof(alphabet) - 1)];
	return length;
}

static void
test_random_file(TestRandom *random, Shown *got, Shown *expected)
{
	const RecordPolicy none = {0};
	const RecordPolicy policy = {
		.skip_lines = (int64_t) test_random_below(random, 3),
		.comment = test_random_below(random, 2) ? "##" : NULL,
		.comment_length = 2,
		.skip_blank = test_random_below(random, 2) == 0,
		.pad_missing = test_random_below(random, 3) > 0,
		.cut_extra = test_random_below(random, 3) > 0,
		.skip_quote_blanks = test_random_below(random, 2) == 0,
		.nulls = test_random_below(random, 2) == 0 ? &nulls : NULL
	};
	const Dialect dialect = dialect_with(&policy);
	const Dialect plainly = dialect_with(&none);
	unsigned char bytes[RANDOM_LENGTH];
	unsigned char plain[PLAIN_LENGTH];
	size_t		length = make_random(random, bytes);

	show_bytes(got, &dialect, texts, 0, bytes, length,
			   1 + test_random_below(random, 40));
	show_bytes(expected, &plainly, texts, 0, plain,
			   make_plain(&dialect, bytes, length, plain), 4096);
	drop_places(got);
	drop_places(expected);
	if (!TEST_OK(strcmp(got->line, expected->line) == 0, "a random file"))
		printf("#   file     %.*s\n#   got      %s\n#   expected %s\n",
			   (int) length, bytes, got->line, expected->line);
}

/* Where the last lines of bytes begin, byte by byte from their beginning. */
static Footer
find_footer_plainly(const unsigned char *bytes, size_t length, int64_t wanted)
{
	int64_t		begins[RANDOM_LENGTH] = {0};
	int64_t		nlines = length > 0 ? 1 : 0;
	size_t		last = length;
	Footer		footer = {0};

	while (last > 0 && bytes[last - 1] != '\n' && bytes[last - 1] != '\r')
		last--;
	for (size_t i = 0; i + 1 < length && last > 0; i++)
	{
		bool		paired = bytes[last - 1] == '\n' && last > 1 && bytes[last - 2] == '\r';

		if (bytes[i] == bytes[last - 1] && (!paired || (i > 0 && bytes[i - 1] == '\r')))
			begins[nlines++] = (int64_t) i + 1;
	}
	footer.nlines = nlines < wanted ? nlines : wanted;
	footer.offset = footer.nlines == nlines ? 0 : begins[nlines - wanted];
	return footer;
}

static void
test_footer(TestRandom *random)
{
	static const char alphabet[] = "a,\"\n\n\r";
	unsigned char bytes[RANDOM_LENGTH];
	size_t		length = test_random_below(random, RANDOM_LENGTH);
	int64_t		wanted = 1 + (int64_t) test_random_below(random, 4);
	Footer		expected;
	Footer		got = {0};
	Source		source;
	int			fd;

	for (size_t i = 0; i < length; i++)
		bytes[i] = (unsigned char) alphabet[test_random_below(random, sizeof(alphabet) - 1)];
	expected = find_footer_plainly(bytes, length, wanted);
	fd = test_file(bytes, length);
	TEST_EQUAL(source_open(&source, fd), SOURCE_OK, "a file for a footer is open");
	TEST_EQUAL(footer_find(&source, wanted, &got), SOURCE_OK, "its footer is found");
	TEST_OK(got.offset == expected.offset && got.nlines == expected.nlines,
			"the last %d lines of %zu bytes", (int) wanted, length);
	source_leave_out(&source, got.offset);
	TEST_EQUAL(source_verify(&source), SOURCE_OK, "it is unchanged without them");
	close(fd);
}

int
main(void)
{
	static const size_t block_sizes[] = {1, 2, 3, 7, 64, 4096};
	TestRandom	random = {.state = 45};
	Shown		got = {0};
	Shown		expected = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t j = 0; j < sizeof(block_sizes) / sizeof(size_t); j++)
			test_case(&cases[i], block_sizes[j]);
	for (int i = 0; i < RANDOM_FILES; i++)
	{
		test_random_file(&random, &got, &expected);
		test_footer(&random);
	}
	show_free(&got);
	show_free(&expected);
	return test_done();
}
