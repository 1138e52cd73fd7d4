/*
 * instants.c
 *	  Comparisons of a timestamptz with another time, in a form that is sent.
 *
 * A comparison of a timestamptz with a date or a timestamp that is a value without
 * columns needs no zone on the remote server: the value is made a timestamptz here.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "rewrite/instants.h"
#include "rewrite/values.h"

/* The operator that compares instants as this one does other times; or InvalidOid. */
static Oid
operator_of_instants(Oid operator)
{
	Oid			family = lookup_type_cache(TIMESTAMPTZOID,
										   TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	Oid			compared = operator;
	int			strategy = get_op_opfamily_strategy(operator, family);

	if (strategy == 0)
	{
		compared = get_negator(operator);
		strategy = OidIsValid(compared) ?
			get_op_opfamily_strategy(compared, family) : 0;
	}
	if (strategy == 0)
		return InvalidOid;
	strategy = get_opfamily_member(family, TIMESTAMPTZOID, TIMESTAMPTZOID, strategy);
	return compared == operator ? (Oid) strategy : get_negator(strategy);
}

/* A date or a timestamp that is a value without columns as an instant; else NULL. */
static Node *
instant_of_value(Node *value)
{
	Oid			type = exprType(value);

	if ((type != DATEOID && type != TIMESTAMPOID) || contain_var_clause(value) ||
		!values_cannot_fail(value))
		return NULL;
	return (Node *) makeFuncExpr(type == DATEOID ? F_TIMESTAMPTZ_DATE :
								 F_TIMESTAMPTZ_TIMESTAMP, TIMESTAMPTZOID,
								 list_make1(value), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CAST);
}

/* The comparison of instants in place of that of another time; else the node. */
static Node *
compare_instants(OpExpr *comparison)
{
	Node	   *left = linitial(comparison->args);
	Node	   *right = lsecond(comparison->args);
	Node	   *value;
	OpExpr	   *copy;
	Oid			operator;

	if (exprType(left) == TIMESTAMPTZOID)
		right = value = instant_of_value(right);
	else if (exprType(right) == TIMESTAMPTZOID)
		left = value = instant_of_value(left);
	else
		return (Node *) comparison;
	if (value == NULL)
		return (Node *) comparison;
	operator = operator_of_instants(comparison->opno);
	if (!OidIsValid(operator))
		return (Node *) comparison;
	copy = makeNode(OpExpr);
	*copy = *comparison;
	copy->opno = operator;
	copy->opfuncid = get_opcode(operator);
	copy->args = list_make2(left, right);
	return (Node *) copy;
}

/* Mutator: comparisons of instants. */
static Node *
compare(Node *node, void *context)
{
	check_stack_depth();
	if (node == NULL)
		return NULL;
	node = expression_tree_mutator(node, compare, context);
	if (IsA(node, OpExpr) && list_length(((OpExpr *) node)->args) == 2)
		return compare_instants((OpExpr *) node);
	return node;
}

/*
 * A copy of an expression in which a timestamptz is compared with instants, not with
 * dates or times that are values; the expression itself if nothing changes.
 */
Node *
instants_compare(Node *expr)
{
	Node	   *copy;

	if (!contain_mutable_functions(expr) || contain_volatile_functions(expr))
		return expr;
	copy = compare(expr, NULL);
	return equal(copy, expr) ? expr : copy;
}
