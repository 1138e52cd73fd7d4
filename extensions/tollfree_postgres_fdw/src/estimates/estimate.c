/*
 * estimate.c
 *	  A remote estimate of a scan, join or aggregate.
 *
 * The query that postgres_fdw plans for the path is explained remotely.  The
 * path's cost is computed as postgres_fdw computes it: the remote cost, that
 * of conditions and columns that are computed here, and that of sending rows.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"

#include "base/compat.h"
#include "base/options.h"
#include "estimates/estimate.h"
#include "join/memory.h"
#include "sql/deparse.h"
#include "sql/plan.h"

/* By how much postgres_fdw prefers a LIMIT that leaves nothing */
#define LIMIT_PREFERENCE 0.05

/* Distributes the conditions that a plan checks here. */
static void
split_quals(Estimate *estimate, List *quals)
{
	ListCell   *cell;

	foreach(cell, quals)
	{
		if (estimate->param != NULL &&
			list_member_ptr(estimate->param->ppi_clauses, lfirst(cell)))
			estimate->param_quals = lappend(estimate->param_quals, lfirst(cell));
		else
			estimate->quals = lappend(estimate->quals, lfirst(cell));
	}
}

/*
 * The conditions of a table's scan, with those without columns: the remote
 * server does not check them, but postgres_fdw includes them in its EXPLAIN.
 */
static List *
find_clauses(const RelOptInfo *rel, const ParamPathInfo *param)
{
	List	   *clauses = list_concat_copy(param != NULL ? param->ppi_clauses : NIL,
										   rel->baserestrictinfo);
	ListCell   *cell;

	foreach(cell, clauses)
	{
		const RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		RestrictInfo *copy;

		if (!clause->pseudoconstant)
			continue;
		copy = makeNode(RestrictInfo);
		*copy = *clause;
		copy->pseudoconstant = false;
		lfirst(cell) = copy;
	}
	return clauses;
}

/*
 * An estimate, not yet made, of a path, which need not have costs.
 * restrictions are the conditions of a join.
 */
Estimate *
estimate_make(const FdwRoutine *stock, PlannerInfo *root, ForeignPath *path,
			  ParamPathInfo *param, const List *restrictions)
{
	RelOptInfo *rel = path->path.parent;
	Estimate   *estimate = palloc0(sizeof(Estimate));
	List	   *clauses = NIL;
	Oid			tableid = InvalidOid;
	ForeignScan *plan;

	if (IS_SIMPLE_REL(rel))
	{
		tableid = planner_rt_fetch(rel->relid, root)->relid;
		restrictions = clauses = find_clauses(rel, param);
	}
	plan = stock->GetForeignPlan(root, rel, tableid, path, NIL, clauses, NULL);
	estimate->rel = rel;
	estimate->pathkeys = path->path.pathkeys;
	estimate->param = param;
	estimate->sql = deparse_estimate(plan_read_scan(plan->fdw_private).command.sql,
									 plan->fdw_exprs);
	estimate->received = IS_UPPER_REL(rel) ? plan->fdw_scan_tlist : NIL;
	split_quals(estimate, plan_find_restrictions(plan->scan.plan.qual,
												 restrictions));
	return estimate;
}

/* Adds the costs of rows that are sent. */
static void
add_sending(const RelOptInfo *rel, double sent, Cost *startup, Cost *total)
{
	Cost		start = option_cost(rel->serverid, "fdw_startup_cost",
									COMPAT_FDW_STARTUP_COST);
	Cost		row = option_cost(rel->serverid, "fdw_tuple_cost",
								  COMPAT_FDW_TUPLE_COST);

	/* In postgres_fdw's order: a sum depends on it. */
	*startup += start;
	*total += start;
	*total += row * sent;
	*total += cpu_tuple_cost * sent;
}

/* Adds the costs of conditions that are checked here. */
static void
add_quals(PlannerInfo *root, Estimate *estimate, List *quals)
{
	QualCost	cost;

	cost_qual_eval(&cost, quals, root);
	estimate->rel_startup += cost.startup;
	estimate->rel_total += cost.per_tuple * estimate->answer.rows;
}

/* Adds the costs of columns, times a factor, for each row that is returned. */
static void
add_columns(Estimate *estimate, QualCost cost, int times)
{
	estimate->rel_startup += times * cost.startup;
	estimate->rel_total += times * cost.startup;
	estimate->rel_total += times * cost.per_tuple * estimate->rows;
}

/*
 * Computes rows and costs from the remote plan's.  target is that of a path
 * that sorts a query's result, if it differs from the relation's; or NULL.
 */
void
estimate_finish(PlannerInfo *root, Estimate *estimate,
				const PathTarget *target)
{
	const RelOptInfo *rel = estimate->rel;
	const EstimateAnswer *answer = &estimate->answer;
	Selectivity kept = clauselist_selectivity(root, estimate->param_quals,
											  rel->relid, JOIN_INNER, NULL) *
		clauselist_selectivity(root, estimate->quals, rel->relid, JOIN_INNER,
							   NULL);
	QualCost	remote;

	estimate->rows = clamp_row_est(answer->rows * kept);
	estimate->rel_startup = answer->startup;
	estimate->rel_total = answer->total;
	add_quals(root, estimate, estimate->quals);
	add_quals(root, estimate, estimate->param_quals);
	cost_qual_eval(&remote, estimate->received, root);
	add_columns(estimate, rel->reltarget->cost, 1);
	add_columns(estimate, remote, -1);
	if (target != NULL)
	{
		add_columns(estimate, rel->reltarget->cost, -1);
		add_columns(estimate, target->cost, 1);
	}
	estimate->startup = estimate->rel_startup;
	estimate->total = estimate->rel_total;
	add_sending(rel, answer->rows, &estimate->startup, &estimate->total);
}

/* Sets a path's rows and costs from the estimate. */
void
estimate_apply(Path *path, const Estimate *estimate)
{
	path->rows = estimate->rows;
	path->startup_cost = estimate->startup;
	path->total_cost = estimate->total;
}

/*
 * Sets rows and costs of a path with a LIMIT, and with no order, from the
 * estimate without the LIMIT.
 */
void
estimate_limit(Path *path, const Estimate *estimate,
			   const FinalPathExtraData *extra)
{
	const RelOptInfo *rel = estimate->rel;
	double		all = estimate->rows;
	Cost		run;

	path->rows = all;
	path->startup_cost = estimate->rel_startup;
	run = estimate->rel_total - estimate->rel_startup;
	if (!IS_UPPER_REL(rel))
	{
		path->startup_cost += rel->reltarget->cost.startup;
		run += rel->reltarget->cost.per_tuple * all;
	}
	path->total_cost = path->startup_cost + run;
	adjust_limit_rows_costs(&path->rows, &path->startup_cost,
							&path->total_cost, extra->offset_est,
							extra->count_est);
	add_sending(rel, path->rows, &path->startup_cost, &path->total_cost);
	if (extra->limit_tuples > 0 && extra->limit_tuples < all)
		path->total_cost -= (path->total_cost - path->startup_cost) *
			LIMIT_PREFERENCE * (all - extra->limit_tuples) / all;
}

/* Keeps the estimates of a relation, first that of all of its rows. */
void
estimate_keep(RelOptInfo *rel, List *estimates)
{
	memory_keep(rel, MEMORY_ESTIMATES, estimates);
}

/* The estimates of a relation; NIL if there are none. */
List *
estimate_find(const RelOptInfo *rel)
{
	return memory_find(rel, MEMORY_ESTIMATES);
}
