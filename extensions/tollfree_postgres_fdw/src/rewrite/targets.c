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
#include "optimizer/tlist.h"

#include "rewrite/targets.h"

/* An expression in two forms */
typedef struct Pair
{
	Node	   *written;
	Node	   *sent;
} Pair;

/* How expressions are sent, and where their pairs are kept */
typedef struct Target
{
	const PlannerInfo *root;
	const PathTarget *groups;	/* NULL for conditions */
	TargetForm	form;
	void	   *arg;			/* of the function */
	List	  **pairs;
} Target;

/* Adds a pair for an expression, unless it is sent as written; returns what is sent. */
static Node *
add_pair(Node *written, bool is_group, const Target *target)
{
	Node	   *sent = target->form(written, is_group, target->arg);
	Pair	   *pair;

	if (sent == written)
		return written;
	pair = palloc(sizeof(Pair));
	pair->written = written;
	pair->sent = sent;
	*target->pairs = lappend(*target->pairs, pair);
	return sent;
}

/* Is an expression of a target one of the groups? */
static bool
is_group(const Target *target, int n)
{
	Index		ref = target->groups != NULL ?
		get_pathtarget_sortgroupref(target->groups, n) : 0;

	return ref != 0 &&
		get_sortgroupref_clause_noerr(ref, target->root->parse->groupClause) != NULL;
}

/* A copy of expressions in the form that is sent; the list itself if none differs. */
static List *
replace(List *exprs, const Target *target)
{
	List	   *replaced = NIL;
	int			npairs = list_length(*target->pairs);
	ListCell   *cell;

	foreach(cell, exprs)
		replaced = lappend(replaced,
						   add_pair(lfirst(cell),
									is_group(target, foreach_current_index(cell)),
									target));
	if (list_length(*target->pairs) == npairs)
		return exprs;
	foreach(cell, pull_var_clause((Node *) exprs, PVC_INCLUDE_AGGREGATES |
								  PVC_RECURSE_WINDOWFUNCS |
								  PVC_RECURSE_PLACEHOLDERS))
	{
		if (IsA(lfirst(cell), Aggref))
			(void) add_pair(lfirst(cell), false, target);
	}
	return replaced;
}

/*
 * Has the target of an aggregation, and its HAVING, in the form that is sent, until
 * targets_end.  Returns whether anything differs.  Appends the pairs of forms.
 */
bool
targets_begin(RewrittenTarget *rewritten, const PlannerInfo *root,
			  RelOptInfo *rel, GroupPathExtraData *extra, TargetForm form,
			  void *arg, List **pairs)
{
	Target		target = {
		.root = root,
		.groups = rel->reltarget,
		.form = form,
		.arg = arg,
		.pairs = pairs
	};
	List	   *exprs = replace(rel->reltarget->exprs, &target);
	List	   *having;

	target.groups = NULL;
	having = replace((List *) extra->havingQual, &target);
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

/* Puts back what targets_begin replaced. */
void
targets_end(const RewrittenTarget *rewritten)
{
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
