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
 * whole ones, and the aggregates in them.  Two that are sent in the same form could not
 * be told apart, so such an aggregation stays.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "rewrite/targets.h"

/* An expression of a relation's aggregation, in two forms */
typedef struct Pair
{
	const RelOptInfo *rel;
	Node	   *written;
	Node	   *sent;			/* the same one if it is sent as written */
} Pair;

/* How expressions are sent, and where their pairs are kept */
typedef struct Target
{
	const PlannerInfo *root;
	RelOptInfo *rel;
	const PathTarget *groups;	/* NULL for conditions */
	TargetForm	form;
	List	   *pairs;
	bool		is_changed;		/* is any form another one? */
} Target;

/* Adds the pair of an expression; returns what is sent. */
static Node *
add_pair(Node *written, TargetKind kind, Target *target)
{
	Pair	   *pair = palloc(sizeof(Pair));

	pair->rel = target->rel;
	pair->written = written;
	pair->sent = target->form(written, kind, target->root, target->rel);
	target->is_changed |= pair->sent != written;
	target->pairs = lappend(target->pairs, pair);
	return pair->sent;
}

/* What an expression is, by its number in the target, or among conditions */
static TargetKind
kind_of(const Target *target, int n)
{
	Index		ref;

	if (target->groups == NULL)
		return TARGET_CONDITION;
	ref = get_pathtarget_sortgroupref(target->groups, n);
	return ref != 0 &&
		get_sortgroupref_clause_noerr(ref, target->root->parse->groupClause) != NULL ?
		TARGET_GROUP : TARGET_VALUE;
}

/* A copy of expressions in the form that is sent. */
static List *
replace(List *exprs, Target *target)
{
	List	   *replaced = NIL;
	ListCell   *cell;

	foreach(cell, exprs)
		replaced = lappend(replaced,
						   add_pair(lfirst(cell),
									kind_of(target, foreach_current_index(cell)),
									target));
	foreach(cell, pull_var_clause((Node *) exprs, PVC_INCLUDE_AGGREGATES |
								  PVC_RECURSE_WINDOWFUNCS |
								  PVC_RECURSE_PLACEHOLDERS))
	{
		if (IsA(lfirst(cell), Aggref) || IsA(lfirst(cell), GroupingFunc))
			(void) add_pair(lfirst(cell), TARGET_VALUE, target);
	}
	return replaced;
}

/* Are two different expressions sent in the same form? */
static bool
has_same_forms(const List *pairs)
{
	const ListCell *cell;
	const ListCell *other;

	foreach(cell, pairs)
	{
		const Pair *pair = lfirst(cell);

		for_each_from(other, pairs, foreach_current_index(cell) + 1)
		{
			const Pair *another = lfirst(other);

			if (equal(pair->sent, another->sent) &&
				!equal(pair->written, another->written))
				return true;
		}
	}
	return false;
}

/* Walker: is there a GROUPING in an expression? */
static bool
has_grouping(Node *node, void *arg)
{
	check_stack_depth();
	if (node == NULL)
		return false;
	return IsA(node, GroupingFunc) || expression_tree_walker(node, has_grouping, arg);
}

/* Is there one in an expression of an aggregation? */
bool
targets_have_grouping(Node *expr)
{
	return has_grouping(expr, NULL);
}

/*
 * Has the target of an aggregation, and its HAVING, in the form that is sent, until
 * targets_end.  Returns whether anything differs.  Appends the pairs of forms.
 */
bool
targets_begin(RewrittenTarget *rewritten, const PlannerInfo *root,
			  RelOptInfo *rel, GroupPathExtraData *extra, TargetForm form,
			  List **pairs)
{
	Target		target = {
		.root = root,
		.rel = rel,
		.groups = rel->reltarget,
		.form = form
	};
	List	   *exprs = replace(rel->reltarget->exprs, &target);
	List	   *having;

	target.groups = NULL;
	having = replace((List *) extra->havingQual, &target);
	if (!target.is_changed || has_same_forms(target.pairs))
		return false;
	*pairs = list_concat(*pairs, target.pairs);
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

/* The form in which an expression of a relation's target is sent; NULL if none is. */
Node *
targets_sent(const Node *written, const RelOptInfo *rel, const List *pairs)
{
	const ListCell *cell;

	foreach(cell, pairs)
	{
		const Pair *pair = lfirst(cell);

		if (pair->rel == rel && equal(pair->written, written))
			return pair->sent;
	}
	return NULL;
}

/* Forms to be put back */
typedef struct Restoring
{
	const List *pairs;
	const RelOptInfo *rel;
} Restoring;

/* Mutator: written forms. */
static Node *
restore(Node *node, void *arg)
{
	const Restoring *restoring = arg;
	const ListCell *cell;

	check_stack_depth();
	if (node == NULL)
		return NULL;
	foreach(cell, restoring->pairs)
	{
		const Pair *pair = lfirst(cell);

		if (pair->rel == restoring->rel && equal(pair->sent, node))
			return copyObjectImpl(pair->written);
	}
	return expression_tree_mutator(node, restore, arg);
}

/* A copy of expressions, or of a target list, of a relation in their written form. */
List *
targets_restore(List *exprs, const RelOptInfo *rel, const List *pairs)
{
	Restoring	restoring = {.pairs = pairs,.rel = rel};

	return (List *) restore((Node *) exprs, &restoring);
}
