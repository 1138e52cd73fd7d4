/*
 * targets.c
 *	  What a remote aggregation computes, in a form that is sent.
 *
 * While postgres_fdw looks whether it can send an aggregation, its groups, aggregates
 * and HAVING are in the form that is sent.  It keeps that, and makes the command of
 * it.  To the planner they are what was written: so the columns of the finished scan
 * get the written form back, by which the nodes above find them, and so do
 * the conditions that the scan checks here.
 *
 * For that a pair is kept for each expression that is found again in the plan: the
 * whole ones, and the aggregates in them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "rewrite/targets.h"

/* An expression in two forms */
typedef struct Pair
{
	Node	   *written;
	Node	   *sent;
} Pair;

/* Adds a pair for an expression, unless it is sent as written; returns what is sent. */
static Node *
add_pair(Node *written, TargetForm form, void *arg, List **pairs)
{
	Node	   *sent = form(written, arg);
	Pair	   *pair;

	if (sent == written)
		return written;
	pair = palloc(sizeof(Pair));
	pair->written = written;
	pair->sent = sent;
	*pairs = lappend(*pairs, pair);
	return sent;
}

/* A copy of expressions in the form that is sent; the list itself if none differs. */
static List *
replace(List *exprs, TargetForm form, void *arg, List **pairs)
{
	List	   *replaced = NIL;
	int			npairs = list_length(*pairs);
	ListCell   *cell;

	foreach(cell, exprs)
		replaced = lappend(replaced, add_pair(lfirst(cell), form, arg, pairs));
	if (list_length(*pairs) == npairs)
		return exprs;
	foreach(cell, pull_var_clause((Node *) exprs, PVC_INCLUDE_AGGREGATES |
								  PVC_RECURSE_WINDOWFUNCS |
								  PVC_RECURSE_PLACEHOLDERS))
	{
		if (IsA(lfirst(cell), Aggref))
			(void) add_pair(lfirst(cell), form, arg, pairs);
	}
	return replaced;
}

/*
 * Has the target of an aggregation, and its HAVING, in the form that is sent, until
 * targets_end.  Returns whether anything differs.  Appends the pairs of forms.
 */
bool
targets_begin(RewrittenTarget *rewritten, RelOptInfo *rel,
			  GroupPathExtraData *extra, TargetForm form, void *arg, List **pairs)
{
	List	   *exprs = replace(rel->reltarget->exprs, form, arg, pairs);
	List	   *having = replace((List *) extra->havingQual, form, arg, pairs);

	if (exprs == rel->reltarget->exprs && (Node *) having == extra->havingQual)
		return false;
	rewritten->target = rel->reltarget;
	rewritten->extra = extra;
	rewritten->exprs = rel->reltarget->exprs;
	rewritten->having = extra->havingQual;
	rel->reltarget->exprs = exprs;
	extra->havingQual = (Node *) having;
	return true;
}

/* Puts back what targets_begin replaced, if anything. */
void
targets_end(const RewrittenTarget *rewritten)
{
	if (rewritten->target == NULL)
		return;
	rewritten->target->exprs = rewritten->exprs;
	rewritten->extra->havingQual = rewritten->having;
}

/* Mutator: written forms. */
static Node *
restore(Node *node, void *pairs)
{
	ListCell   *cell;

	check_stack_depth();
	if (node == NULL)
		return NULL;
	foreach(cell, (List *) pairs)
	{
		const Pair *pair = lfirst(cell);

		if (equal(pair->sent, node))
			return copyObjectImpl(pair->written);
	}
	return expression_tree_mutator(node, restore, pairs);
}

/* A copy of expressions, or of a target list, in their written form. */
List *
targets_restore(List *exprs, List *pairs)
{
	return (List *) restore((Node *) exprs, pairs);
}
