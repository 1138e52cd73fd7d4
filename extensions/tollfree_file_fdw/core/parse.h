/*
 * parse.h
 *	  Parsers of plain values.
 *
 * Each function reads a value in the one plain syntax listed with it, and
 * returns false for everything else, invalid or only unusual: then
 * PostgreSQL's input function decides.  The result is that function's,
 * whatever the session's settings.
 *
 * They are inlined into convert.c, which has a loop over rows for each.  All
 * may read KERNEL_PADDING bytes before and after their field.
 */
#ifndef CORE_PARSE_H
#define CORE_PARSE_H

#include <math.h>

#include "core/batch.h"
#include "core/digits.h"
#include "core/inline.h"

/* Skips a sign; returns whether it is a minus. */
static ALWAYS_INLINE bool
parse_sign(const unsigned char **p, uint32_t *length)
{
	bool		negative;

	if (*length == 0 || (**p != '-' && **p != '+'))
		return false;
	negative = **p == '-';
	(*p)++;
	(*length)--;
	return negative;
}

/* [+-]digits, up to 18 of them */
static ALWAYS_INLINE bool
parse_integer(const unsigned char *p, uint32_t length, int64_t low,
			  int64_t high, int64_t *value)
{
	bool		negative = parse_sign(&p, &length);
	uint64_t	number;

	if (length == 0 || length > 18 ||
		!digits_read(p + length, (int) length, &number))
		return false;
	*value = negative ? -(int64_t) number : (int64_t) number;
	return *value >= low && *value <= high;
}

/*
 * digits.digits with exactly scale digits behind the point, 1 to 7, and up to
 * 16 in all.  Two loads, one byte apart, bring the digits around the point
 * together; "123.45" with scale 2:
 *
 *		load(end - 9)	? ? ? 1 2 3 . 4		its 6 lower bytes,
 *		load(end - 8)	? ? 1 2 3 . 4 5		its 2 last
 *		together		? ? ? 1 2 3 4 5
 */
static ALWAYS_INLINE bool
parse_fixed_point(const unsigned char *p, uint32_t length, int scale,
				  uint64_t *value)
{
	const unsigned char *end = p + length;
	int			digits = (int) length - 1;
	uint64_t	behind = digits_last(scale);
	uint64_t	last;
	uint64_t	first;

	if (length < (uint32_t) scale + 2 || digits > 16 || end[-1 - scale] != '.')
		return false;
	last = (digits_load(end - 9) & ~behind) | (digits_load(end - 8) & behind);
	last = digits_keep(last, digits < 8 ? digits : 8);
	if (!digits_all(last))
		return false;
	*value = digits_value(last);
	if (digits <= 8)
		return true;

	first = digits_keep(digits_load(end - 17), digits - 8);
	if (!digits_all(first))
		return false;
	*value += digits_value(first) * 100000000;
	return true;
}

/* digits */
static ALWAYS_INLINE bool
parse_whole(const unsigned char *p, uint32_t length, int scale,
			uint64_t *value)
{
	uint64_t	whole;

	if (length == 0 || length > NUMERIC_DIGITS_MAX ||
		!digits_read(p + length, (int) length, &whole) ||
		whole > (uint64_t) digits_power(NUMERIC_DIGITS_MAX - scale))
		return false;
	*value = whole * (uint64_t) digits_power(scale);
	return true;
}

/* digits.digits with no more than scale digits behind the point */
static inline bool
parse_pointed(const unsigned char *p, uint32_t length, int scale,
			  uint64_t *value)
{
	const unsigned char *point = memchr(p, '.', length);
	uint64_t	fraction;
	int			behind;

	if (point == NULL || !parse_whole(p, (uint32_t) (point - p), scale, value))
		return false;
	behind = (int) (p + length - point) - 1;
	if (behind < 1 || behind > scale ||
		!digits_read(p + length, behind, &fraction))
		return false;
	*value += fraction * (uint64_t) digits_power(scale - behind);
	return true;
}

/* [+-]digits[.digits], no rounding, no more digits than the precision */
static ALWAYS_INLINE bool
parse_numeric(const unsigned char *p, uint32_t length, int precision,
			  int scale, int64_t *value)
{
	bool		negative = parse_sign(&p, &length);
	uint64_t	number;

	if (!(scale > 0 && scale < 8 &&
		  parse_fixed_point(p, length, scale, &number)) &&
		!parse_whole(p, length, scale, &number) &&
		!parse_pointed(p, length, scale, &number))
		return false;
	if (number >= (uint64_t) digits_power(precision))
		return false;
	*value = negative ? -(int64_t) number : (int64_t) number;
	return true;
}

/*
 * Returns the days from 2000-01-01 to a date of the proleptic Gregorian
 * calendar.  Years begin in March here, so that the leap day is last.
 */
static ALWAYS_INLINE int64_t
parse_days(uint32_t year, uint32_t month, uint32_t day)
{
	const int64_t to_2000 = 730425; /* days of 0000-03-01 to 2000-01-01 */
	uint32_t	from_march = month > 2 ? month - 3 : month + 9;
	uint32_t	years = month > 2 ? year : year - 1;

	return (int64_t) (years * 365 + years / 4 - years / 100 + years / 400 +
					  (from_march * 153 + 2) / 5 + day - 1) - to_2000;
}

static ALWAYS_INLINE bool
parse_is_date(uint32_t year, uint32_t month, uint32_t day)
{
	static const unsigned char days[13] =
	{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	if (year == 0 || month == 0 || month > 12 || day == 0 || day > days[month])
		return false;
	return month != 2 || day < 29 ||
		(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

/* YYYY-MM-DD, the first 10 bytes */
static ALWAYS_INLINE bool
parse_date_prefix(const unsigned char *p, int64_t *days)
{
	uint64_t	word = digits_load(p);
	uint32_t	year;
	uint32_t	month;
	uint32_t	day;

	if (p[4] != '-' || p[7] != '-')
		return false;

	/* YYYY-MM- to YYYYMMDD */
	word = (word & 0xFFFFFFFF) | ((word >> 8) & 0x0000FFFF00000000) |
		(digits_load(p + 2) & ((uint64_t) 0xFFFF << 48));
	if (!digits_all(word))
		return false;
	word = digits_pairs(word);
	year = (uint32_t) (word & 0xFF) * 100 + ((word >> 16) & 0xFF);
	month = (word >> 32) & 0xFF;
	day = (word >> 48) & 0xFF;
	*days = parse_days(year, month, day);
	return parse_is_date(year, month, day);
}

/* YYYY-MM-DD, 0001-01-01 to 9999-12-31 */
static ALWAYS_INLINE bool
parse_date(const unsigned char *p, uint32_t length, int64_t *days)
{
	return length == 10 && parse_date_prefix(p, days);
}

/* .digits, up to scale of them; in microseconds */
static ALWAYS_INLINE bool
parse_second_fraction(const unsigned char *p, uint32_t length, int scale,
					  int64_t *microseconds)
{
	uint64_t	number;

	*microseconds = 0;
	if (length == 0)
		return true;
	if (p[0] != '.' || length < 2 || length - 1 > (uint32_t) scale ||
		!digits_read(p + length, (int) length - 1, &number))
		return false;
	*microseconds = (int64_t) number * digits_power(7 - (int) length);
	return true;
}

/* HH:MM:SS, the first 8 bytes, 00:00:00 to 23:59:59; in seconds */
static ALWAYS_INLINE bool
parse_clock(const unsigned char *p, int64_t *seconds)
{
	uint64_t	word = digits_load(p);
	uint32_t	hour;
	uint32_t	minute;
	uint32_t	second;

	if (p[2] != ':' || p[5] != ':')
		return false;

	/* HH:MM:SS to 00HHMMSS */
	word = ((word & 0xFFFF) << 16) | ((word << 8) & 0x0000FFFF00000000) |
		(word & ((uint64_t) 0xFFFF << 48)) | (DIGITS_ZEROS & 0xFFFF);
	if (!digits_all(word))
		return false;
	word = digits_pairs(word);
	hour = (word >> 16) & 0xFF;
	minute = (word >> 32) & 0xFF;
	second = (word >> 48) & 0xFF;
	*seconds = hour * 3600 + minute * 60 + second;
	return hour < 24 && minute < 60 && second < 60;
}

/* HH:MM:SS[.digits], as above */
static ALWAYS_INLINE bool
parse_time(const unsigned char *p, uint32_t length, int scale,
		   int64_t *microseconds)
{
	int64_t		seconds;
	int64_t		fraction;

	if (length < 8 || !parse_clock(p, &seconds) ||
		!parse_second_fraction(p + 8, length - 8, scale, &fraction))
		return false;
	*microseconds = seconds * 1000000 + fraction;
	return true;
}

/* YYYY-MM-DD HH:MM:SS[.digits], as above; or a T for the blank */
static ALWAYS_INLINE bool
parse_date_time(const unsigned char *p, uint32_t length, int scale,
				int64_t *microseconds)
{
	int64_t		days;
	int64_t		time;

	if (length < 19 || (p[10] != ' ' && p[10] != 'T') ||
		!parse_date_prefix(p, &days) ||
		!parse_time(p + 11, length - 11, scale, &time))
		return false;
	*microseconds = days * 86400 * 1000000 + time;
	return true;
}

/* Does a value end in UTC behind a blank, as PostgreSQL's own log has it? */
static ALWAYS_INLINE bool
parse_is_utc(const unsigned char *p, uint32_t length)
{
	return length > 4 && memcmp(p + length - 4, " UTC", 4) == 0;
}

/*
 * [+-]HH[[:]MM] at the end of a value, up to 15:59, perhaps behind a blank; or Z, or
 * UTC behind a blank; in seconds east of UTC.  Sets its length with the blank.
 */
static ALWAYS_INLINE bool
parse_zone(const unsigned char *p, uint32_t length, uint32_t *zone_length,
		   int64_t *seconds)
{
	static const unsigned char lengths[3] = {3, 6, 5};

	if (length > 0 && (p[length - 1] | 0x20) == 'z')
	{
		*zone_length = 1;
		*seconds = 0;
		return true;
	}
	if (parse_is_utc(p, length))
	{
		*zone_length = 4;
		*seconds = 0;
		return true;
	}
	for (int i = 0; i < 3; i++)
	{
		const uint32_t n = lengths[i];
		const unsigned char *zone = p + length - n;
		uint64_t	hours;
		uint64_t	minutes = 0;

		if (length < n || (zone[0] != '+' && zone[0] != '-'))
			continue;
		if ((n == 6 && zone[3] != ':') || !digits_read(zone + 3, 2, &hours) ||
			(n > 3 && !digits_read(zone + n, 2, &minutes)))
			return false;
		*zone_length = n + (length > n && zone[-1] == ' ');
		*seconds = (int64_t) (hours * 3600 + minutes * 60);
		if (zone[0] == '-')
			*seconds = -*seconds;
		return hours <= 15 && minutes < 60;
	}
	return false;
}

/* Date and time as above, perhaps with such a zone, which is ignored */
static ALWAYS_INLINE bool
parse_timestamp(const unsigned char *p, uint32_t length, int scale,
				int64_t *microseconds)
{
	uint32_t	zone_length;
	int64_t		east;

	if (length < 20 || !parse_zone(p, length, &zone_length, &east))
		zone_length = 0;
	return parse_date_time(p, length - zone_length, scale, microseconds);
}

/* Date and time with such a zone */
static ALWAYS_INLINE bool
parse_timestamptz(const unsigned char *p, uint32_t length, int scale,
				  int64_t *microseconds)
{
	uint32_t	zone_length;
	int64_t		east;

	if (!parse_zone(p, length, &zone_length, &east) ||
		!parse_date_time(p, length - zone_length, scale, microseconds))
		return false;
	*microseconds -= east * 1000000;
	return true;
}

/* t, f, true, false, 1, 0 */
static inline bool
parse_bool(const unsigned char *p, uint32_t length, int64_t *value)
{
	*value = length > 0 && (p[0] == 't' || p[0] == '1');
	if (length == 1)
		return *p == 't' || *p == 'f' || *p == '1' || *p == '0';
	return (length == 4 && memcmp(p, "true", 4) == 0) ||
		(length == 5 && memcmp(p, "false", 5) == 0);
}

/* A number as significant digits times a power of ten */
typedef struct DecimalParts
{
	uint64_t	digits;
	int			exponent;
	bool		negative;
} DecimalParts;

/* Adds up to 19 digits to *number; returns the number of bytes read. */
static ALWAYS_INLINE uint32_t
parse_digit_run(const unsigned char *p, uint32_t length, uint64_t *number)
{
	uint32_t	n = 0;

	while (n < length && p[n] >= '0' && p[n] <= '9' &&
		   *number < 100000000000000000)
		*number = *number * 10 + (p[n++] - '0');
	return n;
}

/* [+-]digits[.digits][e[+-]digits] */
static inline bool
parse_decimal(const unsigned char *p, uint32_t length, DecimalParts *parts)
{
	uint64_t	exponent = 0;
	uint32_t	n;

	parts->digits = 0;
	parts->exponent = 0;
	parts->negative = parse_sign(&p, &length);
	n = parse_digit_run(p, length, &parts->digits);
	if (n == 0)
		return false;
	if (n + 1 < length && p[n] == '.')
	{
		uint32_t	behind = parse_digit_run(p + n + 1, length - n - 1,
											 &parts->digits);

		if (behind == 0 || behind > 100)
			return false;
		parts->exponent = -(int) behind;
		n += 1 + behind;
	}
	if (n == length)
		return true;

	if (p[n] != 'e' && p[n] != 'E')
		return false;
	p += n + 1;
	length -= n + 1;
	{
		bool		negative = parse_sign(&p, &length);

		if (length == 0 || length > 3 ||
			parse_digit_run(p, length, &exponent) != length)
			return false;
		parts->exponent += negative ? -(int) exponent : (int) exponent;
	}
	return true;
}

/*
 * A float whose digits and power of ten are both exact in its format: one
 * multiplication or division rounds once, as the nearest value needs.
 */
static ALWAYS_INLINE bool
parse_float8(const unsigned char *p, uint32_t length, double *value)
{
	static const double powers[] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
	};
	DecimalParts parts;
	double		result;

	if (!parse_decimal(p, length, &parts) ||
		parts.digits > (uint64_t) 1 << 53 ||
		parts.exponent < -22 || parts.exponent > 22)
		return false;
	result = (double) parts.digits;
	if (parts.exponent < 0)
		result /= powers[-parts.exponent];
	else
		result *= powers[parts.exponent];
	*value = parts.negative ? -result : result;
	return true;
}

/* Likewise; as a double, which has every float's value. */
static ALWAYS_INLINE bool
parse_float4(const unsigned char *p, uint32_t length, double *value)
{
	static const float powers[] = {
		1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f
	};
	DecimalParts parts;
	float		result;

	if (!parse_decimal(p, length, &parts) ||
		parts.digits > (uint64_t) 1 << 24 ||
		parts.exponent < -10 || parts.exponent > 10)
		return false;
	result = (float) parts.digits;
	if (parts.exponent < 0)
		result /= powers[-parts.exponent];
	else
		result *= powers[parts.exponent];
	*value = parts.negative ? -result : result;
	return true;
}

static ALWAYS_INLINE int
parse_hex_digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 8-4-4-4-12 hexadecimal digits of either case */
static inline bool
parse_uuid(const unsigned char *p, uint32_t length, Uuid *uuid)
{
	int			at = 0;

	if (length != 36)
		return false;
	for (int i = 0; i < 16; i++)
	{
		int			high;
		int			low;

		if ((i == 4 || i == 6 || i == 8 || i == 10) && p[at++] != '-')
			return false;
		high = parse_hex_digit(p[at++]);
		low = parse_hex_digit(p[at++]);
		if (high < 0 || low < 0)
			return false;
		uuid->bytes[i] = (unsigned char) (high << 4 | low);
	}
	return true;
}

#endif							/* CORE_PARSE_H */
