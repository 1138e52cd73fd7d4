/*
 * escape.c
 *	  The backslash sequences of COPY's text format.
 *
 *		\b \f \n \r \t \v		as in C
 *		\1 \12 \123				up to three octal digits, the low 8 bits
 *		\x1 \x12				up to two hexadecimal digits
 *		\ and anything else		that byte, so \x is x
 */
#include "core/escape.h"

static int
escape_digit(unsigned char c, int base)
{
	int			digit = -1;

	if (c >= '0' && c <= '9')
		digit = c - '0';
	else if (c >= 'a' && c <= 'f')
		digit = c - 'a' + 10;
	else if (c >= 'A' && c <= 'F')
		digit = c - 'A' + 10;
	return digit < base ? digit : -1;
}

/* Reads up to most digits; returns how many there are. */
static size_t
escape_read_digits(const unsigned char *bytes, size_t length, int base,
				   size_t most, unsigned char *value)
{
	unsigned	number = 0;
	size_t		n = 0;
	int			digit;

	while (n < most && n < length &&
		   (digit = escape_digit(bytes[n], base)) >= 0)
	{
		number = number * (unsigned) base + (unsigned) digit;
		n++;
	}
	if (n > 0)
		*value = (unsigned char) number;
	return n;
}

static unsigned char
escape_letter(unsigned char c)
{
	switch (c)
	{
		case 'b':
			return '\b';
		case 'f':
			return '\f';
		case 'n':
			return '\n';
		case 'r':
			return '\r';
		case 't':
			return '\t';
		case 'v':
			return '\v';
		default:
			return c;
	}
}

size_t
escape_read(const unsigned char *bytes, size_t length, unsigned char *value)
{
	size_t		n = escape_read_digits(bytes + 1, length - 1, 8, 3, value);

	if (n > 0)
		return 1 + n;
	if (bytes[1] == 'x')
	{
		n = escape_read_digits(bytes + 2, length - 2, 16, 2, value);
		if (n > 0)
			return 2 + n;
	}
	*value = escape_letter(bytes[1]);
	return 2;
}
