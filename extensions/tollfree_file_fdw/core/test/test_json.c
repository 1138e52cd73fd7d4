/*
 * test_json.c
 *	  What is read of lines of JSON: named cases, and random ones against a second, plain
 *	  reader.
 */
#include <stdio.h>
#include <string.h>

#include "core/json_reader.h"
#include "core/json_sniff.h"
#include "core/test/memory.h"
#include "core/test/tap.h"

#define RESULT_SIZE		4096
#define FIELDS_MAX		8
#define RANDOM_LINES	20000

/* Columns: paths with blanks between; ! in front takes JSON, = a scalar, * is the rest */
typedef struct JsonCase
{
	const char *columns;
	const char *line;
	const char *expected;		/* the fields, or the fault's words */
} JsonCase;

static const JsonCase cases[] = {
	{"/a /b", "{\"a\": 1, \"b\": \"x\"}", "1|x"},
	{"/a /b", "{\"b\": true}", "-|true"},
	{"/a /b", "{}", "-|-"},
	{"/a /b", "  \t\r", "blank"},
	{"/a", "", "blank"},
	{"/a", "{\"a\": null}", "-"},
	{"/a", "{\"a\": -0.5e+3}\r", "-0.5e+3"},
	{"/a", "{\"a\": \"q\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "q\"\\/\b\f\n\r\t"},
	{"/a", "{\"a\": \"\\u00e9\\u20AC\\ud83d\\ude00\"}", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
	{"!/a", "{\"a\": \"\\u00e9\"}", "\"\\u00e9\""},
	{"!/a", "{\"a\": \"\\u0000\"}", "\"\\u0000\""},
	{"/a", "{\"a\": \"\\u0000\"}", "\\u0000, or half of a surrogate pair, is no character of a text"},
	{"/a", "{\"a\": \"\\ud83d\"}", "\\u0000, or half of a surrogate pair, is no character of a text"},
	{"/a", "{\"a\": \"\\ude00\"}", "\\u0000, or half of a surrogate pair, is no character of a text"},
	{"/a", "{\"a\": \"\\ud83d\\u0041\"}", "\\u0000, or half of a surrogate pair, is no character of a text"},
	{"/a", "{\"b\": \"\\u0000\"}", "-"},
	{"/a", "{\"a\": 1, \"a\": 2}", "2"},
	{"/a/b /a", "{\"a\": {\"b\": 1}, \"a\": {}}", "-|{}"},
	{"/a/b/c", "{\"a\": {\"b\": {\"c\": 1}}, \"a\": {\"b\": 2}}", "-"},
	{"/a/b/c", "{\"a\": {\"b\": {\"c\": 1}}, \"a\": 2}", "-"},
	{"/a/1 /a/0", "{\"a\": [\"x\", [2]]}", "[2]|x"},
	{"/a/1/0", "{\"a\": [\"x\", [2]]}", "2"},
	{"/a/01", "{\"a\": [1, 2]}", "-"},
	{"/a/0", "{\"a\": {\"0\": 5}}", "5"},
	{" /a", "{\"a\": 1 }", "{\"a\": 1 }|1"},
	{"/", "{\"\": 7}", "7"},
	{"/a~1b /~0", "{\"a/b\": 1, \"~\": 2}", "1|2"},
	{"/a.b", "{\"a.b\": 1, \"a\": {\"b\": 2}}", "1"},
	{"/\xC3\xA9", "{\"\\u00e9\": 1}", "1"},
	{"/a", "{\"\\ud800\": 1, \"a\": 2}", "2"},
	{"=/a", "{\"a\": [1]}", "an object or array is no value of this type"},
	{"=/a", "{\"a\": \"[1]\"}", "[1]"},
	{"/a *", "{\"x\": 1, \"a\": 2, \"y\" : [ 3 ]}", "2|{\"x\": 1, \"y\" : [ 3 ]}"},
	{"/a *", "{\"a\": {\"b\": 1}}", "{\"b\": 1}|{}"},
	{"/a/b *", "{\"a\": {\"c\": 1}, \"d\": {\"a\": 1}}", "-|{\"d\": {\"a\": 1}}"},
	{"/a", "[1]", "a line must begin with {"},
	{"/a", "x", "a line must begin with {"},
	{"/a", "{\"a\": 1", "the line ends before the object does"},
	{"/a", "{\"a", "the line ends before the object does"},
	{"/a", "{\"a\"", "the line ends before the object does"},
	{"/a", "{\"a\":", "the line ends before the object does"},
	{"/a", "{\"a\": tru", "the line ends before the object does"},
	{"/a", "{\"a\": -", "the line ends before the object does"},
	{"/a", "{\"a\": 1}}", "something is behind the object"},
	{"/a", "{\"a\": 1} x", "something is behind the object"},
	{"/a", "{\"a\": 01}", "a character that cannot be there"},
	{"/a", "{\"a\": 1.}", "a character that cannot be there"},
	{"/a", "{\"a\": .5}", "a character that cannot be there"},
	{"/a", "{\"a\": +1}", "a character that cannot be there"},
	{"/a", "{\"a\": 1e}", "a character that cannot be there"},
	{"/a", "{\"a\": NaN}", "a character that cannot be there"},
	{"/a", "{\"a\": nul}", "a character that cannot be there"},
	{"/a", "{\"a\": truex}", "a character that cannot be there"},
	{"/a", "{\"a\": 1,}", "a character that cannot be there"},
	{"/a", "{,\"a\": 1}", "a character that cannot be there"},
	{"/a", "{\"a\": [1,]}", "a character that cannot be there"},
	{"/a", "{\"a\": [1 2]}", "a character that cannot be there"},
	{"/a", "{\"a\": [}", "a character that cannot be there"},
	{"/a", "{\"a\" 1}", "a character that cannot be there"},
	{"/a", "{a: 1}", "a character that cannot be there"},
	{"/a", "{'a': 1}", "a character that cannot be there"},
	{"/a", "{\"a\": \"\t\"}", "a control character in a string, which has to be escaped"},
	{"/a", "{\"a\": \"12345678\x1f\"}", "a control character in a string, which has to be escaped"},
	{"/a", "{\"a\": \"\\x\"}", "an invalid escape"},
	{"/a", "{\"a\": \"\\u12g4\"}", "an invalid escape"},
	{"/a", "{\"a\": \"\\u12", "an invalid escape"},
	{"/a", "{\"a\": \"\x7F\x80\xFF 12345678\"}", "\x7F\x80\xFF 12345678"}
};

/* Makes the fields of words; returns how many. */
static int
make_fields(const char *columns, JsonField *fields)
{
	int			n = 0;
	const char *at = columns;

	for (;;)
	{
		JsonField	field = {.take = JSON_TAKE_TEXT,.is_wanted = true};

		if (*at == '!' || *at == '=')
			field.take = *at++ == '!' ? JSON_TAKE_JSON : JSON_TAKE_SCALAR;
		field.is_rest = *at == '*';
		at += field.is_rest;
		field.path = at;
		field.path_length = strcspn(at, " ");
		at += field.path_length;
		fields[n++] = field;
		if (*at == '\0')
			return n;
		at++;
	}
}

/* Writes the fields of a line to a string; a fault's words if there is one. */
static void
show(JsonReader *reader, const char *line, size_t length, char *result)
{
	JsonFault	fault = json_reader_read(reader, (const unsigned char *) line, length);
	char	   *to = result;

	for (int i = 0; fault == JSON_SOUND && i < reader->nfields; i++)
	{
		if (i > 0)
			*to++ = '|';
		if (json_field_is_null(reader, i))
			*to++ = '-';
		else
			to += json_field_write(reader, i, (unsigned char *) to, &fault);
	}
	*to = '\0';
	if (fault == JSON_BLANK)
		strcpy(result, "blank");
	else if (fault != JSON_SOUND)
		strcpy(result, json_fault_words(fault));
}

static void
test_cases(void)
{
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		const JsonCase *test = &cases[i];
		JsonField	fields[FIELDS_MAX];
		JsonReader	reader;
		char		result[RESULT_SIZE];

		(void) json_reader_open(&reader, &allocator, fields,
								make_fields(test->columns, fields));
		show(&reader, test->line, strlen(test->line), result);
		if (!TEST_OK(strcmp(result, test->expected) == 0, "%s of %s",
					 test->columns, test->line))
			printf("# got %s\n", result);
		/* What is left of a line says nothing about the next. */
		show(&reader, "{}", 2, result);
		show(&reader, test->line, strlen(test->line), result);
		TEST_OK(strcmp(result, test->expected) == 0, "the same behind another line");
		json_reader_close(&reader);
	}
	TEST_EQUAL(memory.held, 0, "all memory is given back");
}

static void
test_depth(void)
{
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	static char line[JSON_DEPTH_MAX + 100];
	JsonField	fields[FIELDS_MAX];
	JsonReader	reader;

	(void) json_reader_open(&reader, &allocator, fields, make_fields("/a", fields));
	memset(line, '[', sizeof(line));
	memcpy(line, "{\"a\":", 5);
	TEST_EQUAL(json_reader_read(&reader, (unsigned char *) line, sizeof(line)),
			   JSON_TOO_DEEP, "nested too deeply");
	TEST_EQUAL(json_reader_read(&reader, (unsigned char *) line,
								JSON_DEPTH_MAX + 4), JSON_CUT, "as deeply as may be");
	json_reader_close(&reader);
}

/* Whatever request for memory fails, that is said and all of it is given back. */
static void
test_no_memory(void)
{
	static const char line[] = "{\"\\u0061\":{\"b\":[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]},\"c\":1}";
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	JsonFault	fault = JSON_NO_MEMORY;
	int64_t		requests = 0;

	for (; fault == JSON_NO_MEMORY && requests < 100; requests++)
	{
		JsonField	fields[FIELDS_MAX];
		JsonReader	reader;

		memory.fail_after = requests;
		if (json_reader_open(&reader, &allocator, fields,
							 make_fields("/a/b *", fields)))
			fault = json_reader_read(&reader, (const unsigned char *) line,
									 sizeof(line) - 1);
		json_reader_close(&reader);
		if (memory.held != 0)
			break;
	}
	TEST_EQUAL(fault, JSON_SOUND, "read when there is memory enough");
	TEST_EQUAL(memory.held, 0, "all memory is given back");
	TEST_OK(requests > 6, "requests failed one after the other");
}

static void
test_paths(void)
{
	TEST_OK(json_path_is_valid("", 0), "all of it");
	TEST_OK(json_path_is_valid("/", 1), "an empty key");
	TEST_OK(json_path_is_valid("/a~0~1/b", 8), "escapes");
	TEST_OK(!json_path_is_valid("a", 1), "no slash");
	TEST_OK(!json_path_is_valid("/a~", 3), "an open escape");
	TEST_OK(!json_path_is_valid("/a~2", 4), "another escape");
}

typedef struct SniffCase
{
	const char *file;
	const char *expected;		/* names and kinds; NULL: no such file */
} SniffCase;

static const SniffCase sniffed[] = {
	{"{\"a\": 1, \"b\": \"x\"}\n{\"b\": null, \"c\": [1], \"a\": 3000000000}\n", "a:3 b:9 c:json"},
	{"\n \r\n{\"a\": true}", "a:1"},
	{"{\"a\": \"1\", \"b\": 1, \"c\": \"2026-01-31\", \"d\": null}\n{\"b\": 1.5}\n", "a:9 b:4 c:5 d:0"},
	{"{\"a\": {}}\n{\"a\": 1}\n[1]\n", "a:json"},
	{"{\"\\ud800\": 1, \"a\": \"\"}\n", "a:9"},
	{"[1]\n{\"a\": 1}\n", NULL},
	{"a,b\n{\"a\": 1}\n", NULL},
	{"{}\n", NULL},
	{"", NULL}
};

static void
test_sniff(void)
{
	for (size_t i = 0; i < sizeof(sniffed) / sizeof(sniffed[0]); i++)
	{
		static Sniff sniff;
		const SniffCase *test = &sniffed[i];
		const SniffPiece piece = {(const unsigned char *) test->file,
		strlen(test->file), true};
		TestMemory	memory;
		Allocator	allocator = test_memory_allocator(&memory);
		char		found[RESULT_SIZE] = "";
		bool		is_json = json_sniff_pieces(&sniff, &piece, 1, &allocator);

		for (size_t j = 0; is_json && j < sniff.ncolumns; j++)
		{
			const SniffColumn *column = &sniff.columns[j];

			sprintf(found + strlen(found), "%s%.*s:", j == 0 ? "" : " ",
					(int) column->name_length, column->name);
			if (column->is_json)
				strcat(found, "json");
			else
				sprintf(found + strlen(found), "%d", (int) column->kind);
		}
		if (!TEST_OK(is_json == (test->expected != NULL) &&
					 (!is_json || strcmp(found, test->expected) == 0),
					 "members of file %d", (int) i))
			printf("# got %s\n", found);
		TEST_EQUAL(memory.held, 0, "all memory is given back");
	}
}

/*
 * A second reader, one function for each rule of the grammar.  Returns where the value
 * ends, or NULL.
 */
static const char *plain_value(const char *at);

static const char *
plain_blanks(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

static const char *
plain_digits(const char *at)
{
	size_t		n = strspn(at, "0123456789");

	return n == 0 ? NULL : at + n;
}

static const char *
plain_number(const char *at)
{
	at += *at == '-';
	at = *at == '0' ? at + 1 : plain_digits(at);
	if (at != NULL && *at == '.')
		at = plain_digits(at + 1);
	if (at != NULL && (*at == 'e' || *at == 'E'))
	{
		at++;
		at = plain_digits(at + (*at == '+' || *at == '-'));
	}
	return at;
}

static const char *
plain_string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	while (*at != '"')
	{
		if ((unsigned char) *at < 0x20)
			return NULL;
		if (*at++ != '\\')
			continue;
		if (*at == 'u' && strspn(at + 1, "0123456789abcdefABCDEF") >= 4)
			at += 5;
		else if (*at != '\0' && strchr("\"\\/bfnrt", *at) != NULL)
			at++;
		else
			return NULL;
	}
	return at + 1;
}

static const char *
plain_items(const char *at, char close, bool is_object)
{
	at = plain_blanks(at + 1);
	if (*at == close)
		return at + 1;
	for (;;)
	{
		if (is_object)
		{
			at = plain_string(plain_blanks(at));
			at = at == NULL ? NULL : plain_blanks(at);
			if (at == NULL || *at++ != ':')
				return NULL;
		}
		at = plain_value(plain_blanks(at));
		at = at == NULL ? NULL : plain_blanks(at);
		if (at == NULL || (*at != ',' && *at != close))
			return NULL;
		if (*at++ == close)
			return at;
	}
}

static const char *
plain_value(const char *at)
{
	if (*at == '{')
		return plain_items(at, '}', true);
	if (*at == '[')
		return plain_items(at, ']', false);
	if (*at == '"')
		return plain_string(at);
	if (strncmp(at, "true", 4) == 0 || strncmp(at, "null", 4) == 0)
		return at + 4;
	if (strncmp(at, "false", 5) == 0)
		return at + 5;
	return *at == '\0' ? NULL : plain_number(at);
}

static bool
plain_is_object(const char *line)
{
	const char *at = plain_blanks(line);

	at = *at == '{' ? plain_value(at) : NULL;
	return at != NULL && *plain_blanks(at) == '\0';
}

/* Random pieces of JSON one after the other: about half of them are an object. */
static void
make_line(TestRandom *random, char *line, int depth)
{
	static const char *const scalars[] = {
		"1", "-2.5e3", "0", "01", "true", "false", "null", "\"x\"", "\"\\u00e9\\n\"",
		"\"\"", "\"long enough for words\"", "\"\\x\"", "tru", "-", "1.e", "\"\t\""
	};
	int			nitems = (int) test_random_below(random, 4);
	bool		is_object = depth == 0 || test_random_below(random, 2) == 0;

	strcat(line, is_object ? "{" : "[");
	for (int i = 0; i < nitems; i++)
	{
		if (i > 0)
			strcat(line, ", ");
		if (is_object)
			strcat(line, test_random_below(random, 2) == 0 ? "\"a\":" : "\"b\" : ");
		if (depth < 3 && test_random_below(random, 3) == 0)
			make_line(random, line, depth + 1);
		else
			strcat(line, scalars[test_random_below(random, test_random_below(random, 8) == 0 ?
												   16 : 11)]);
	}
	strcat(line, is_object ? "}" : "]");
	if (test_random_below(random, 40) == 0)
		line[test_random_below(random, (unsigned) strlen(line))] =
			"{}[],:\"\\ 1"[test_random_below(random, 10)];
}

static void
test_random_lines(void)
{
	TestRandom	random = {1};
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	JsonField	fields[FIELDS_MAX];
	JsonReader	reader;
	int			nsound = 0;
	int			ndifferent = 0;

	(void) json_reader_open(&reader, &allocator, fields,
							make_fields("/a /a/b !/b/0 *", fields));
	for (int i = 0; i < RANDOM_LINES; i++)
	{
		char		line[RESULT_SIZE] = "";
		bool		is_sound;

		make_line(&random, line, 0);
		is_sound = json_reader_read(&reader, (unsigned char *) line,
									strlen(line)) == JSON_SOUND;
		nsound += is_sound;
		if (is_sound != plain_is_object(line) && ndifferent++ == 0)
			printf("# %s\n", line);
	}
	json_reader_close(&reader);
	TEST_EQUAL(ndifferent, 0, "random lines are taken as by the plain reader");
	TEST_OK(nsound > RANDOM_LINES / 4 && nsound < RANDOM_LINES * 7 / 8,
			"%d of %d are sound", nsound, RANDOM_LINES);
}

int
main(void)
{
	test_cases();
	test_depth();
	test_no_memory();
	test_paths();
	test_sniff();
	test_random_lines();
	return test_done();
}
