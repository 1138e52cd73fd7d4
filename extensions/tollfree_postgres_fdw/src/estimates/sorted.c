/*
 * sorted.c
 *	  Orders of remote rows that merge joins could use.
 *
 * With remote estimates postgres_fdw considers the order of a column that is
 * equal to one of another relation.  Orders that the query itself needs are
 * not found here: postgres_fdw has paths for them.
 *
 * Expressions other than columns of built-in types are left out: postgres_fdw
 * has no interface to test whether they can be sent.
 */
#include "postgres.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/paths.h"

#include "base/compat.h"
#include "estimates/sorted.h"

/* Is an expression a column of a built-in type, perhaps relabeled? */
static bool
is_column(const Node *expr)
{
	while (IsA(expr, RelabelType))
	{
		const RelabelType *relabel = (const RelabelType *) expr;

		if (relabel->resulttype >= FirstGenbkiObjectId ||
			relabel->resultcollid != exprCollation((Node *) relabel->arg))
			return false;
		expr = (const Node *) relabel->arg;
	}
	return IsA(expr, Var) && ((const Var *) expr)->varattno > 0 &&
		((const Var *) expr)->vartype < FirstGenbkiObjectId;
}

/*
 * The tables of a remote join whose columns it does not return: those on the
 * inner side of semi joins.
 */
static Relids
find_hidden(const PlannerInfo *root, const RelOptInfo *rel)
{
	Relids		hidden = NULL;
	ListCell   *cell;

	foreach(cell, root->join_info_list)
	{
		const SpecialJoinInfo *join = lfirst_node(SpecialJoinInfo, cell);

		if (join->jointype == JOIN_SEMI)
			hidden = bms_add_members(hidden, join->syn_righthand);
	}
	return IS_SIMPLE_REL(rel) ? NULL : hidden;
}

/* Can the remote server sort a relation by a class of equal expressions? */
static bool
may_sort(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *class)
{
	Relids		hidden = find_hidden(root, rel);
	CompatMembers members;
	EquivalenceMember *member;
	bool		found = false;

	if (linitial_oid(class->ec_opfamilies) >= FirstGenbkiObjectId)
		return false;
	compat_begin_members(&members, class, rel->relids);
	while (!found && (member = compat_next_member(&members)) != NULL)
		found = !bms_is_empty(member->em_relids) &&
			bms_is_subset(member->em_relids, rel->relids) &&
			!bms_overlap(member->em_relids, hidden) &&
			is_column((Node *) member->em_expr);
	return found;
}

/*
 * The equivalence class of the side of a join condition that belongs to a
 * relation; or NULL.
 */
static EquivalenceClass *
find_side(PlannerInfo *root, const RelOptInfo *rel, RestrictInfo *clause)
{
	Relids		relids = IS_OTHER_REL(rel) ? rel->top_parent_relids : rel->relids;

	if (clause->mergeopfamilies == NIL)
		return NULL;
	update_mergeclause_eclasses(root, clause);
	if (bms_overlap(relids, clause->right_ec->ec_relids))
		return clause->right_ec;
	return bms_overlap(relids, clause->left_ec->ec_relids) ? clause->left_ec
		: NULL;
}

/* The classes by which a merge join of a relation could be made. */
static List *
find_classes(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *classes = NIL;
	ListCell   *cell;

	foreach(cell, root->eq_classes)
	{
		if (rel->has_eclass_joins &&
			eclass_useful_for_merging(root, lfirst(cell), rel))
			classes = lappend(classes, lfirst(cell));
	}
	foreach(cell, rel->joininfo)
	{
		EquivalenceClass *class = find_side(root, rel, lfirst(cell));

		if (class != NULL)
			classes = list_append_unique_ptr(classes, class);
	}
	return classes;
}

/* A list of lists of pathkeys, each of one column. */
List *
sorted_useful_pathkeys(PlannerInfo *root, RelOptInfo *rel)
{
	const EquivalenceClass *of_query = list_length(root->query_pathkeys) == 1 ?
		linitial_node(PathKey, root->query_pathkeys)->pk_eclass : NULL;
	List	   *useful = NIL;
	ListCell   *cell;

	foreach(cell, find_classes(root, rel))
	{
		EquivalenceClass *class = lfirst(cell);

		if (class != of_query && may_sort(root, rel, class))
			useful = lappend(useful,
							 list_make1(make_canonical_pathkey(root, class,
															   linitial_oid(class->ec_opfamilies),
															   COMPAT_LESS,
															   false)));
	}
	return useful;
}
