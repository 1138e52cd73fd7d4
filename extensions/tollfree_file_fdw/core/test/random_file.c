/*
 * random_file.c
 *	  Files that are nearly valid, and the dialects that they are nearly valid
 *	  in.
 */
#include <stdlib.h>
#include <string.h>

#include "core/test/random_file.h"

static const ColumnSpec random_columns[RANDOM_COLUMNS] = {
	{.field = 0,.type = COLUMN_TEXT},
	{.field = 1,.type = COLUMN_INT4},
	{.field = 2,.type = COLUMN_NUMERIC,.precision = 6,.scale = 2},
	{.field = 3,.type = COLUMN_DATE}
};

/* One in so many */
static bool
chance(TestRandom *random, unsigned n)
{
	return test_random_below(random, n) == 0;
}

static const char *
choose(TestRandom *random, const char *const *choices, unsigned n)
{
	return choices[test_random_below(random, n)];
}

#define CHOOSE(random, choices) \
	choose(random, choices, sizeof(choices) / sizeof(choices[0]))

static void
put(RandomFile *file, const char *text)
{
	size_t		length = strlen(text);

	if (file->length + length >= file->size)
	{
		file->size = (file->length + length + 1) * 2;
		file->bytes = realloc(file->bytes, file->size);
		if (file->bytes == NULL)
			abort();
	}
	memcpy(file->bytes + file->length, text, length);
	file->length += length;
}

static const char *
line_end(const RandomFile *file)
{
	return file->line_end == LINE_END_NL ? "\n" : "\r\n";
}

static void
put_text(RandomFile *file, TestRandom *random)
{
	static const char *const plain[] = {
		"a", "bc", "", "some more words", "\303\251", "\342\202\254uro"
	};
	static const char *const escaped[] = {
		"\\t", "\\\\", "\\\n", "\\|", "\\x41", "\\101", "x\\Ny", "\\\\\\\r"
	};
	static const char *const quoted[] = {
		"\"\"", "\"a,b\"", "\"a\nb\"", "\"\r\n\"", "\"\"\"\"", "x\"y\"z",
		"\"\303\251\n\n\"", "\"\r\"", "\"\\\""
	};

	/* in CSV with a backslash for the escape */
	static const char *const own[] = {
		"\"x\\\"\ny\\\\\"", "\"\\\"\"", "\"\\\\\"", "x\\y", "\\\"\"",
		"\"\\\\\\\",\"", "\"\"\"\"", "\"a\\,\n\\\nb\"", "\\\\\\"
	};
	unsigned	n = test_random_below(random, 4);

	if (chance(random, 8))
		n += test_random_below(random, 40);
	for (unsigned i = 0; i < n; i++)
	{
		put(file, CHOOSE(random, plain));
		if (!chance(random, 6))
			continue;
		if (file->dialect.format == FILE_FORMAT_TEXT)
			put(file, CHOOSE(random, escaped));
		else if (file->dialect.escape == '"')
			put(file, CHOOSE(random, quoted));
		else
			put(file, CHOOSE(random, own));
	}
}

static void
put_number(RandomFile *file, TestRandom *random, int column)
{
	static const char *const integers[] = {
		"1", "-12345", "2147483647", "+7", "2147483648", " 3", "0x10", "1e3", "--1"
	};
	static const char *const numerics[] = {
		"1.50", "-9999.99", "0", "12.3", "10000.00", ".5", "1.005", "NaN", "1.5x"
	};
	static const char *const dates[] = {
		"1996-03-13", "2024-02-29", "9999-12-31", "1900-02-29", "1996-3-13",
		"infinity", "0000-01-01", "13.03.1996"
	};

	if (chance(random, 6))
		put(file, file->dialect.null);
	else if (column == 1)
		put(file, CHOOSE(random, integers));
	else if (column == 2)
		put(file, CHOOSE(random, numerics));
	else
		put(file, CHOOSE(random, dates));
}

static void
put_record(RandomFile *file, TestRandom *random)
{
	char		delimiter[] = {(char) file->dialect.delimiter, '\0'};
	bool		quotes = file->dialect.format == FILE_FORMAT_CSV;

	for (int column = 0; column < RANDOM_COLUMNS; column++)
	{
		bool		quoted = column > 0 && quotes && chance(random, 5);

		if (column > 0)
			put(file, delimiter);
		if (quoted)
			put(file, "\"");
		if (column == 0)
			put_text(file, random);
		else
			put_number(file, random, column);
		if (quoted)
			put(file, "\"");
	}
	put(file, line_end(file));
}

static void
put_mistake(RandomFile *file, TestRandom *random)
{
	static const char *const mistakes[] = {
		"\n", "\r", "\r\n", "\"", "\\", "\303", "\377", "\\.", "\\.\n", "a,b,c,d,e\n",
		"\\0", "\\303", "|", ","
	};

	put(file, CHOOSE(random, mistakes));
}

static void
make_dialect(RandomFile *file, TestRandom *random)
{
	Dialect		dialect = {
		.format = chance(random, 2) ? FILE_FORMAT_CSV : FILE_FORMAT_TEXT,
		.encoding = (FileEncoding) test_random_below(random, 3),
		.quote = '"',
		.escape = chance(random, 4) ? '\\' : '"',
		.marker_in_csv = chance(random, 2)
	};

	dialect.delimiter = dialect.format == FILE_FORMAT_CSV ? ',' : '|';
	dialect.null = dialect.format == FILE_FORMAT_CSV ? "" : "\\N";
	dialect.null_length = strlen(dialect.null);
	file->dialect = dialect;
	file->line_end = chance(random, 3) ? LINE_END_CRNL : LINE_END_NL;
	file->header = chance(random, 3) ? 1 + (int) test_random_below(random, 3) : 0;
}

void
random_file_make(RandomFile *file, TestRandom *random, size_t length,
				 bool wild)
{
	make_dialect(file, random);
	if (!wild && file->dialect.encoding == FILE_ENCODING_ASCII)
		file->dialect.encoding = FILE_ENCODING_UTF8;
	memcpy(file->columns, random_columns, sizeof(random_columns));
	file->length = 0;
	put(file, "");
	for (int i = 0; i < file->header; i++)
	{
		put(file, "one,two|three");
		put(file, line_end(file));
	}
	while (file->length < length)
	{
		put_record(file, random);
		if (wild && chance(random, 40))
			put_mistake(file, random);
	}
	if (chance(random, 3) && file->length > 0)
		file->length -= file->line_end == LINE_END_CRNL ? 2 : 1;
}

void
random_file_free(RandomFile *file)
{
	free(file->bytes);
	memset(file, 0, sizeof(*file));
}
