/*
 * sources.c
 *	  Where the collations of an expression come from.
 *
 * Commands name no collation.  So postgres_fdw sends a call that looks at one only if
 * that is the collation of a foreign column among its arguments: the remote server
 * then takes the one of the remote column.  The default collation of a constant or a
 * parameter counts as none, and gives way.
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"

#include "base/compat.h"
#include "rewrite/sources.h"

typedef enum Source
{
	SOURCE_NONE,				/* no collation, or the default one of a value */
	SOURCE_COLUMN,
	SOURCE_OTHER
} Source;

/* The collation of a part of an expression, or of several together */
typedef struct PartCollation
{
	const Bitmapset *relids;	/* the foreign tables */
	Oid			collation;
	Source		source;
	Node	   *found;			/* a call that is not sent, or NULL */
	Oid			wanted;			/* the collation that it looks at */
} PartCollation;

/* Is it a kind of expression, or a part of one, that postgres_fdw has words for? */
bool
sources_is_known(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Const:
		case T_Param:
		case T_CaseTestExpr:
		case T_SubscriptingRef:
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_ScalarArrayOpExpr:
		case T_RelabelType:
		case T_BoolExpr:
		case T_NullTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_ArrayExpr:
		case T_Aggref:
		case T_TargetEntry:
		case T_SortGroupClause:
		case T_List:
			return true;
		case T_ArrayCoerceExpr:
			return COMPAT_STOCK_CASTS_ARRAYS;
		default:
			return false;
	}
}

/* Adds the collation of a part to that of the parts before it. */
static void
add(PartCollation *all, const PartCollation *part)
{
	if (part->source > all->source)
	{
		all->source = part->source;
		all->collation = part->collation;
	}
	else if (part->source == SOURCE_COLUMN && all->source == SOURCE_COLUMN &&
			 part->collation != all->collation &&
			 part->collation != DEFAULT_COLLATION_OID)
	{
		if (all->collation != DEFAULT_COLLATION_OID)
			all->source = SOURCE_OTHER;
		all->collation = part->collation;
	}
}

/* Sets the collation of a part from that of what it is made of. */
static void
set(PartCollation *part, const Node *node)
{
	Oid			collation = exprCollation(node);

	if (!OidIsValid(collation))
		part->source = SOURCE_NONE;
	else if (IsA(node, Var) ?
			 bms_is_member(((const Var *) node)->varno, part->relids) :
			 part->source == SOURCE_COLUMN && part->collation == collation)
		part->source = SOURCE_COLUMN;
	else
		part->source = collation == DEFAULT_COLLATION_OID ? SOURCE_NONE
			: SOURCE_OTHER;
	part->collation = collation;
}

/*
 * Walker: is there a call whose collation is not that of a foreign column, or a kind
 * of expression that is not sent at all?
 */
static bool
find(Node *node, void *arg)
{
	PartCollation *all = arg;
	PartCollation part = {.relids = all->relids};
	Oid			wanted;

	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, List) || IsA(node, CaseWhen) || IsA(node, TargetEntry) ||
		IsA(node, SortGroupClause))
		return expression_tree_walker(node, find, arg);
	if (!sources_is_known(node))
	{
		all->found = node;
		return true;
	}
	wanted = exprInputCollation(node);
	if (!expression_tree_walker(node, find, &part) &&
		(!OidIsValid(wanted) ||
		 (part.source == SOURCE_COLUMN && part.collation == wanted)))
	{
		set(&part, node);
		add(all, &part);
		return false;
	}
	all->found = OidIsValid(wanted) ? node : part.found;
	all->wanted = OidIsValid(wanted) ? wanted : part.wanted;
	return true;
}

/*
 * A part of an expression on these tables whose collation is not that of a foreign
 * column, and that collation: the outermost one.  NULL if there is none.  A kind of
 * expression that is not sent at all counts as such a part.
 */
Node *
sources_find_other(Node *expr, const Bitmapset *relids, Oid *collation)
{
	PartCollation whole = {.relids = relids};

	if (find(expr, &whole))
	{
		*collation = whole.wanted;
		return whole.found;
	}
	*collation = whole.collation;
	return whole.source == SOURCE_OTHER ? expr : NULL;
}
