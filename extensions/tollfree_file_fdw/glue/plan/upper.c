/*
 * upper.c
 *	  Planning aggregation in the scan, and making the plan of either kind.
 *
 * A query of one file whose conditions, grouping columns and aggregates can
 * all be translated gets a path that returns groups instead of rows.  What it
 * returns, its target list, is the grouping columns and the aggregates alone:
 *
 *		Foreign Scan		HAVING, and expressions over aggregates, here
 *		 |					as in any plan
 *		 +- Aggregate		only if a value turns up while it runs that
 *			 +- Foreign Scan	vector/ cannot hold; its target list is the same
 *
 * With several processes the same stands below Gather, and returns states of
 * aggregates, which PostgreSQL combines above it.  With partitions, where
 * enable_partitionwise_aggregate has PostgreSQL ask for it, the same stands
 * below Append: for each partition, with groups that are whole or states.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/prep.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "access/table.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"

#include "base/compat.h"
#include "base/guc.h"
#include "plan/callbacks.h"
#include "plan/plan.h"
#include "translate/aggregates.h"

/* What an aggregate needs for a row, in units of cpu_operator_cost */
#define AGGREGATE_ROW_COST 0.2

/* The members of a path's fdw_private */
#define PATH_TARGETS	0		/* what the scan returns */
#define PATH_HAVING		1

/* What a query asks for. */
typedef struct UpperWork
{
	RelOptInfo *input_rel;
	List	   *quals;			/* for rows */
	List	   *having;			/* for groups */
	List	   *keys;			/* the grouping columns */
	PathTarget *target;
	double		groups;			/* how many there will be */
} UpperWork;

/*
 * The grouping columns, or false if one is an expression.  A constant, as a view
 * may have for each of its tables, makes no group, and is put into the rows above
 * the scan.  By constants alone there is one group, or none if there are no rows,
 * which a scan without grouping columns does not tell.
 */
static bool
find_keys(PlannerInfo *root, RelOptInfo *input_rel, List **keys,
		  PathTarget *target)
{
	ListCell   *cell;

	foreach(cell, root->parse->groupClause)
	{
		SortGroupClause *group = lfirst_node(SortGroupClause, cell);
		Expr	   *expr = (Expr *) get_sortgroupclause_expr(group,
															 root->processed_tlist);

		if (IS_OTHER_REL(input_rel))
			expr = (Expr *) compat_translate_to_partition(root, (Node *) expr,
														  input_rel);
		if (IsA(expr, Const))
			continue;
		if (!IsA(expr, Var))
			return false;
		if (list_member(*keys, expr))
			continue;
		*keys = lappend(*keys, expr);
		add_column_to_pathtarget(target, expr, group->tleSortGroupRef);
	}
	return *keys != NIL || root->parse->groupClause == NIL;
}

/*
 * Adds the aggregates in an expression to the target; false if it depends on
 * anything else than those and the grouping columns.
 */
static bool
find_aggregates(Node *expr, List *keys, PathTarget *target)
{
	List	   *parts = pull_var_clause(expr, PVC_INCLUDE_AGGREGATES |
										PVC_RECURSE_WINDOWFUNCS |
										PVC_INCLUDE_PLACEHOLDERS);
	ListCell   *cell;

	foreach(cell, parts)
	{
		Expr	   *part = lfirst(cell);

		if (IsA(part, Aggref))
			add_new_column_to_pathtarget(target, part);
		else if (!list_member(keys, part))
			return false;
	}
	return true;
}

/*
 * Finds what the scan has to return: grouping columns first, then aggregates;
 * false if that is not enough for the query.
 */
static bool
find_targets(PlannerInfo *root, RelOptInfo *output_rel, UpperWork *work)
{
	ListCell   *cell;

	work->target = create_empty_pathtarget();
	if (!find_keys(root, work->input_rel, &work->keys, work->target))
		return false;
	foreach(cell, output_rel->reltarget->exprs)
	{
		if (!find_aggregates(lfirst(cell), work->keys, work->target))
			return false;
	}
	if (!find_aggregates((Node *) work->having, work->keys, work->target))
		return false;
	work->target = set_pathtarget_cost_width(root, work->target);
	return true;
}

/*
 * The conditions of the scan that are not decided for a file as a whole; false if one
 * is not for each row.
 */
static bool
find_quals(RelOptInfo *input_rel, List **quals)
{
	const FilePlanState *state = input_rel->fdw_private;
	ListCell   *cell;

	foreach(cell, input_rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		if (rinfo->pseudoconstant)
			return false;
		if (list_member_ptr(state->file_conditions, rinfo))
			continue;
		*quals = lappend(*quals, rinfo->clause);
	}
	return true;
}

/* Can vector/ do the work? */
static bool
is_supported(PlannerInfo *root, RelOptInfo *input_rel, List *quals,
			 List *targets)
{
	FilePlanState *state = input_rel->fdw_private;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "tollfree_file_fdw planning",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	Relation	rel = table_open(planner_rt_fetch(input_rel->relid, root)->relid,
								 NoLock);
	FileColumns columns = columns_describe(rel, &state->options,
										   state->columns, state->counts_only);
	QualContext context = {
		.columns = &columns,
		.relid = input_rel->relid,
		.encoding = state->layout.dialect.encoding
	};
	AggregateWork work;
	const char *unsupported;
	int			npushed;

	table_close(rel, NoLock);
	quals_push(&context, quals, &npushed);
	unsupported = npushed < list_length(quals) ? "an unsupported condition" :
		aggregates_translate(&context, targets, &work);
	if (unsupported == NULL)
		unsupported = aggregates_unsupported(&context, &work);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return unsupported == NULL;
}

/*
 * The plan for when the work turns out not to be for vector/ after all.  A
 * query may be grouped though nothing is left to group by: no rows, no group.
 */
static Path *
make_outer_path(PlannerInfo *root, RelOptInfo *output_rel, Path *input,
				AggSplit split, const UpperWork *work)
{
	List	   *group_clause = compat_group_clause(root);
	AggStrategy strategy = AGG_HASHED;
	AggClauseCosts costs = {0};

	if (root->parse->groupClause == NIL)
		strategy = AGG_PLAIN;
	else if (group_clause == NIL)
		strategy = AGG_SORTED;
	get_agg_clause_costs(root, split, &costs);
	return (Path *) create_agg_path(root, output_rel, input, work->target,
									strategy, split, group_clause, NIL,
									&costs, work->groups);
}

/* A path that aggregates; the work of each row costs that part of itself. */
static ForeignPath *
make_path(PlannerInfo *root, RelOptInfo *output_rel, Path *outer,
		  const UpperWork *work, double part)
{
	FilePlanState *state = work->input_rel->fdw_private;
	Cost		cost = plan_read_cost(state, part) +
		(work->input_rel->rows * list_length(work->target->exprs) +
		 state->rows * list_length(work->quals)) * part *
		AGGREGATE_ROW_COST * cpu_operator_cost;

	return compat_create_upper_path(root, output_rel, work->groups, cost,
									cost + work->groups * cpu_tuple_cost, outer,
									list_make2(work->target->exprs,
											   work->having));
}

/*
 * Offers aggregation by one process.  It may be one of several that each need
 * all groups, so the plan below reads all of the file itself, whichever way of
 * scanning it with others is the cheapest.
 */
static void
add_aggregation(PlannerInfo *root, RelOptInfo *output_rel, AggSplit split,
				const UpperWork *work)
{
	Path	   *input = (Path *) plan_scan_path(root, work->input_rel, 1);

	add_path(output_rel, (Path *)
			 make_path(root, output_rel,
					   make_outer_path(root, output_rel, input, split, work),
					   work, 1));
}

/*
 * Offers aggregation by several processes, for PostgreSQL to combine.  The plan
 * below is told by the scan above it what it is to read, so it takes no part in
 * a parallel scan of its own.
 */
static void
add_partial_aggregation(PlannerInfo *root, RelOptInfo *output_rel,
						const UpperWork *work)
{
	RelOptInfo *input_rel = work->input_rel;
	int			nworkers = plan_parallel_workers(root, input_rel);
	double		part;
	Path	   *input;
	ForeignPath *path;

	if (!output_rel->consider_parallel || nworkers <= 0)
		return;
	part = 1 / plan_parallel_divisor(nworkers);
	input = (Path *) plan_scan_path(root, input_rel, part);
	path = make_path(root, output_rel,
					 make_outer_path(root, output_rel, input,
									 AGGSPLIT_INITIAL_SERIAL, work),
					 work, part);
	path->path.parallel_aware = true;
	path->path.parallel_workers = nworkers;
	add_partial_path(output_rel, (Path *) path);
}

/*
 * Is there a plan that may read no further than the first row that the filter
 * lets through?  What comes behind that row, a bad value as well, is nobody's
 * business then.  PostgreSQL has one for the minimum or maximum of a column that
 * the filter says the value of; and for groups by such columns alone, without
 * aggregates, since rows need not be sorted for them.
 */
static bool
stops_early(PlannerInfo *root)
{
	ListCell   *cell;

	if (root->parse->groupClause != NIL && !root->parse->hasAggs &&
		root->group_pathkeys == NIL)
		return true;
	foreach(cell, fetch_upper_rel(root, UPPERREL_GROUP_AGG, NULL)->pathlist)
	{
		if (IsA(lfirst(cell), MinMaxAggPath))
			return true;
	}
	return false;
}

/* Offers aggregation in the scan. */
void
tollfreeGetForeignUpperPaths(PlannerInfo *root, UpperRelationKind stage,
							 RelOptInfo *input_rel, RelOptInfo *output_rel,
							 void *extra)
{
	FilePlanState *state = input_rel->fdw_private;
	const GroupPathExtraData *group = extra;
	bool		is_partial = stage == UPPERREL_PARTIAL_GROUP_AGG;
	UpperWork	work = {.input_rel = input_rel};

	/*
	 * A foreign table with children is not scanned itself: its own rows are
	 * those of a child, and it has no state.
	 */
	if ((stage != UPPERREL_GROUP_AGG && !is_partial) ||
		!setting_push_aggregates || state == NULL ||
		!IS_SIMPLE_REL(input_rel) || IS_DUMMY_REL(input_rel) ||
		state->slow_reason != NULL || root->parse->groupingSets != NIL ||
		root->parse->hasTargetSRFs || stops_early(root))
		return;
	/* Of partial groups nothing is known before they have been combined. */
	if (!is_partial)
		work.having = (List *) group->havingQual;
	if (!find_targets(root, output_rel, &work) || !find_quals(input_rel, &work.quals) ||
		!is_supported(root, input_rel, work.quals, work.target->exprs))
		return;

	work.groups = root->parse->groupClause == NIL ? 1 :
		estimate_num_groups(root, work.keys, input_rel->rows, NULL, NULL);
	if (!is_partial)
		add_aggregation(root, output_rel, AGGSPLIT_SIMPLE, &work);
	else
	{
		if (group->patype == PARTITIONWISE_AGGREGATE_PARTIAL)
			add_aggregation(root, output_rel, AGGSPLIT_INITIAL_SERIAL, &work);
		add_partial_aggregation(root, output_rel, &work);
	}
}

/*
 * Makes the plan of such a path.  It reads what the scan in the plan below would,
 * by the same conditions, in the order that the planner has brought them into:
 * where the table is lazy, they take turns.
 */
static ForeignScan *
make_plan(ForeignPath *path, List *tlist, Plan *outer_plan)
{
	const ForeignScan *below = plan_find_scan(outer_plan);
	List	   *targets = add_to_flat_tlist(NIL, list_nth(path->fdw_private,
														  PATH_TARGETS));
	List	   *having = list_nth(path->fdw_private, PATH_HAVING);
	List	   *private = list_concat(list_copy(below->fdw_private),
									  list_make2(below->scan.plan.qual,
												 makeInteger(below->scan.scanrelid)));

	return make_foreignscan(tlist, having, 0, NIL, private, targets, NIL,
							outer_plan);
}

/* Makes the plan of a path. */
ForeignScan *
tollfreeGetForeignPlan(PlannerInfo *root, RelOptInfo *rel, Oid relid,
					   ForeignPath *best_path, List *tlist, List *scan_clauses,
					   Plan *outer_plan)
{
	FilePlanState *state = rel->fdw_private;
	List	   *of_files;
	List	   *of_rows = NIL;
	ListCell   *cell;

	if (IS_UPPER_REL(rel))
		return make_plan(best_path, tlist, outer_plan);
	foreach(cell, scan_clauses)
	{
		if (!list_member_ptr(state->file_conditions, lfirst(cell)))
			of_rows = lappend(of_rows, lfirst(cell));
	}
	of_files = extract_actual_clauses(state->file_conditions, false);
	return make_foreignscan(tlist, extract_actual_clauses(of_rows, false),
							rel->relid, of_files, best_path->fdw_private, NIL,
							of_files, outer_plan);
}
