/*
 * dialect.c
 *	  Which dialects core/ reads.
 *
 * The caller has made COPY's own checks of the options; these exclude
 * combinations that are legal in COPY but too rare for code of their own.
 */
#include "core/dialect.h"

static bool
dialect_is_line_end(unsigned char c)
{
	return c == '\n' || c == '\r';
}

/* Is it a single-byte character in every encoding core/ is used with? */
static bool
dialect_is_plain(unsigned char c)
{
	return c != '\0' && c < 0x80 && !dialect_is_line_end(c);
}

/*
 * May a plain value contain it?  The parsers of parse.h read a field before
 * its quotes are taken off: with the quote 1, 1231 is not the number 1231 but
 * 23.
 */
static bool
dialect_is_value_byte(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
		(c >= 'a' && c <= 'z') ||
		c == '+' || c == '-' || c == '.' || c == ':' || c == ' ';
}

static const char *
dialect_unsupported_csv(const Dialect *dialect)
{
	if (!dialect_is_plain(dialect->quote) || dialect->quote == '\\')
		return "quote is not a plain ASCII character";
	if (dialect_is_value_byte(dialect->quote))
		return "quote may be part of a value";
	if (!dialect_is_plain(dialect->escape))
		return "escape is not a plain ASCII character";
	if (dialect->delimiter == dialect->quote)
		return "delimiter and quote are the same";
	if (dialect->delimiter == '\\')
		return "delimiter is a backslash";
	return NULL;
}

const char *
dialect_unsupported(const Dialect *dialect)
{
	unsigned char delimiter = dialect->delimiter;

	if (dialect->format == FILE_FORMAT_JSON_LINES)
		return NULL;
	if (!dialect_is_plain(delimiter))
		return "delimiter is not a plain ASCII character";
	for (size_t i = 0; i < dialect->null_length; i++)
		if (dialect_is_line_end((unsigned char) dialect->null[i]))
			return "null string has a line end";
	if (dialect->format == FILE_FORMAT_CSV)
		return dialect_unsupported_csv(dialect);
	if (delimiter == '\\' || delimiter == '.')
		return "delimiter may end the data";

	/* COPY takes \x4A as one escape even when A is the delimiter. */
	if ((delimiter >= '0' && delimiter <= '9') ||
		(delimiter >= 'A' && delimiter <= 'F') ||
		(delimiter >= 'a' && delimiter <= 'f'))
		return "delimiter may be a digit of an escape";
	return NULL;
}
