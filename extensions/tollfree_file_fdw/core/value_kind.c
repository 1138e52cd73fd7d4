/*
 * value_kind.c
 *	  Which type texts may be values of.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "core/value_kind.h"

/* Digits of numbers that int4 and int8 can have, all of them or but for the limit */
#define INT4_DIGITS	10
#define INT8_DIGITS	19

/* Digits of a number that is not taken for a text */
#define NUMERIC_DIGITS	100

/* A text that is being looked at */
typedef struct KindScan
{
	const unsigned char *at;
	const unsigned char *end;
} KindScan;

static bool
kind_is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

/* Passes over digits; returns how many. */
static size_t
kind_skip_digits(KindScan *scan)
{
	const unsigned char *begin = scan->at;

	while (scan->at < scan->end && kind_is_digit(*scan->at))
		scan->at++;
	return (size_t) (scan->at - begin);
}

/* Passes over one of these characters, if it is next. */
static bool
kind_skip(KindScan *scan, const char *characters)
{
	if (scan->at == scan->end || *scan->at == '\0' ||
		strchr(characters, *scan->at) == NULL)
		return false;
	scan->at++;
	return true;
}

/* Is a number of so many digits at most that limit, of as many? */
static bool
kind_fits(const unsigned char *digits, size_t ndigits, const char *limit)
{
	size_t		length = strlen(limit);

	return ndigits < length ||
		(ndigits == length && memcmp(digits, limit, length) <= 0);
}

/* An integer without a fraction, of which the digits are given. */
static ValueKind
kind_of_integer(const unsigned char *digits, size_t ndigits, bool is_negative)
{
	if (is_negative && ndigits == 1 && *digits == '0')
		return KIND_TEXT;
	if (kind_fits(digits, ndigits, is_negative ? "2147483648" : "2147483647"))
		return KIND_INT4;
	if (kind_fits(digits, ndigits, is_negative ? "9223372036854775808" :
				  "9223372036854775807"))
		return KIND_INT8;
	return KIND_NUMERIC;
}

static ValueKind
kind_of_number(KindScan scan)
{
	bool		is_negative = kind_skip(&scan, "-");
	const unsigned char *digits = scan.at;
	size_t		ndigits = kind_skip_digits(&scan);
	bool		is_integer = true;

	if (ndigits > NUMERIC_DIGITS || (ndigits > 1 && *digits == '0'))
		return KIND_TEXT;
	if (kind_skip(&scan, "."))
	{
		size_t		nfraction = kind_skip_digits(&scan);

		if (nfraction == 0 || nfraction > NUMERIC_DIGITS)
			return KIND_TEXT;
		is_integer = false;
	}
	else if (ndigits == 0)
		return KIND_TEXT;
	if (kind_skip(&scan, "eE"))
	{
		size_t		nexponent;

		(void) kind_skip(&scan, "+-");
		nexponent = kind_skip_digits(&scan);
		if (nexponent == 0 || nexponent > 2)
			return KIND_TEXT;
		is_integer = false;
	}
	if (scan.at != scan.end)
		return KIND_TEXT;
	return is_integer ? kind_of_integer(digits, ndigits, is_negative) :
		KIND_NUMERIC;
}

/* Passes over two digits, whose number is at most that; -1 if they are not next. */
static int
kind_skip_pair(KindScan *scan, int most)
{
	int			number;

	if (scan->end - scan->at < 2 || !kind_is_digit(scan->at[0]) ||
		!kind_is_digit(scan->at[1]))
		return -1;
	number = (scan->at[0] - '0') * 10 + scan->at[1] - '0';
	scan->at += 2;
	return number <= most ? number : -1;
}

/* Passes over a date, as 2026-01-31. */
static bool
kind_skip_date(KindScan *scan)
{
	static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int			century = kind_skip_pair(scan, 99);
	int			year = kind_skip_pair(scan, 99);
	int			month;
	int			day;

	if (century < 0 || year < 0 || century + year == 0 || !kind_skip(scan, "-"))
		return false;
	year += century * 100;
	month = kind_skip_pair(scan, 12);
	if (month < 1 || !kind_skip(scan, "-"))
		return false;
	day = kind_skip_pair(scan, days[month - 1]);
	if (day < 1 || (scan->at < scan->end && kind_is_digit(*scan->at)))
		return false;
	return month != 2 || day < 29 ||
		(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

/* Passes over a time of day, as 12:00 or 12:00:00.5. */
static bool
kind_skip_time(KindScan *scan)
{
	if (kind_skip_pair(scan, 23) < 0 || !kind_skip(scan, ":") ||
		kind_skip_pair(scan, 59) < 0)
		return false;
	if (!kind_skip(scan, ":"))
		return true;
	if (kind_skip_pair(scan, 59) < 0)
		return false;
	if (kind_skip(scan, "."))
	{
		size_t		ndigits = kind_skip_digits(scan);

		return ndigits > 0 && ndigits <= 6;
	}
	return true;
}

/* Passes over a zone, as Z, +01 or -03:30. */
static bool
kind_skip_zone(KindScan *scan)
{
	if (kind_skip(scan, "Z"))
		return true;
	if (!kind_skip(scan, "+-") || kind_skip_pair(scan, 15) < 0)
		return false;
	if (scan->at == scan->end)
		return true;
	(void) kind_skip(scan, ":");
	return kind_skip_pair(scan, 59) >= 0;
}

static ValueKind
kind_of_time(KindScan scan)
{
	if (!kind_skip_date(&scan))
		return KIND_TEXT;
	if (scan.at == scan.end)
		return KIND_DATE;
	if (!kind_skip(&scan, " T") || !kind_skip_time(&scan))
		return KIND_TEXT;
	if (scan.at == scan.end)
		return KIND_TIMESTAMP;
	return kind_skip_zone(&scan) && scan.at == scan.end ? KIND_TIMESTAMPTZ :
		KIND_TEXT;
}

static bool
kind_is_uuid(const unsigned char *bytes, size_t length)
{
	if (length != 36)
		return false;
	for (size_t i = 0; i < length; i++)
	{
		bool		is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? bytes[i] != '-' : !kind_is_digit(bytes[i]) &&
			(bytes[i] < 'a' || bytes[i] > 'f'))
			return false;
	}
	return true;
}

static bool
kind_is_bool(const unsigned char *bytes, size_t length)
{
	return (length == 4 && strncasecmp((const char *) bytes, "true", 4) == 0) ||
		(length == 5 && strncasecmp((const char *) bytes, "false", 5) == 0) ||
		(length == 1 && (*bytes == 't' || *bytes == 'f'));
}

ValueKind
kind_of(const unsigned char *bytes, size_t length)
{
	const KindScan scan = {bytes, bytes + length};
	ValueKind	kind;

	if (length == 0)
		return KIND_TEXT;
	if (kind_is_uuid(bytes, length))
		return KIND_UUID;
	if (kind_is_bool(bytes, length))
		return KIND_BOOL;
	kind = kind_of_number(scan);
	return kind != KIND_TEXT ? kind : kind_of_time(scan);
}

ValueKind
kind_join(ValueKind a, ValueKind b)
{
	ValueKind	lesser = a < b ? a : b;
	ValueKind	greater = a < b ? b : a;

	if (lesser == greater || lesser == KIND_NONE)
		return greater;
	if (lesser >= KIND_INT4 && greater <= KIND_NUMERIC)
		return greater;
	return lesser == KIND_DATE && greater == KIND_TIMESTAMP ? greater : KIND_TEXT;
}
