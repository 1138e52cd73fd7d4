/*
 * aggregates.c
 *	  Aggregates of a query that are computed while the file is read:
 *	  translating them for vector/, and making values of what it computed.
 *
 * Sums and averages are exact as PostgreSQL's are.  A numeric result is made
 * by PostgreSQL's own functions from the sum's digits, so that display scale
 * and rounding of a quotient are its own.
 */
#include "postgres.h"

#include "executor/nodeHash.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "base/allocate.h"
#include "base/compat.h"
#include "translate/aggregates.h"
#include "translate/partial.h"

typedef struct SupportedAggregate
{
	Oid			function;
	AggregateKind kind;
	ResultKind	result;
	ResultKind	state;			/* likewise, for PostgreSQL to combine */
} SupportedAggregate;

static const SupportedAggregate supported_aggregates[] = {
	{F_COUNT_, AGGREGATE_COUNT_ROWS, RESULT_COUNT, RESULT_COUNT},
	{F_COUNT_ANY, AGGREGATE_COUNT, RESULT_COUNT, RESULT_COUNT},
	{F_SUM_INT2, AGGREGATE_SUM, RESULT_INT8_SUM, RESULT_INT8_SUM},
	{F_SUM_INT4, AGGREGATE_SUM, RESULT_INT8_SUM, RESULT_INT8_SUM},
	{F_SUM_INT8, AGGREGATE_SUM, RESULT_NUMERIC_SUM, STATE_INTEGER_SUM},
	{F_SUM_NUMERIC, AGGREGATE_SUM, RESULT_NUMERIC_SUM, STATE_NUMERIC_SUM},
	{F_SUM_FLOAT4, AGGREGATE_SUM_FLOAT4, RESULT_FLOAT4, RESULT_FLOAT4},
	{F_SUM_FLOAT8, AGGREGATE_SUM_FLOAT8, RESULT_FLOAT8, RESULT_FLOAT8},
	{F_AVG_INT2, AGGREGATE_SUM, RESULT_AVERAGE, STATE_INTEGER_AVERAGE},
	{F_AVG_INT4, AGGREGATE_SUM, RESULT_AVERAGE, STATE_INTEGER_AVERAGE},
	{F_AVG_INT8, AGGREGATE_SUM, RESULT_AVERAGE, STATE_INTEGER_SUM},
	{F_AVG_NUMERIC, AGGREGATE_SUM, RESULT_AVERAGE, STATE_NUMERIC_SUM},
	{F_AVG_FLOAT4, AGGREGATE_MOMENTS, RESULT_MEAN, STATE_FLOAT_AVERAGE},
	{F_AVG_FLOAT8, AGGREGATE_MOMENTS, RESULT_MEAN, STATE_FLOAT_AVERAGE},
	{F_MIN_INT2, AGGREGATE_MIN, RESULT_INTEGER, RESULT_INTEGER},
	{F_MIN_INT4, AGGREGATE_MIN, RESULT_INTEGER, RESULT_INTEGER},
	{F_MIN_INT8, AGGREGATE_MIN, RESULT_INTEGER, RESULT_INTEGER},
	{F_MIN_DATE, AGGREGATE_MIN, RESULT_INTEGER, RESULT_INTEGER},
	{F_MIN_TIMESTAMP, AGGREGATE_MIN, RESULT_INTEGER, RESULT_INTEGER},
	{F_MIN_TIMESTAMPTZ, AGGREGATE_MIN, RESULT_INTEGER, RESULT_INTEGER},
	{F_MIN_TIME, AGGREGATE_MIN, RESULT_INTEGER, RESULT_INTEGER},
	{F_MIN_NUMERIC, AGGREGATE_MIN, RESULT_NUMERIC, RESULT_NUMERIC},
	{F_MIN_FLOAT4, AGGREGATE_MIN_FLOAT, RESULT_FLOAT4, RESULT_FLOAT4},
	{F_MIN_FLOAT8, AGGREGATE_MIN_FLOAT, RESULT_FLOAT8, RESULT_FLOAT8},
	{F_MIN_TEXT, AGGREGATE_MIN_TEXT, RESULT_TEXT, RESULT_TEXT},
	{F_MAX_INT2, AGGREGATE_MAX, RESULT_INTEGER, RESULT_INTEGER},
	{F_MAX_INT4, AGGREGATE_MAX, RESULT_INTEGER, RESULT_INTEGER},
	{F_MAX_INT8, AGGREGATE_MAX, RESULT_INTEGER, RESULT_INTEGER},
	{F_MAX_DATE, AGGREGATE_MAX, RESULT_INTEGER, RESULT_INTEGER},
	{F_MAX_TIMESTAMP, AGGREGATE_MAX, RESULT_INTEGER, RESULT_INTEGER},
	{F_MAX_TIMESTAMPTZ, AGGREGATE_MAX, RESULT_INTEGER, RESULT_INTEGER},
	{F_MAX_TIME, AGGREGATE_MAX, RESULT_INTEGER, RESULT_INTEGER},
	{F_MAX_NUMERIC, AGGREGATE_MAX, RESULT_NUMERIC, RESULT_NUMERIC},
	{F_MAX_FLOAT4, AGGREGATE_MAX_FLOAT, RESULT_FLOAT4, RESULT_FLOAT4},
	{F_MAX_FLOAT8, AGGREGATE_MAX_FLOAT, RESULT_FLOAT8, RESULT_FLOAT8},
	{F_MAX_TEXT, AGGREGATE_MAX_TEXT, RESULT_TEXT, RESULT_TEXT}
};

/* Which arithmetic a function of PostgreSQL's does. */
static bool
find_arithmetic(Oid function, ArithmeticOp *op)
{
	switch (function)
	{
		case F_INT2PL:
		case F_INT4PL:
		case F_INT8PL:
		case F_INT24PL:
		case F_INT42PL:
		case F_INT28PL:
		case F_INT82PL:
		case F_INT48PL:
		case F_INT84PL:
		case F_NUMERIC_ADD:
			*op = ARITHMETIC_ADD;
			return true;
		case F_INT2MI:
		case F_INT4MI:
		case F_INT8MI:
		case F_INT24MI:
		case F_INT42MI:
		case F_INT28MI:
		case F_INT82MI:
		case F_INT48MI:
		case F_INT84MI:
		case F_NUMERIC_SUB:
			*op = ARITHMETIC_SUBTRACT;
			return true;
		case F_INT2MUL:
		case F_INT4MUL:
		case F_INT8MUL:
		case F_INT24MUL:
		case F_INT42MUL:
		case F_INT28MUL:
		case F_INT82MUL:
		case F_INT48MUL:
		case F_INT84MUL:
		case F_NUMERIC_MUL:
			*op = ARITHMETIC_MULTIPLY;
			return true;
		default:
			return false;
	}
}

/* Does a function only give an integer a wider type? */
static bool
is_widening(Oid function)
{
	return function == F_INT8_INT2 || function == F_INT8_INT4 ||
		function == F_INT4_INT2 || function == F_NUMERIC_INT2 ||
		function == F_NUMERIC_INT4 || function == F_NUMERIC_INT8;
}

/* The kind of numbers that an expression's type has; false for others. */
static bool
find_number_type(Node *expr, ColumnType *type)
{
	switch (exprType(expr))
	{
		case INT2OID:
			*type = COLUMN_INT2;
			return true;
		case INT4OID:
			*type = COLUMN_INT4;
			return true;
		case INT8OID:
			*type = COLUMN_INT8;
			return true;
		case NUMERICOID:
			*type = COLUMN_NUMERIC;
			return true;
		default:
			return false;
	}
}

/* A place for one more step, or NULL. */
static ArithmeticStep *
add_step(Arithmetic *arithmetic, ArithmeticOp op, ColumnType type)
{
	ArithmeticStep *step;

	if (arithmetic->nsteps == ARITHMETIC_STEPS_MAX)
		return NULL;
	step = &arithmetic->steps[arithmetic->nsteps++];
	step->op = op;
	step->type = type;
	return step;
}

/* Appends the step of a constant. */
static bool
add_constant(Arithmetic *arithmetic, const KnownValue *known)
{
	FilterValue value = {0};
	ColumnType	type;
	ArithmeticStep *step;

	if (known->isnull)
		return false;
	switch (known->type)
	{
		case INT2OID:
			type = COLUMN_INT2;
			value.integer = DatumGetInt16(known->value);
			break;
		case INT4OID:
			type = COLUMN_INT4;
			value.integer = DatumGetInt32(known->value);
			break;
		case INT8OID:
			type = COLUMN_INT8;
			value.integer = DatumGetInt64(known->value);
			break;
		case NUMERICOID:
			type = COLUMN_NUMERIC;
			if (!column_unscale(known->value, &value.integer, &value.scale))
				return false;
			break;
		default:
			return false;
	}
	step = add_step(arithmetic, ARITHMETIC_CONSTANT, type);
	if (step == NULL)
		return false;
	step->constant = value.integer;
	step->scale = value.scale;
	return true;
}

/* Appends the steps of an expression in postfix order; false if impossible. */
static bool
add_expression(const QualContext *context, Arithmetic *arithmetic, Node *expr)
{
	KnownValue	known;
	ColumnType	type;
	ArithmeticOp op;
	int			column;

	if (quals_find_column(context, (Expr *) expr, &column))
	{
		ArithmeticStep *step;

		type = context->columns->specs[column].type;
		if (!column_type_is_integer(type))
			return false;
		step = add_step(arithmetic, ARITHMETIC_COLUMN, type);
		if (step == NULL)
			return false;
		step->column = column;
		return true;
	}
	if (quals_find_value(context, (Expr *) expr, &known))
		return add_constant(arithmetic, &known);
	if (IsA(expr, FuncExpr) && is_widening(castNode(FuncExpr, expr)->funcid))
		return add_expression(context, arithmetic,
							  linitial(castNode(FuncExpr, expr)->args));
	if (!IsA(expr, OpExpr) || !find_number_type(expr, &type) ||
		!find_arithmetic(get_opcode(castNode(OpExpr, expr)->opno), &op))
		return false;
	return list_length(castNode(OpExpr, expr)->args) == 2 &&
		add_expression(context, arithmetic, linitial(castNode(OpExpr, expr)->args)) &&
		add_expression(context, arithmetic, lsecond(castNode(OpExpr, expr)->args)) &&
		add_step(arithmetic, op, type) != NULL;
}

/* Translates an aggregate's argument.  Returns NULL or why not. */
static const char *
translate_argument(const QualContext *context, Aggref *aggref,
				   AggregateSpec *spec)
{
	Expr	   *argument;

	if (spec->kind == AGGREGATE_COUNT_ROWS)
		return NULL;
	argument = linitial_node(TargetEntry, aggref->args)->expr;
	switch (spec->kind)
	{
		case AGGREGATE_SUM:
		case AGGREGATE_MIN:
		case AGGREGATE_MAX:
			spec->argument = palloc0(sizeof(Arithmetic));
			return add_expression(context, spec->argument, (Node *) argument) ?
				NULL : "an aggregate of an unsupported expression";
		case AGGREGATE_MIN_TEXT:
		case AGGREGATE_MAX_TEXT:
			if (!OidIsValid(aggref->inputcollid) ||
				!compat_collation_is_c(aggref->inputcollid))
				return "an order other than that of collation C";
			break;
		default:
			break;
	}
	return quals_find_column(context, argument, &spec->column) ?
		NULL : "an aggregate of an unsupported expression";
}

/* Do two aggregates without FILTER come to one state? */
static bool
is_same_state(const AggregateSpec *a, const AggregateSpec *b)
{
	return a->kind == b->kind && a->filter == NULL && b->filter == NULL &&
		a->column == b->column && (a->argument == NULL) == (b->argument == NULL) &&
		(a->argument == NULL ||
		 memcmp(a->argument, b->argument, sizeof(Arithmetic)) == 0);
}

/* The index of the last aggregate, or of one before that has the same state. */
static int
share_state(AggregateWork *work)
{
	const AggregateSpec *last = &work->specs[work->nspecs - 1];

	for (int i = 0; i < work->nspecs - 1; i++)
	{
		if (!is_same_state(&work->specs[i], last))
			continue;
		memset(&work->specs[--work->nspecs], 0, sizeof(AggregateSpec));
		return i;
	}
	return work->nspecs - 1;
}

/* Translates an aggregate.  Returns NULL or why not. */
static const char *
translate_aggregate(const QualContext *context, Aggref *aggref,
					AggregateWork *work)
{
	AggregateSpec *spec = &work->specs[work->nspecs];
	AggregateTarget *target = &work->targets[work->ntargets++];

	if (aggref->aggdistinct != NIL || aggref->aggorder != NIL ||
		aggref->aggdirectargs != NIL || aggref->aggvariadic ||
		aggref->agglevelsup != 0)
		return "DISTINCT or ORDER BY in an aggregate";
	for (int i = 0; i < lengthof(supported_aggregates); i++)
	{
		const SupportedAggregate *supported = &supported_aggregates[i];
		const char *unsupported;

		if (supported->function != aggref->aggfnoid)
			continue;
		spec->kind = supported->kind;
		target->kind = DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit) ?
			supported->state : supported->result;
		work->nspecs++;
		if (aggref->aggfilter != NULL)
		{
			spec->filter = quals_translate(context, aggref->aggfilter);
			if (spec->filter == NULL)
				return "such a FILTER";
		}
		unsupported = translate_argument(context, aggref, spec);
		target->index = share_state(work);
		return unsupported;
	}
	return "an unsupported aggregate";
}

/* Translates a grouping column.  Returns NULL or why not. */
static const char *
translate_key(const QualContext *context, Var *var, AggregateWork *work)
{
	AggregateTarget *target = &work->targets[work->ntargets++];
	int			column;
	ColumnType	type;

	if (!quals_find_column(context, (Expr *) var, &column))
		return "grouping by an unsupported expression";
	type = context->columns->specs[column].type;
	if (type == COLUMN_OTHER || column_type_is_float(type))
		return "grouping by a column of an unsupported type";
	if (OidIsValid(var->varcollid) &&
		!get_collation_isdeterministic(var->varcollid))
		return "a nondeterministic collation";
	if (work->nkeys == AGGREGATE_KEYS_MAX)
		return "grouping by too many columns";
	target->kind = RESULT_KEY;
	target->index = work->nkeys;
	work->keys[work->nkeys++] = column;
	return NULL;
}

/*
 * Translates a list of expressions, each a grouping column or an aggregate.
 * Returns NULL, or why that cannot be done.
 */
const char *
aggregates_translate(const QualContext *context, List *targets,
					 AggregateWork *work)
{
	int			size = Max(1, list_length(targets));
	ListCell   *cell;

	work->keys = palloc0(sizeof(int) * size);
	work->specs = palloc0(sizeof(AggregateSpec) * size);
	work->targets = palloc0(sizeof(AggregateTarget) * size);
	work->nkeys = work->nspecs = work->ntargets = 0;
	foreach(cell, targets)
	{
		Node	   *expr = lfirst(cell);
		const char *unsupported;

		if (IsA(expr, Aggref))
			unsupported = translate_aggregate(context, castNode(Aggref, expr),
											  work);
		else if (IsA(expr, Var))
			unsupported = translate_key(context, castNode(Var, expr), work);
		else
			unsupported = "grouping by an unsupported expression";
		if (unsupported != NULL)
			return unsupported;
	}
	return NULL;
}

/* Marks the columns whose values an aggregate looks at, and not only the nulls. */
static void
find_argument_values(const AggregateSpec *spec, bool *used)
{
	if (spec->argument != NULL)
	{
		for (int i = 0; i < spec->argument->nsteps; i++)
		{
			if (spec->argument->steps[i].op == ARITHMETIC_COLUMN)
				used[spec->argument->steps[i].column] = true;
		}
	}
	else if (spec->kind != AGGREGATE_COUNT_ROWS &&
			 spec->kind != AGGREGATE_COUNT)
		used[spec->column] = true;
	if (spec->filter != NULL)
		filter_columns(spec->filter, used);
}

/* Marks the columns whose values the work looks at; leaves the others alone. */
void
aggregates_find_values(const AggregateWork *work, bool *used)
{
	for (int i = 0; i < work->nkeys; i++)
		used[work->keys[i]] = true;
	for (int i = 0; i < work->nspecs; i++)
		find_argument_values(&work->specs[i], used);
}

/* May PostgreSQL raise an ERROR when it does the work with valid values? */
bool
aggregates_may_overflow(const AggregateWork *work)
{
	for (int i = 0; i < work->nspecs; i++)
	{
		const AggregateSpec *spec = &work->specs[i];

		if (spec->kind == AGGREGATE_SUM ||
			spec->kind == AGGREGATE_SUM_FLOAT4 ||
			spec->kind == AGGREGATE_SUM_FLOAT8 ||
			spec->kind == AGGREGATE_MOMENTS ||
			(spec->argument != NULL && spec->argument->nsteps > 1))
			return true;
	}
	return false;
}

/* What vector/ is told, with memory of the current context. */
static AggregateOptions
make_options(const QualContext *context, const AggregateWork *work)
{
	AggregateOptions options = {
		.columns = context->columns->specs,
		.ncolumns = context->columns->ncolumns,
		.encoding = context->encoding,
		.keys = work->keys,
		.nkeys = work->nkeys,
		.specs = work->specs,
		.nspecs = work->nspecs,
		.max_memory = get_hash_memory_limit(),
		.allocator = memory_allocator(CurrentMemoryContext)
	};

	return options;
}

/* Returns NULL, or why the work cannot be done. */
const char *
aggregates_unsupported(const QualContext *context, const AggregateWork *work)
{
	AggregateOptions options = make_options(context, work);

	return aggregate_unsupported(&options);
}

/*
 * Opens an aggregation in the current memory context; NULL with the reason if
 * the work cannot be done.
 */
Aggregation *
aggregates_open(const QualContext *context, const AggregateWork *work,
				const char **unsupported)
{
	AggregateOptions options = make_options(context, work);
	Aggregation *aggregation;

	*unsupported = NULL;
	aggregation = aggregate_open(&options, unsupported);
	if (aggregation == NULL && *unsupported == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	return aggregation;
}

/* A text value of bytes. */
static Datum
make_text(const TextRef *text)
{
	return PointerGetDatum(cstring_to_text_with_len((const char *) text->bytes,
													text->length));
}

/* The value of a grouping column. */
static Datum
key_result(const Aggregation *aggregation, const QualContext *context,
		   int column, int group, int key, bool *isnull)
{
	GroupKey	value = aggregate_key(aggregation, group, key);
	ColumnVector vector = {.spec = &context->columns->specs[column]};

	*isnull = value.is_null;
	if (value.is_null)
		return (Datum) 0;
	if (column_type_is_text(vector.spec->type))
		vector.values.texts = &value.text;
	else if (vector.spec->type == COLUMN_UUID)
		vector.values.uuids = &value.uuid;
	else
		vector.values.integers = &value.integer;
	return column_value(&vector, 0);
}

/* The scale of what an aggregate of an expression takes. */
static int
argument_scale(const AggregateSpec *spec)
{
	return spec->argument->steps[spec->argument->nsteps - 1].scale;
}

/*
 * The value of one column of the result for one group, in the current memory
 * context.
 */
Datum
aggregates_result(const Aggregation *aggregation, const QualContext *context,
				  const AggregateWork *work, int group, int target,
				  bool *isnull)
{
	int			index = work->targets[target].index;
	ResultKind	kind = work->targets[target].kind;
	const AggregateSpec *spec = &work->specs[index];
	const AggregateState *state;

	if (kind == RESULT_KEY)
		return key_result(aggregation, context, work->keys[index], group,
						  index, isnull);
	state = aggregate_state(aggregation, group, index);
	*isnull = state->count == 0 && kind != RESULT_COUNT &&
		kind != STATE_INTEGER_AVERAGE && kind != STATE_FLOAT_AVERAGE;
	if (*isnull)
		return (Datum) 0;
	switch (kind)
	{
		case RESULT_COUNT:
			return Int64GetDatum(state->count);
		case RESULT_INT8_SUM:
			return Int64GetDatum((int64) state->u.sum);
		case RESULT_NUMERIC_SUM:
			return column_numeric(state->u.sum, argument_scale(spec));
		case RESULT_AVERAGE:
			return DirectFunctionCall2(numeric_div,
									   column_numeric(state->u.sum,
													  argument_scale(spec)),
									   NumericGetDatum(int64_to_numeric(state->count)));
		case RESULT_MEAN:
			return Float8GetDatum(state->u.moments.sum / state->u.moments.n);
		case RESULT_FLOAT4:
			return Float4GetDatum((float4) state->u.floating);
		case RESULT_FLOAT8:
			return Float8GetDatum(state->u.floating);
		case RESULT_INTEGER:
			return (Datum) state->u.extreme;
		case RESULT_NUMERIC:
			return column_numeric(state->u.extreme, argument_scale(spec));
		case RESULT_TEXT:
			return make_text(&state->u.text);
		case STATE_INTEGER_SUM:
			return partial_integer_sum(state->u.sum, state->count);
		case STATE_NUMERIC_SUM:
			return partial_numeric_sum(state->u.sum, state->count,
									   argument_scale(spec));
		case STATE_INTEGER_AVERAGE:
			return partial_integer_average(state->count, (int64) state->u.sum);
		case STATE_FLOAT_AVERAGE:
			return partial_float_average(state->u.moments.n,
										 state->u.moments.sum,
										 state->u.moments.squares);
		case RESULT_KEY:
			break;
	}
	elog(ERROR, "unexpected kind of result: %d", kind);
}
