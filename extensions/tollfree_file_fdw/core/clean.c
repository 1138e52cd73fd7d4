/*
 * clean.c
 *	  Records as COPY takes them: what a policy reads otherwise is made plain.
 */
#include <string.h>

#include "core/clean.h"
#include "core/simd/scalar.h"

/*
 * Returns the bytes of the line end at a place, 0 if there is none.  *more is set if
 * that depends on a byte that is not there.
 */
static size_t
clean_line_end(LineEnd line_end, const unsigned char *bytes, size_t length,
			   bool at_end, bool *more)
{
	bool		pairs = line_end == LINE_END_UNKNOWN || line_end == LINE_END_CRNL;

	if (bytes[0] == '\n')
		return line_end == LINE_END_UNKNOWN || line_end == LINE_END_NL;
	if (bytes[0] != '\r' || line_end == LINE_END_NL)
		return 0;
	if (pairs && length > 1 && bytes[1] == '\n')
		return 2;
	*more = pairs && length == 1 && !at_end;
	return !*more && line_end != LINE_END_CRNL;
}

/* Sets whether the record, of that many bytes before its line end, is a marker. */
static void
clean_check_marker(const Dialect *dialect, CleanRecord *record,
				   const unsigned char *bytes, size_t length)
{
	record->is_marker = length == 2 && bytes[0] == '\\' && bytes[1] == '.' &&
		(dialect->format == FILE_FORMAT_TEXT || dialect->marker_in_csv);
}

CleanRecord
clean_find_record(const Dialect *dialect, LineEnd line_end, size_t nfields,
				  const unsigned char *bytes, size_t length, bool at_end)
{
	const StructureRules rules = structure_rules(dialect, LINE_END_NL);
	ScalarState state = {0};
	CleanRecord record = {.nfields = 1};
	bool		more = false;
	size_t		i = 0;

	for (; i < length && record.line_end == 0 && !more; i++)
	{
		if (scalar_protects(&rules, bytes[i], &state))
			continue;
		record.line_end = clean_line_end(line_end, bytes + i, length - i,
										 at_end, &more);
		if (record.line_end > 0)
			break;
		if (bytes[i] == dialect->delimiter && record.nfields++ == nfields)
			record.cut = i;
	}
	if (record.line_end > 0 || (at_end && !more))
		record.length = i + record.line_end;
	record.is_open = record.line_end == 0 && state.in_quotes;
	record.dangling = record.line_end == 0 && !state.in_quotes && state.escaped;
	clean_check_marker(dialect, &record, bytes, i);
	return record;
}

size_t
clean_length(const Dialect *dialect, const CleanRecord *record, size_t nfields)
{
	if (clean_is_long(dialect, record, nfields))
		return record->cut + record->line_end;
	if (!clean_is_short(dialect, record, nfields))
		return record->length;
	return record->length - record->dangling +
		(nfields - record->nfields) * (1 + dialect->null_length);
}

void
clean_write(const Dialect *dialect, const CleanRecord *record, size_t nfields,
			const unsigned char *bytes, unsigned char *to)
{
	size_t		kept = record->length - record->line_end;
	size_t		nmissing = clean_is_short(dialect, record, nfields) ?
		nfields - record->nfields : 0;

	if (clean_is_long(dialect, record, nfields))
		kept = record->cut;
	if (nmissing > 0)
		kept -= record->dangling;
	memcpy(to, bytes, kept);
	to += kept;
	for (size_t i = 0; i < nmissing; i++)
	{
		*to++ = dialect->delimiter;
		memcpy(to, dialect->null, dialect->null_length);
		to += dialect->null_length;
	}
	memcpy(to, bytes + record->length - record->line_end, record->line_end);
}

size_t
clean_fields_room(const Dialect *dialect, size_t length, size_t nfields)
{
	return length + nfields * (2 * dialect->null_length + 2);
}

/*
 * Is a field null that COPY would not take for it?  There is room for its decoded
 * bytes.
 */
static bool
clean_is_null(const Dialect *dialect, const ColumnSpec *spec, RawField raw,
			  unsigned char *room)
{
	RawField	decoded = {.bytes = room};

	if (field_is_further_null(dialect, raw))
		return spec == NULL || !spec->force_not_null;
	if (spec == NULL || !spec->force_null)
		return false;
	decoded.length = field_unquote(dialect, raw, room);
	return field_is_further_null(dialect, decoded);
}

/* Writes the null string in quotes; returns its bytes. */
static size_t
clean_quoted_null(const Dialect *dialect, unsigned char *to)
{
	unsigned char *begin = to;

	*to++ = dialect->quote;
	for (size_t i = 0; i < dialect->null_length; i++)
	{
		unsigned char c = (unsigned char) dialect->null[i];

		if (c == dialect->quote || c == dialect->escape)
			*to++ = dialect->escape;
		*to++ = c;
	}
	*to++ = dialect->quote;
	return (size_t) (to - begin);
}

/* Writes one field; returns its bytes. */
static size_t
clean_field(const Dialect *dialect, const ColumnSpec *spec, RawField raw,
			unsigned char *to)
{
	RawField	trimmed = field_trim(dialect, raw);

	if (clean_is_null(dialect, spec, trimmed, to))
	{
		/*
		 * COPY would take it for a string, but for one that is forced to
		 * null.
		 */
		if (spec != NULL && spec->force_not_null)
			return clean_quoted_null(dialect, to);
		memcpy(to, dialect->null, dialect->null_length);
		return dialect->null_length;
	}
	memcpy(to, trimmed.bytes, trimmed.length);
	return trimmed.length;
}

size_t
clean_fields(const Dialect *dialect, const ColumnSpec *specs, size_t nspecs,
			 const unsigned char *bytes, size_t length, unsigned char *to)
{
	const StructureRules rules = structure_rules(dialect, LINE_END_NL);
	ScalarState state = {0};
	unsigned char *begin = to;
	size_t		from = 0;
	size_t		field = 0;

	for (size_t i = 0; i <= length; i++)
	{
		RawField	raw = {bytes + from, (uint32_t) (i - from)};

		if (i < length && (scalar_protects(&rules, bytes[i], &state) ||
						   bytes[i] != dialect->delimiter))
			continue;
		to += clean_field(dialect, field < nspecs ? specs + field : NULL, raw, to);
		if (i < length)
			*to++ = bytes[i];
		from = i + 1;
		field++;
	}
	return (size_t) (to - begin);
}
