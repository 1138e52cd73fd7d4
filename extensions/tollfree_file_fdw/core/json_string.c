/*
 * json_string.c
 *	  The strings of JSON texts (RFC 8259).
 */
#include <stdint.h>
#include <string.h>

#include "core/json_string.h"

#define LOW_BITS	UINT64_C(0x0101010101010101)
#define HIGH_BITS	UINT64_C(0x8080808080808080)

/* Digits of an escape such as \u00e9 */
#define HEX_DIGITS	4

/*
 * Does a word have a quote, a backslash or a control character?  A byte less than n,
 * up to 0x80, has its high bit set by subtracting n, unless it was set before.  What a
 * byte borrows can only make a true answer of a false one, behind a byte that has made
 * it true.
 */
static bool
json_word_is_special(uint64_t word)
{
	uint64_t	quotes = word ^ (LOW_BITS * '"');
	uint64_t	backslashes = word ^ (LOW_BITS * '\\');

	return ((((word - LOW_BITS * ' ') & ~word) |
			 ((quotes - LOW_BITS) & ~quotes) |
			 ((backslashes - LOW_BITS) & ~backslashes)) & HIGH_BITS) != 0;
}

static int
json_hex_digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Reads four digits, of which so many bytes are there; -1 if they are not. */
static int32_t
json_hex(const unsigned char *bytes, size_t length)
{
	int32_t		value = 0;

	if (length < HEX_DIGITS)
		return -1;
	for (int i = 0; i < HEX_DIGITS; i++)
	{
		int			digit = json_hex_digit(bytes[i]);

		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

/* Returns the length of an escape, 0 if it is none. */
static size_t
json_escape_length(const unsigned char *bytes, size_t length, unsigned *seen)
{
	int32_t		value;

	if (length < 2)
		return 0;
	if (bytes[1] != 'u')
		return bytes[1] != '\0' && strchr("\"\\/bfnrt", bytes[1]) != NULL ? 2 : 0;
	value = json_hex(bytes + 2, length - 2);
	if (value >= 0x80)
		*seen |= JSON_SEEN_UNICODE;
	return value < 0 ? 0 : 2 + HEX_DIGITS;
}

/* Returns how many bytes are no quote, no backslash and no control character. */
static size_t
json_plain_length(const unsigned char *bytes, size_t length, unsigned *seen)
{
	uint64_t	high = 0;
	size_t		i = 0;

	for (; i + sizeof(uint64_t) <= length; i += sizeof(uint64_t))
	{
		uint64_t	word;

		memcpy(&word, bytes + i, sizeof(word));
		if (json_word_is_special(word))
			break;
		high |= word;
	}
	for (; i < length && bytes[i] != '"' && bytes[i] != '\\' && bytes[i] >= ' '; i++)
		high |= bytes[i];
	if ((high & HIGH_BITS) != 0)
		*seen |= JSON_SEEN_HIGH;
	return i;
}

size_t
json_string_length(const unsigned char *bytes, size_t length, unsigned *seen,
				   JsonFault *fault, size_t *fault_at)
{
	size_t		i = 1;

	for (;;)
	{
		size_t		escape;

		i += json_plain_length(bytes + i, length - i, seen);
		*fault_at = i;
		if (i == length)
		{
			*fault = JSON_CUT;
			return 0;
		}
		if (bytes[i] == '"')
			return i + 1;
		if (bytes[i] != '\\')
		{
			*fault = JSON_BAD_CONTROL;
			return 0;
		}
		escape = json_escape_length(bytes + i, length - i, seen);
		if (escape == 0)
		{
			*fault = JSON_BAD_ESCAPE;
			return 0;
		}
		*seen |= JSON_SEEN_ESCAPE;
		i += escape;
	}
}

/* Writes a character in UTF-8; returns its bytes. */
static size_t
json_put_character(uint32_t c, unsigned char *to)
{
	size_t		n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = {0x00, 0x00, 0xC0, 0xE0, 0xF0};

	for (size_t i = n - 1; i > 0; i--)
	{
		to[i] = (unsigned char) (0x80 | (c & 0x3F));
		c >>= 6;
	}
	to[0] = (unsigned char) (first[n] | c);
	return n;
}

/*
 * Reads \uXXXX, or two of them that are a surrogate pair.  Returns the bytes that were
 * read, 0 if they are no character.
 */
static size_t
json_read_unicode(const unsigned char *bytes, size_t length, uint32_t *c)
{
	uint32_t	first = (uint32_t) json_hex(bytes + 2, length - 2);
	int32_t		second;

	*c = first;
	if (first == 0 || (first >= 0xDC00 && first <= 0xDFFF))
		return 0;
	if (first < 0xD800 || first > 0xDBFF)
		return 2 + HEX_DIGITS;
	if (length < 2 * (2 + HEX_DIGITS) || bytes[6] != '\\' || bytes[7] != 'u')
		return 0;
	second = json_hex(bytes + 8, length - 8);
	if (second < 0xDC00 || second > 0xDFFF)
		return 0;
	*c = 0x10000 + ((first - 0xD800) << 10) + ((uint32_t) second - 0xDC00);
	return 2 * (2 + HEX_DIGITS);
}

/* The character of an escape with one letter. */
static unsigned char
json_letter(unsigned char c)
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
		default:
			return c;
	}
}

size_t
json_string_decode(const unsigned char *bytes, size_t length,
				   unsigned char *to, JsonFault *fault)
{
	unsigned char *begin = to;
	size_t		i = 0;

	*fault = JSON_SOUND;
	while (i < length)
	{
		const unsigned char *next = memchr(bytes + i, '\\', length - i);
		size_t		plain = next == NULL ? length - i : (size_t) (next - bytes) - i;
		size_t		read = 2;
		uint32_t	c;

		memcpy(to, bytes + i, plain);
		to += plain;
		i += plain;
		if (next == NULL)
			break;
		if (bytes[i + 1] == 'u')
		{
			read = json_read_unicode(bytes + i, length - i, &c);
			if (read == 0)
			{
				*fault = JSON_NO_TEXT;
				return 0;
			}
			to += json_put_character(c, to);
		}
		else
			*to++ = json_letter(bytes[i + 1]);
		i += read;
	}
	return (size_t) (to - begin);
}
