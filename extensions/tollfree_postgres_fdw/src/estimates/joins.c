/*
 * joins.c
 *	  Paths of remote joins with remote estimates.
 *
 * postgres_fdw makes the paths of a join, with meaningless costs, in a list
 * of their own.  The server then estimates each of their orders, and those
 * that merge joins could use, all in one batch.
 */
#include "postgres.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"

#include "base/compat.h"
#include "estimates/estimate.h"
#include "estimates/joins.h"
#include "estimates/scans.h"
#include "estimates/sorted.h"

/* More than any path costs */
#define COST_OF_NONE 1e300

/* Has an input of a join a remote estimate? */
bool
joins_have_estimates(const RelOptInfo *outer, const RelOptInfo *inner)
{
	return estimate_find(outer) != NIL || estimate_find(inner) != NIL;
}

/* A copy of a local join's path that any other path is better than; or NULL. */
static Path *
copy_local_path(const Path *path)
{
	Size		size = IsA(path, HashPath) ? sizeof(HashPath) :
		IsA(path, MergePath) ? sizeof(MergePath) :
		IsA(path, NestPath) ? sizeof(NestPath) : 0;
	Path	   *copy;

	if (size == 0)
		return NULL;
	copy = memcpy(palloc(size), path, size);
	copy->startup_cost = copy->total_cost = COST_OF_NONE;
	return copy;
}

/*
 * The paths that postgres_fdw makes of a join.  It looks for a local one, for
 * EvalPlanQual, and may free paths that are worse than its own: so it gets
 * copies.
 */
static List *
make_paths(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel,
		   RelOptInfo *outer, RelOptInfo *inner, JoinType jointype,
		   JoinPathExtraData *extra)
{
	List	   *former = rel->pathlist;
	List	   *copies = NIL;
	List	   *made = NIL;
	ListCell   *cell;

	foreach(cell, former)
	{
		Path	   *copy = copy_local_path(lfirst(cell));

		if (copy != NULL)
			copies = lappend(copies, copy);
	}
	rel->pathlist = copies;
	stock->GetForeignJoinPaths(root, rel, outer, inner, jointype, extra);
	foreach(cell, scans_take_paths(rel, former))
	{
		if (IsA(lfirst(cell), ForeignPath))
			made = lappend(made, lfirst(cell));
	}
	return made;
}

/* The columns of conditions, which may be RestrictInfos. */
static List *
find_columns(const List *quals)
{
	List	   *columns = NIL;
	const ListCell *cell;

	foreach(cell, quals)
	{
		Node	   *qual = lfirst(cell);

		if (IsA(qual, RestrictInfo))
			qual = (Node *) ((RestrictInfo *) qual)->clause;
		columns = list_concat(columns,
							  pull_var_clause(qual, PVC_RECURSE_PLACEHOLDERS));
	}
	return columns;
}

/*
 * A local path for EvalPlanQual in this order: it may be the input of a merge
 * join.  A sort returns only the columns of its input, so these must include
 * all that the conditions and the expressions of the join need.
 */
static Path *
sort_local_path(PlannerInfo *root, RelOptInfo *rel, Path *path, List *pathkeys,
				const List *quals)
{
	PathTarget *target;

	if (path == NULL || pathkeys_contained_in(pathkeys, path->pathkeys))
		return path;
	target = copy_pathtarget(path->pathtarget);
	add_new_columns_to_pathtarget(target,
								  pull_var_clause((Node *) target->exprs,
												  PVC_RECURSE_PLACEHOLDERS));
	add_new_columns_to_pathtarget(target, find_columns(quals));
	if (list_length(target->exprs) > list_length(path->pathtarget->exprs))
		path = (Path *) create_projection_path(root, rel, path, target);
	return (Path *) create_sort_path(root, rel, path, pathkeys, -1.0);
}

/* A path like another one, but in this order. */
static ForeignPath *
copy_path(PlannerInfo *root, const ForeignPath *path, List *pathkeys,
		  const List *quals)
{
	ForeignPath *copy = makeNode(ForeignPath);

	*copy = *path;
	copy->path.pathkeys = pathkeys;
	copy->fdw_outerpath = sort_local_path(root, path->path.parent,
										  path->fdw_outerpath, pathkeys, quals);
	return copy;
}

/* list_sort_comparator: paths without order come first */
static int
compare_orders(const ListCell *one, const ListCell *other)
{
	return list_length(((const Path *) lfirst(one))->pathkeys) -
		list_length(((const Path *) lfirst(other))->pathkeys);
}

/* GetForeignJoinPaths of a join with a table that has remote estimates. */
void
joins_add_paths(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel,
				RelOptInfo *outer, RelOptInfo *inner, JoinType jointype,
				JoinPathExtraData *extra)
{
	List	   *paths = make_paths(stock, root, rel, outer, inner, jointype,
								   extra);
	const ForeignPath *first;
	Estimate   *whole;
	List	   *estimates;
	ListCell   *cell;
	ListCell   *estimate;

	if (paths == NIL)
		return;
	list_sort(paths, compare_orders);
	first = linitial(paths);
	if (first->path.pathkeys != NIL)
		paths = lcons(copy_path(root, first, NIL, NIL), paths);
	whole = estimate_make(stock, root, linitial(paths), NULL,
						  extra->restrictlist);
	foreach(cell, sorted_useful_pathkeys(root, rel))
		paths = lappend(paths, copy_path(root, first, lfirst(cell),
										 whole->quals));
	estimates = list_make1(whole);
	for_each_from(cell, paths, 1)
		estimates = lappend(estimates,
							estimate_make(stock, root, lfirst(cell), NULL,
										  extra->restrictlist));
	explain_estimates(root, estimates);
	forboth(cell, paths, estimate, estimates)
	{
		estimate_finish(root, lfirst(estimate), NULL);
		estimate_apply(lfirst(cell), lfirst(estimate));
		add_path(rel, lfirst(cell));
	}
	rel->rows = whole->rows;
	rel->reltarget->width = whole->answer.width;
	estimate_keep(rel, estimates);
}
