/*
 * kinds.c
 *	  What an expression has that could be sent in another form.
 *
 * Each file that replaces something looks for it first, and copies nothing if there is
 * none.  Most conditions have one or two such things.  So they are all looked for at
 * once, without a catalog.  A kind that is found need not be replaced in the end; what
 * is replaced is always found.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"

#include "rewrite/casts.h"
#include "rewrite/forms.h"
#include "rewrite/kinds.h"
#include "rewrite/zones.h"

/* A search */
typedef struct Found
{
	int			kinds;
	bool		has_column;
} Found;

/* The kinds of an operator with these operands. */
static int
kinds_of_operator(const OpExpr *op)
{
	int			kinds = OidIsValid(op->inputcollid) ? KIND_COLLATION : 0;

	if (list_length(op->args) == 2 &&
		(exprType(linitial(op->args)) == TIMESTAMPTZOID) !=
		(exprType(lsecond(op->args)) == TIMESTAMPTZOID))
		kinds |= KIND_TIMES;
	return zones_is_of_zone(op->opfuncid) ? kinds | KIND_ZONE : kinds;
}

/* The kinds of a node without its arguments. */
static int
kinds_of_node(const Node *node)
{
	const FuncExpr *call = (const FuncExpr *) node;
	int			kinds;

	switch (nodeTag(node))
	{
		case T_OpExpr:
			return kinds_of_operator((const OpExpr *) node);
		case T_FuncExpr:
			kinds = OidIsValid(call->inputcollid) ? KIND_COLLATION : 0;
			if (zones_is_of_zone(call->funcid))
				kinds |= KIND_ZONE;
			return casts_is_node(node) ? kinds | KIND_CAST : kinds;
		case T_DistinctExpr:
		case T_ScalarArrayOpExpr:
			return KIND_COLLATION;
		case T_NullIfExpr:
			return KIND_COLLATION | KIND_FORM;
		case T_CoerceViaIO:
			return casts_is_node(node) ? KIND_CAST : 0;
		default:
			return forms_is_node(node) ? KIND_FORM : 0;
	}
}

/* Walker: looks for kinds. */
static bool
find(Node *node, void *arg)
{
	Found	   *all = arg;
	Found		part = {0};

	if (node == NULL || IsA(node, Const) || IsA(node, Param) ||
		IsA(node, CaseTestExpr))
		return false;
	if (IsA(node, Var))
	{
		all->has_column = true;
		if (((const Var *) node)->vartype >= FirstGenbkiObjectId)
			all->kinds |= KIND_TYPE;
		return false;
	}
	part.kinds = kinds_of_node(node);
	(void) expression_tree_walker(node, find, &part);
	if (!part.has_column && !IsA(node, List))
		part.kinds |= KIND_GIVEN;
	all->kinds |= part.kinds;
	all->has_column |= part.has_column;
	return false;
}

/* A set of what an expression has. */
int
kinds_of(Node *expr)
{
	Found		found = {0};

	(void) find(expr, &found);
	return found.kinds;
}
