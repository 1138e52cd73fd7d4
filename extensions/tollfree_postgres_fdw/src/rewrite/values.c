/*
 * values.c
 *	  Stable values without columns, sent as parameters.
 *
 * postgres_fdw sends no stable function, since the remote server has another clock
 * and other settings.  A stable expression without columns, such as
 *
 *	now() - interval '1 day'		current_setting('app.tenant')::int
 *
 * has one value for a whole statement.  So it is evaluated here when the scan sends
 * its command, and sent.  Until then a Param stands for it, with a number that no
 * Param of the query has.
 *
 * A local condition is evaluated for each row, and never if there is none.  To
 * evaluate it earlier must not raise an error that nobody would have seen:
 *
 *	- a value that cannot fail may stand anywhere;
 *	- any other must be compared with something, at the top of a condition, by an
 *	  operator whose selectivity depends on the value.  PostgreSQL evaluates
 *	  it when it plans the query, and before the first row of an index scan.
 *
 * What is computed of a value is a constant to the remote server's planner.  So it
 * must not fail either.
 *
 * The value is sent as text, so its text must mean the same there: no names of
 * objects, no labels.
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "sql/parameterize.h"
#include "rewrite/types.h"
#include "rewrite/values.h"

/* What is added to a time of day in our era, and leaves it in range */
#define SAFE_DAYS 365000
#define SAFE_MONTHS 12000

/* The years 1 to 9999, as days since 2000-01-01 */
#define ERA_FIRST_DAY (-730119)
#define ERA_LAST_DAY 2921939

/* An expression whose values are being replaced */
typedef struct Replacing
{
	List	  **values;			/* those found so far in the query */
	bool		may_fail;		/* may the next one raise an error? */
	Index		relid;			/* of a table to be looked up, or 0 */
} Replacing;

/* Does the text of a value mean the same on every server? */
static bool
is_sendable(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case BYTEAOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
		case UUIDOID:
		case DATEOID:
		case TIMEOID:
		case TIMETZOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
		case INETOID:
		case CIDROID:
		case JSONBOID:
		case INT4ARRAYOID:
		case INT8ARRAYOID:
		case TEXTARRAYOID:
			return true;
		default:
			return false;
	}
}

/* Walker: is there anything that is not the same for a whole execution? */
static bool
has_other(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Const:
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_CollateExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_ArrayExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_SQLValueFunction:
		case T_NullTest:
		case T_BooleanTest:
		case T_List:
			break;
		case T_CaseTestExpr:
			/* It is of a CASE or an array's cast that is looked at, too. */
			break;
		case T_Param:
			if (((Param *) node)->paramkind != PARAM_EXTERN ||
				((Param *) node)->paramid <= 0)
				return true;
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, has_other, context);
}

/* Is a number between this one and its negative? */
static bool
is_within(int64 number, int64 limit)
{
	return number >= -limit && number <= limit;
}

/* Is a constant to be added to a time of our era so small that it stays in range? */
static bool
is_small(const Node *node)
{
	const Const *constant = (const Const *) node;
	const Interval *interval;

	if (!IsA(node, Const))
		return false;
	if (constant->constisnull)
		return true;
	if (constant->consttype == INT4OID)
		return is_within(DatumGetInt32(constant->constvalue), SAFE_DAYS);
	if (constant->consttype != INTERVALOID)
		return false;
	interval = DatumGetIntervalP(constant->constvalue);
	return is_within(interval->month, SAFE_MONTHS) &&
		is_within(interval->day, SAFE_DAYS) &&
		is_within(interval->time / USECS_PER_DAY, SAFE_DAYS);
}

/* Is an argument of current_setting true, so that no setting need exist? */
static bool
is_true(const Node *node)
{
	const Const *constant = (const Const *) node;

	return IsA(node, Const) && !constant->constisnull &&
		DatumGetBool(constant->constvalue);
}

/* Is it a unit that date_trunc has for every type? */
static bool
is_unit(const Node *node)
{
	static const char *const units[] = {
		"second", "minute", "hour", "day", "week", "month", "quarter", "year"
	};
	const Const *constant = (const Const *) node;
	char	   *name;

	if (!IsA(node, Const) || constant->constisnull)
		return false;
	name = TextDatumGetCString(constant->constvalue);
	for (int i = 0; i < lengthof(units); i++)
	{
		if (strcmp(name, units[i]) == 0)
			return true;
	}
	return false;
}

/* Is a constant a time of our era? */
static bool
is_of_our_era(const Const *constant)
{
	if (constant->constisnull)
		return false;
	switch (constant->consttype)
	{
		case DATEOID:
			return DatumGetDateADT(constant->constvalue) >= ERA_FIRST_DAY &&
				DatumGetDateADT(constant->constvalue) <= ERA_LAST_DAY;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return DatumGetTimestamp(constant->constvalue) / USECS_PER_DAY > ERA_FIRST_DAY &&
				DatumGetTimestamp(constant->constvalue) / USECS_PER_DAY < ERA_LAST_DAY;
		default:
			return false;
	}
}

/*
 * Can an expression raise no error, whatever the settings are?  If it is a time,
 * it is then one of our era.
 */
bool
values_cannot_fail(const Node *node)
{
	const List *args;

	switch (nodeTag(node))
	{
		case T_Const:
			return is_of_our_era((const Const *) node);
		case T_SQLValueFunction:
			return true;
		case T_RelabelType:
			return values_cannot_fail((Node *) ((const RelabelType *) node)->arg);
		case T_FuncExpr:
			args = ((const FuncExpr *) node)->args;
			break;
		case T_OpExpr:
			args = ((const OpExpr *) node)->args;
			break;
		default:
			return false;
	}
	switch (IsA(node, FuncExpr) ? ((const FuncExpr *) node)->funcid
			: get_opcode(((const OpExpr *) node)->opno))
	{
		case F_NOW:
		case F_TRANSACTION_TIMESTAMP:
		case F_STATEMENT_TIMESTAMP:
			return true;
		case F_CURRENT_SETTING_TEXT_BOOL:
			return IsA(linitial(args), Const) && is_true(lsecond(args));
		case F_DATE_TIMESTAMPTZ:
		case F_DATE_TIMESTAMP:
		case F_TIMESTAMP_TIMESTAMPTZ:
		case F_TIMESTAMP_DATE:
		case F_TIMESTAMPTZ_DATE:
		case F_TIMESTAMPTZ_TIMESTAMP:
		case F_TEXT_NAME:
			return values_cannot_fail(linitial(args));
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
			return is_unit(linitial(args)) && values_cannot_fail(lsecond(args));
		case F_TIMESTAMPTZ_PL_INTERVAL:
		case F_TIMESTAMPTZ_MI_INTERVAL:
		case F_TIMESTAMP_PL_INTERVAL:
		case F_TIMESTAMP_MI_INTERVAL:
		case F_DATE_PL_INTERVAL:
		case F_DATE_MI_INTERVAL:
		case F_DATE_PLI:
		case F_DATE_MII:
			return values_cannot_fail(linitial(args)) && is_small(lsecond(args));
		default:
			return false;
	}
}

/* Is this collation, which may be none, the default one?  A parameter has no other. */
static bool
is_plain_collation(Oid collation)
{
	return !OidIsValid(collation) || collation == DEFAULT_COLLATION_OID;
}

/* Is an expression a stable value that is to be sent as a parameter? */
static bool
is_value(Node *node, const Replacing *replacing)
{
	if (!IsA(node, FuncExpr) && !IsA(node, OpExpr) &&
		!IsA(node, SQLValueFunction) && !IsA(node, CoerceViaIO) &&
		!IsA(node, RelabelType) && !IsA(node, CoalesceExpr) &&
		!IsA(node, NullIfExpr) && !IsA(node, MinMaxExpr) &&
		!IsA(node, CaseExpr) && !IsA(node, ArrayCoerceExpr) &&
		!IsA(node, ArrayExpr) && !IsA(node, CollateExpr))
		return false;
	if (types_is_converted(node, replacing->relid))
		return is_sendable(exprType(node)) &&
			is_plain_collation(exprCollation(node));
	return is_sendable(exprType(node)) && !has_other(node, NULL) &&
		is_plain_collation(exprCollation(node)) &&
		(replacing->may_fail || values_cannot_fail(node)) &&
		contain_mutable_functions(node);
}

/* The Param that stands for a value, which is noted unless it is known. */
Node *
values_make_param(Node *value, List **values)
{
	Param	   *param = makeNode(Param);
	ListCell   *cell;
	int			n = 0;

	foreach(cell, *values)
	{
		if (equal(lfirst(cell), value))
			break;
		n++;
	}
	if (n == list_length(*values))
		*values = lappend(*values, value);
	param->paramkind = PARAM_EXTERN;
	param->paramid = PARAMETERIZE_OTHERS - n;
	param->paramtype = exprType(value);
	param->paramtypmod = exprTypmod(value);
	param->paramcollid = InvalidOid;
	param->location = -1;
	return (Node *) param;
}

/*
 * The Param that stands for what SET assigns to a column of another type: see
 * assigned.c.
 */
Node *
values_assign(Node *value, List **values)
{
	Param	   *param = (Param *) values_make_param(value, values);

	param->paramtype = UNKNOWNOID;
	param->paramtypmod = -1;
	return (Node *) param;
}

/* Mutator: Params for values. */
static Node *
replace(Node *node, void *arg)
{
	Replacing  *replacing = arg;

	check_stack_depth();
	if (node == NULL)
		return NULL;
	if (is_value(node, replacing))
		return values_make_param(node, replacing->values);
	replacing->may_fail = false;
	return expression_tree_mutator(node, replace, arg);
}

/* Does PostgreSQL evaluate an operand to find out an operator's selectivity? */
static bool
is_estimated(Oid operator)
{
	switch (get_oprrest(operator))
	{
		case F_EQSEL:
		case F_NEQSEL:
		case F_SCALARLTSEL:
		case F_SCALARLESEL:
		case F_SCALARGTSEL:
		case F_SCALARGESEL:
		case F_LIKESEL:
		case F_MATCHINGSEL:
			return true;
		default:
			return false;
	}
}

/* The same for the operands of an operator; returns a copy of the list. */
static List *
replace_operands(List *args, Oid operator, Replacing *replacing)
{
	bool		may_fail = list_length(args) == 2 && is_estimated(operator);
	List	   *replaced = NIL;
	ListCell   *cell;

	foreach(cell, args)
	{
		replacing->may_fail = may_fail;
		replaced = lappend(replaced, replace(lfirst(cell), replacing));
	}
	return replaced;
}

/*
 * A comparison of a text with the name of a role, as current_user is, as one of
 * texts: a name sent as such would bring its collation along.  Any other condition
 * as it is.
 */
Node *
values_compare_texts(Node *condition)
{
	const OpExpr *comparison = (const OpExpr *) condition;
	OpExpr	   *copy;
	Node	   *text;
	Node	   *name;

	if (!IsA(condition, OpExpr) || list_length(comparison->args) != 2)
		return condition;
	text = linitial(comparison->args);

	name = lsecond(comparison->args);
	switch (comparison->opfuncid)
	{
		case F_TEXTEQNAME:
			break;
		case F_NAMEEQTEXT:
			text = lsecond(comparison->args);

			name = linitial(comparison->args);
			break;
		default:
			return condition;
	}
	if (!IsA(name, SQLValueFunction) ||
		!get_collation_isdeterministic(exprCollation(text)))
		return condition;
	name = (Node *) makeFuncExpr(F_TEXT_NAME, TEXTOID, list_make1(name),
								 DEFAULT_COLLATION_OID, InvalidOid,
								 COERCE_EXPLICIT_CAST);
	copy = makeNode(OpExpr);
	*copy = *comparison;
	copy->opno = TextEqualOperator;
	copy->opfuncid = F_TEXTEQ;
	copy->inputcollid = exprCollation(text);
	copy->args = list_make2(text, name);
	return (Node *) copy;
}

/* Walker: is there a value that is given, in another type than its own? */
static bool
has_converted(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return types_is_converted(node, 0) ||
		expression_tree_walker(node, has_converted, context);
}

/*
 * An expression with Params for the values in it; the expression itself if there are
 * none.  values are those of the query; new ones are appended.  In a condition that
 * is evaluated for each row, values that can fail are replaced where PostgreSQL
 * evaluates them in any case.
 */
Node *
values_replace(Node *expr, bool is_condition, List **values)
{
	Replacing	replacing = {.values = values};

	if ((!contain_mutable_functions(expr) && !has_converted(expr, NULL)) ||
		contain_volatile_functions(expr))
		return expr;
	if (is_condition && IsA(expr, OpExpr))
	{
		OpExpr	   *copy = makeNode(OpExpr);

		*copy = *(OpExpr *) expr;
		copy->args = replace_operands(copy->args, copy->opno, &replacing);
		return (Node *) copy;
	}
	if (is_condition && IsA(expr, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *copy = makeNode(ScalarArrayOpExpr);

		*copy = *(ScalarArrayOpExpr *) expr;
		copy->args = replace_operands(copy->args, copy->opno, &replacing);
		return (Node *) copy;
	}
	return replace(expr, &replacing);
}

/*
 * A condition of a join with Params for what types.c has made of other tables' columns
 * than this one's.
 */
Node *
values_replace_lookup(Node *clause, Index relid, List **values)
{
	Replacing	replacing = {.values = values,.relid = relid};

	return replace(clause, &replacing);
}

/* check_function_callback: may a function raise an error, whatever its arguments? */
static bool
may_fail(Oid function, void *context)
{
	switch (function)
	{
		case F_TEXTCAT:
		case F_TEXT_NAME:
		case F_TEXT_BPCHAR:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
			return false;
		default:
			return !get_func_leakproof(function);
	}
}

/* Walker: is there a Param? */
static bool
has_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Param) || expression_tree_walker(node, has_param, context);
}

/*
 * Walker: is a part of an expression computed from parameters alone, and may fail?
 * The remote server knows their values when it plans a command, and computes such a
 * part even if no row needs it.  Leakproof functions raise no errors.
 */
bool
values_may_fail_early(Node *node, void *context)
{
	if (node == NULL || !has_param(node, NULL))
		return false;
	if (!contain_var_clause(node) && check_functions_in_node(node, may_fail, NULL))
		return true;
	return expression_tree_walker(node, values_may_fail_early, context);
}

/* Mutator: the values, copied, in place of the Params for them. */
static Node *
restore(Node *node, void *arg)
{
	const List *values = arg;

	if (node == NULL)
		return NULL;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXTERN &&
		((Param *) node)->paramid <= PARAMETERIZE_OTHERS)
		return copyObjectImpl(list_nth(values, PARAMETERIZE_OTHERS -
									   ((Param *) node)->paramid));
	return expression_tree_mutator(node, restore, arg);
}

/* A copy of expressions, with the values in place of the Params for them. */
List *
values_restore(List *exprs, const List *values)
{
	return (List *) restore((Node *) exprs, unconstify(List *, values));
}
