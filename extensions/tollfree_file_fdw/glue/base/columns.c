/*
 * columns.c
 *	  Columns of a foreign table as core/ has them, and their values.
 *
 * core/ holds integers, dates, timestamps and booleans as PostgreSQL's Datum
 * does, a numeric(p,s) as an integer that counts 10^-s, and text as a reference
 * to bytes of the file.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "lib/stringinfo.h"
#include "nodes/value.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "base/columns.h"
#include "base/compat.h"

/* Digits of an int128 with its sign, a decimal point and the end */
#define INT128_STRING_SIZE 48

/*
 * numeric(precision, scale), as a number if its values fit into an int64.  Of the
 * typmod the upper 16 bits are the precision, the lower 11 the scale with its sign.
 */
static ColumnSpec
numeric_spec(int32 typmod)
{
	int			precision = ((typmod - VARHDRSZ) >> 16) & 0xFFFF;
	int			scale = (((typmod - VARHDRSZ) & 0x7FF) ^ 0x400) - 0x400;
	ColumnSpec	spec = {.type = COLUMN_OTHER};

	if (typmod < (int32) VARHDRSZ)
		spec.syntax = SYNTAX_NUMERIC;
	else if (scale >= 0 && scale <= precision)
	{
		if (precision <= NUMERIC_DIGITS_MAX)
			spec.type = COLUMN_NUMERIC;
		else
			spec.syntax = SYNTAX_NUMERIC;
		spec.precision = precision;
		spec.scale = scale;
	}
	return spec;
}

/* The n of varchar(n) or char(n), 0 for no limit. */
static int
max_chars(int32 typmod)
{
	return typmod < (int32) VARHDRSZ ? 0 : typmod - VARHDRSZ;
}

/*
 * Does core/ read times in this session?  To it Z and UTC are that zone, and T is none.
 * A user could define them otherwise: as abbreviations, or by a time zone that has
 * them.  An abbreviation can be of a zone whose time was another one in other years.
 */
bool
columns_read_times(void)
{
	static const char *const times[] = {
		"1900-01-01T00:00:00Z", "2000-07-01T00:00:00Z",
		"1900-01-01 00:00:00 UTC", "2000-07-01 00:00:00 UTC"
	};

	for (int i = 0; i < lengthof(times); i++)
	{
		char		buffer[MAXDATELEN + MAXDATEFIELDS];
		char	   *fields[MAXDATEFIELDS];
		int			types[MAXDATEFIELDS];
		int			nfields;
		int			type;
		struct pg_tm tm;
		fsec_t		fraction;
		int			west;

		if (ParseDateTime(times[i], buffer, sizeof(buffer), fields, types,
						  MAXDATEFIELDS, &nfields) != 0 ||
			compat_decode_time(fields, types, nfields, &type, &tm, &fraction,
							   &west) != 0 ||
			west != 0)
			return false;
	}
	return true;
}

/*
 * The labels of an enum.  One that this transaction has added may not be used yet:
 * the input function says so.
 */
static void
find_labels(Oid type, ColumnSpec *spec)
{
	CatCList   *members = SearchSysCacheList1(ENUMTYPOIDNAME,
											  ObjectIdGetDatum(type));
	TextRef    *labels = palloc(sizeof(TextRef) * Max(1, members->n_members));

	spec->syntax = SYNTAX_LABEL;
	spec->labels = labels;
	for (int i = 0; i < members->n_members; i++)
	{
		Form_pg_enum member = (Form_pg_enum) GETSTRUCT(&members->members[i]->tuple);
		char	   *label;

		if (EnumUncommitted(member->oid))
			continue;
		label = pstrdup(NameStr(member->enumlabel));
		labels[spec->nlabels].bytes = (unsigned char *) label;
		labels[spec->nlabels++].length = strlen(label);
	}
	ReleaseCatCacheList(members);
}

/* What core/ is to know of values of a type that it does not hold. */
static ColumnSpec
syntax_spec(Oid type, int32 typmod)
{
	ColumnSpec	spec = {.type = COLUMN_OTHER};

	switch (type)
	{
		case INTERVALOID:
			spec.syntax = typmod < 0 ? SYNTAX_INTERVAL : SYNTAX_UNKNOWN;
			break;
		case INETOID:
			spec.syntax = SYNTAX_INET;
			break;
		case JSONOID:
		case JSONBOID:
			spec.syntax = SYNTAX_JSON;
			break;
		default:
			if (get_typtype(type) == TYPTYPE_ENUM)
				find_labels(type, &spec);
			break;
	}
	return spec;
}

/* How core/ is to hold a type; domains over these types are other types. */
static ColumnSpec
column_spec(Oid type, int32 typmod)
{
	ColumnSpec	spec = {.type = COLUMN_OTHER};

	switch (type)
	{
		case BOOLOID:
			spec.type = COLUMN_BOOL;
			break;
		case INT2OID:
			spec.type = COLUMN_INT2;
			break;
		case INT4OID:
			spec.type = COLUMN_INT4;
			break;
		case INT8OID:
			spec.type = COLUMN_INT8;
			break;
		case DATEOID:
			spec.type = COLUMN_DATE;
			break;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			spec.type = type == TIMESTAMPOID ? COLUMN_TIMESTAMP
				: COLUMN_TIMESTAMPTZ;
			spec.scale = typmod < 0 ? MAX_TIMESTAMP_PRECISION : typmod;
			break;
		case TIMEOID:
			spec.type = COLUMN_TIME;
			spec.scale = typmod < 0 ? MAX_TIME_PRECISION : typmod;
			break;
		case NUMERICOID:
			return numeric_spec(typmod);
		case FLOAT4OID:
			spec.type = COLUMN_FLOAT4;
			break;
		case FLOAT8OID:
			spec.type = COLUMN_FLOAT8;
			break;
		case UUIDOID:
			spec.type = COLUMN_UUID;
			break;
		case TEXTOID:
		case VARCHAROID:
			spec.type = COLUMN_TEXT;
			spec.max_chars = max_chars(typmod);
			break;
		case BPCHAROID:
			spec.max_chars = max_chars(typmod);
			if (spec.max_chars > 0)
				spec.type = COLUMN_BPCHAR;
			break;
		default:
			return syntax_spec(type, typmod);
	}
	return spec;
}

/* Appends what a type's valid values depend on beside itself: an enum's labels. */
void
columns_append_labels(StringInfo string, Oid type)
{
	ColumnSpec	spec = column_spec(type, -1);

	for (int i = 0; i < spec.nlabels; i++)
		appendStringInfo(string, " %s",
						 quote_literal_cstr((const char *) spec.labels[i].bytes));
}

/* Is the column among those named?  NIL names all. */
static bool
is_named(Form_pg_attribute attribute, List *names)
{
	ListCell   *cell;

	foreach(cell, names)
	{
		if (strcmp(strVal(lfirst(cell)), NameStr(attribute->attname)) == 0)
			return true;
	}
	return names == NIL;
}

static bool
is_time(const ColumnSpec *spec)
{
	return spec->type == COLUMN_TIMESTAMP || spec->type == COLUMN_TIMESTAMPTZ;
}

/* Leaves all times to PostgreSQL. */
static void
leave_times(FileColumns *columns)
{
	for (int i = 0; i < columns->ncolumns; i++)
	{
		ColumnSpec *spec = &columns->specs[i];

		if (is_time(spec))
			*spec = (ColumnSpec)
		{
			.type = COLUMN_OTHER,.field = spec->field
		};
	}
}

/*
 * Describes the columns named (String; NIL means all), or none, of those that
 * the file has: neither dropped nor generated ones, nor those with a source.
 */
FileColumns
columns_describe(Relation rel, const FileOptions *options, List *names,
				 bool none)
{
	TupleDesc	desc = RelationGetDescr(rel);
	bool		has_times = false;
	FileColumns result = {0};

	result.specs = palloc0(sizeof(ColumnSpec) * Max(1, desc->natts));
	result.attnums = palloc0(sizeof(AttrNumber) * Max(1, desc->natts));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		ColumnSpec *spec = &result.specs[result.ncolumns];

		if (attribute->attisdropped || attribute->attgenerated ||
			bms_is_member(attribute->attnum, options->computed_attnums))
			continue;
		if (!none && is_named(attribute, names))
		{
			*spec = column_spec(attribute->atttypid, attribute->atttypmod);
			if (options->forms != NULL)
				spec->form = options->forms[i];
			has_times |= is_time(spec);
			spec->field = result.nfields;
			result.attnums[result.ncolumns++] = attribute->attnum;
		}
		result.nfields++;
	}
	if (has_times && !columns_read_times())
		leave_times(&result);
	return result;
}

/* The same columns, whose specifications may be changed. */
FileColumns
columns_copy(const FileColumns *columns)
{
	FileColumns copy = *columns;

	copy.specs = palloc(sizeof(ColumnSpec) * Max(1, columns->ncolumns));
	memcpy(copy.specs, columns->specs, sizeof(ColumnSpec) * columns->ncolumns);
	return copy;
}

/* The name of the column that a field is of; NULL if there is none. */
char *
columns_field_name(Oid relid, uint32 field)
{
	Relation	rel = try_table_open(relid, AccessShareLock);
	char	   *name = NULL;

	if (rel == NULL)
		return NULL;
	for (int i = 0; i < RelationGetNumberOfAttributes(rel) && name == NULL; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), i);

		if (!attribute->attisdropped && !attribute->attgenerated && field-- == 0)
			name = pstrdup(NameStr(attribute->attname));
	}
	table_close(rel, AccessShareLock);
	return name;
}

/* The index of a column, or -1. */
int
columns_find(const FileColumns *columns, AttrNumber attnum)
{
	for (int i = 0; i < columns->ncolumns; i++)
	{
		if (columns->attnums[i] == attnum)
			return i;
	}
	return -1;
}

/* A numeric as an integer that counts 10^-scale, if that is an int64. */
bool
column_unscale(Datum numeric, int64_t *integer, int *scale)
{
	char	   *string = DatumGetCString(DirectFunctionCall1(numeric_out, numeric));
	char	   *point = strchr(string, '.');
	char	   *digits = string + (string[0] == '-');

	*scale = 0;
	if (point != NULL)
	{
		*scale = strlen(point + 1);
		memmove(point, point + 1, *scale + 1);
	}
	if (strspn(digits, "0123456789") != strlen(digits))
		return false;			/* NaN or infinite */
	digits += strspn(digits, "0");
	if (strlen(digits) > NUMERIC_DIGITS_MAX || *scale > NUMERIC_DIGITS_MAX)
		return false;
	*integer = strtoll(string, NULL, 10);
	return true;
}

/* A number that counts 10^-scale, as numeric with that display scale. */
Datum
column_numeric(__int128 number, int scale)
{
	char		string[INT128_STRING_SIZE + ARITHMETIC_SCALE_MAX];
	char	   *at = string + sizeof(string);
	unsigned	__int128 rest = number < 0 ? -(unsigned __int128) number : number;

	*--at = '\0';
	for (int digit = 0; rest != 0 || digit <= scale; digit++)
	{
		if (digit == scale && scale > 0)
			*--at = '.';
		*--at = '0' + (int) (rest % 10);
		rest /= 10;
	}
	if (number < 0)
		*--at = '-';
	return DirectFunctionCall3(numeric_in, CStringGetDatum(at),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* A text value, padded with blanks to chars characters. */
static Datum
text_value(const TextRef *text, int chars)
{
	int			length = text->length;
	int			blanks = 0;
	char	   *result;

	if (chars > 0)
		blanks = Max(0, chars - pg_mbstrlen_with_len((const char *) text->bytes,
													 length));
	result = palloc(VARHDRSZ + length + blanks);
	SET_VARSIZE(result, VARHDRSZ + length + blanks);
	memcpy(VARDATA(result), text->bytes, length);
	memset(VARDATA(result) + length, ' ', blanks);
	return PointerGetDatum(result);
}

/* A value that is not null; in the current memory context. */
Datum
column_value(const ColumnVector *column, int row)
{
	switch (column->spec->type)
	{
		case COLUMN_BOOL:
		case COLUMN_INT2:
		case COLUMN_INT4:
		case COLUMN_INT8:
		case COLUMN_DATE:
		case COLUMN_TIMESTAMP:
		case COLUMN_TIMESTAMPTZ:
		case COLUMN_TIME:
			return (Datum) column->values.integers[row];
		case COLUMN_NUMERIC:
			return NumericGetDatum(int64_div_fast_to_numeric(column->values.integers[row],
															 column->spec->scale));
		case COLUMN_FLOAT4:
			return Float4GetDatum((float4) column->values.floats[row]);
		case COLUMN_FLOAT8:
			return Float8GetDatum(column->values.floats[row]);
		case COLUMN_UUID:
			{
				pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));

				memcpy(uuid->data, column->values.uuids[row].bytes, UUID_LEN);
				return UUIDPGetDatum(uuid);
			}
		case COLUMN_TEXT:
			return text_value(&column->values.texts[row], 0);
		case COLUMN_BPCHAR:
			return text_value(&column->values.texts[row],
							  column->spec->max_chars);
		case COLUMN_OTHER:
			break;
	}
	elog(ERROR, "a column of type %d has no values", column->spec->type);
}

/* Stores a copy of a text's bytes, in that memory. */
static void
store_text(TextRef *stored, Datum value, MemoryContext memory)
{
	struct varlena *text = PG_DETOAST_DATUM_PACKED(value);
	size_t		length = VARSIZE_ANY_EXHDR(text);

	stored->bytes = memcpy(MemoryContextAlloc(memory, length),
						   VARDATA_ANY(text), length);
	stored->length = length;
}

/*
 * Stores a value that is not null; false if core/ cannot hold it.  Bytes of a
 * text are copied into that memory.
 */
bool
column_store(ColumnVector *column, int row, Datum value, MemoryContext memory)
{
	int			scale;

	switch (column->spec->type)
	{
		case COLUMN_BOOL:
			column->values.integers[row] = DatumGetBool(value);
			return true;
		case COLUMN_INT2:
			column->values.integers[row] = DatumGetInt16(value);
			return true;
		case COLUMN_INT4:
		case COLUMN_DATE:
			column->values.integers[row] = DatumGetInt32(value);
			return true;
		case COLUMN_INT8:
		case COLUMN_TIMESTAMP:
		case COLUMN_TIMESTAMPTZ:
		case COLUMN_TIME:
			column->values.integers[row] = DatumGetInt64(value);
			return true;
		case COLUMN_NUMERIC:
			return column_unscale(value, &column->values.integers[row],
								  &scale) && scale == column->spec->scale;
		case COLUMN_FLOAT4:
			column->values.floats[row] = DatumGetFloat4(value);
			return true;
		case COLUMN_FLOAT8:
			column->values.floats[row] = DatumGetFloat8(value);
			return true;
		case COLUMN_UUID:
			memcpy(column->values.uuids[row].bytes, DatumGetUUIDP(value)->data,
				   UUID_LEN);
			return true;
		case COLUMN_TEXT:
		case COLUMN_BPCHAR:
			store_text(&column->values.texts[row], value, memory);
			return true;
		case COLUMN_OTHER:
			return true;
	}
	return false;
}
