/*
 * collations.c
 *	  Functions whose result does not depend on a collation.
 *
 * postgres_fdw sends a function that has a text among its arguments only if the
 * collation comes from a foreign column.  In date_trunc('month', t) or doc->>'k' it
 * comes from the constant.  But these functions do not look at their collation.  So
 * they get none, and are sent.
 *
 * Each function of the tables below was read (19's sources): none of them calls
 * PG_GET_COLLATION() or uses the database's default collation,
 *
 *	- those of times fold a unit's name to lower case, and look it up as bytes;
 *	- those of jsonb compare keys as bytes, and strings for equality only;
 *	- textcat appends bytes.
 *
 * A comparison for equality looks at its collation to see whether it is
 * deterministic: then equal texts are equal bytes, by whatever collation.  LIKE
 * without _ compares bytes, too; _ would be a character here, and a byte in a remote
 * database that knows no encoding.
 *
 * A result that has a collation, or is of type jsonb, whose order depends on the
 * default one, must not be sorted by the remote server.  It counts only below a
 * function or operator of the tables that does not look at an order.
 *
 * Times in a zone, and their texts, are zones.c's.
 *
 * length, left, substr and the like count characters, and md5 takes bytes, of the
 * remote encoding; so they are sent only to a database that has the local one
 * (replan.c), and so is LIKE with _.  postgres_fdw counts in any encoding, but for
 * columns whose collation it sends: there it is the oracle.  Of a domain or a value of
 * jsonb it counts here.
 *
 * Left out, though they do not look at an order either: functions of json, whose
 * escapes the remote encoding may lack; parts of intervals, which major versions
 * count in different ways.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "rewrite/collations.h"

/* An expression whose collations are being dropped */
typedef struct Dropping
{
	bool		is_below;		/* does what is above not look at an order? */
	bool		may_count;		/* are characters counted there as here? */
	bool		changes;		/* or is it only being looked at? */
	bool		found;
} Dropping;

/* Is it a function that takes a part of a time without a zone, or of an interval? */
static bool
is_of_times(Oid function)
{
	switch (function)
	{
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_DATE:
		case F_DATE_PART_TEXT_TIME:
		case F_DATE_PART_TEXT_TIMETZ:
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_EXTRACT_TEXT_DATE:
		case F_EXTRACT_TEXT_TIME:
		case F_EXTRACT_TEXT_TIMETZ:
		case F_DATE_TRUNC_TEXT_INTERVAL:
		case F_DATE_PART_TEXT_INTERVAL:
		case F_EXTRACT_TEXT_INTERVAL:
			return true;
		default:
			return false;
	}
}

/* Is it one of a time in a zone, or a text of a time (zones.c)? */
static bool
is_of_instants(Oid function)
{
	switch (function)
	{
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
		case F_TIMEZONE_TEXT_TIMESTAMP:
		case F_TO_CHAR_TIMESTAMPTZ_TEXT:
		case F_TO_CHAR_TIMESTAMP_TEXT:
			return true;
		default:
			return false;
	}
}

/* Is it a function with a text argument that looks at no order, nor its parents? */
static bool
is_of_keys(Oid function)
{
	switch (function)
	{
		case F_JSONB_EXISTS:
		case F_JSONB_EXISTS_ANY:
		case F_JSONB_EXISTS_ALL:
			return true;
		default:
			return false;
	}
}

/* Is it one whose result may not be sorted, or compared for an order? */
static bool
is_of_values(Oid function)
{
	switch (function)
	{
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_OBJECT_FIELD_TEXT:
		case F_JSONB_EXTRACT_PATH:
		case F_JSONB_EXTRACT_PATH_TEXT:
		case F_JSONB_DELETE_JSONB_TEXT:
		case F_JSONB_DELETE_JSONB__TEXT:
		case F_JSONB_DELETE_PATH:
		case F_JSONB_INSERT:
		case F_JSONB_SET:
		case F_TEXTCAT:
			return true;
		default:
			return false;
	}
}

/* Is it one that counts characters or bytes, and returns a number? */
static bool
is_count(Oid function)
{
	switch (function)
	{
		case F_LENGTH_TEXT:
		case F_CHAR_LENGTH_TEXT:
		case F_CHARACTER_LENGTH_TEXT:
		case F_OCTET_LENGTH_TEXT:
			return true;
		default:
			return false;
	}
}

/* Is it one that counts them, and returns a text? */
static bool
is_of_characters(Oid function)
{
	switch (function)
	{
		case F_LEFT:
		case F_RIGHT:
		case F_REPEAT:
		case F_TRANSLATE:
		case F_MD5_TEXT:
		case F_SUBSTR_TEXT_INT4:
		case F_SUBSTR_TEXT_INT4_INT4:
		case F_SUBSTRING_TEXT_INT4:
		case F_SUBSTRING_TEXT_INT4_INT4:
		case F_OVERLAY_TEXT_TEXT_INT4:
		case F_OVERLAY_TEXT_TEXT_INT4_INT4:
		case F_LPAD_TEXT_INT4:
		case F_LPAD_TEXT_INT4_TEXT:
		case F_RPAD_TEXT_INT4:
		case F_RPAD_TEXT_INT4_TEXT:
		case F_BTRIM_TEXT:
		case F_BTRIM_TEXT_TEXT:
		case F_LTRIM_TEXT:
		case F_LTRIM_TEXT_TEXT:
		case F_RTRIM_TEXT:
		case F_RTRIM_TEXT_TEXT:
			return true;
		default:
			return false;
	}
}

/*
 * Is it one that looks for a text in another one?  If its collation is deterministic,
 * it looks for the same bytes.
 */
static bool
is_search(Oid function)
{
	switch (function)
	{
		case F_STRPOS:
		case F_POSITION_TEXT_TEXT:
		case F_REPLACE:
		case F_SPLIT_PART:
			return true;
		default:
			return false;
	}
}

/* Does a function without texts take such values, and look at no order? */
static bool
takes_values(Oid function)
{
	switch (function)
	{
		case F_JSONB_CONTAINS:
		case F_JSONB_CONTAINED:
		case F_JSONB_EQ:
		case F_JSONB_NE:
		case F_JSONB_ARRAY_LENGTH:
		case F_JSONB_TYPEOF:
		case F_TEXTOUT:
		case F_VARCHAROUT:
		case F_BPCHAROUT:
		case F_BOOL_JSONB:
		case F_INT2_JSONB:
		case F_INT4_JSONB:
		case F_INT8_JSONB:
		case F_NUMERIC_JSONB:
		case F_FLOAT4_JSONB:
		case F_FLOAT8_JSONB:
			return true;
		default:
			return false;
	}
}

/* Is it LIKE's pattern, which is known before the execution?  Without _ or with it */
static bool
is_pattern(const Node *pattern, bool may_count)
{
	const Const *constant = (const Const *) pattern;

	return IsA(pattern, Const) && !constant->constisnull &&
		constant->consttype == TEXTOID &&
		(may_count ||
		 strchr(TextDatumGetCString(constant->constvalue), '_') == NULL);
}

/* Are texts equal by a collation only if they are the same? */
static bool
is_deterministic(Oid collation)
{
	return collation == DEFAULT_COLLATION_OID ||
		get_collation_isdeterministic(collation);
}

/*
 * Walker: does an expression have a collation that is not deterministic, or columns
 * of two collations?  Of those the remote server could not choose one, since COLLATE
 * is not sent; the default one gives way.
 */
static bool
has_odd_collations(Node *node, void *of_columns)
{
	Oid		   *other = of_columns;
	Oid			collation;

	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, RelabelType) || IsA(node, CollateExpr))
	{
		collation = exprCollation(node);
		if (OidIsValid(collation) && !is_deterministic(collation))
			return true;
		if (IsA(node, Var) && OidIsValid(collation) &&
			collation != DEFAULT_COLLATION_OID)
		{
			if (OidIsValid(*other) && collation != *other)
				return true;
			*other = collation;
		}
	}
	return expression_tree_walker(node, has_odd_collations, of_columns);
}

/* Does a comparison ask for equal bytes, if its collation is deterministic? */
static bool
is_equality(Oid function, const List *args, bool may_count)
{
	switch (function)
	{
		case F_TEXTEQ:
		case F_TEXTNE:
		case F_BPCHAREQ:
		case F_BPCHARNE:
			return true;
		case F_TEXTLIKE:
		case F_TEXTNLIKE:
			return is_pattern(lsecond(args), may_count);
		default:
			return may_count && is_search(function);
	}
}

/* The function of a call or an operator; else InvalidOid. */
static Oid
function_of(const Node *node)
{
	Oid			function;
	Oid			operator;

	if (IsA(node, FuncExpr))
		return ((const FuncExpr *) node)->funcid;
	if (IsA(node, OpExpr) || IsA(node, DistinctExpr) || IsA(node, NullIfExpr))
	{
		function = ((const OpExpr *) node)->opfuncid;
		operator = ((const OpExpr *) node)->opno;
	}
	else if (IsA(node, ScalarArrayOpExpr))
	{
		function = ((const ScalarArrayOpExpr *) node)->opfuncid;
		operator = ((const ScalarArrayOpExpr *) node)->opno;
	}
	else
		return InvalidOid;
	/* It is not known yet in the query of a view, for example. */
	return OidIsValid(function) ? function : get_opcode(operator);
}

/* Where a call or an operator has its collation. */
static Oid *
collation_of(Node *node)
{
	if (IsA(node, FuncExpr))
		return &((FuncExpr *) node)->inputcollid;
	if (IsA(node, ScalarArrayOpExpr))
		return &((ScalarArrayOpExpr *) node)->inputcollid;
	return &((OpExpr *) node)->inputcollid;
}

/* The arguments of a call or an operator. */
static List *
args_of(const Node *node)
{
	if (IsA(node, FuncExpr))
		return ((const FuncExpr *) node)->args;
	if (IsA(node, ScalarArrayOpExpr))
		return ((const ScalarArrayOpExpr *) node)->args;
	return ((const OpExpr *) node)->args;
}

/* Is it a part of a time, by a function that has a collation? */
bool
collations_is_time_part(const Node *node)
{
	return IsA(node, FuncExpr) && is_of_times(((const FuncExpr *) node)->funcid) &&
		OidIsValid(((const FuncExpr *) node)->inputcollid);
}

/*
 * Drops the collation of a call or an operator, if it does not depend on that.
 * Returns whether its arguments are below what does not look at an order.
 */
static bool
drop_of(Node *node, Dropping *dropping)
{
	Oid			function = function_of(node);
	Oid			of_columns = InvalidOid;
	Oid		   *collation;

	if (takes_values(function))
		return true;
	collation = collation_of(node);
	if (is_equality(function, args_of(node), dropping->may_count))
	{
		/* NULLIF returns what it has compared; others return texts, too. */
		if (((IsA(node, NullIfExpr) || OidIsValid(exprCollation(node))) &&
			 !dropping->is_below) ||
			!OidIsValid(*collation) ||
			!is_deterministic(*collation) ||
			has_odd_collations((Node *) args_of(node), &of_columns))
			return false;
	}
	else if (is_of_values(function) ||
			 (dropping->may_count && is_of_characters(function)))
	{
		if (!dropping->is_below)
			return false;
	}
	else if (!is_of_times(function) && !is_of_keys(function) &&
			 !(dropping->may_count && is_count(function)))
		return false;
	if (OidIsValid(*collation))
	{
		dropping->found = true;
		if (dropping->changes)
			*collation = InvalidOid;
	}
	return true;
}

/* Walker: drops the collations of a condition, or looks for them; in place. */
static bool
drop(Node *node, void *arg)
{
	Dropping   *dropping = arg;
	bool		was_below = dropping->is_below;

	check_stack_depth();
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_RelabelType:
		case T_ArrayExpr:
		case T_CoalesceExpr:
		case T_CaseExpr:
		case T_CaseWhen:
			break;
		case T_NullIfExpr:
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_ScalarArrayOpExpr:
			dropping->is_below = drop_of(node, dropping);
			break;
		default:
			dropping->is_below = false;
	}
	(void) expression_tree_walker(node, drop, arg);
	dropping->is_below = was_below;
	return false;
}

/*
 * A copy of an expression without the collations that it does not depend on; the
 * expression itself if it depends on all of its collations.  Its value is a
 * condition's or, if it is assigned, of any type; nobody sorts by it.  It must not be
 * evaluated here: some functions want a collation, if only to see that it is
 * deterministic.  may_count says that characters are counted there as here.
 */
Node *
collations_drop(Node *expr, bool is_assigned, bool may_count)
{
	Dropping	dropping = {.is_below = is_assigned,.may_count = may_count};
	Node	   *copy;

	(void) drop(expr, &dropping);
	if (!dropping.found)
		return expr;
	dropping.changes = true;
	copy = copyObjectImpl(expr);
	(void) drop(copy, &dropping);
	return copy;
}

/* Does a call count characters or bytes? */
static bool
counts(const Node *node)
{
	Oid			function = function_of(node);

	return is_count(function) || is_of_characters(function) || is_search(function) ||
		((function == F_TEXTLIKE || function == F_TEXTNLIKE) &&
		 !is_pattern(lsecond(args_of(node)), false));
}

/* Walker: does a call without a collation count? */
static bool
has_count(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return (counts(node) && !OidIsValid(*collation_of(node))) ||
		expression_tree_walker(node, has_count, context);
}

/* Does a form count characters, which it could not before its collation was dropped? */
bool
collations_count(Node *form)
{
	return has_count(form, NULL);
}

/* Walker: does a call count characters of what is no column of PostgreSQL's own types? */
static bool
has_other_count(Node *node, void *context)
{
	Node	   *counted;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_other_count, context, 0);
	if (!counts(node))
		return expression_tree_walker(node, has_other_count, context);
	counted = linitial(args_of(node));
	while (IsA(counted, RelabelType))
		counted = (Node *) ((RelabelType *) counted)->arg;
	return (IsA(counted, Var) ? ((Var *) counted)->vartype >= FirstGenbkiObjectId :
			contain_var_clause(counted)) ||
		expression_tree_walker(node, has_other_count, context);
}

/* May a query count what postgres_fdw would count here, as far as its text shows? */
bool
collations_count_in_query(Query *query)
{
	return has_other_count((Node *) query, NULL);
}

/* Walker: is there a value with a collation that is not the default one? */
static bool
has_own_collation(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, Const) || IsA(node, Param) ||
		IsA(node, RelabelType) || IsA(node, CollateExpr))
	{
		Oid			collation = exprCollation(node);

		if (OidIsValid(collation) && collation != DEFAULT_COLLATION_OID)
			return true;
	}
	return expression_tree_walker(node, has_own_collation, context);
}

/* Walker: drops the default collation of calls and operators, or looks for it. */
static bool
drop_default(Node *node, void *arg)
{
	Dropping   *dropping = arg;

	check_stack_depth();
	if (node == NULL)
		return false;
	if ((IsA(node, FuncExpr) || IsA(node, OpExpr) || IsA(node, DistinctExpr) ||
		 IsA(node, ScalarArrayOpExpr)) &&
		*collation_of(node) == DEFAULT_COLLATION_OID &&
		!has_own_collation((Node *) args_of(node), NULL))
	{
		dropping->found = true;
		if (dropping->changes)
			*collation_of(node) = InvalidOid;
	}
	return expression_tree_walker(node, drop_default, arg);
}

/*
 * A copy of an expression without the default collation, for a database that has the
 * same one; the expression itself if nothing looks at it.  Without columns of another
 * collation nothing else can be meant there.
 */
Node *
collations_drop_default(Node *expr)
{
	Dropping	dropping = {0};
	Node	   *copy;

	(void) drop_default(expr, &dropping);
	if (!dropping.found)
		return expr;
	dropping.changes = true;
	copy = copyObjectImpl(expr);
	(void) drop_default(copy, &dropping);
	return copy;
}

/* Is it jsonb, or an array of it, whose order is that of the default collation? */
static bool
has_jsonb_order(Oid type)
{
	return type == JSONBOID || type == JSONBARRAYOID;
}

/* Does a call or an operator look at the order of jsonb, or of arrays of it? */
static bool
orders_jsonb(const Node *node)
{
	switch (function_of(node))
	{
		case F_JSONB_LT:
		case F_JSONB_LE:
		case F_JSONB_GT:
		case F_JSONB_GE:
		case F_JSONB_CMP:
			return true;
		case F_ARRAY_LT:
		case F_ARRAY_LE:
		case F_ARRAY_GT:
		case F_ARRAY_GE:
		case F_ARRAY_LARGER:
		case F_ARRAY_SMALLER:
		case F_BTARRAYCMP:
			return exprType(linitial(args_of(node))) == JSONBARRAYOID;
		default:
			return false;
	}
}

/*
 * Does an aggregate sort texts or jsonb, or is it one of arrays of jsonb?  What it
 * sorts by has a collation of its own.
 */
static bool
orders_texts(const Aggref *aggregate)
{
	ListCell   *cell;

	foreach(cell, aggregate->args)
	{
		Node	   *arg = (Node *) lfirst_node(TargetEntry, cell)->expr;

		if (exprType(arg) == JSONBARRAYOID ||
			((aggregate->aggorder != NIL || aggregate->aggdistinct != NIL) &&
			 (OidIsValid(exprCollation(arg)) || has_jsonb_order(exprType(arg)))))
			return true;
	}
	return false;
}

/* Does a call or an operator with a collation not look at an order? */
static bool
ignores_order(Node *node)
{
	Oid			function = function_of(node);

	if (is_equality(function, args_of(node), false))
		return is_deterministic(*collation_of(node));
	return is_of_times(function) || is_of_instants(function) ||
		is_of_keys(function) || is_of_values(function);
}

/* Does an aggregate only count or collect values, in any order? */
bool
collations_collects(const Aggref *aggregate)
{
	switch (aggregate->aggfnoid)
	{
		case F_COUNT_ANY:
			return aggregate->aggorder == NIL;
		case F_STRING_AGG_TEXT_TEXT:
		case F_ARRAY_AGG_ANYNONARRAY:
		case F_JSON_AGG:
		case F_JSONB_AGG:
			return aggregate->aggorder == NIL && aggregate->aggdistinct == NIL;
		default:
			return false;
	}
}

/* Does an aggregate look at an order of texts or jsonb? */
static bool
aggregate_orders(const Aggref *aggregate)
{
	return !collations_collects(aggregate) &&
		(OidIsValid(aggregate->inputcollid) || orders_texts(aggregate));
}

/* Does a node that is no function, operator or aggregate compare by a collation? */
static bool
compares_by_collation(const Node *node)
{
	ListCell   *cell;

	switch (nodeTag(node))
	{
		case T_MinMaxExpr:
			return OidIsValid(((const MinMaxExpr *) node)->inputcollid) ||
				has_jsonb_order(((const MinMaxExpr *) node)->minmaxtype);
		case T_RowCompareExpr:
			foreach(cell, ((const RowCompareExpr *) node)->inputcollids)
			{
				if (OidIsValid(lfirst_oid(cell)))
					return true;
			}
			return false;
		default:
			return false;
	}
}

/* Walker: may the value of an expression depend on a collation? */
static bool
has_collation(Node *node, void *context)
{
	bool		found = false;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
			found = orders_jsonb(node) || OidIsValid(*collation_of(node));
			break;
		case T_Aggref:
			found = OidIsValid(((Aggref *) node)->inputcollid) ||
				orders_texts((Aggref *) node);
			break;
		default:
			found = compares_by_collation(node);
			break;
	}
	return found || expression_tree_walker(node, has_collation, context);
}

/* Walker: may the value of an expression depend on the order of texts or jsonb? */
static bool
has_order(Node *node, void *context)
{
	bool		found = false;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
			found = orders_jsonb(node) ||
				(OidIsValid(*collation_of(node)) && !ignores_order(node));
			break;
		case T_Aggref:
			found = aggregate_orders((Aggref *) node);
			break;
		default:
			found = compares_by_collation(node);
			break;
	}
	return found || expression_tree_walker(node, has_order, context);
}

/*
 * May the value of an expression depend on a collation?  Such a one is not sent in
 * another form: postgres_fdw takes the collation that a foreign column is declared
 * with for that of the remote column, but here the local one counted.
 */
bool
collations_remain(Node *expr)
{
	return has_collation(expr, NULL);
}

/*
 * May the value of an expression, in the form that the query has, depend on the order
 * of texts or jsonb?
 */
bool
collations_order(Node *expr)
{
	return has_order(expr, NULL);
}

/* Is a result sorted by texts or jsonb? */
bool
collations_sort(const List *pathkeys)
{
	const ListCell *cell;

	foreach(cell, pathkeys)
	{
		const EquivalenceClass *class = lfirst_node(PathKey, cell)->pk_eclass;
		const EquivalenceMember *member = linitial(class->ec_members);

		/* The operators of arrays are of any array, and so is em_datatype. */
		if (OidIsValid(class->ec_collation) ||
			has_jsonb_order(exprType((Node *) member->em_expr)))
			return true;
	}
	return false;
}
