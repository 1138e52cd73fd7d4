/*
 * partial.c
 *	  Transition states of PostgreSQL's aggregates, made of what one of several
 *	  processes has computed.
 *
 * PostgreSQL combines the states of all processes.  What a state of type
 * internal looks like is its own affair, so such a one is made by its
 * functions, of as many values as there were, with the same sum: n values with
 * sum s are n - s % n times s / n and s % n times one more.  A value repeated
 * n times takes about 2 * log2(n) calls.
 *
 * All results are in the current memory context.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/execnodes.h"
#include "port/pg_bitutils.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"

#include "base/columns.h"
#include "translate/partial.h"

/* PostgreSQL's functions for states of a sum, and the values that they take */
typedef struct SumFunctions
{
	PGFunction	accumulate;
	PGFunction	combine;
	PGFunction	serialize;
	bool		is_numeric;
	int			scale;			/* of a numeric value */
} SumFunctions;

/*
 * Calls a function of an aggregate; a state may be NULL.  It wants to know the
 * memory context for states, which it takes from the node that calls it: any
 * node for aggregates will do, and this one only needs the context.
 */
static Datum
call_function(PGFunction function, void *state, Datum argument)
{
	LOCAL_FCINFO(fcinfo, 2);
	WindowAggState caller = {
		.ss.ps.type = T_WindowAggState,
		.curaggcontext = CurrentMemoryContext
	};

	InitFunctionCallInfoData(*fcinfo, NULL, 2, InvalidOid, (Node *) &caller,
							 NULL);
	fcinfo->args[0].value = PointerGetDatum(state);
	fcinfo->args[0].isnull = state == NULL;
	fcinfo->args[1].value = argument;
	fcinfo->args[1].isnull = false;
	return function(fcinfo);
}

/* The state that a value leads to when it comes n times, n > 0. */
static void *
repeat_value(const SumFunctions *functions, int64 number, uint64 n)
{
	Datum		value = functions->is_numeric ?
		column_numeric(number, functions->scale) : Int64GetDatum(number);
	void	   *state = DatumGetPointer(call_function(functions->accumulate,
													  NULL, value));

	for (int bit = pg_leftmost_one_pos64(n) - 1; bit >= 0; bit--)
	{
		/* Combined with none, a state is copied. */
		Datum		copy = call_function(functions->combine, NULL,
										 PointerGetDatum(state));

		state = DatumGetPointer(call_function(functions->combine, state, copy));
		if (n >> bit & 1)
			state = DatumGetPointer(call_function(functions->accumulate, state,
												  value));
	}
	return state;
}

/* The serialized state of a sum of count > 0 values. */
static Datum
make_sum(const SumFunctions *functions, __int128 sum, uint64 count)
{
	/* Between the least and the greatest of the values, so it fits. */
	int64		least = sum / (__int128) count;
	int64		rest = sum % (__int128) count;
	void	   *state;

	if (rest < 0)
	{
		least--;
		rest += count;
	}
	state = repeat_value(functions, least, count - rest);
	if (rest > 0)
		state = DatumGetPointer(call_function(functions->combine, state,
											  PointerGetDatum(repeat_value(functions,
																		   least + 1,
																		   rest))));
	return call_function(functions->serialize, state, (Datum) 0);
}

/* The state of sum(int8) and avg(int8) after count > 0 values. */
Datum
partial_integer_sum(__int128 sum, uint64 count)
{
	const SumFunctions functions = {
		.accumulate = int8_avg_accum,
		.combine = int8_avg_combine,
		.serialize = int8_avg_serialize
	};

	return make_sum(&functions, sum, count);
}

/*
 * The state of sum(numeric) and avg(numeric) after count > 0 values of that
 * scale; the sum is times 10^scale.
 */
Datum
partial_numeric_sum(__int128 sum, uint64 count, int scale)
{
	const SumFunctions functions = {
		.accumulate = numeric_avg_accum,
		.combine = numeric_avg_combine,
		.serialize = numeric_avg_serialize,
		.is_numeric = true,
		.scale = scale
	};

	return make_sum(&functions, sum, count);
}

/* The state of avg(int2) and avg(int4). */
Datum
partial_integer_average(int64 count, int64 sum)
{
	Datum		members[] = {Int64GetDatum(count), Int64GetDatum(sum)};

	return PointerGetDatum(construct_array(members, lengthof(members), INT8OID,
										   sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/* The state of avg(float4) and avg(float8). */
Datum
partial_float_average(double n, double sum, double squares)
{
	Datum		members[] = {
		Float8GetDatum(n), Float8GetDatum(sum), Float8GetDatum(squares)
	};

	return PointerGetDatum(construct_array(members, lengthof(members),
										   FLOAT8OID, sizeof(float8),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
