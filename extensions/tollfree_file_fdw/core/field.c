/*
 * field.c
 *	  Decodes the bytes of a field: null string, quotes and escapes.
 *
 * The fields are of records whose quotes are balanced and whose octal and
 * hexadecimal escapes give valid bytes: filescan.c hands all others over to
 * COPY's parser.
 */
#include "core/escape.h"
#include "core/field.h"

FieldRules
field_rules(const Dialect *dialect)
{
	FieldRules	rules = {
		.dialect = dialect,
		.has_nulls = dialect->policy.nulls != NULL
	};
	size_t		length = dialect->null_length;

	memcpy(&rules.null_word, dialect->null, length < 8 ? length : 8);
	memset(&rules.null_mask, 0xFF, length < 8 ? length : 8);
	return rules;
}

bool
field_is_further_null(const Dialect *dialect, RawField raw)
{
	return policy_has_null(&dialect->policy, raw.bytes, raw.length);
}

/* Is it a blank?  A delimiter is none of a field. */
static bool
field_is_blank(unsigned char c)
{
	return c == ' ' || c == '\t';
}

RawField
field_trim(const Dialect *dialect, RawField raw)
{
	RawField	trimmed = raw;

	if (!dialect->policy.skip_quote_blanks || dialect->format != FILE_FORMAT_CSV)
		return raw;
	while (trimmed.length > 0 && trimmed.bytes[0] != dialect->quote &&
		   field_is_blank(trimmed.bytes[0]))
	{
		trimmed.bytes++;
		trimmed.length--;
	}
	if (trimmed.length == 0 || trimmed.bytes[0] != dialect->quote)
		return raw;
	for (uint32_t n = trimmed.length; n > 0; n--)
	{
		if (trimmed.bytes[n - 1] == dialect->quote)
			trimmed.length = n;
		if (!field_is_blank(trimmed.bytes[n - 1]))
			break;
	}
	return trimmed;
}

/* Is a decoded value a string that stands for null? */
static bool
field_stands_for_null(const Dialect *dialect, const unsigned char *bytes,
					  size_t length)
{
	return (length == dialect->null_length &&
			memcmp(bytes, dialect->null, length) == 0) ||
		policy_has_null(&dialect->policy, bytes, length);
}

uint32_t
field_unquote(const Dialect *dialect, RawField raw, unsigned char *to)
{
	bool		in_quotes = false;
	uint32_t	n = 0;

	for (uint32_t i = 0; i < raw.length; i++)
	{
		unsigned char c = raw.bytes[i];

		if (in_quotes && c == dialect->escape && i + 1 < raw.length &&
			(raw.bytes[i + 1] == dialect->escape ||
			 raw.bytes[i + 1] == dialect->quote))
			to[n++] = raw.bytes[++i];
		else if (c == dialect->quote)
			in_quotes = !in_quotes;
		else
			to[n++] = c;
	}
	return n;
}

/* Likewise, a field in text format without its backslash sequences. */
static uint32_t
field_unescape(RawField raw, unsigned char *to)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < raw.length;)
	{
		if (raw.bytes[i] != '\\')
			to[n++] = raw.bytes[i++];
		else if (i + 1 == raw.length)
			i++;
		else
			i += escape_read(raw.bytes + i, raw.length - i, &to[n++]);
	}
	return n;
}

/* Is all of it one pair of quotes around plain bytes? */
static bool
field_is_plainly_quoted(const Dialect *dialect, RawField raw)
{
	const unsigned char *inner = raw.bytes + 1;

	return dialect->format == FILE_FORMAT_CSV && raw.length >= 2 &&
		raw.bytes[0] == dialect->quote &&
		memchr(inner, dialect->quote, raw.length - 1) ==
		raw.bytes + raw.length - 1 &&
		(dialect->escape == dialect->quote ||
		 memchr(inner, dialect->escape, raw.length - 2) == NULL);
}

/* Returns the decoded bytes of a field. */
static FieldValue
field_decode(const FieldRules *rules, RawField raw, Arena *arena)
{
	const Dialect *dialect = rules->dialect;
	FieldValue	value = {.bytes = raw.bytes + 1,.length = raw.length - 2};
	unsigned char *to;

	if (field_is_plainly_quoted(dialect, raw))
		return value;
	to = arena_new(arena, raw.length);
	value.bytes = to;
	value.no_memory = to == NULL;
	if (to != NULL)
		value.length = dialect->format == FILE_FORMAT_CSV ?
			field_unquote(dialect, raw, to) : field_unescape(raw, to);
	return value;
}

FieldValue
field_value(const FieldRules *rules, RawField raw, const ColumnSpec *spec,
			Arena *arena)
{
	const Dialect *dialect = rules->dialect;
	FieldValue	value = {.bytes = raw.bytes,.length = raw.length};

	if (field_is_null_string(rules, raw))
	{
		value.is_null = !spec->force_not_null;
		return value;
	}
	if (field_is_encoded(rules, raw))
		value = field_decode(rules, field_trim(dialect, raw), arena);
	if (spec->force_null && !value.no_memory &&
		field_stands_for_null(dialect, value.bytes, value.length))
		value.is_null = true;
	return value;
}

FieldValue
field_missing(const FieldRules *rules, const ColumnSpec *spec)
{
	FieldValue	value = {
		.bytes = (const unsigned char *) rules->dialect->null,
		.length = (uint32_t) rules->dialect->null_length,
		.is_null = !spec->force_not_null
	};

	return value;
}
