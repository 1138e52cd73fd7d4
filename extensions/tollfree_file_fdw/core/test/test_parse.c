/*
 * test_parse.c
 *	  The parsers of plain spellings against the C library and against slow
 *	  ones: random strings, most of them one step away from a value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/dialect.h"
#include "core/kernel.h"
#include "core/parse.h"
#include "core/test/tap.h"

#define ROUNDS			100000
#define DAYS_OF_400_YEARS	146097
#define LENGTH_MAX		40

/* A string with the padding that parsers may read. */
typedef struct PaddedText
{
	unsigned char memory[KERNEL_PADDING + LENGTH_MAX + KERNEL_PADDING];
	uint32_t	length;
} PaddedText;

static unsigned char *
padded_bytes(PaddedText *padded)
{
	return padded->memory + KERNEL_PADDING;
}

/* The padding is made of digits, which must not be taken for the string's. */
static void
padded_set(PaddedText *padded, TestRandom *random, const char *string)
{
	for (size_t i = 0; i < sizeof(padded->memory); i++)
		padded->memory[i] = (unsigned char) ('0' + test_random_below(random, 10));
	padded->length = (uint32_t) strlen(string);
	memcpy(padded_bytes(padded), string, padded->length);
}

/* Changes, drops or adds one character, in one of three strings. */
static void
change(TestRandom *random, char *string)
{
	static const char characters[] = "0123456789+-. :eEx_/";
	size_t		length = strlen(string);
	size_t		at = test_random_below(random, (unsigned) length + 1);
	char		c = characters[test_random_below(random, sizeof(characters) - 1)];

	switch (test_random_below(random, 9))
	{
		case 0:
			if (at < length)
				string[at] = c;
			break;
		case 1:
			if (at < length)
				memmove(string + at, string + at + 1, length - at);
			break;
		case 2:
			if (length + 1 < LENGTH_MAX)
			{
				memmove(string + at + 1, string + at, length - at + 1);
				string[at] = c;
			}
			break;
		default:
			break;
	}
}

static void
random_digits(TestRandom *random, char *to, unsigned most)
{
	unsigned	n = test_random_below(random, most + 1);

	for (unsigned i = 0; i < n; i++)
		*to++ = (char) ('0' + test_random_below(random, 10));
	*to = '\0';
}

/* [sign]digits[.digits][e[sign]digits], now and then changed */
static void
random_number(TestRandom *random, char *string, bool exponent)
{
	static const char *const signs[] = {"", "", "-", "+"};

	strcpy(string, signs[test_random_below(random, 4)]);
	random_digits(random, string + strlen(string), 19);
	if (test_random_below(random, 2) == 0)
	{
		strcat(string, ".");
		random_digits(random, string + strlen(string),
					  1 + test_random_below(random, 9));
	}
	if (exponent && test_random_below(random, 3) == 0)
	{
		strcat(string, "e");
		strcat(string, signs[test_random_below(random, 4)]);
		random_digits(random, string + strlen(string), 2);
	}
	change(random, string);
}

/*------------------------------------------------------------------------
 * Numbers
 *------------------------------------------------------------------------
 */

/* Is it [sign]digits[.digits], with digits wherever they may be? */
static bool
slow_is_decimal(const char *string, bool point)
{
	string += strspn(string, "+-") > 0;
	if (strspn(string, "0123456789") == 0)
		return false;
	string += strspn(string, "0123456789");
	if (point && *string == '.')
	{
		string++;
		if (strspn(string, "0123456789") == 0)
			return false;
		string += strspn(string, "0123456789");
	}
	return *string == '\0';
}

/* Whatever is read must be right; plain numbers in range must be read. */
static void
test_integers(void)
{
	TestRandom	random = {11};
	PaddedText	padded;
	char		string[2 * LENGTH_MAX];
	int			read = 0;
	int			wrong = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		int64_t		low = round % 2 == 0 ? INT32_MIN : INT64_MIN;
		int64_t		high = round % 2 == 0 ? INT32_MAX : INT64_MAX;
		int64_t		value;
		long long	expected;
		bool		plain;

		random_number(&random, string, false);
		string[test_random_below(&random, 22)] = '\0';
		padded_set(&padded, &random, string);
		expected = strtoll(string, NULL, 10);
		plain = slow_is_decimal(string, false) &&
			strspn(string, "+-") + 18 >= strlen(string) &&
			expected >= low && expected <= high;
		if (parse_integer(padded_bytes(&padded), padded.length, low, high,
						  &value) != plain)
			wrong++;
		else if (plain && value != expected)
			wrong++;
		read += plain;
	}
	TEST_EQUAL(wrong, 0, "%d integers of %d strings", read, ROUNDS);
	TEST_OK(read > ROUNDS / 10, "enough of them");
}

/* Reads digits and the point's place by hand. */
static bool
slow_numeric(const char *string, int precision, int scale, __int128 * value)
{
	int			behind = -1;
	bool		negative = *string == '-';

	if (!slow_is_decimal(string, true))
		return false;
	*value = 0;
	for (; *string != '\0'; string++)
	{
		if (*string == '.')
			behind = 0;
		else if (*string != '+' && *string != '-')
		{
			*value = *value * 10 + (*string - '0');
			behind += behind >= 0;
		}
	}
	for (behind = behind < 0 ? 0 : behind; behind < scale; behind++)
		*value *= 10;
	if (behind > scale || *value >= digits_power(precision))
		return false;
	if (negative)
		*value = -*value;
	return true;
}

static void
test_numerics(void)
{
	TestRandom	random = {12};
	PaddedText	padded;
	char		string[2 * LENGTH_MAX];
	int			read = 0;
	int			wrong = 0;
	int			missed = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		int			precision = (int) test_random_below(&random, 18) + 1;
		int			scale = (int) test_random_below(&random, (unsigned) precision + 1);
		int64_t		value;
		__int128	expected;

		random_number(&random, string, false);
		padded_set(&padded, &random, string);
		if (parse_numeric(padded_bytes(&padded), padded.length, precision,
						  scale, &value))
		{
			read++;
			wrong += !slow_numeric(string, precision, scale, &expected) ||
				value != expected;
		}
		else
			missed += strlen(string) <= 17 &&
				slow_numeric(string, precision, scale, &expected);
	}
	TEST_EQUAL(wrong, 0, "%d numerics of %d strings", read, ROUNDS);
	TEST_EQUAL(missed, 0, "none is missed that is not long");
	TEST_OK(read > ROUNDS / 20, "enough of them");
}

static bool
same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static void
test_floats(void)
{
	TestRandom	random = {13};
	PaddedText	padded;
	char		string[2 * LENGTH_MAX];
	int			read[2] = {0};
	int			wrong[2] = {0};

	for (int round = 0; round < ROUNDS; round++)
	{
		double		value;
		char	   *end;

		random_number(&random, string, true);
		padded_set(&padded, &random, string);
		if (parse_float8(padded_bytes(&padded), padded.length, &value))
		{
			double		expected = strtod(string, &end);

			read[0]++;
			wrong[0] += *end != '\0' || !same_bits(value, expected);
		}
		if (parse_float4(padded_bytes(&padded), padded.length, &value))
		{
			float		expected = strtof(string, &end);

			read[1]++;
			wrong[1] += *end != '\0' || !same_bits(value, expected);
		}
	}
	TEST_EQUAL(wrong[0], 0, "%d doubles of %d strings", read[0], ROUNDS);
	TEST_EQUAL(wrong[1], 0, "%d floats", read[1]);
	TEST_OK(read[0] > ROUNDS / 4 && read[1] > ROUNDS / 20, "enough of them");
}

/*------------------------------------------------------------------------
 * Dates
 *------------------------------------------------------------------------
 */

/* Every day of 400 years, against the C library's calendar. */
static void
test_every_day(time_t begin)
{
	static const int64_t to_1970 = 10957;
	TestRandom	random = {14};
	PaddedText	padded;
	int			right = 0;

	for (int i = 0; i < DAYS_OF_400_YEARS; i++)
	{
		time_t		seconds = begin + (time_t) i * 86400;
		struct tm	day;
		char		string[LENGTH_MAX];
		int64_t		value;

		gmtime_r(&seconds, &day);
		snprintf(string, sizeof(string), "%04d-%02d-%02d",
				 day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
		padded_set(&padded, &random, string);
		right += parse_date(padded_bytes(&padded), padded.length, &value) &&
			value == seconds / 86400 - to_1970;
	}
	TEST_EQUAL(right, DAYS_OF_400_YEARS, "every day of 400 years");
}

/* Is the number of that many digits within the limits? */
static bool
slow_part(const char *string, int from, int digits, int low, int high)
{
	int			value = 0;

	for (int i = from; i < from + digits; i++)
	{
		if (string[i] < '0' || string[i] > '9')
			return false;
		value = value * 10 + (string[i] - '0');
	}
	return value >= low && value <= high;
}

static bool
slow_is_date_time(const char *string)
{
	size_t		length = strlen(string);
	int			month;
	int			year;
	struct tm	day = {0};

	if (length < 19 || length == 20 || length > 26 ||
		!slow_part(string, 0, 4, 1, 9999) || string[4] != '-' ||
		!slow_part(string, 5, 2, 1, 12) || string[7] != '-' ||
		!slow_part(string, 8, 2, 1, 31) ||
		(string[10] != ' ' && string[10] != 'T') ||
		!slow_part(string, 11, 2, 0, 23) || string[13] != ':' ||
		!slow_part(string, 14, 2, 0, 59) || string[16] != ':' ||
		!slow_part(string, 17, 2, 0, 59) ||
		(length > 19 && string[19] != '.') ||
		(length > 20 && strspn(string + 20, "0123456789") != length - 20))
		return false;

	/* A day that the month has not becomes one of the next month. */
	year = atoi(string);
	month = atoi(string + 5);
	day.tm_year = year - 1900;
	day.tm_mon = month - 1;
	day.tm_mday = atoi(string + 8);
	timegm(&day);
	return day.tm_mon == month - 1;
}

static void
random_timestamp(TestRandom *random, char *string)
{
	sprintf(string, "%04u-%02u-%02u%c%02u:%02u:%02u",
			test_random_below(random, 2100), test_random_below(random, 14),
			test_random_below(random, 33),
			test_random_below(random, 2) == 0 ? ' ' : 'T',
			test_random_below(random, 25), test_random_below(random, 61),
			test_random_below(random, 61));
	if (test_random_below(random, 2) == 0)
	{
		strcat(string, ".");
		random_digits(random, string + strlen(string), 7);
	}
}

/*
 * Cuts the zone off, [+-]HH, [+-]HHMM, [+-]HH:MM, perhaps behind a blank, Z, or UTC
 * behind a blank, and sets its seconds; false if there is none.
 */
static bool
slow_cut_zone(char *string, int *seconds)
{
	char	   *sign = strlen(string) < 20 ? NULL : strpbrk(string + 19, "+-Zz");
	size_t		length;
	int			minute = 0;

	if (strlen(string) > 20 && strcmp(string + strlen(string) - 4, " UTC") == 0)
	{
		string[strlen(string) - 4] = '\0';
		*seconds = 0;
		return true;
	}
	if (sign == NULL)
		return false;
	length = strlen(sign);
	if (*sign == 'Z' || *sign == 'z')
	{
		*seconds = 0;
		if (length == 1)
			*sign = '\0';
		return length == 1;
	}
	if (length == 6 && sign[3] == ':')
		minute = 4;
	if (length == 5)
		minute = 3;
	if ((length != 3 && minute == 0) || !slow_part(sign, 1, 2, 0, 15) ||
		(minute > 0 && !slow_part(sign, minute, 2, 0, 59)))
		return false;
	*seconds = ((sign[1] - '0') * 10 + sign[2] - '0') * 3600;
	if (minute > 0)
		*seconds += atoi(sign + minute) * 60;
	if (*sign == '-')
		*seconds = -*seconds;
	if (sign[-1] == ' ')
		sign--;
	*sign = '\0';
	return true;
}

static void
random_zone(TestRandom *random, char *string)
{
	if (test_random_below(random, 4) == 0)
	{
		static const char *const zones[] = {"Z", "z", " UTC", " UTC"};

		strcpy(string, zones[test_random_below(random, 4)]);
		return;
	}
	if (test_random_below(random, 3) == 0)
		*string++ = ' ';
	sprintf(string, "%c%02u", test_random_below(random, 2) == 0 ? '+' : '-',
			test_random_below(random, 17));
	if (test_random_below(random, 3) > 0)
		sprintf(string + strlen(string), "%s%02u",
				test_random_below(random, 2) == 0 ? ":" : "",
				test_random_below(random, 62));
}

static void
test_timestamptz(void)
{
	TestRandom	random = {17};
	PaddedText	padded;
	PaddedText	local;
	int			read = 0;
	int			wrong = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		char		string[2 * LENGTH_MAX];
		int64_t		value;
		int64_t		expected;
		int			east = 0;
		bool		is_one;

		random_timestamp(&random, string);
		random_zone(&random, string + strlen(string));
		if (test_random_below(&random, 2) == 0)
			change(&random, string);
		padded_set(&padded, &random, string);
		is_one = slow_cut_zone(string, &east) && slow_is_date_time(string);
		if (parse_timestamptz(padded_bytes(&padded), padded.length, 6,
							  &value) != is_one)
			wrong++;
		else if (is_one)
		{
			padded_set(&local, &random, string);
			wrong += !parse_timestamp(padded_bytes(&local), local.length, 6,
									  &expected) ||
				value != expected - (int64_t) east * 1000000;
			read++;
		}
	}
	TEST_EQUAL(wrong, 0, "%d timestamps with a zone of %d strings", read,
			   ROUNDS);
	TEST_OK(read > ROUNDS / 4, "enough of them");
}

static void
test_timestamps(void)
{
	TestRandom	random = {15};
	PaddedText	padded;
	int			read = 0;
	int			wrong = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		char		string[2 * LENGTH_MAX];
		int64_t		value;
		int			east;
		bool		is_one;

		random_timestamp(&random, string);
		if (test_random_below(&random, 3) == 0)
			random_zone(&random, string + strlen(string));
		change(&random, string);
		padded_set(&padded, &random, string);
		slow_cut_zone(string, &east);
		is_one = slow_is_date_time(string);
		wrong += parse_timestamp(padded_bytes(&padded), padded.length, 6,
								 &value) != is_one;
		read += is_one;
	}
	TEST_EQUAL(wrong, 0, "%d timestamps of %d strings", read, ROUNDS);
	TEST_OK(read > ROUNDS / 4, "enough of them");
}

/*------------------------------------------------------------------------
 * Quotes
 *------------------------------------------------------------------------
 */

/* A value of each spelling that is read. */
static const struct
{
	ColumnType	type;
	const char *spelling;
}			spellings[] = {
	{COLUMN_BOOL, "t"}, {COLUMN_BOOL, "0"}, {COLUMN_BOOL, "true"},
	{COLUMN_BOOL, "false"}, {COLUMN_INT4, "1231"}, {COLUMN_INT4, "-1"},
	{COLUMN_INT4, "+1"}, {COLUMN_DATE, "2014-10-21"},
	{COLUMN_TIMESTAMP, "2014-10-21 10:11:12.345"},
	{COLUMN_TIMESTAMP, "2014-10-21T10:11:12"},
	{COLUMN_TIMESTAMP, "2014-10-21 10:11:12.3+05:30"},
	{COLUMN_TIMESTAMP, "2014-10-21T10:11:12Z"},
	{COLUMN_TIMESTAMPTZ, "2014-10-21 10:11:12.3+05"},
	{COLUMN_TIMESTAMPTZ, "2014-10-21 10:11:12-05:30"},
	{COLUMN_TIMESTAMPTZ, "2014-10-21T10:11:12.3Z"},
	{COLUMN_TIMESTAMPTZ, "2014-10-21 10:11:12.345 UTC"},
	{COLUMN_TIMESTAMPTZ, "2014-10-21 10:11:12.345 +02"},
	{COLUMN_NUMERIC, "+123.45"}, {COLUMN_NUMERIC, "-12.3"},
	{COLUMN_FLOAT4, "-1e-5"}, {COLUMN_FLOAT4, "+1.5E+2"},
	{COLUMN_FLOAT8, "-1e-5"}, {COLUMN_FLOAT8, "+1.5E+2"},
	{COLUMN_UUID, "00112233-4455-6677-8899-aabbccddEEFF"}
};

static bool
reads(ColumnType type, const unsigned char *p, uint32_t length)
{
	int64_t		integer;
	double		number;
	Uuid		uuid;

	switch (type)
	{
		case COLUMN_BOOL:
			return parse_bool(p, length, &integer);
		case COLUMN_DATE:
			return parse_date(p, length, &integer);
		case COLUMN_TIMESTAMP:
			return parse_timestamp(p, length, 6, &integer);
		case COLUMN_TIMESTAMPTZ:
			return parse_timestamptz(p, length, 6, &integer);
		case COLUMN_NUMERIC:
			return parse_numeric(p, length, 10, 2, &integer);
		case COLUMN_FLOAT4:
			return parse_float4(p, length, &number);
		case COLUMN_FLOAT8:
			return parse_float8(p, length, &number);
		case COLUMN_UUID:
			return parse_uuid(p, length, &uuid);
		default:
			return parse_integer(p, length, INT32_MIN, INT32_MAX, &integer);
	}
}

/* Is the value read with this byte in the place of one of its own? */
static bool
reads_with(ColumnType type, const char *spelling, unsigned char byte)
{
	TestRandom	random = {16};
	PaddedText	padded;

	for (size_t at = 0; at < strlen(spelling); at++)
	{
		padded_set(&padded, &random, spelling);
		padded_bytes(&padded)[at] = byte;
		if (reads(type, padded_bytes(&padded), padded.length))
			return true;
	}
	return false;
}

/* Values are read with their quotes on, so none may have a byte that is one. */
static void
test_quotes(void)
{
	const size_t n = sizeof(spellings) / sizeof(spellings[0]);
	int			allowed = 0;

	for (size_t i = 0; i < n; i++)
		TEST_OK(reads_with(spellings[i].type, spellings[i].spelling,
						   (unsigned char) spellings[i].spelling[0]),
				"%s is read", spellings[i].spelling);
	for (int byte = 1; byte < 128; byte++)
	{
		Dialect		dialect = {
			.format = FILE_FORMAT_CSV,
			.delimiter = byte == ',' ? ';' : ',',
			.quote = (unsigned char) byte,
			.escape = (unsigned char) byte,
			.null = ""
		};

		if (dialect_unsupported(&dialect) != NULL)
			continue;
		allowed++;
		for (size_t i = 0; i < n; i++)
			TEST_OK(!reads_with(spellings[i].type, spellings[i].spelling,
								(unsigned char) byte),
					"quote %c, %s", byte, spellings[i].spelling);
	}
	TEST_OK(allowed > 20, "%d bytes may be quotes", allowed);
}

/* Every second of a day, and what is no plain time. */
static void
test_times(void)
{
	static const char *const strange[] = {
		"", "12:34", "24:00:00", "23:59:60", "12:60:00", "12:34:56.", "12:34:56.1234", "12:34:56 ",
		" 12:34:56", "1:02:03", "12.34.56", "12:34:56Z", "-1:00:00", "12:34:5x", "123:45:6"
	};
	TestRandom	random = {16};
	PaddedText	padded;
	char		string[LENGTH_MAX];
	int64_t		value;
	int			read = 0;
	int			taken = 0;

	for (int second = 0; second < 86400; second++)
	{
		snprintf(string, sizeof(string), "%02d:%02d:%02d.%02d", second / 3600,
				 second / 60 % 60, second % 60, second % 100);
		padded_set(&padded, &random, string);
		read += parse_time(padded_bytes(&padded), padded.length, 3, &value) &&
			value == second * INT64_C(1000000) + second % 100 * 10000;
	}
	TEST_EQUAL(read, 86400, "every second of a day");
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
	{
		padded_set(&padded, &random, strange[i]);
		taken += parse_time(padded_bytes(&padded), padded.length, 3, &value);
	}
	TEST_EQUAL(taken, 0, "times that are not plain");
}

int
main(void)
{
	test_quotes();
	test_integers();
	test_numerics();
	test_floats();
	test_every_day(-62135596800);	/* 0001-01-01 */
	test_every_day(-5364662400);	/* 1800-01-01 */
	test_every_day(240779520000);	/* 9600-01-01 */
	test_timestamps();
	test_timestamptz();
	test_times();
	return test_done();
}
