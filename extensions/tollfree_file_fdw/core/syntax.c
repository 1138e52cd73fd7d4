/*
 * syntax.c
 *	  Values of types that core/ does not hold, and that are valid all the same.
 *
 * Each function walks over the bytes once.  Limits of PostgreSQL's types, such as
 * the digits of a numeric or the depth of JSON, are kept by far.
 */
#include <string.h>

#include "core/syntax.h"

#define DIGITS_MOST		100		/* of a number */
#define YEARS_MOST		4		/* digits of a field of an interval */
#define FRACTION_MOST	6		/* digits of a second's fraction */
#define JSON_LEVELS		64
#define JSON_LENGTH_MOST	((uint32_t) 1 << 20)	/* bytes */
#define EXPONENT_MOST	3		/* digits */

/* What is left of a value. */
typedef struct Cursor
{
	const unsigned char *at;
	const unsigned char *end;
} Cursor;

static inline Cursor
cursor_at(const unsigned char *bytes, uint32_t length)
{
	Cursor		cursor = {bytes, bytes + length};

	return cursor;
}

static inline bool
is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

/* Skips a byte, if it is next. */
static inline bool
take(Cursor *cursor, unsigned char c)
{
	if (cursor->at == cursor->end || *cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

/* Skips a word, if it is next. */
static bool
take_word(Cursor *cursor, const char *word)
{
	size_t		length = strlen(word);

	if ((size_t) (cursor->end - cursor->at) < length ||
		memcmp(cursor->at, word, length) != 0)
		return false;
	cursor->at += length;
	return true;
}

/* Skips all digits; returns how many. */
static uint32_t
take_digits(Cursor *cursor)
{
	const unsigned char *begin = cursor->at;

	while (cursor->at < cursor->end && is_digit(*cursor->at))
		cursor->at++;
	return (uint32_t) (cursor->at - begin);
}

/*------------------------------------------------------------------------
 * Numeric
 *------------------------------------------------------------------------
 */

bool
syntax_numeric(const unsigned char *bytes, uint32_t length, int precision,
			   int scale)
{
	Cursor		cursor = cursor_at(bytes, length);
	uint32_t	before;
	uint32_t	behind = 0;

	if (!take(&cursor, '-'))
		(void) take(&cursor, '+');
	before = take_digits(&cursor);
	if (take(&cursor, '.') && (behind = take_digits(&cursor)) == 0)
		return false;
	if (before == 0 || cursor.at < cursor.end || length > DIGITS_MOST)
		return false;

	/* Rounded, 9.99 has one digit more in front of the point. */
	return precision == 0 ||
		(int) before + ((int) behind > scale) <= precision - scale;
}

/*------------------------------------------------------------------------
 * Interval
 *------------------------------------------------------------------------
 */

/* Two digits, up to 59 */
static bool
take_sixtieth(Cursor *cursor)
{
	if (cursor->end - cursor->at < 2 || cursor->at[0] > '5' ||
		!is_digit(cursor->at[0]) || !is_digit(cursor->at[1]))
		return false;
	cursor->at += 2;
	return true;
}

/* HH:MM:SS[.digits] at the end */
static bool
is_clock(Cursor cursor)
{
	uint32_t	fraction = 1;

	if (take_digits(&cursor) != 2 || !take(&cursor, ':') ||
		!take_sixtieth(&cursor) || !take(&cursor, ':') ||
		!take_sixtieth(&cursor))
		return false;
	if (take(&cursor, '.'))
		fraction = take_digits(&cursor);
	return cursor.at == cursor.end && fraction > 0 && fraction <= FRACTION_MOST;
}

/* Skips a number and this unit, which may be a plural, if they are next. */
static bool
take_unit(Cursor *cursor, const char *unit)
{
	Cursor		next = *cursor;
	uint32_t	digits = take_digits(&next);

	if (digits == 0 || digits > YEARS_MOST || !take(&next, ' ') ||
		!take_word(&next, unit))
		return false;
	(void) take(&next, 's');
	if (next.at < next.end && !take(&next, ' '))
		return false;
	*cursor = next;
	return true;
}

bool
syntax_interval(const unsigned char *bytes, uint32_t length)
{
	static const char *const units[] = {"year", "mon", "day"};
	Cursor		cursor = cursor_at(bytes, length);

	if (length == 0 || bytes[length - 1] == ' ')
		return false;
	for (int i = 0; i < 3; i++)
		(void) take_unit(&cursor, units[i]);
	return cursor.at == cursor.end || is_clock(cursor);
}

/*------------------------------------------------------------------------
 * Inet
 *------------------------------------------------------------------------
 */

/* A number without leading zeros, up to most. */
static bool
take_number(Cursor *cursor, unsigned most)
{
	const unsigned char *begin = cursor->at;
	unsigned	number = 0;
	uint32_t	digits = take_digits(cursor);

	if (digits == 0 || digits > 3 || (digits > 1 && *begin == '0'))
		return false;
	for (uint32_t i = 0; i < digits; i++)
		number = number * 10 + (begin[i] - '0');
	return number <= most;
}

bool
syntax_inet(const unsigned char *bytes, uint32_t length)
{
	Cursor		cursor = cursor_at(bytes, length);

	for (int i = 0; i < 4; i++)
		if ((i > 0 && !take(&cursor, '.')) || !take_number(&cursor, 255))
			return false;
	if (take(&cursor, '/') && !take_number(&cursor, 32))
		return false;
	return cursor.at == cursor.end;
}

/*------------------------------------------------------------------------
 * JSON
 *------------------------------------------------------------------------
 */

/* A text of JSON, and in which objects and arrays the cursor is. */
typedef struct JsonCursor
{
	Cursor		cursor;
	uint64_t	objects;		/* a bit for each level, the innermost lowest:
								 * is it an object? */
	int			depth;
	bool		is_utf8;
} JsonCursor;

static inline void
json_skip_blanks(Cursor *cursor)
{
	while (cursor->at < cursor->end &&
		   (*cursor->at == ' ' || *cursor->at == '\n' ||
			*cursor->at == '\t' || *cursor->at == '\r'))
		cursor->at++;
}

/* Four hexadecimal digits of a character, other than zero and surrogates. */
static bool
json_take_code(Cursor *cursor, bool is_utf8)
{
	unsigned	code = 0;

	if (cursor->end - cursor->at < 4)
		return false;
	for (int i = 0; i < 4; i++)
	{
		unsigned char c = *cursor->at++;
		unsigned char letter = c | 0x20;

		if (is_digit(c))
			code = code << 4 | (unsigned) (c - '0');
		else if (letter >= 'a' && letter <= 'f')
			code = code << 4 | (unsigned) (letter - 'a' + 10);
		else
			return false;
	}
	return code != 0 && (code < 0x80 || is_utf8) &&
		(code < 0xD800 || code > 0xDFFF);
}

/* What follows a backslash. */
static bool
json_take_escape(Cursor *cursor, bool is_utf8)
{
	if (cursor->at == cursor->end)
		return false;
	switch (*cursor->at++)
	{
		case '"':
		case '\\':
		case '/':
		case 'b':
		case 'f':
		case 'n':
		case 'r':
		case 't':
			return true;
		case 'u':
			return json_take_code(cursor, is_utf8);
		default:
			return false;
	}
}

static bool
json_take_string(Cursor *cursor, bool is_utf8)
{
	if (!take(cursor, '"'))
		return false;
	while (cursor->at < cursor->end)
	{
		unsigned char c = *cursor->at++;

		if (c == '"')
			return true;
		if (c < ' ' || (c == '\\' && !json_take_escape(cursor, is_utf8)))
			return false;
	}
	return false;
}

/* -digits[.digits][e[+-]digits] without leading zeros */
static bool
json_take_number(Cursor *cursor)
{
	const unsigned char *begin = cursor->at;
	bool		is_zero;
	uint32_t	digits;

	(void) take(cursor, '-');
	is_zero = cursor->at < cursor->end && *cursor->at == '0';
	digits = take_digits(cursor);
	if (digits == 0 || (is_zero && digits > 1) ||
		(take(cursor, '.') && take_digits(cursor) == 0))
		return false;
	if (take(cursor, 'e') || take(cursor, 'E'))
	{
		if (!take(cursor, '-'))
			(void) take(cursor, '+');
		digits = take_digits(cursor);
		if (digits == 0 || digits > EXPONENT_MOST)
			return false;
	}
	return cursor->at - begin <= DIGITS_MOST;
}

/* A value that is neither an object nor an array. */
static bool
json_take_scalar(JsonCursor *json)
{
	Cursor	   *cursor = &json->cursor;

	if (cursor->at == cursor->end)
		return false;
	switch (*cursor->at)
	{
		case '"':
			return json_take_string(cursor, json->is_utf8);
		case 't':
			return take_word(cursor, "true");
		case 'f':
			return take_word(cursor, "false");
		case 'n':
			return take_word(cursor, "null");
		default:
			return json_take_number(cursor);
	}
}

/* The name of a member, if values are in an object here. */
static bool
json_take_name(JsonCursor *json)
{
	Cursor	   *cursor = &json->cursor;

	if (json->depth == 0 || (json->objects & 1) == 0)
		return true;
	json_skip_blanks(cursor);
	if (!json_take_string(cursor, json->is_utf8))
		return false;
	json_skip_blanks(cursor);
	return take(cursor, ':');
}

/* The end of the innermost object or array, if it is next. */
static bool
json_take_end(JsonCursor *json)
{
	json_skip_blanks(&json->cursor);
	if (json->depth == 0 ||
		!take(&json->cursor, (json->objects & 1) != 0 ? '}' : ']'))
		return false;
	json->objects >>= 1;
	json->depth--;
	return true;
}

/* The beginning of an object or array, if it is next. */
static bool
json_take_begin(JsonCursor *json)
{
	bool		is_object = take(&json->cursor, '{');

	if (!is_object && !take(&json->cursor, '['))
		return false;
	json->objects = json->objects << 1 | is_object;
	json->depth++;
	return true;
}

bool
syntax_json(const unsigned char *bytes, uint32_t length, bool is_utf8)
{
	JsonCursor	json = {
		.cursor = cursor_at(bytes, length),.is_utf8 = is_utf8
	};

	if (length > JSON_LENGTH_MOST)
		return false;
	for (;;)
	{
		json_skip_blanks(&json.cursor);
		if (json.depth < JSON_LEVELS && json_take_begin(&json))
		{
			if (!json_take_end(&json))
			{
				if (!json_take_name(&json))
					return false;
				continue;
			}
		}
		else if (!json_take_scalar(&json))
			return false;
		while (json_take_end(&json))
			continue;
		if (json.depth == 0)
			return json.cursor.at == json.cursor.end;
		if (!take(&json.cursor, ',') || !json_take_name(&json))
			return false;
	}
}

/*------------------------------------------------------------------------
 * Labels
 *------------------------------------------------------------------------
 */

bool
syntax_label(const unsigned char *bytes, uint32_t length,
			 const TextRef *labels, int nlabels)
{
	for (int i = 0; i < nlabels; i++)
		if (labels[i].length == length &&
			memcmp(labels[i].bytes, bytes, length) == 0)
			return true;
	return false;
}
