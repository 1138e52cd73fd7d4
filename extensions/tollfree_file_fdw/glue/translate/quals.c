/*
 * quals.c
 *	  Conditions of a query that are evaluated on batches of rows.
 *
 * A condition is translated if it is made of comparisons, IN, LIKE and IS NULL
 * between columns that core/ holds and values known when the scan begins.  The
 * operators are PostgreSQL's own, recognized by their place in the operator
 * family of the column's type.  None of them can raise an error.
 *
 * Known are constants, parameters, and what functions of PostgreSQL make of
 * constants and of the time, such as current_date - 7.  Computing these can
 * fail, but does not here: the planner has computed them already, in order to
 * estimate how many rows the condition leaves.  It does not so with a FILTER.
 *
 * The executor evaluates conditions in the order of the plan, and those of
 * security barriers before all others.  So only the first ones may be taken
 * from it, up to one that cannot be translated: then no condition sees a row
 * that it would not have seen.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_type_d.h"
#include "common/int.h"
#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "base/compat.h"
#include "translate/quals.h"

#define OID_TEXT_NOT_LIKE_OP 1210	/* has no name in PostgreSQL's headers */

/* A node without children. */
static FilterNode *
make_node(FilterKind kind, int column)
{
	FilterNode *node = palloc0(sizeof(FilterNode));

	node->kind = kind;
	node->column = column;
	return node;
}

/* A condition that has the same outcome for every row. */
static FilterNode *
make_constant(FilterTruth truth)
{
	FilterNode *node = make_node(FILTER_CONSTANT, 0);

	node->constant = truth;
	return node;
}

/* AND, OR or NOT of what is in the list. */
static FilterNode *
make_junction(FilterKind kind, List *children)
{
	FilterNode *node = make_node(kind, 0);

	node->nchildren = list_length(children);
	node->children = palloc(sizeof(FilterNode *) * Max(1, node->nchildren));
	for (int i = 0; i < node->nchildren; i++)
		node->children[i] = list_nth(children, i);
	return node;
}

/* NOT of a condition; NULL of NULL. */
static FilterNode *
make_negation(FilterNode *node)
{
	return node == NULL ? NULL : make_junction(FILTER_NOT, list_make1(node));
}

/* Do values with the same bytes mean the same in both types? */
static bool
is_same_kind(Oid one, Oid other)
{
	return one == other ||
		((one == TEXTOID || one == VARCHAROID) &&
		 (other == TEXTOID || other == VARCHAROID));
}

/*
 * An expression without casts that make no difference to what operators do.
 * Most that keep a value's bytes do make one: a text as bpchar is compared
 * without its trailing blanks, an integer as oid without its sign.
 */
static Expr *
strip_relabel(Expr *expr)
{
	while (IsA(expr, RelabelType))
	{
		RelabelType *relabel = castNode(RelabelType, expr);

		if (!is_same_kind(relabel->resulttype, exprType((Node *) relabel->arg)))
			break;
		expr = relabel->arg;
	}
	return expr;
}

/* Is it a column that core/ holds?  Sets its index. */
bool
quals_find_column(const QualContext *context, Expr *expr, int *column)
{
	Var		   *var = (Var *) strip_relabel(expr);

	if (!IsA(var, Var) || var->varno != context->relid ||
		var->varlevelsup != 0 || var->varattno <= 0)
		return false;
	*column = columns_find(context->columns, var->varattno);
	return *column >= 0;
}

/* Is it a value known by now? */
bool
quals_find_value(const QualContext *context, Expr *expr, KnownValue *known)
{
	expr = strip_relabel(expr);
	if (IsA(expr, Const))
	{
		Const	   *constant = castNode(Const, expr);

		*known = (KnownValue)
		{
			constant->consttype, constant->constvalue, constant->constisnull
		};
		return true;
	}
	if (IsA(expr, Param) && castNode(Param, expr)->paramkind == PARAM_EXTERN)
	{
		Param	   *param = castNode(Param, expr);
		ParamListInfo params = context->params;
		ParamExternData workspace;
		ParamExternData *value;

		if (params == NULL || param->paramid <= 0 ||
			param->paramid > params->numParams)
			return false;

		/*
		 * The query may never come to evaluate it.  So one whose value cannot
		 * be had without the risk of an error is left to the executor, and
		 * has no type here.
		 */
		value = params->paramFetch != NULL ?
			params->paramFetch(params, param->paramid, true, &workspace) :
			&params->params[param->paramid - 1];
		if (value->ptype != param->paramtype)
			return false;
		*known = (KnownValue)
		{
			value->ptype, value->value, value->isnull
		};
		return true;
	}
	return false;
}

/* Does a function take or return a date, a time or an interval? */
static bool
is_about_time(Oid function)
{
	Oid		   *types;
	int			ntypes;
	Oid			result = get_func_signature(function, &types, &ntypes);
	bool		is_found = false;

	for (int i = 0; i <= ntypes && !is_found; i++)
	{
		TYPCATEGORY category = TypeCategory(i < ntypes ? types[i] : result);

		is_found = category == TYPCATEGORY_DATETIME ||
			category == TYPCATEGORY_TIMESPAN;
	}
	pfree(types);
	return is_found;
}

/*
 * Does a function compute the same, from the same arguments, whenever it is
 * called in a query, and fail always or never?  Of PostgreSQL's own functions
 * those do that are immutable, or depend on nothing but the time that the
 * transaction began.  A setting, on the other hand, may be another one when a
 * prepared statement is executed again, and a FETCH is a statement of its own.
 */
bool
quals_is_predictable(Oid function)
{
	char		volatility = func_volatile(function);

	return function < FirstUnpinnedObjectId &&
		(volatility == PROVOLATILE_IMMUTABLE ||
		 (volatility == PROVOLATILE_STABLE && is_about_time(function) &&
		  function != F_STATEMENT_TIMESTAMP));
}

/* The opposite, for check_functions_in_node. */
static bool
quals_is_unpredictable(Oid function, void *arg)
{
	return !quals_is_predictable(function);
}

/* Walker: is there more in an expression than the head of this file names? */
static bool
has_more(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Const:
		case T_ArrayExpr:
		case T_RelabelType:
			break;
		case T_SQLValueFunction:
			if (castNode(SQLValueFunction, node)->op > SVFOP_LOCALTIMESTAMP_N)
				return true;	/* the user may change while a cursor is open */
			break;
		case T_FuncExpr:
			if (castNode(FuncExpr, node)->funcretset)
				return true;
			compat_fallthrough;
		case T_OpExpr:
			if (check_functions_in_node(node, quals_is_unpredictable, NULL))
				return true;
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, has_more, NULL);
}

/* Computes a value that is the same for all rows; false if that could fail. */
static bool
compute_value(Expr *expr, KnownValue *known)
{
	ExprContext *econtext;
	int16		typlen;
	bool		typbyval;

	if (has_more((Node *) expr, NULL))
		return false;
	econtext = CreateStandaloneExprContext();
	known->type = exprType((Node *) expr);
	known->value = ExecEvalExprSwitchContext(ExecInitExpr(expr, NULL), econtext,
											 &known->isnull);
	get_typlenbyval(known->type, &typlen, &typbyval);
	if (!known->isnull)
		known->value = datumCopy(known->value, typbyval, typlen);
	FreeExprContext(econtext, true);
	return true;
}

/* Is it a value that a condition may compare with? */
static bool
find_comparand(const QualContext *context, Expr *expr, KnownValue *known)
{
	return quals_find_value(context, expr, known) ||
		(context->is_estimated && compute_value(expr, known));
}

/* A date as the timestamp of its beginning, if there is one. */
static bool
timestamp_of_date(DateADT date, int64_t *timestamp)
{
	int64		result;

	if (DATE_NOT_FINITE(date) ||
		pg_mul_s64_overflow(date, USECS_PER_DAY, &result) ||
		!IS_VALID_TIMESTAMP(result))
		return false;
	*timestamp = result;
	return true;
}

/* The bytes of a text value. */
static TextRef
text_ref(Datum value)
{
	struct varlena *text = PG_DETOAST_DATUM_PACKED(value);

	return (TextRef)
	{
		(unsigned char *) VARDATA_ANY(text), VARSIZE_ANY_EXHDR(text)
	};
}

/* A value that is not null, as it is compared with a column of that kind. */
static bool
convert_value(const ColumnSpec *spec, const KnownValue *known,
			  FilterValue *value)
{
	*value = (FilterValue)
	{
		0
	};
	switch (known->type)
	{
		case BOOLOID:
			value->integer = DatumGetBool(known->value);
			return spec->type == COLUMN_BOOL;
		case INT2OID:
			value->integer = DatumGetInt16(known->value);
			return spec->type >= COLUMN_INT2 && spec->type <= COLUMN_INT8;
		case INT4OID:
			value->integer = DatumGetInt32(known->value);
			return spec->type >= COLUMN_INT2 && spec->type <= COLUMN_INT8;
		case INT8OID:
			value->integer = DatumGetInt64(known->value);
			return spec->type >= COLUMN_INT2 && spec->type <= COLUMN_INT8;
		case DATEOID:
			value->integer = DatumGetDateADT(known->value);
			return spec->type == COLUMN_DATE ||
				(spec->type == COLUMN_TIMESTAMP &&
				 timestamp_of_date(value->integer, &value->integer));
		case TIMESTAMPOID:
			value->integer = DatumGetTimestamp(known->value);
			return spec->type == COLUMN_TIMESTAMP;
		case TIMESTAMPTZOID:
			value->integer = DatumGetTimestampTz(known->value);
			return spec->type == COLUMN_TIMESTAMPTZ;
		case TIMEOID:
			value->integer = DatumGetTimeADT(known->value);
			return spec->type == COLUMN_TIME;
		case NUMERICOID:
			return spec->type == COLUMN_NUMERIC &&
				column_unscale(known->value, &value->integer, &value->scale);
		case FLOAT4OID:
			value->floating = DatumGetFloat4(known->value);
			return column_type_is_float(spec->type);
		case FLOAT8OID:
			value->floating = DatumGetFloat8(known->value);
			return column_type_is_float(spec->type);
		case UUIDOID:
			memcpy(value->uuid.bytes, DatumGetUUIDP(known->value)->data,
				   UUID_LEN);
			return spec->type == COLUMN_UUID;
		case TEXTOID:
		case VARCHAROID:
			value->text = text_ref(known->value);
			return spec->type == COLUMN_TEXT;
		case BPCHAROID:
			value->text = text_ref(known->value);
			return spec->type == COLUMN_BPCHAR;
		default:
			return false;
	}
}

/* Which comparison an operator is, of values of the column's type. */
static bool
find_compare_op(Oid opno, Oid type, CompareOp *op)
{
	static const CompareOp by_strategy[] = {
		[BTLessStrategyNumber] = FILTER_LT,
		[BTLessEqualStrategyNumber] = FILTER_LE,
		[BTEqualStrategyNumber] = FILTER_EQ,
		[BTGreaterEqualStrategyNumber] = FILTER_GE,
		[BTGreaterStrategyNumber] = FILTER_GT
	};
	Oid			family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	int			strategy;

	if (opno >= FirstUnpinnedObjectId || family >= FirstUnpinnedObjectId ||
		!OidIsValid(family))
		return false;
	strategy = get_op_opfamily_strategy(opno, family);
	if (strategy > 0)
	{
		*op = by_strategy[strategy];
		return true;
	}
	*op = FILTER_NE;
	opno = get_negator(opno);
	return OidIsValid(opno) &&
		get_op_opfamily_strategy(opno, family) == BTEqualStrategyNumber;
}

/* Do bytes decide about such a comparison? */
static bool
collation_fits(const ColumnSpec *spec, CompareOp op, Oid collation)
{
	if (!column_type_is_text(spec->type))
		return true;
	if (!OidIsValid(collation))
		return false;
	return op == FILTER_EQ || op == FILTER_NE ?
		get_collation_isdeterministic(collation) :
		compat_collation_is_c(collation);
}

/* The comparison with its sides exchanged. */
static CompareOp
quals_commute(CompareOp op)
{
	static const CompareOp commuted[] = {
		[FILTER_EQ] = FILTER_EQ,
		[FILTER_NE] = FILTER_NE,
		[FILTER_LT] = FILTER_GT,
		[FILTER_LE] = FILTER_GE,
		[FILTER_GT] = FILTER_LT,
		[FILTER_GE] = FILTER_LE
	};

	return commuted[op];
}

/*
 * A date with a timestamp: the same as with the date that it falls on, except
 * that a date is before each time of its day but the first.
 */
static bool
round_to_date(const KnownValue *known, CompareOp *op, KnownValue *rounded)
{
	Timestamp	timestamp = DatumGetTimestamp(known->value);
	int64		days = timestamp / USECS_PER_DAY;
	int64		rest = timestamp % USECS_PER_DAY;

	if (TIMESTAMP_NOT_FINITE(timestamp))
		return false;
	if (rest < 0)
		days--;
	if (rest != 0)
	{
		if (*op == FILTER_EQ || *op == FILTER_NE)
			return false;
		if (*op == FILTER_LT)
			*op = FILTER_LE;
		if (*op == FILTER_GE)
			*op = FILTER_GT;
	}
	*rounded = (KnownValue)
	{
		DATEOID, DateADTGetDatum((DateADT) days), false
	};
	return true;
}

/* A column compared with a value. */
static FilterNode *
translate_comparison(const QualContext *context, int column, CompareOp op,
					 KnownValue known)
{
	const ColumnSpec *spec = &context->columns->specs[column];
	FilterNode *node;
	FilterValue value;

	if (known.isnull)
		return make_constant(FILTER_UNKNOWN);
	if (spec->type == COLUMN_DATE && known.type == TIMESTAMPOID &&
		!round_to_date(&known, &op, &known))
		return NULL;
	if (!convert_value(spec, &known, &value))
		return NULL;
	node = make_node(FILTER_COMPARE, column);
	node->op = op;
	node->nvalues = 1;
	node->values = palloc(sizeof(FilterValue));
	node->values[0] = value;
	return node;
}

/* Can two columns be compared without conversion? */
static bool
are_comparable(const ColumnSpec *one, const ColumnSpec *other)
{
	if (one->type >= COLUMN_INT2 && one->type <= COLUMN_INT8)
		return other->type >= COLUMN_INT2 && other->type <= COLUMN_INT8;
	if (column_type_is_float(one->type))
		return column_type_is_float(other->type);
	return one->type != COLUMN_OTHER && one->type == other->type &&
		(one->type != COLUMN_NUMERIC || one->scale == other->scale);
}

/* LIKE and NOT LIKE. */
static FilterNode *
translate_like(const QualContext *context, OpExpr *expr)
{
	KnownValue	known;
	FilterValue value;
	FilterNode *node;
	int			column;

	if (!quals_find_column(context, linitial(expr->args), &column) ||
		!find_comparand(context, lsecond(expr->args), &known) ||
		!OidIsValid(expr->inputcollid) ||
		!get_collation_isdeterministic(expr->inputcollid))
		return NULL;
	if (known.isnull)
		return make_constant(FILTER_UNKNOWN);
	if (!convert_value(&context->columns->specs[column], &known, &value))
		return NULL;
	node = make_node(FILTER_LIKE, column);
	node->nvalues = 1;
	node->values = palloc(sizeof(FilterValue));
	node->values[0] = value;
	return expr->opno == OID_TEXT_LIKE_OP ? node : make_negation(node);
}

/* An operator with two operands. */
static FilterNode *
translate_operator(const QualContext *context, OpExpr *expr)
{
	const ColumnSpec *specs = context->columns->specs;
	Expr	   *left;
	Expr	   *right;
	KnownValue	known;
	CompareOp	op;
	int			column;
	int			other;

	if (list_length(expr->args) != 2)
		return NULL;
	if (expr->opno == OID_TEXT_LIKE_OP || expr->opno == OID_TEXT_NOT_LIKE_OP)
		return translate_like(context, expr);
	left = linitial(expr->args);
	right = lsecond(expr->args);
	if (!find_compare_op(expr->opno, exprType((Node *) left), &op))
		return NULL;
	if (!quals_find_column(context, left, &column))
	{
		Expr	   *swap = left;

		left = right;
		right = swap;
		op = quals_commute(op);
		if (!quals_find_column(context, left, &column))
			return NULL;
	}
	if (!collation_fits(&specs[column], op, expr->inputcollid))
		return NULL;
	if (find_comparand(context, right, &known))
		return translate_comparison(context, column, op, known);
	if (quals_find_column(context, right, &other) &&
		are_comparable(&specs[column], &specs[other]))
	{
		FilterNode *node = make_node(FILTER_COMPARE_COLUMNS, column);

		node->op = op;
		node->other_column = other;
		return node;
	}
	return NULL;
}

/*
 * Do a list of nelements values and its hash table fit into hash_mem?  Each process
 * has its own.
 */
static bool
list_fits(int nelements)
{
	const Size	value = sizeof(FilterValue) + FILTER_SLOTS_MAX * sizeof(uint32);

	return nelements <= Min(get_hash_memory_limit(), MaxAllocSize) / value;
}

/* IN and NOT IN of a list of known values. */
static FilterNode *
translate_list(const QualContext *context, ScalarArrayOpExpr *expr)
{
	Expr	   *left = linitial(expr->args);
	KnownValue	known;
	FilterNode *node;
	CompareOp	op;
	int			column;
	ArrayType  *array;
	Datum	   *elements;
	bool	   *nulls;
	int			nelements;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	if (!quals_find_column(context, left, &column) ||
		!find_comparand(context, lsecond(expr->args), &known) || known.isnull ||
		!find_compare_op(expr->opno, exprType((Node *) left), &op) ||
		op != (expr->useOr ? FILTER_EQ : FILTER_NE) ||
		!collation_fits(&context->columns->specs[column], op,
						expr->inputcollid))
		return NULL;
	array = DatumGetArrayTypeP(known.value);
	if (!list_fits(ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array))))
		return NULL;
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  &elements, &nulls, &nelements);
	if (nelements == 0)
		return NULL;			/* not even null for a null */
	node = make_node(FILTER_IN, column);
	node->values = palloc(sizeof(FilterValue) * nelements);
	node->slots = palloc(sizeof(uint32) * filter_slots(nelements));
	for (int i = 0; i < nelements; i++)
	{
		KnownValue	element = {ARR_ELEMTYPE(array), elements[i], nulls[i]};

		if (element.isnull)
			node->null_in_list = true;
		else if (!convert_value(&context->columns->specs[column], &element,
								&node->values[node->nvalues++]))
			return NULL;
	}
	return expr->useOr ? node : make_negation(node);
}

/* AND, OR and NOT. */
static FilterNode *
translate_boolean(const QualContext *context, BoolExpr *expr)
{
	static const FilterKind kinds[] = {
		[AND_EXPR] = FILTER_AND,
		[OR_EXPR] = FILTER_OR,
		[NOT_EXPR] = FILTER_NOT
	};
	List	   *children = NIL;
	ListCell   *cell;

	foreach(cell, expr->args)
	{
		FilterNode *child = quals_translate(context, lfirst(cell));

		if (child == NULL)
			return NULL;
		children = lappend(children, child);
	}
	return make_junction(kinds[expr->boolop], children);
}

/* Translates one condition; NULL if that is not possible. */
FilterNode *
quals_translate(const QualContext *context, Expr *qual)
{
	KnownValue	known;
	int			column;

	switch (nodeTag(qual))
	{
		case T_OpExpr:
			return translate_operator(context, castNode(OpExpr, qual));
		case T_ScalarArrayOpExpr:
			return translate_list(context, castNode(ScalarArrayOpExpr, qual));
		case T_BoolExpr:
			return translate_boolean(context, castNode(BoolExpr, qual));
		case T_NullTest:
			{
				NullTest   *test = castNode(NullTest, qual);
				FilterNode *node;

				if (test->argisrow || !quals_find_column(context, test->arg, &column))
					return NULL;
				node = make_node(FILTER_IS_NULL, column);
				return test->nulltesttype == IS_NULL ? node :
					make_negation(node);
			}
		default:
			break;
	}
	if (quals_find_column(context, qual, &column) &&
		context->columns->specs[column].type == COLUMN_BOOL)
		return make_node(FILTER_IS_TRUE, column);
	if (quals_find_value(context, qual, &known) && known.type == BOOLOID)
		return make_constant(known.isnull ? FILTER_UNKNOWN :
							 DatumGetBool(known.value) ? FILTER_TRUE :
							 FILTER_FALSE);
	return NULL;
}

/*
 * Translates as many of the first conditions as possible, and sets how many
 * those are; NULL if there are none.
 */
FilterNode *
quals_push(const QualContext *context, List *quals, int *npushed)
{
	QualContext estimated = *context;
	List	   *nodes = NIL;
	ListCell   *cell;
	FilterNode *all;

	*npushed = 0;
	estimated.is_estimated = true;
	foreach(cell, quals)
	{
		FilterNode *tried = quals_translate(&estimated, lfirst(cell));

		if (tried == NULL ||
			filter_prepare(tried, context->columns->specs,
						   context->columns->ncolumns,
						   context->encoding) != NULL)
			break;
		/* What has been prepared cannot be prepared again. */
		nodes = lappend(nodes, quals_translate(&estimated, lfirst(cell)));
		(*npushed)++;
	}
	if (nodes == NIL)
		return NULL;
	all = make_junction(FILTER_AND, nodes);
	if (filter_prepare(all, context->columns->specs,
					   context->columns->ncolumns, context->encoding) != NULL)
		elog(ERROR, "conditions that can be evaluated one by one cannot be evaluated together");
	return all;
}
