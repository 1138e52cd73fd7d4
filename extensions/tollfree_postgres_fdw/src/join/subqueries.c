/*
 * subqueries.c
 *	  Subqueries that look up the foreign rows of many outer rows at once.
 *
 * A correlated subquery, as in SELECT (SELECT v FROM ft WHERE id = l.k) FROM
 * l, is executed for each row of l, and a foreign scan in it sends a query
 * each time.  PostgreSQL makes no paths for subqueries in expressions, so
 * this file changes the finished plan: it puts the custom scan of node.c
 * above the node that has the subquery in its condition or target list, and
 * moves these there.
 *
 *	Seq Scan on l						Custom Scan (Batched Foreign Lookup)
 *	  Output: (SubPlan 1)		->		  Output: (SubPlan 1)
 *	  SubPlan 1							  ->  Seq Scan on l
 *		->  Foreign Scan on ft				    Output: k
 *										  SubPlan 1
 *											->  Foreign Scan on ft
 *
 * The node below returns the inputs of the expressions.  A condition is
 * evaluated for no more rows than before: each one that looks up rows has a
 * custom scan of its own, and so has the target list.  Subqueries that cannot
 * look up rows (correlated.c) are executed for each row, as before.
 *
 * Subqueries in plans of other subqueries are not changed unless these look
 * up rows, too.
 *
 * As in a join, reading ahead outer rows has no visible effect: the query
 * calls no volatile function, locks no rows, and writes at most to a local
 * table without row triggers.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"

#include "base/compat.h"
#include "base/inputs.h"
#include "join/arguments.h"
#include "join/correlated.h"
#include "join/lookup.h"
#include "join/subqueries.h"

/*
 * Maximum number of foreign scans in copied plans of a query.  If both the
 * outer table and the foreign one have many partitions there could be many
 * more, and the executor begins each, whether or not it is executed.  Further
 * nodes are then not changed.
 */
#define COPIED_SCANS 1000

static int	ncopied;

static planner_hook_type next_planner = NULL;

/* The number of conditions of a list before the first that looks up rows. */
static int
count_before(const List *quals, const PlannedStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, quals)
	{
		if (correlated_find(lfirst(cell), stmt) != NIL)
			return foreach_current_index(cell);
	}
	return list_length(quals);
}

/* Mutator: replaces inputs by columns of the node below, and collects them. */
static Node *
replace_values(Node *node, void *arg)
{
	List	  **values = arg;
	TargetEntry *value = NULL;
	ListCell   *cell;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) && !IsA(node, Aggref) && !IsA(node, GroupingFunc) &&
		!IsA(node, WindowFunc))
		return expression_tree_mutator(node, replace_values, arg);
	foreach(cell, *values)
	{
		if (equal(lfirst_node(TargetEntry, cell)->expr, node))
			value = lfirst(cell);
	}
	if (value == NULL)
	{
		value = makeTargetEntry((Expr *) node, list_length(*values) + 1, NULL,
								false);
		*values = lappend(*values, value);
	}
	return (Node *) makeVarFromTargetEntry(INDEX_VAR, value);
}

/* The columns of the node below, as the custom scan reads them. */
static List *
make_columns(List *values)
{
	List	   *columns = NIL;
	ListCell   *cell;

	foreach(cell, values)
	{
		TargetEntry *value = lfirst(cell);
		Var		   *column = makeVarFromTargetEntry(OUTER_VAR, value);

		columns = lappend(columns, makeTargetEntry((Expr *) column, value->resno,
												   NULL, false));
	}
	return columns;
}

/*
 * Puts a custom scan above a node.  The node keeps its first conditions only;
 * the others, and the target list, move up.
 */
static CustomScan *
subqueries_cut_above(Plan *node, int nquals)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *plan = &scan->scan.plan;
	List	   *values = NIL;

	*plan = *node;
	plan->type = T_CustomScan;
	plan->targetlist = (List *) replace_values((Node *) node->targetlist, &values);
	plan->qual = (List *) replace_values((Node *) list_copy_tail(node->qual,
																 nquals),
										 &values);
	plan->lefttree = node;
	plan->righttree = NULL;
	scan->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	scan->custom_scan_tlist = make_columns(values);
	scan->methods = &lookup_scan_methods;
	node->targetlist = values;
	node->qual = list_truncate(list_copy(node->qual), nquals);
	node->initPlan = NIL;
	return scan;
}

static Plan *cut_plan(Plan *plan, PlannedStmt *stmt);

/* The number of these scans, with those of Appends. */
static int
count_scans(const List *plans)
{
	int			count = 0;
	const ListCell *cell;

	foreach(cell, plans)
		count += IsA(lfirst(cell), Append) ?
		count_scans(((const Append *) lfirst(cell))->appendplans) : 1;
	return count;
}

/*
 * Adds the subqueries of an expression to those that a custom scan batches.
 * Each gets its own copy of the plan: partitions, for example, share the plan
 * of a condition.  The copy follows the plans of its own subqueries, since the
 * executor begins them in this order.
 */
static void
note_subqueries(CustomScan *scan, const void *expression, PlannedStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, correlated_find(expression, stmt))
	{
		SubPlan    *subquery = lfirst_node(SubPlan, cell);
		Plan	   *plan = cut_plan(correlated_copy_plan(subquery, stmt), stmt);

		ncopied += count_scans(correlated_lookups(subquery, stmt));
		stmt->subplans = lappend(stmt->subplans, plan);
		subquery->plan_id = list_length(stmt->subplans);
		scan->custom_private = lappend_int(scan->custom_private,
										   subquery->plan_id);
	}
}

/*
 * Where a node is split: the numbers of its conditions that look up rows, from 0
 * on, and the number of all conditions if its target list does.
 */
static List *
subqueries_choose_cuts(const Plan *node, const PlannedStmt *stmt)
{
	List	   *cuts = NIL;
	ListCell   *cell;

	foreach(cell, node->qual)
	{
		if (correlated_find(lfirst(cell), stmt) != NIL)
			cuts = lappend_int(cuts, foreach_current_index(cell));
	}
	if (correlated_find(node->targetlist, stmt) != NIL)
		cuts = lappend_int(cuts, list_length(node->qual));
	return cuts;
}

/*
 * Splits a node at these places, as long as not too many scans have been copied;
 * returns the new top node.  The first condition of a custom scan is the one that
 * looks up rows; without conditions its target list does.
 */
static Plan *
subqueries_cut_node(Plan *node, const List *cuts, PlannedStmt *stmt)
{
	int			nbelow = 0;		/* conditions below the last custom scan */
	const ListCell *cell;

	foreach(cell, cuts)
	{
		CustomScan *scan;

		if (ncopied >= COPIED_SCANS)
			break;
		scan = subqueries_cut_above(node, lfirst_int(cell) - nbelow);
		nbelow = lfirst_int(cell);
		node = &scan->scan.plan;
		note_subqueries(scan, node->qual != NIL ? linitial(node->qual)
						: (void *) node->targetlist, stmt);
	}
	return node;
}

/* Splits the arguments of an aggregation's aggregates from it (arguments.c). */
static void
subqueries_cut_arguments(Agg *agg, PlannedStmt *stmt)
{
	CustomScan *scan = ncopied < COPIED_SCANS ? arguments_cut_below(agg, stmt) : NULL;

	if (scan != NULL)
		note_subqueries(scan, scan->scan.plan.targetlist, stmt);
}

/*
 * Moves the join conditions of an inner join, from the first that looks up
 * rows on, to its filter, which is evaluated next.
 */
static void
free_join_quals(Join *join, const PlannedStmt *stmt)
{
	int			nquals;

	if (join->jointype != JOIN_INNER || join->inner_unique)
		return;
	nquals = count_before(join->joinqual, stmt);
	join->plan.qual = list_concat(list_copy_tail(join->joinqual, nquals),
								  join->plan.qual);
	join->joinqual = list_truncate(list_copy(join->joinqual), nquals);
}

/*
 * Can a node be split?  Not an asynchronous one: its Append expects that node
 * type.
 */
static bool
may_cut(const Plan *node)
{
	if (node->async_capable || node->parallel_aware)
		return false;
	switch (nodeTag(node))
	{
		case T_Result:
		case T_SeqScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_SubqueryScan:
		case T_FunctionScan:
		case T_ValuesScan:
		case T_CteScan:
		case T_ForeignScan:
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
		case T_Agg:
		case T_Group:
			return true;
		case T_WindowAgg:
			return node->qual == NIL;
		default:
			return false;
	}
}

/* Splits the plans of a list. */
static void
cut_list(List *plans, PlannedStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, plans)
		lfirst(cell) = cut_plan(lfirst(cell), stmt);
}

/* Is a plan the custom scan of node.c? */
static bool
is_batched(const Plan *plan)
{
	return plan != NULL && IsA(plan, CustomScan) &&
		((const CustomScan *) plan)->methods == &lookup_scan_methods;
}

/*
 * Splits the inputs of a plan, except the inner side of a merge join, which is
 * marked and restored, and that of a nested loop whose foreign scans are
 * looked up by its outer rows.
 */
static void
cut_inputs(Plan *plan, PlannedStmt *stmt)
{
	switch (nodeTag(plan))
	{
		case T_Append:
			cut_list(((Append *) plan)->appendplans, stmt);
			break;
		case T_MergeAppend:
			cut_list(((MergeAppend *) plan)->mergeplans, stmt);
			break;
		case T_SubqueryScan:
			((SubqueryScan *) plan)->subplan =
				cut_plan(((SubqueryScan *) plan)->subplan, stmt);
			break;
		case T_CustomScan:
			cut_list(((CustomScan *) plan)->custom_plans, stmt);
			break;
		default:
			break;
	}
	if (IsA(plan, MergeJoin))
		cut_inputs(innerPlan(plan), stmt);
	else if (innerPlan(plan) != NULL && !is_batched(outerPlan(plan)))
		innerPlan(plan) = cut_plan(innerPlan(plan), stmt);
	if (outerPlan(plan) != NULL)
		outerPlan(plan) = cut_plan(outerPlan(plan), stmt);
}

/* Splits the nodes of a plan where needed; returns the new plan. */
static Plan *
cut_plan(Plan *plan, PlannedStmt *stmt)
{
	cut_inputs(plan, stmt);
	if (!may_cut(plan))
		return plan;
	if (IsA(plan, NestLoop) || IsA(plan, MergeJoin) || IsA(plan, HashJoin))
		free_join_quals((Join *) plan, stmt);
	if (IsA(plan, Agg))
		subqueries_cut_arguments((Agg *) plan, stmt);
	return subqueries_cut_node(plan, subqueries_choose_cuts(plan, stmt), stmt);
}

/* Could a query, not planned yet, have subqueries in its expressions? */
static bool
may_have_subqueries(const Query *query)
{
	ListCell   *cell;

	if (query->hasSubLinks || query->cteList != NIL)
		return true;
	foreach(cell, query->rtable)
	{
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_SUBQUERY)
			return true;
	}
	return false;
}

/*
 * Could subqueries of a query, not planned yet, look up rows, so that reading
 * ahead outer rows has no visible effect?
 */
static bool
may_look_up(Query *query, int cursor_options)
{
	return may_have_subqueries(query) && lookup_writes_quietly(query) &&
		!query->hasModifyingCTE &&
		(cursor_options & CURSOR_OPT_SCROLL) == 0 &&
		!contain_volatile_functions((Node *) query);
}

/* Does a planned query lock rows, other than those that it writes? */
static bool
locks_rows(const PlannedStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, stmt->rowMarks)
	{
		if (RowMarkRequiresRowShareLock(lfirst_node(PlanRowMark, cell)->markType))
			return true;
	}
	return false;
}

/*
 * Is a plan a scan of a table, or an Append of them, that WHERE CURRENT OF can
 * use?
 */
static bool
is_positioned(const Plan *plan)
{
	ListCell   *cell;

	switch (nodeTag(plan))
	{
		case T_Result:
		case T_Limit:
		case T_SubqueryScan:
		case T_Append:
		case T_MergeAppend:
			foreach(cell, inputs_of_plan(plan))
			{
				if (is_positioned(lfirst(cell)))
					return true;
			}
			return false;
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_ForeignScan:
			return true;
		default:
			return false;
	}
}

/*
 * May a planned query read ahead outer rows?  Not if it is a named cursor, as
 * CURSOR_OPT_FAST_PLAN shows, that can be used by WHERE CURRENT OF.
 */
static bool
may_cut_query(const PlannedStmt *stmt, int cursor_options)
{
	return stmt->subplans != NIL && !locks_rows(stmt) &&
		!((cursor_options & CURSOR_OPT_FAST_PLAN) != 0 &&
		  is_positioned(stmt->planTree));
}

/* planner_hook: plans a query, and batches the lookups of its subqueries. */
static PlannedStmt *
plan_query(COMPAT_PLANNER_PARAMS)
{
	bool		suits = may_look_up(query, cursor_options);
	PlannedStmt *stmt = next_planner != NULL ?
		next_planner(COMPAT_PLANNER_ARGS) :
		standard_planner(COMPAT_PLANNER_ARGS);

	ncopied = 0;
	if (suits && may_cut_query(stmt, cursor_options))
		stmt->planTree = cut_plan(stmt->planTree, stmt);
	return stmt;
}

/* Installs the hook; called when the library is loaded. */
void
subqueries_install(void)
{
	next_planner = planner_hook;
	planner_hook = plan_query;
}
