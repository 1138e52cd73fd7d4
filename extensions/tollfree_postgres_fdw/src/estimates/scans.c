/*
 * scans.c
 *	  Paths of foreign tables with remote estimates.
 *
 * postgres_fdw gets an estimate for the size of a table, then one for each
 * useful order, and one for each set of outer tables whose values may be
 * parameters.  All of these are known when the size is needed.  So they are
 * fetched in one batch, and for all tables of the query together: no size is
 * used before the last table has one.  Only a parent needs the sizes of its
 * children at once.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"

#include "base/compat.h"
#include "base/tables.h"
#include "estimates/estimate.h"
#include "estimates/hidden.h"
#include "estimates/scans.h"
#include "estimates/sorted.h"
#include "scan/scan.h"
#include "sql/plan.h"

/* Is a relation a foreign table of ours with remote estimates? */
static bool
has_estimates(PlannerInfo *root, const RelOptInfo *rel)
{
	return rel != NULL && IS_SIMPLE_REL(rel) && rel->fdwroutine != NULL &&
		rel->fdwroutine->BeginForeignScan == tollfreeBeginForeignScan &&
		!planner_rt_fetch(rel->relid, root)->inh &&
		tables_asks_for_estimates(planner_rt_fetch(rel->relid, root)->relid);
}

/*
 * Has postgres_fdw prepare a relation without remote estimates.  Resets the
 * fields that it sets only without them.
 */
static void
prepare(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel,
		Oid tableid)
{
	RelOptInfo	before = *rel;
	QualCost	cost = rel->reltarget->cost;
	Size		size = (rel->max_attr - rel->min_attr + 1) * sizeof(int32);
	int32	   *widths = memcpy(palloc(size), rel->attr_widths, size);

	hidden_plan_size(stock->GetForeignRelSize, root, rel, tableid);
	rel->pages = before.pages;
	rel->tuples = before.tuples;
	rel->baserestrictcost = before.baserestrictcost;
	rel->reltarget->cost = cost;
	memcpy(rel->attr_widths, widths, size);
}

/* A path of a table that is only estimated, not added. */
static ForeignPath *
make_probe(RelOptInfo *rel, List *pathkeys)
{
	ForeignPath *probe = makeNode(ForeignPath);

	probe->path.pathtype = T_ForeignScan;
	probe->path.parent = rel;
	probe->path.pathtarget = rel->reltarget;
	probe->path.pathkeys = pathkeys;
	return probe;
}

/* The paths added to a relation; its former ones are restored. */
List *
scans_take_paths(RelOptInfo *rel, List *former)
{
	List	   *paths = rel->pathlist;

	rel->pathlist = former;
	return paths;
}

/*
 * The orders of rows to be estimated.  postgres_fdw stores what it finds in
 * its private struct.
 */
static List *
find_orders(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel)
{
	List	   *former = scans_take_paths(rel, NIL);
	List	   *orders = NIL;
	ListCell   *cell;

	stock->GetForeignPaths(root, rel, planner_rt_fetch(rel->relid, root)->relid);
	foreach(cell, scans_take_paths(rel, former))
	{
		const Path *path = lfirst(cell);

		if (path->pathkeys != NIL)
			orders = lappend(orders, path->pathkeys);
	}
	return list_concat(orders, sorted_useful_pathkeys(root, rel));
}

/* State of the search for a table's expressions in equivalence classes */
typedef struct MemberSearch
{
	Expr	   *current;		/* the present one; NULL before one is found */
	List	   *done;			/* those found before */
} MemberSearch;

/*
 * ec_matches_callback_type: selects the next expression, and then only that
 * one.
 */
static bool
is_next_member(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *class,
			   EquivalenceMember *member, void *arg)
{
	MemberSearch *search = arg;

	if (search->current == NULL && !list_member(search->done, member->em_expr))
		search->current = member->em_expr;
	return search->current != NULL &&
		equal(search->current, member->em_expr);
}

/* Those conditions of joins that postgres_fdw would send with a scan of a table. */
static List *
find_sent(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel,
		  const List *clauses)
{
	List	   *movable = NIL;
	ForeignScan *plan;
	const ListCell *cell;

	foreach(cell, clauses)
	{
		if (join_clause_is_movable_to(lfirst(cell), rel))
			movable = lappend(movable, lfirst(cell));
	}
	if (movable == NIL)
		return NIL;
	plan = stock->GetForeignPlan(root, rel,
								 planner_rt_fetch(rel->relid, root)->relid,
								 make_probe(rel, NIL), NIL, movable, NULL);
	/* Conditions that cannot be sent are checked here. */
	return list_difference_ptr(movable,
							   plan_find_restrictions(plan->scan.plan.qual,
													  movable));
}

/* Would postgres_fdw send all of these conditions of a table's joins? */
bool
scans_send_all(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel,
			   const List *clauses)
{
	return list_length(find_sent(stock, root, rel, clauses)) ==
		list_length(clauses);
}

/* Would postgres_fdw send all of a table's own conditions? */
bool
scans_send_conditions(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel)
{
	ForeignScan *plan;

	if (rel->baserestrictinfo == NIL)
		return true;
	plan = stock->GetForeignPlan(root, rel,
								 planner_rt_fetch(rel->relid, root)->relid,
								 make_probe(rel, NIL), NIL,
								 rel->baserestrictinfo, NULL);
	return plan->scan.plan.qual == NIL;
}

/* Adds the ParamPathInfos of scans that have some of these conditions. */
static List *
add_params(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel,
		   List *params, const List *clauses)
{
	ListCell   *cell;

	foreach(cell, find_sent(stock, root, rel, clauses))
	{
		const RestrictInfo *clause = lfirst(cell);
		Relids		outer = bms_union(clause->clause_relids,
									  rel->lateral_relids);

		outer = bms_del_member(outer, rel->relid);
		if (!bms_is_empty(outer))
			params = list_append_unique_ptr(params,
											get_baserel_parampathinfo(root, rel,
																	  outer));
	}
	return params;
}

/*
 * The ParamPathInfos of parameterized scans.  Conditions from equivalence
 * classes are made in postgres_fdw's order, which determines the side of each
 * operand.
 */
static List *
find_params(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel)
{
	List	   *params = add_params(stock, root, rel, NIL, rel->joininfo);
	MemberSearch search = {0};

	while (rel->has_eclass_joins)
	{
		List	   *clauses;

		search.current = NULL;
		clauses = generate_implied_equalities_for_column(root, rel,
														 is_next_member, &search,
														 rel->lateral_referencers);
		if (search.current == NULL)
			break;
		params = add_params(stock, root, rel, params, clauses);
		search.done = lappend(search.done, search.current);
	}
	return params;
}

/*
 * All estimates needed for a table; the first is of its unparameterized scan.
 */
static List *
make_estimates(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel)
{
	List	   *estimates = list_make1(estimate_make(stock, root,
													 make_probe(rel, NIL), NULL,
													 NIL));
	ListCell   *cell;

	foreach(cell, find_orders(stock, root, rel))
		estimates = lappend(estimates,
							estimate_make(stock, root,
										  make_probe(rel, lfirst(cell)), NULL,
										  NIL));
	foreach(cell, find_params(stock, root, rel))
		estimates = lappend(estimates,
							estimate_make(stock, root, make_probe(rel, NIL),
										  lfirst(cell), NIL));
	return estimates;
}

/* Stores the completed estimates of a table. */
static void
take_estimates(PlannerInfo *root, RelOptInfo *rel, List *estimates)
{
	const Estimate *whole = linitial(estimates);
	ListCell   *cell;

	foreach(cell, estimates)
	{
		Estimate   *estimate = lfirst(cell);

		estimate_finish(root, estimate, NULL);
		if (estimate->param != NULL)
			estimate->param->ppi_rows = estimate->rows;
	}
	rel->rows = whole->rows;
	rel->tuples = Max(rel->tuples, rel->rows);
	rel->reltarget->width = whole->answer.width;
	estimate_keep(rel, estimates);
}

/* Gets the estimates of these tables, which are prepared. */
static void
estimate_tables(const FdwRoutine *stock, PlannerInfo *root, List *rels)
{
	List	   *lists = NIL;	/* of estimates, for each of these */
	List	   *all = NIL;
	ListCell   *cell;
	ListCell   *list;

	foreach(cell, rels)
	{
		lists = lappend(lists, make_estimates(stock, root, lfirst(cell)));
		all = list_concat(all, llast(lists));
	}
	explain_estimates(root, all);
	forboth(cell, rels, list, lists)
		take_estimates(root, lfirst(cell), lfirst(list));
}

/* The tables of a query, without children, that need remote estimates. */
static List *
find_unestimated(PlannerInfo *root)
{
	List	   *rels = NIL;

	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *rel = root->simple_rel_array[i];

		if (has_estimates(root, rel) && rel->reloptkind == RELOPT_BASEREL &&
			!IS_DUMMY_REL(rel) && estimate_find(rel) == NIL)
			rels = lappend(rels, rel);
	}
	return rels;
}

/* Those of these tables that postgres_fdw has prepared. */
static List *
find_prepared(const List *rels)
{
	List	   *prepared = NIL;
	const ListCell *cell;

	foreach(cell, rels)
	{
		if (((RelOptInfo *) lfirst(cell))->fdw_private != NULL)
			prepared = lappend(prepared, lfirst(cell));
	}
	return prepared;
}

/*
 * GetForeignRelSize of a table; its estimate may be fetched later.  A parent
 * needs the size of a child at once.
 */
void
scans_size(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel,
		   Oid tableid)
{
	List	   *unestimated;

	prepare(stock, root, rel, tableid);
	if (rel->reloptkind != RELOPT_BASEREL)
	{
		estimate_tables(stock, root, list_make1(rel));
		return;
	}
	unestimated = find_unestimated(root);
	if (llast(unestimated) == rel)
		estimate_tables(stock, root, find_prepared(unestimated));
}

/* GetForeignPaths of a table that scans_size has prepared. */
void
scans_add_paths(const FdwRoutine *stock, PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *cell;

	/* The last table may have turned out to be empty. */
	if (estimate_find(rel) == NIL)
		estimate_tables(stock, root, find_prepared(find_unestimated(root)));
	foreach(cell, estimate_find(rel))
	{
		const Estimate *estimate = lfirst(cell);
		ForeignPath *path = compat_foreign_path(root, rel, estimate->rows,
												estimate->startup,
												estimate->total,
												estimate->param == NULL ?
												rel->lateral_relids :
												estimate->param->ppi_req_outer);

		path->path.pathkeys = estimate->pathkeys;
		add_path(rel, &path->path);
	}
}
