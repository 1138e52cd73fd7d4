/*
 * number.c
 *	  Numbers as people write them, as PostgreSQL reads them.
 */
#include <string.h>

#include "core/number.h"

#define GROUP_DIGITS 3

/* What is left to read, and where it is written. */
typedef struct NumberReader
{
	const NumberForm *form;
	const unsigned char *at;
	const unsigned char *end;
	unsigned char *to;
} NumberReader;

static bool
number_is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool
number_is_blank(unsigned char c)
{
	return c == ' ' || c == '\t';
}

/* Returns the bytes of what may stand around a number where the text begins, or ends. */
static uint32_t
number_around(const NumberReader *reader, bool at_end)
{
	size_t		left = (size_t) (reader->end - reader->at);

	if (left > 0 && number_is_blank(at_end ? reader->end[-1] : *reader->at))
		return 1;
	for (int i = 0; i < reader->form->naround; i++)
	{
		const NumberCharacter *found = &reader->form->around[i];

		if (found->length <= left &&
			memcmp(at_end ? reader->end - found->length : reader->at,
				   found->bytes, found->length) == 0)
			return found->length;
	}
	return 0;
}

/* Goes on to the number; writes its sign. */
static void
number_skip_around(NumberReader *reader)
{
	bool		has_sign = false;
	uint32_t	n;

	while ((n = number_around(reader, true)) > 0)
		reader->end -= n;
	for (;;)
	{
		bool		is_sign = reader->at < reader->end && !has_sign &&
			(*reader->at == '-' || *reader->at == '+');

		if (is_sign)
			*reader->to++ = *reader->at;
		has_sign |= is_sign;
		n = is_sign ? 1 : number_around(reader, false);
		if (n == 0)
			return;
		reader->at += n;
	}
}

/* Writes digits; returns how many. */
static int
number_write_digits(NumberReader *reader)
{
	int			n = 0;

	for (; reader->at < reader->end && number_is_digit(*reader->at); n++)
		*reader->to++ = *reader->at++;
	return n;
}

/* Goes behind a separator of groups; false if there is none. */
static bool
number_skip_separator(NumberReader *reader)
{
	const NumberCharacter *separator = &reader->form->thousands;

	if (separator->length == 0 ||
		(size_t) (reader->end - reader->at) < separator->length ||
		memcmp(reader->at, separator->bytes, separator->length) != 0)
		return false;
	reader->at += separator->length;
	return true;
}

/* Writes what is before the decimal separator; returns its digits, -1 for wrong groups. */
static int
number_write_whole(NumberReader *reader)
{
	int			n = number_write_digits(reader);
	bool		is_first = true;

	while (number_skip_separator(reader))
	{
		if ((is_first && (n == 0 || n > GROUP_DIGITS)) ||
			number_write_digits(reader) != GROUP_DIGITS)
			return -1;
		is_first = false;
	}
	return n;
}

/* Writes an exponent, if there is one; false if it has no digits. */
static bool
number_write_exponent(NumberReader *reader)
{
	if (reader->at == reader->end || (*reader->at != 'e' && *reader->at != 'E'))
		return true;
	*reader->to++ = *reader->at++;
	if (reader->at < reader->end && (*reader->at == '-' || *reader->at == '+'))
		*reader->to++ = *reader->at++;
	return number_write_digits(reader) > 0;
}

uint32_t
number_write_plain(const NumberForm *form, const unsigned char *bytes,
				   uint32_t length, unsigned char *to)
{
	NumberReader reader = {
		.form = form,.at = bytes,.end = bytes + length,.to = to
	};
	int			whole;
	int			behind = 0;

	number_skip_around(&reader);
	whole = number_write_whole(&reader);
	if (reader.at < reader.end && *reader.at == (unsigned char) form->decimal)
	{
		*reader.to++ = '.';
		reader.at++;
		behind = number_write_digits(&reader);
	}
	if (whole < 0 || whole + behind == 0 || !number_write_exponent(&reader) ||
		reader.at < reader.end)
		return 0;
	return (uint32_t) (reader.to - to);
}

bool
number_has_digit(const unsigned char *bytes, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (number_is_digit(bytes[i]))
			return true;
	return false;
}
