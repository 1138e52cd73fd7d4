/*
 * test_syntax.c
 *	  Which values are valid by their syntax, and which are left open; and every
 *	  prefix of valid JSON.
 */
#include <stdio.h>
#include <string.h>

#include "core/syntax.h"
#include "core/test/tap.h"

typedef enum Kind
{
	NUMERIC, INTERVAL, INET, JSON, JSON_ASCII
} Kind;

static bool
is_valid(Kind kind, const char *text)
{
	const unsigned char *bytes = (const unsigned char *) text;
	uint32_t	length = (uint32_t) strlen(text);

	switch (kind)
	{
		case NUMERIC:
			return syntax_numeric(bytes, length, 0, 0);
		case INTERVAL:
			return syntax_interval(bytes, length);
		case INET:
			return syntax_inet(bytes, length);
		case JSON:
		case JSON_ASCII:
			break;
	}
	return syntax_json(bytes, length, kind == JSON);
}

typedef struct Case
{
	Kind		kind;
	const char *text;
} Case;

static const Case valid[] = {
	{NUMERIC, "0"}, {NUMERIC, "-12.50"}, {NUMERIC, "+1"}, {NUMERIC, "00012"},
	{NUMERIC, "12345678901234567890.123456789012345678901234567890"},
	{INTERVAL, "1 day"}, {INTERVAL, "2 days 03:04:05.678901"}, {INTERVAL, "00:00:00"},
	{INTERVAL, "1 year 2 mons 3 days 04:05:06"}, {INTERVAL, "9999 years"}, {INTERVAL, "3 days"},
	{INTERVAL, "99:59:59"}, {INTERVAL, "0 mons"},
	{INET, "0.0.0.0"}, {INET, "192.168.1.17/24"}, {INET, "255.255.255.255/32"}, {INET, "10.0.0.1/0"},
	{JSON, "{}"}, {JSON, "[]"}, {JSON, " {\"a\" : [1, -2.50e+10, true, false, null, \"x\\\"\\u00e9\\n\"], \"b\":{}} "},
	{JSON, "0"}, {JSON, "-0.0"}, {JSON, "\"\""}, {JSON, "1E-999"}, {JSON, "[[[]],[{}]]"}, {JSON, "\t\r\nnull\n"},
	{JSON, "\"\303\251\""}, {JSON_ASCII, "\"\\u0041\\/\""}, {JSON, "{\"a\":1,\"a\":2}"}
};

static const Case left_open[] = {
	{NUMERIC, ""}, {NUMERIC, "."}, {NUMERIC, "1."}, {NUMERIC, ".5"}, {NUMERIC, "1e3"}, {NUMERIC, "NaN"}, {NUMERIC, " 1"},
	{NUMERIC, "1 "}, {NUMERIC, "--1"}, {NUMERIC, "+-1"}, {NUMERIC, "0x1"}, {NUMERIC, "1_0"}, {NUMERIC, "1.2.3"},
	{INTERVAL, ""}, {INTERVAL, " "}, {INTERVAL, "1"}, {INTERVAL, "1 day "}, {INTERVAL, "1 day 2 days"}, {INTERVAL, "1 day 2 mons"},
	{INTERVAL, "-1 day"}, {INTERVAL, "1 dayss"}, {INTERVAL, "12345 days"}, {INTERVAL, "1:02:03"}, {INTERVAL, "01:60:00"},
	{INTERVAL, "01:00:60"}, {INTERVAL, "01:02:03."}, {INTERVAL, "01:02:03.1234567"}, {INTERVAL, "01:02"}, {INTERVAL, "100:00:00"},
	{INTERVAL, "1 day  2:00:00"}, {INTERVAL, "1 days01:00:00"}, {INTERVAL, "01:02:03 "}, {INTERVAL, "P1D"}, {INTERVAL, "1  day"},
	{INET, ""}, {INET, "1.2.3"}, {INET, "1.2.3.4.5"}, {INET, "256.0.0.1"}, {INET, "01.2.3.4"}, {INET, "1.2.3.4/33"},
	{INET, "1.2.3.4/"}, {INET, "1.2.3.4/01"}, {INET, "::1"}, {INET, "1.2.3.4 "}, {INET, "1.2.3.0004"}, {INET, "1..2.3"},
	{JSON, ""}, {JSON, " "}, {JSON, "{"}, {JSON, "[1,]"}, {JSON, "{\"a\":1,}"}, {JSON, "{\"a\"}"}, {JSON, "{a:1}"}, {JSON, "{1:1}"},
	{JSON, "[1 2]"}, {JSON, "01"}, {JSON, "-"}, {JSON, "1."}, {JSON, ".5"}, {JSON, "+1"}, {JSON, "1e"}, {JSON, "1e1000"}, {JSON, "tru"},
	{JSON, "truex"}, {JSON, "nul"}, {JSON, "'a'"}, {JSON, "\"a"}, {JSON, "\"\\x\""}, {JSON, "\"\\u0000\""}, {JSON, "\"\\ud83d\\ude00\""},
	{JSON, "\"\\u12\""}, {JSON, "\"\\u12g4\""}, {JSON, "\"a\nb\""}, {JSON, "{}{}"}, {JSON, "[}"}, {JSON, "{]"}, {JSON, "]"}, {JSON, "1,2"},
	{JSON, "{,}"}, {JSON, "[,1]"}, {JSON, "{\"a\":}"}, {JSON, "{\"a\"1}"}, {JSON, "\"\\"}, {JSON, "NaN"}, {JSON, "[1}"}, {JSON, "\f1"},
	{JSON_ASCII, "\"\\u00e9\""}
};

#define COUNT(cases) (sizeof(cases) / sizeof((cases)[0]))

static void
test_cases(const Case *cases, size_t ncases, bool expected)
{
	for (size_t i = 0; i < ncases; i++)
		TEST_OK(is_valid(cases[i].kind, cases[i].text) == expected,
				"%s: %s", expected ? "valid" : "open", cases[i].text);
}

/* What is rounded must fit, too. */
static void
test_precision(void)
{
	static const struct
	{
		const char *text;
		bool		is_valid;
	}			cases[] = {
		{"99.994", true}, {"999999999999999999.99", true},
		{"99999999999999999.999", true}, {"-99999999999999999.999", true},
		{"999999999999999999.995", false}, {"1000000000000000000", false}
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		TEST_OK(syntax_numeric((const unsigned char *) cases[i].text,
							   (uint32_t) strlen(cases[i].text), 20, 2) ==
				cases[i].is_valid, "numeric(20,2): %s", cases[i].text);
}

/* No prefix of an object is an object. */
static void
test_prefixes(void)
{
	static const char text[] =
		"{\"a\":[1,{\"b\":null},[]],\"c\\\\\":\"\\u0041\\\"\",\"d\":-1.5e+3}";
	int			nvalid = 0;

	for (uint32_t length = 0; length <= strlen(text); length++)
		nvalid += syntax_json((const unsigned char *) text, length, true);
	TEST_EQUAL(nvalid, 1, "valid prefixes of an object");
}

/* Levels, up to more than are counted. */
static void
test_levels(void)
{
	char text[	200];
	int			nvalid = 0;

	for (int depth = 1; depth <= 100; depth++)
	{
		memset(text, '[', (size_t) depth);
		memset(text +depth, ']', (size_t) depth);
		nvalid += syntax_json((unsigned char *) text, 2 * (uint32_t) depth, true);
	}
	TEST_EQUAL(nvalid, 64, "depths that are valid");
}

static void
test_labels(void)
{
	static const TextRef labels[] = {
		{(const unsigned char *) "low", 3}, {(const unsigned char *) "", 0}
	};

	TEST_OK(syntax_label((const unsigned char *) "low", 3, labels, 2), "a label");
	TEST_OK(syntax_label((const unsigned char *) "x", 0, labels, 2), "an empty label");
	TEST_OK(!syntax_label((const unsigned char *) "lo", 2, labels, 2), "part of one");
	TEST_OK(!syntax_label((const unsigned char *) "low ", 4, labels, 2), "more than one");
	TEST_OK(!syntax_label((const unsigned char *) "low", 3, labels, 0), "no labels");
}

int
main(void)
{
	test_cases(valid, COUNT(valid), true);
	test_cases(left_open, COUNT(left_open), false);
	test_precision();
	test_prefixes();
	test_levels();
	test_labels();
	return test_done();
}
