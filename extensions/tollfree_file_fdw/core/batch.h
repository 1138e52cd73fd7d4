/*
 * batch.h
 *	  Up to BATCH_ROWS rows as typed columns: the result of a scan.
 *
 *		RowBatch
 *		+-------+----------+---------+------------------+
 *		| nrows | ncolumns | columns | unresolved rows  |
 *		+-------+----------+----|----+------------------+
 *								v one per referenced column, in file order
 *		ColumnVector
 *		+------+-------------------------+-------+------------+
 *		| spec | values[0..nrows)        | nulls | unresolved |
 *		+------+-------------------------+-------+------------+
 *
 * For each row and column exactly one of these holds:
 *
 *	1. the row is in nulls: the value is null;
 *	2. the row is in unresolved: core/ has not converted the value, and it may
 *	   be invalid.  The caller takes the field's bytes (filescan_field), calls
 *	   PostgreSQL's input function, stores the value and removes the row from
 *	   the set.  The batch's set is the union of its columns';
 *	3. neither: the value is exactly what PostgreSQL's input function gives, or
 *	   of COLUMN_OTHER, which has no values, would give.
 *
 * The stored value of a row in nulls or unresolved is zero, so it can be read.
 *
 * A batch and all that it points to belong to the scan and last until the next
 * call that makes one.  The caller may write to values, nulls and unresolved.
 */
#ifndef CORE_BATCH_H
#define CORE_BATCH_H

#include <stddef.h>

#include "core/bitmap.h"
#include "core/number.h"

typedef enum ColumnType
{
	COLUMN_OTHER,				/* no values: one that is neither null nor
								 * unresolved is valid by its syntax, and the
								 * caller makes it when it is wanted */
	COLUMN_BOOL,				/* integers: 0, 1 */
	COLUMN_INT2,				/* integers */
	COLUMN_INT4,
	COLUMN_INT8,
	COLUMN_DATE,				/* integers: days since 2000-01-01 */
	COLUMN_TIMESTAMP,			/* integers: microseconds since 2000-01-01 */
	COLUMN_TIMESTAMPTZ,			/* integers: the same, in UTC */
	COLUMN_TIME,				/* integers: microseconds since midnight */
	COLUMN_NUMERIC,				/* integers: the value times 10^scale */
	COLUMN_FLOAT4,				/* floats, exactly representable as float */
	COLUMN_FLOAT8,				/* floats */
	COLUMN_UUID,				/* uuids */
	COLUMN_TEXT,				/* texts; varchar(n) as well */
	COLUMN_BPCHAR				/* texts, not padded; trailing blanks as found */
} ColumnType;

#define NUMERIC_DIGITS_MAX	18	/* of a COLUMN_NUMERIC: fits into int64 */

/* Of a COLUMN_OTHER: which values are known to be valid; see syntax.h. */
typedef enum ColumnSyntax
{
	SYNTAX_UNKNOWN,				/* none: all are unresolved */
	SYNTAX_NUMERIC,
	SYNTAX_INTERVAL,
	SYNTAX_INET,
	SYNTAX_JSON,
	SYNTAX_LABEL
} ColumnSyntax;

/* Bytes in the file's encoding, without a final zero byte. */
typedef struct TextRef
{
	const unsigned char *bytes;
	uint32_t	length;			/* bytes */
} TextRef;

/* One column of a scan. */
typedef struct ColumnSpec
{
	int			field;			/* which field of a record, from 0 */
	ColumnType	type;
	int			precision;		/* COLUMN_NUMERIC: 1..NUMERIC_DIGITS_MAX;
								 * SYNTAX_NUMERIC: any, 0 for no limit */
	int			scale;			/* of these: 0..precision; COLUMN_TIMESTAMP,
								 * _TIMESTAMPTZ and _TIME: digits of a second,
								 * 0..6 */
	int			max_chars;		/* COLUMN_TEXT, COLUMN_BPCHAR: the n of
								 * varchar(n) or char(n), 0 for no limit */
	ColumnSyntax syntax;		/* COLUMN_OTHER */
	const TextRef *labels;		/* SYNTAX_LABEL: nlabels of them, the caller's */
	int			nlabels;
	bool		force_null;		/* CSV: a quoted null string is null too */
	bool		force_not_null; /* CSV: the null string is a string */
	const NumberForm *form;		/* of its numbers; NULL for PostgreSQL's own */
	bool		is_missing;		/* records have no such field: all is null */
	bool		deferred;		/* converted only by filescan_convert_column,
								 * and only in the rows given there */
} ColumnSpec;

typedef struct Uuid
{
	unsigned char bytes[16];
} Uuid;

/* BATCH_ROWS values; the member is the type's. */
typedef union ColumnValues
{
	int64_t    *integers;
	double	   *floats;
	TextRef    *texts;
	Uuid	   *uuids;
	void	   *any;			/* NULL for COLUMN_OTHER, which has none */
} ColumnValues;

typedef struct ColumnVector
{
	const ColumnSpec *spec;
	ColumnValues values;
	RowBitmap	nulls;
	RowBitmap	unresolved;

	/*
	 * Dictionary codes of texts, or NULL: a number below ncodes for each row.
	 * Rows with the same code have the same text, unless they are null.
	 */
	const uint8_t *codes;
	int			ncodes;
} ColumnVector;

typedef struct RowBatch
{
	int			nrows;
	int			ncolumns;
	ColumnVector *columns;
	RowBitmap	unresolved;		/* rows with an unresolved value in any column */
} RowBatch;

static inline bool
column_type_is_integer(ColumnType type)
{
	return type >= COLUMN_BOOL && type <= COLUMN_NUMERIC;
}

static inline bool
column_type_is_float(ColumnType type)
{
	return type == COLUMN_FLOAT4 || type == COLUMN_FLOAT8;
}

static inline bool
column_type_is_text(ColumnType type)
{
	return type == COLUMN_TEXT || type == COLUMN_BPCHAR;
}

/* Returns a column's scale: its digits after the decimal point. */
static inline int
column_scale(const ColumnSpec *spec)
{
	return spec->type == COLUMN_NUMERIC ? spec->scale : 0;
}

/* Returns the bytes of one value in a vector; 0 for COLUMN_OTHER. */
static inline size_t
column_value_size(ColumnType type)
{
	if (type == COLUMN_OTHER)
		return 0;
	if (type == COLUMN_UUID)
		return sizeof(Uuid);
	return column_type_is_text(type) ? sizeof(TextRef) : sizeof(int64_t);
}

#endif							/* CORE_BATCH_H */
