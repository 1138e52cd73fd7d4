/*
 * convert.c
 *	  Converts fields of many records to the values of one column.
 *
 * One loop per type, made from convert_rows by inlining the type's parser.
 * The loop converts plain fields; one that its parser does not read, because
 * it is quoted, escaped, unusual or invalid, is handled by convert_again.
 */
#include "core/convert.h"
#include "core/inline.h"
#include "core/kernel.h"
#include "core/parse.h"
#include "core/syntax.h"

/* One column's conversion. */
typedef struct Conversion
{
	RecordFields records;
	FieldRules	rules;
	ColumnSpec	spec;
	Arena	   *arena;
	const RowBitmap *rows;		/* to be converted; NULL for all */
	ColumnVector *vector;
	ColumnValues values;		/* the vector's */
} Conversion;

/* Stores the value of a field in the vector's row; false if it is not plain. */
typedef bool (*ParseField) (const Conversion *conversion, RawField raw,
							int row);

static ALWAYS_INLINE bool
convert_bool(const Conversion *conversion, RawField raw, int row)
{
	return parse_bool(raw.bytes, raw.length,
					  &conversion->values.integers[row]);
}

static ALWAYS_INLINE bool
convert_int2(const Conversion *conversion, RawField raw, int row)
{
	return parse_integer(raw.bytes, raw.length, INT16_MIN, INT16_MAX,
						 &conversion->values.integers[row]);
}

static ALWAYS_INLINE bool
convert_int4(const Conversion *conversion, RawField raw, int row)
{
	return parse_integer(raw.bytes, raw.length, INT32_MIN, INT32_MAX,
						 &conversion->values.integers[row]);
}

static ALWAYS_INLINE bool
convert_int8(const Conversion *conversion, RawField raw, int row)
{
	return parse_integer(raw.bytes, raw.length, INT64_MIN, INT64_MAX,
						 &conversion->values.integers[row]);
}

static ALWAYS_INLINE bool
convert_date(const Conversion *conversion, RawField raw, int row)
{
	return parse_date(raw.bytes, raw.length,
					  &conversion->values.integers[row]);
}

static ALWAYS_INLINE bool
convert_timestamp(const Conversion *conversion, RawField raw, int row)
{
	return parse_timestamp(raw.bytes, raw.length, conversion->spec.scale,
						   &conversion->values.integers[row]);
}

static ALWAYS_INLINE bool
convert_timestamptz(const Conversion *conversion, RawField raw, int row)
{
	return parse_timestamptz(raw.bytes, raw.length, conversion->spec.scale,
							 &conversion->values.integers[row]);
}

static ALWAYS_INLINE bool
convert_time(const Conversion *conversion, RawField raw, int row)
{
	return parse_time(raw.bytes, raw.length, conversion->spec.scale,
					  &conversion->values.integers[row]);
}

static ALWAYS_INLINE bool
convert_numeric(const Conversion *conversion, RawField raw, int row)
{
	return parse_numeric(raw.bytes, raw.length, conversion->spec.precision,
						 conversion->spec.scale,
						 &conversion->values.integers[row]);
}

static ALWAYS_INLINE bool
convert_float4(const Conversion *conversion, RawField raw, int row)
{
	return parse_float4(raw.bytes, raw.length,
						&conversion->values.floats[row]);
}

static ALWAYS_INLINE bool
convert_float8(const Conversion *conversion, RawField raw, int row)
{
	return parse_float8(raw.bytes, raw.length,
						&conversion->values.floats[row]);
}

static ALWAYS_INLINE bool
convert_uuid(const Conversion *conversion, RawField raw, int row)
{
	return parse_uuid(raw.bytes, raw.length,
					  &conversion->values.uuids[row]);
}

/* COLUMN_OTHER: is a value without quotes and escapes known to be valid? */
static bool
convert_check(const Conversion *conversion, RawField raw)
{
	const ColumnSpec *spec = &conversion->spec;

	switch (spec->syntax)
	{
		case SYNTAX_UNKNOWN:
			break;
		case SYNTAX_NUMERIC:
			return syntax_numeric(raw.bytes, raw.length, spec->precision,
								  spec->scale);
		case SYNTAX_INTERVAL:
			return syntax_interval(raw.bytes, raw.length);
		case SYNTAX_INET:
			return syntax_inet(raw.bytes, raw.length);
		case SYNTAX_JSON:
			return syntax_json(raw.bytes, raw.length,
							   conversion->rules.dialect->encoding ==
							   FILE_ENCODING_UTF8);
		case SYNTAX_LABEL:
			return syntax_label(raw.bytes, raw.length, spec->labels,
								spec->nlabels);
	}
	return false;
}

/* Nothing is stored: PostgreSQL converts all values, some when they are wanted. */
static ALWAYS_INLINE bool
convert_nothing(const Conversion *conversion, RawField raw, int row)
{
	(void) row;
	return !field_is_encoded(&conversion->rules, raw) &&
		convert_check(conversion, raw);
}

/* Has the text no more characters than the type's length? */
static ALWAYS_INLINE bool
convert_text_fits(const Conversion *conversion, RawField raw)
{
	uint32_t	most = (uint32_t) conversion->spec.max_chars;
	uint32_t	chars = raw.length;

	if (most == 0 || raw.length <= most)
		return true;
	if (conversion->rules.dialect->encoding != FILE_ENCODING_UTF8)
		return false;
	for (uint32_t i = 0; i < raw.length; i++)
		chars -= (raw.bytes[i] & 0xC0) == 0x80;
	return chars <= most;
}

/* Stores bytes without quotes and escapes. */
static ALWAYS_INLINE bool
convert_decoded_text(const Conversion *conversion, RawField raw, int row)
{
	if (!convert_text_fits(conversion, raw))
		return false;
	conversion->values.texts[row].bytes = raw.bytes;
	conversion->values.texts[row].length = raw.length;
	return true;
}

static ALWAYS_INLINE bool
convert_text(const Conversion *conversion, RawField raw, int row)
{
	return !field_is_encoded(&conversion->rules, raw) &&
		convert_decoded_text(conversion, raw, row);
}

static void
convert_zero(const Conversion *conversion, int row)
{
	size_t		size = column_value_size(conversion->spec.type);

	if (size > 0)
		memset((char *) conversion->values.any + (size_t) row * size,
			   0, size);
}

/*
 * Stores an unquoted and unescaped value, if it is plain now.  Parsers need
 * the padding that a field in the file's bytes has.
 */
static bool
convert_decoded(const Conversion *conversion, RawField raw, FieldValue value,
				int row, ParseField parse)
{
	RawField	decoded = {value.bytes, value.length};

	if (column_type_is_text(conversion->spec.type))
		return convert_decoded_text(conversion, decoded, row);
	if (conversion->spec.type == COLUMN_OTHER)
		return convert_check(conversion, decoded);
	return decoded.bytes > raw.bytes &&
		decoded.bytes < raw.bytes + raw.length &&
		parse(conversion, decoded, row);
}

/*
 * Converts a field that is the null string, or that the parser did not accept.
 * Returns false when there is no memory.
 */
static __attribute__((noinline))
bool
convert_again(const Conversion *conversion, RawField raw, int row,
			  ParseField parse)
{
	FieldValue	value = field_value(&conversion->rules, raw,
									&conversion->spec, conversion->arena);

	convert_zero(conversion, row);
	if (value.no_memory)
		return false;
	if (value.is_null)
		bitmap_add(&conversion->vector->nulls, row);
	else if (!convert_decoded(conversion, raw, value, row, parse))
	{
		convert_zero(conversion, row);
		bitmap_add(&conversion->vector->unresolved, row);
	}
	return true;
}

/*
 * Converts one row.  The local conversion is a copy whose address is not
 * taken, so that it stays in registers.
 */
static ALWAYS_INLINE bool
convert_row(const Conversion *conversion, const Conversion *local, int row,
			ParseField parse)
{
	RawField	raw = field_at(&local->records, row, local->spec.field);

	return (!field_is_null_string(&local->rules, raw) &&
			parse(local, raw, row)) ||
		convert_again(conversion, raw, row, parse);
}

static ALWAYS_INLINE bool
convert_rows(const Conversion *conversion, ParseField parse)
{
	const Conversion local = *conversion;
	const int	nrows = local.records.nrecords;

	if (local.rows == NULL)
	{
		for (int row = 0; row < nrows; row++)
			if (!convert_row(conversion, &local, row, parse))
				return false;
		return true;
	}
	for (int row = bitmap_next(local.rows, 0, nrows); row < nrows;
		 row = bitmap_next(local.rows, row + 1, nrows))
		if (!convert_row(conversion, &local, row, parse))
			return false;
	return true;
}

/*
 * All records lack the field: null, or what PostgreSQL makes of the null string.
 */
static void
convert_lacking(const RecordFields *records, ColumnVector *vector)
{
	RowBitmap  *rows = vector->spec->force_not_null ?
		&vector->unresolved : &vector->nulls;

	bitmap_fill(rows, records->nrecords);
	if (vector->values.any != NULL)
		memset(vector->values.any, 0, (size_t) records->nrecords *
			   column_value_size(vector->spec->type));
}

/* How many bytes the column's fields have. */
static size_t
convert_fields_length(const Conversion *conversion)
{
	size_t		length = 0;

	for (int row = 0; row < conversion->records.nrecords; row++)
		length += field_at(&conversion->records, row,
						   conversion->spec.field).length;
	return length;
}

/*
 * Writes the field of a row to to, as PostgreSQL reads its number, and adds the row to
 * those that are plain; if it is none, notes that.  Returns its bytes, -1 without memory.
 */
static int64_t
convert_number(const Conversion *conversion, int row, unsigned char *to,
			   RowBitmap *plain)
{
	FieldValue	value = field_value(&conversion->rules,
									field_at(&conversion->records, row,
											 conversion->spec.field),
									&conversion->spec, conversion->arena);
	uint32_t	length;

	if (value.no_memory)
		return -1;
	length = value.is_null ? 0 :
		number_write_plain(conversion->spec.form, value.bytes, value.length, to);
	bitmap_add(value.is_null ? &conversion->vector->nulls :
			   length > 0 ? plain : &conversion->vector->unresolved, row);
	return length;
}

/*
 * Has the conversion read records with one field, a plain number, in place of the
 * column's, in the arena, and only rows that have one.  False without memory.
 */
static bool
convert_write_numbers(Conversion *conversion, Dialect *dialect, RowBitmap *plain)
{
	const int	nrows = conversion->records.nrecords;
	const RowBitmap *rows = conversion->rows;
	size_t		padded = convert_fields_length(conversion) + 2 * KERNEL_PADDING;
	unsigned char *bytes = arena_new(conversion->arena, padded + (size_t) nrows);
	uint32_t   *positions = arena_new(conversion->arena,
									  sizeof(uint32_t) * ((size_t) nrows + 1));
	uint32_t	at = 0;

	if (bytes == NULL || positions == NULL)
		return false;
	bytes += KERNEL_PADDING;
	*positions++ = (uint32_t) -1;
	bitmap_clear(plain);
	for (int row = 0; row < nrows; row++)
	{
		int64_t		length = rows != NULL && !bitmap_has(rows, row) ? 0 :
			convert_number(conversion, row, bytes + at, plain);

		if (length < 0)
			return false;
		at += (uint32_t) length;
		positions[row] = at++;
	}

	/* What stands for null has been found: no length is that of this one. */
	*dialect = *conversion->rules.dialect;
	dialect->null_length = SIZE_MAX;
	dialect->policy.nulls = NULL;
	conversion->rules = (FieldRules)
	{
		.dialect = dialect
	};
	conversion->records = (RecordFields)
	{
		.bytes = bytes,.positions = positions,.nrecords = nrows,.nfields = 1,
			.line_end_length = 1
	};
	conversion->spec.field = 0;
	conversion->rows = plain;
	return true;
}

bool
convert_column(const RecordFields *records, const FieldRules *rules,
			   Arena *arena, const RowBitmap *rows, ColumnVector *vector)
{
	RowBitmap	plain;
	Dialect		dialect;
	Conversion	conversion = {
		.records = *records,
		.rules = *rules,
		.spec = *vector->spec,
		.arena = arena,
		.rows = rows,
		.vector = vector,
		.values = vector->values
	};

	if (vector->spec->is_missing)
	{
		bitmap_fill(&vector->nulls, records->nrecords);
		return true;
	}
	if (vector->spec->field >= records->nfields)
	{
		convert_lacking(records, vector);
		return true;
	}
	if ((rows != NULL || vector->spec->form != NULL) &&
		vector->values.any != NULL)
		memset(vector->values.any, 0, (size_t) records->nrecords *
			   column_value_size(vector->spec->type));
	if (vector->spec->form != NULL && vector->spec->type != COLUMN_OTHER &&
		!convert_write_numbers(&conversion, &dialect, &plain))
		return false;
	switch (vector->spec->type)
	{
		case COLUMN_OTHER:
			return convert_rows(&conversion, convert_nothing);
		case COLUMN_BOOL:
			return convert_rows(&conversion, convert_bool);
		case COLUMN_INT2:
			return convert_rows(&conversion, convert_int2);
		case COLUMN_INT4:
			return convert_rows(&conversion, convert_int4);
		case COLUMN_INT8:
			return convert_rows(&conversion, convert_int8);
		case COLUMN_DATE:
			return convert_rows(&conversion, convert_date);
		case COLUMN_TIMESTAMP:
			return convert_rows(&conversion, convert_timestamp);
		case COLUMN_TIMESTAMPTZ:
			return convert_rows(&conversion, convert_timestamptz);
		case COLUMN_TIME:
			return convert_rows(&conversion, convert_time);
		case COLUMN_NUMERIC:
			return convert_rows(&conversion, convert_numeric);
		case COLUMN_FLOAT4:
			return convert_rows(&conversion, convert_float4);
		case COLUMN_FLOAT8:
			return convert_rows(&conversion, convert_float8);
		case COLUMN_UUID:
			return convert_rows(&conversion, convert_uuid);
		case COLUMN_TEXT:
		case COLUMN_BPCHAR:
			return convert_rows(&conversion, convert_text);
	}
	return true;
}
