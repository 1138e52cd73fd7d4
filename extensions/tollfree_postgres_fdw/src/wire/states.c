/*
 * states.c
 *	  Transition states of aggregates, made of remote aggregates' results.
 *
 * PostgreSQL combines the states of partial aggregations.  Such a state is a
 * value of the transition type or, if that is internal, its serialized form.
 * The latter's format is that of numeric.c in PostgreSQL 15 to 19:
 *
 *	STATE_INTEGER_SUM		N, sum
 *	STATE_SMALLINT_SQUARES	N, sum, sum of squares
 *	STATE_INTEGER_SQUARES	likewise
 *	STATE_NUMERIC_SUM		N, sum, specials
 *	STATE_NUMERIC_SQUARES	N, sum, sum of squares, specials
 *
 * where a sum is written as numeric_send does, but with a header of 32-bit
 * fields; from 19 on those of the first three kinds are integers of 128 bits, the
 * higher half first.  Specials are the largest scale, how many values had it, and the
 * numbers of NaN, Infinity and -Infinity, which N does not count.
 *
 * Special values make sums special.  The final result depends only on which
 * kinds of special values occurred.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "wire/states.h"

/* The number of components of a state of this kind. */
int
states_count_parts(StateKind kind)
{
	switch (kind)
	{
		case STATE_VALUE:
			return 1;
		case STATE_INTEGER_AVERAGE:
		case STATE_INTEGER_SUM:
		case STATE_NUMERIC_SUM:
			return 2;
		case STATE_FLOAT:
		case STATE_SMALLINT_SQUARES:
		case STATE_INTEGER_SQUARES:
		case STATE_NUMERIC_SQUARES:
			return 3;
	}
	return 0;
}

/* As a list for a plan: kind, column, components. */
List *
states_write(const StateMaker *maker)
{
	List	   *written = list_make2_int(maker->kind, maker->column);

	for (int i = 0; i < states_count_parts(maker->kind); i++)
		written = lappend_int(written, maker->parts[i]);
	return written;
}

/* An array made of a list of such lists; NULL if that is empty. */
StateMaker *
states_read(List *written)
{
	StateMaker *makers = NULL;
	ListCell   *cell;

	if (written != NIL)
		makers = palloc0(list_length(written) * sizeof(StateMaker));
	foreach(cell, written)
	{
		StateMaker *maker = &makers[foreach_current_index(cell)];
		List	   *fields = lfirst(cell);

		maker->kind = linitial_int(fields);
		maker->column = lsecond_int(fields);
		for (int i = 0; i < states_count_parts(maker->kind); i++)
			maker->parts[i] = list_nth_int(fields, i + 2);
	}
	return makers;
}

/* An array of values that have 8 bytes. */
static Datum
make_array(Datum *members, int count, Oid type)
{
	return PointerGetDatum(construct_array(members, count, type, 8,
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Appends a numeric value. */
static void
append_numeric(StringInfo state, Datum value)
{
	bytea	   *sent = DatumGetByteaP(DirectFunctionCall1(numeric_send, value));
	StringInfoData in = {.data = VARDATA(sent),.len = VARSIZE(sent) - VARHDRSZ};

	pq_sendint32(state, pq_getmsgint(&in, 2));	/* number of digits */
	pq_sendint32(state, (int16) pq_getmsgint(&in, 2));	/* weight */
	pq_sendint32(state, pq_getmsgint(&in, 2));	/* sign */
	pq_sendint32(state, pq_getmsgint(&in, 2));	/* display scale */
	pq_sendbytes(state, in.data + in.cursor, in.len - in.cursor);
}

#if PG_VERSION_NUM >= 190000
/*
 * Appends a sum of integers, which 128 bits have room for.  ERROR if it is not
 * one: then the remote column has another type than its declaration here.
 */
static void
append_integer_sum(StringInfo state, Datum sum)
{
	const char *text = DatumGetCString(DirectFunctionCall1(numeric_out, sum));
	bool		negative = *text == '-';
	uint128		value = 0;

	for (const char *digit = text +negative; *digit != '\0'; digit++)
	{
		if (*digit < '0' || *digit > '9')
			elog(ERROR, "a remote sum of integers is not an integer: %s", text);
		value = value * 10 + (*digit - '0');
	}
	if (negative)
		value = -value;
	pq_sendint64(state, (uint64) (value >> 64));
	pq_sendint64(state, (uint64) value);
}
#else
#define append_integer_sum(state, sum) append_numeric(state, sum)
#endif

/* Is a numeric value less than 0? */
static bool
is_negative(Numeric value)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(value),
											NumericGetDatum(int64_to_numeric(0))));
}

/* A sum, which some aggregates return as int8. */
static Numeric
sum_of(Datum part, bool is_int8)
{
	return is_int8 ? int64_to_numeric(DatumGetInt64(part)) :
		DatumGetNumeric(part);
}

/* A state of type internal, serialized; there is at least one value. */
static Datum
make_internal(StateKind kind, const Datum *parts)
{
	bool		has_small_squares = kind == STATE_SMALLINT_SQUARES;
	Numeric		sum = sum_of(parts[1], has_small_squares ||
							 kind == STATE_INTEGER_SQUARES);
	bool		is_nan = numeric_is_nan(sum);
	bool		is_inf = numeric_is_inf(sum);
	bool		is_special = is_nan || is_inf;
	Datum		zero = NumericGetDatum(int64_to_numeric(0));
	int64		count = DatumGetInt64(parts[0]) - is_special;
	StringInfoData state;

	pq_begintypsend(&state);
	pq_sendint64(&state, count);
	if (kind != STATE_NUMERIC_SUM && kind != STATE_NUMERIC_SQUARES)
	{
		append_integer_sum(&state, NumericGetDatum(sum));
		if (states_count_parts(kind) == STATE_PARTS)
			append_integer_sum(&state, NumericGetDatum(sum_of(parts[2], has_small_squares)));
	}
	else
	{
		append_numeric(&state, is_special ? zero : NumericGetDatum(sum));
		if (states_count_parts(kind) == STATE_PARTS)
			append_numeric(&state, is_special ? zero : parts[2]);
		/* Only moving aggregates, which are never partial, use the scale. */
		pq_sendint32(&state, 0);
		pq_sendint64(&state, count);
		pq_sendint64(&state, is_nan);
		pq_sendint64(&state, is_inf && !is_negative(sum));
		pq_sendint64(&state, is_inf && is_negative(sum));
	}
	return PointerGetDatum(pq_endtypsend(&state));
}

/* Makes one state, in this context. */
static void
make_state(const StateMaker *maker, Datum *values, bool *nulls)
{
	Datum		parts[STATE_PARTS];
	bool		is_empty;

	for (int i = 0; i < states_count_parts(maker->kind); i++)
		parts[i] = values[maker->parts[i]];
	nulls[maker->column] = false;
	if (maker->kind == STATE_VALUE)
	{
		values[maker->column] = parts[0];
		nulls[maker->column] = nulls[maker->parts[0]];
		return;
	}

	/*
	 * Without values only the count is not null; elements of the arrays are
	 * 0.
	 */
	is_empty = DatumGetInt64(parts[0]) == 0;
	for (int i = 1; !is_empty && i < states_count_parts(maker->kind); i++)
	{
		if (nulls[maker->parts[i]])
			elog(ERROR, "a remote sum of values is null");
	}
	if (maker->kind == STATE_INTEGER_AVERAGE)
		values[maker->column] = make_array(parts, 2, INT8OID);
	else if (maker->kind == STATE_FLOAT)
	{
		float8		count = DatumGetInt64(parts[0]);

		parts[0] = Float8GetDatum(count);
		if (is_empty)
			parts[1] = parts[2] = Float8GetDatum(0);
		else
			parts[2] = Float8GetDatum(DatumGetFloat8(parts[2]) * count);
		values[maker->column] = make_array(parts, 3, FLOAT8OID);
	}
	else if (is_empty)
		nulls[maker->column] = true;
	else
		values[maker->column] = make_internal(maker->kind, parts);
}

/* Makes the states of a row from values in the same arrays, in this context. */
void
states_make(const StateMaker *makers, int nmakers, Datum *values, bool *nulls)
{
	for (int i = 0; i < nmakers; i++)
		make_state(&makers[i], values, nulls);
}
