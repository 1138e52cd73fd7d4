/*
 * forms.c
 *	  Expressions that postgres_fdw has no words for, in other words.
 *
 *	COALESCE(a, b)		CASE WHEN a IS NOT NULL THEN a ELSE b END
 *	NULLIF(a, b)		CASE WHEN a = b THEN NULL ELSE a END
 *	GREATEST(a, b)		CASE WHEN a IS NULL THEN b WHEN b IS NULL THEN a
 *						WHEN a < b THEN b ELSE a END
 *	a IS NOT TRUE		CASE WHEN a THEN false ELSE true END
 *	(a, b) > (x, y)		a >= x AND (a > x OR (a = x AND b > y))
 *
 * Arguments are evaluated more than once, so none may be volatile, or call a function
 * that is not PostgreSQL's own.  An argument is evaluated only where it was before,
 * or has been evaluated already.  The last form has a condition that an index
 * serves.  It is null where a comparison of rows is: a comparison before the first
 * difference is null.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "rewrite/forms.h"

/* Arguments of GREATEST and LEAST; each one more triples the text */
#define FORMS_MAX_COMPARED 3

/* Nodes of a form, at most, and for each node of what it is made of */
#define FORMS_MAX_NODES 500
#define FORMS_MAX_GROWTH 8

/* An expression that is being replaced */
typedef struct Forming
{
	int			max;			/* nodes that its form may have */
	bool		is_large;		/* would it have more? */
} Forming;

/* A comparison of two copies of expressions. */
static Expr *
compare(Oid operator, const void *left, const void *right, Oid collation)
{
	OpExpr	   *comparison = (OpExpr *)
		make_opclause(operator, BOOLOID, false, copyObjectImpl(left),
					  copyObjectImpl(right), InvalidOid, collation);

	set_opfuncid(comparison);
	return (Expr *) comparison;
}

/* Is a copy of an expression null, or not null? */
static Expr *
test_null(const void *expr, NullTestType type)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = copyObjectImpl(expr);
	test->nulltesttype = type;
	test->location = -1;
	return (Expr *) test;
}

/* WHEN condition THEN a copy of the result */
static CaseWhen *
when(Expr *condition, const void *result)
{
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = condition;
	when->result = copyObjectImpl(result);
	when->location = -1;
	return when;
}

/* CASE with these WHENs, and a copy of the result otherwise */
static Node *
make_case(List *whens, const void *otherwise, Oid type, Oid collation)
{
	CaseExpr   *choice = makeNode(CaseExpr);

	choice->casetype = type;
	choice->casecollid = collation;
	choice->args = whens;
	choice->defresult = copyObjectImpl(otherwise);
	choice->location = -1;
	return (Node *) choice;
}

/* COALESCE; what it is, if rows are tested, whose fields count */
static Node *
replace_coalesce(const CoalesceExpr *coalesce)
{
	List	   *whens = NIL;
	ListCell   *cell;

	if (type_is_rowtype(coalesce->coalescetype))
		return (Node *) coalesce;

	/*
	 * What is null for certain has been dropped when the query was
	 * simplified.
	 */
	if (list_length(coalesce->args) == 1)
		return linitial(coalesce->args);
	foreach(cell, coalesce->args)
	{
		if (lnext(coalesce->args, cell) != NULL)
			whens = lappend(whens, when(test_null(lfirst(cell), IS_NOT_NULL),
										lfirst(cell)));
	}
	return make_case(whens, llast(coalesce->args), coalesce->coalescetype,
					 coalesce->coalescecollid);
}

/* NULLIF */
static Node *
replace_nullif(const NullIfExpr *nullif)
{
	const Node *value = linitial(nullif->args);
	Expr	   *are_equal = compare(nullif->opno, value, lsecond(nullif->args),
									nullif->inputcollid);
	Const	   *null = makeNullConst(exprType(value), -1, nullif->opcollid);

	return make_case(list_make1(when(are_equal, null)), value, exprType(value),
					 nullif->opcollid);
}

/* GREATEST or LEAST; what it is, if it compares texts or too much */
static Node *
replace_minmax(const MinMaxExpr *minmax)
{
	const TypeCacheEntry *type = lookup_type_cache(minmax->minmaxtype,
												   TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	Oid			loses = minmax->op == IS_GREATEST ? type->lt_opr : type->gt_opr;
	Node	   *chosen = linitial(minmax->args);

	if (OidIsValid(minmax->inputcollid) || !OidIsValid(loses) ||
		list_length(minmax->args) > FORMS_MAX_COMPARED)
		return (Node *) minmax;
	for (int i = 1; i < list_length(minmax->args); i++)
	{
		const Node *next = list_nth(minmax->args, i);

		chosen = make_case(list_make3(when(test_null(chosen, IS_NULL), next),
									  when(test_null(next, IS_NULL), chosen),
									  when(compare(loses, chosen, next, InvalidOid),
										   next)),
						   chosen, minmax->minmaxtype, InvalidOid);
	}
	return chosen;
}

/* IS TRUE and the like */
static Node *
replace_test(const BooleanTest *test)
{
	Expr	   *condition = test->arg;
	bool		if_met = true;

	switch (test->booltesttype)
	{
		case IS_UNKNOWN:
			return (Node *) test_null(condition, IS_NULL);
		case IS_NOT_UNKNOWN:
			return (Node *) test_null(condition, IS_NOT_NULL);
		case IS_TRUE:
			break;
		case IS_NOT_TRUE:
			if_met = false;
			break;
		case IS_FALSE:
			condition = make_notclause(condition);
			break;
		case IS_NOT_FALSE:
			condition = make_notclause(condition);
			if_met = false;
			break;
	}
	return make_case(list_make1(when(copyObjectImpl(condition),
									 makeBoolConst(if_met, false))),
					 makeBoolConst(!if_met, false), BOOLOID, InvalidOid);
}

/* The comparison of the nth pair of a row by another operator of its kind. */
static Expr *
compare_pair(const RowCompareExpr *rows, int n, int strategy)
{
	Node	   *left = list_nth(rows->largs, n);
	Node	   *right = list_nth(rows->rargs, n);
	Oid			family = list_nth_oid(rows->opfamilies, n);
	Oid			lefttype;
	Oid			righttype;
	Oid			operator;

	op_input_types(list_nth_oid(rows->opnos, n), &lefttype, &righttype);
	operator = get_opfamily_member(family, lefttype, righttype, strategy);
	if (!OidIsValid(operator))
		return NULL;
	return compare(operator, left, right, list_nth_oid(rows->inputcollids, n));
}

/* A comparison of rows, from the nth pair on; NULL without all the operators. */
static Expr *
compare_rows(const RowCompareExpr *rows, int n, bool less, bool or_equal)
{
	int			strict = less ? BTLessStrategyNumber : BTGreaterStrategyNumber;
	int			loose = less ? BTLessEqualStrategyNumber :
		BTGreaterEqualStrategyNumber;
	Expr	   *bound;
	Expr	   *decides;
	Expr	   *equal;
	Expr	   *rest;

	if (n == list_length(rows->opnos) - 1)
		return compare_pair(rows, n, or_equal ? loose : strict);
	bound = compare_pair(rows, n, loose);
	decides = compare_pair(rows, n, strict);
	equal = compare_pair(rows, n, BTEqualStrategyNumber);
	rest = compare_rows(rows, n + 1, less, or_equal);
	if (bound == NULL || decides == NULL || equal == NULL || rest == NULL)
		return NULL;
	rest = make_andclause(list_make2(equal, rest));
	rest = make_orclause(list_make2(decides, rest));
	return n > 0 ? rest : make_andclause(list_make2(bound, rest));
}

/* A comparison of rows; what it is, if it cannot be taken apart */
static Node *
replace_rows(const RowCompareExpr *rows)
{
	int			type = compat_row_comparison(rows);
	bool		or_equal = type == BTLessEqualStrategyNumber ||
		type == BTGreaterEqualStrategyNumber;
	Expr	   *apart = compare_rows(rows, 0, type < BTEqualStrategyNumber,
									 or_equal);

	return apart != NULL ? (Node *) apart : (Node *) rows;
}

/* Is it a kind of expression that has another form? */
bool
forms_is_node(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_CoalesceExpr:
		case T_NullIfExpr:
		case T_MinMaxExpr:
		case T_BooleanTest:
		case T_RowCompareExpr:
			return true;
		default:
			return false;
	}
}

/* Walker: is there any? */
static bool
has_form(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return forms_is_node(node) ||
		expression_tree_walker(node, has_form, context);
}

/* Walker: counts nodes down; true if there are more. */
static bool
count_down(Node *node, void *arg)
{
	int		   *left = arg;

	if (node == NULL)
		return false;
	*left -= 1;
	return *left < 0 || expression_tree_walker(node, count_down, arg);
}

/* How many nodes a form of an expression may have. */
static int
max_nodes(Node *expr)
{
	int			left = INT_MAX;

	(void) count_down(expr, &left);
	return Min(INT_MAX - left, INT_MAX / FORMS_MAX_GROWTH - FORMS_MAX_NODES) *
		FORMS_MAX_GROWTH + FORMS_MAX_NODES;
}

/* The other form of a node without its arguments'; the node itself if it has none. */
static Node *
form_of(Node *node)
{
	switch (nodeTag(node))
	{
		case T_CoalesceExpr:
			return replace_coalesce((CoalesceExpr *) node);
		case T_NullIfExpr:
			return replace_nullif((NullIfExpr *) node);
		case T_MinMaxExpr:
			return replace_minmax((MinMaxExpr *) node);
		case T_BooleanTest:
			return replace_test((BooleanTest *) node);
		case T_RowCompareExpr:
			return replace_rows((RowCompareExpr *) node);
		default:
			return node;
	}
}

/* Mutator: other forms, the innermost ones first; none after one that is too large. */
static Node *
replace(Node *node, void *arg)
{
	Forming    *forming = arg;
	Node	   *form;
	int			left = forming->max;

	check_stack_depth();
	if (node == NULL || forming->is_large)
		return node;
	node = expression_tree_mutator(node, replace, arg);
	if (forming->is_large)
		return node;
	form = form_of(node);
	if (form != node)
		forming->is_large = count_down(form, &left);
	return form;
}

/* check_function_callback: is it a function that is not PostgreSQL's own? */
static bool
is_other_function(Oid function, void *context)
{
	return function >= FirstGenbkiObjectId;
}

/* Walker: is there a call of such a one?  It may be slow, or show that it is called. */
static bool
calls_other(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, is_other_function, NULL) ||
		expression_tree_walker(node, calls_other, context);
}

/*
 * A copy of an expression in an equal form; the expression itself if it has none, or
 * only one that is much larger: of nested forms each one multiplies those within.
 */
Node *
forms_replace(Node *expr)
{
	Forming		forming = {0};
	Node	   *form;

	if (!has_form(expr, NULL) || contain_volatile_functions(expr) ||
		contain_subplans(expr) || calls_other(expr, NULL))
		return expr;
	forming.max = max_nodes(expr);
	form = replace(expr, &forming);
	return forming.is_large ? expr : form;
}
