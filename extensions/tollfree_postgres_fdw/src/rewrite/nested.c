/*
 * nested.c
 *	  Aggregates of what a subquery returns, sent with it.
 *
 *	SELECT count(*), max(n) FROM (SELECT client, count(*) AS n FROM event
 *		GROUP BY client) s
 *
 * postgres_fdw sends the subquery, but has no words for a query of its rows.  So the
 * finished plan is changed: an aggregation that reads nothing but a foreign scan which
 * is all of a subquery is wrapped around the scan's command, and the scan is in its
 * place:
 *
 *	Aggregate						Foreign Scan
 *	  ->  Foreign Scan		->		  SELECT count(*), max(c2) FROM (SELECT client,
 *									  count(*) FROM event GROUP BY 1) s(c1, c2)
 *
 * It has no more rows than it had, and the remote server could not do better without
 * it, so that no costs are compared.  HAVING is evaluated here, of the groups.
 *
 * Aggregates are the common ones that do not look at the order of rows, of columns,
 * and groups are columns: of types that mean the same there (meaning.c).  The
 * subquery has no condition that is evaluated here, and no row is locked.  A subquery
 * that is executed for each outer row, or whose order is needed, is left as it is.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "base/fastpath.h"
#include "rewrite/meaning.h"
#include "rewrite/nested.h"
#include "sql/plan.h"

/* Aggregates that are the same on each server, in any order of the rows */
static const char *const aggregates[] = {
	"count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every", "bit_and",
	"bit_or", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp"
};

/* An aggregation that is to be sent */
typedef struct Nested
{
	const Agg  *agg;
	ForeignScan *scan;
	List	   *attrs;			/* of the scan's result columns */
	List	   *columns;		/* of TargetEntry: those of the new scan, in
								 * terms of the aggregation's input */
	List	   *texts;			/* how they are written */
	bool		is_refused;
} Nested;

/* The scan whose rows a plan returns, perhaps in another order; NULL if there is none. */
static ForeignScan *
find_scan(Plan *plan)
{
	while (plan != NULL && plan->qual == NIL && plan->initPlan == NIL)
	{
		if (IsA(plan, ForeignScan))
			return (ForeignScan *) plan;
		if (IsA(plan, SubqueryScan))
			plan = ((SubqueryScan *) plan)->subplan;
		else if (IsA(plan, Sort) || IsA(plan, IncrementalSort))
			plan = outerPlan(plan);
		else
			return NULL;
	}
	return NULL;
}

/* The column of the scan below that a column of a plan is; NULL if it is none. */
static const Var *
find_column(const Plan *plan, AttrNumber attno)
{
	for (;;)
	{
		const Var  *var = (const Var *)
			list_nth_node(TargetEntry, plan->targetlist, attno - 1)->expr;

		if (!IsA(var, Var) || var->varattno <= 0)
			return NULL;
		if (IsA(plan, ForeignScan))
			return var;
		attno = var->varattno;
		plan = IsA(plan, SubqueryScan) ? ((const SubqueryScan *) plan)->subplan
			: outerPlan(plan);
	}
}

/* The number of the result column that a column of the aggregation's input is, or 0. */
static int
number_of(const Nested *nested, AttrNumber attno)
{
	const Var  *var = find_column(outerPlan(nested->agg), attno);
	const ListCell *cell;

	foreach(cell, nested->attrs)
	{
		if (var != NULL && lfirst_int(cell) == var->varattno)
			return foreach_current_index(cell) + 1;
	}
	return 0;
}

/* Mutator: what is aggregated, in terms of what the scan returned before. */
static Node *
show(Node *node, void *arg)
{
	const Nested *nested = arg;
	const Var  *var = (const Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, show, arg);
	var = find_column(outerPlan(nested->agg), var->varattno);
	if (var->varno != INDEX_VAR)
		return copyObjectImpl(var);
	return copyObjectImpl(list_nth_node(TargetEntry, nested->scan->fdw_scan_tlist,
										var->varattno - 1)->expr);
}

/* The column of the new scan that is written so; adds it if there is none. */
static Node *
column_for(Nested *nested, Node *node, char *text)
{
	TargetEntry *entry = NULL;
	ListCell   *cell;

	foreach(cell, nested->texts)
	{
		if (strcmp(strVal(lfirst(cell)), text) == 0)
			entry = list_nth(nested->columns, foreach_current_index(cell));
	}
	if (entry == NULL)
	{
		entry = makeTargetEntry((Expr *) node, list_length(nested->columns) + 1,
								NULL, false);
		nested->columns = lappend(nested->columns, entry);
		nested->texts = lappend(nested->texts, makeString(text));
	}
	return (Node *) makeVar(INDEX_VAR, entry->resno, exprType(node), exprTypmod(node),
							exprCollation(node), 0);
}

/* How an aggregate's argument is written; NULL if it is not sent. */
static const char *
text_of_argument(const Nested *nested, const Aggref *aggregate, bool is_count)
{
	const Var  *arg;
	int			number;

	if (aggregate->aggstar)
		return "*";
	if (list_length(aggregate->args) != 1)
		return NULL;
	arg = (const Var *) linitial_node(TargetEntry, aggregate->args)->expr;
	if (!IsA(arg, Var) || arg->varno != OUTER_VAR)
		return NULL;
	number = number_of(nested, arg->varattno);
	if (number == 0 ||
		(aggregate->aggdistinct != NIL && !meaning_is_same((const Node *) arg, false)) ||
		(!is_count && !meaning_is_plain(arg->vartype)))
		return NULL;
	return psprintf("%sc%d", aggregate->aggdistinct != NIL ? "DISTINCT " : "", number);
}

/* How an aggregate is written; NULL if it is not sent. */
static char *
text_of(const Nested *nested, const Aggref *aggregate)
{
	const char *name = get_func_name(aggregate->aggfnoid);
	const char *arg;

	if (aggregate->aggfnoid >= FirstGenbkiObjectId ||
		aggregate->aggkind != AGGKIND_NORMAL || aggregate->aggorder != NIL ||
		aggregate->aggfilter != NULL || aggregate->agglevelsup > 0)
		return NULL;
	for (int i = 0; i < lengthof(aggregates); i++)
	{
		if (strcmp(aggregates[i], name) != 0)
			continue;
		arg = text_of_argument(nested, aggregate, strcmp(name, "count") == 0);
		return arg == NULL ? NULL : psprintf("%s(%s)", name, arg);
	}
	return NULL;
}

/* Is a column of the aggregation's input one that it groups by? */
static bool
is_group(const Agg *agg, AttrNumber attno)
{
	for (int i = 0; i < agg->numCols; i++)
	{
		if (agg->grpColIdx[i] == attno)
			return true;
	}
	return false;
}

/* Mutator: what the aggregation evaluates, by columns of the new scan. */
static Node *
replace(Node *node, void *arg)
{
	Nested	   *nested = arg;
	char	   *text = NULL;

	check_stack_depth();
	if (node == NULL || nested->is_refused)
		return NULL;
	if (IsA(node, Aggref))
		text = text_of(nested, (Aggref *) node);

	else if (IsA(node, Var))
	{
		if (is_group(nested->agg, ((Var *) node)->varattno))
			text = psprintf("c%d", number_of(nested, ((Var *) node)->varattno));
	}
	else if (!IsA(node, SubPlan) && !IsA(node, AlternativeSubPlan) &&
			 !IsA(node, GroupingFunc))
		return expression_tree_mutator(node, replace, arg);
	nested->is_refused = text == NULL;

	return nested->is_refused ? NULL :
		column_for(nested, show(node, nested), text);
}

/* Writes the groups of the aggregation; false if one is not sent. */
static bool
write_groups(StringInfo text, const Nested *nested)
{
	const Agg  *agg = nested->agg;

	for (int i = 0; i < agg->numCols; i++)
	{
		TargetEntry *group = list_nth(outerPlan(agg)->targetlist,
									  agg->grpColIdx[i] - 1);
		int			number = number_of(nested, agg->grpColIdx[i]);

		if (number == 0 || !meaning_is_same((Node *) group->expr, false))
			return false;
		appendStringInfo(text, i == 0 ? " GROUP BY c%d" : ", c%d", number);
	}
	return true;
}

/* Wraps the command of the scan into the aggregation, whose columns are known. */
static void
wrap(const Nested *nested, const char *groups)
{
	StringInfoData before;
	StringInfoData after;
	const ListCell *cell;

	initStringInfo(&before);
	initStringInfo(&after);
	foreach(cell, nested->texts)
		appendStringInfo(&before, "%s%s", foreach_current_index(cell) == 0 ?
						 "SELECT " : ", ", strVal(lfirst(cell)));
	appendStringInfoString(&before, " FROM (");
	appendStringInfoString(&after, ") s");
	for (int i = 1; i <= list_length(nested->attrs); i++)
		appendStringInfo(&after, i == 1 ? "(c%d" : ", c%d", i);
	appendStringInfo(&after, "%s%s", nested->attrs != NIL ? ")" : "", groups);
	plan_wrap_query(nested->scan, before.data, after.data);
}

/* Puts the scan in the place of the aggregation. */
static void
take_place(Nested *nested, List *targets, List *quals)
{
	const Plan *agg = &nested->agg->plan;
	Plan	   *plan = &nested->scan->scan.plan;

	plan_note_aggregates(nested->scan, list_length(nested->columns),
						 agg->plan_rows, nested->agg->numCols == 0);
	nested->scan->scan.scanrelid = 0;
	nested->scan->fdw_scan_tlist = nested->columns;
	nested->scan->fdw_recheck_quals = NIL;
	plan->targetlist = targets;
	plan->qual = quals;
	plan->initPlan = agg->initPlan;
	plan->startup_cost = agg->startup_cost;
	plan->total_cost = agg->total_cost;
	plan->plan_rows = agg->plan_rows;
	plan->plan_width = agg->plan_width;
	plan->async_capable = false;
	plan->extParam = agg->extParam;
	plan->allParam = agg->allParam;
}

/* Walker: is there a value of an outer row, or of a subquery? */
static bool
has_exec_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC;
	return expression_tree_walker(node, has_exec_param, context);
}

/* May this aggregation be sent with the scan below it? */
static bool
may_send(const List *scans, const Agg *agg, const ForeignScan *scan)
{
	ScanPlan	read;

	if (scan == NULL || agg->aggsplit != AGGSPLIT_SIMPLE ||
		(agg->aggstrategy != AGG_PLAIN && agg->aggstrategy != AGG_HASHED) ||
		agg->groupingSets != NIL || agg->chain != NIL ||
		!list_member_ptr(scans, scan) ||
		has_exec_param((Node *) scan->fdw_exprs, NULL))
		return false;
	read = plan_read_scan(scan->fdw_private);
	return fastpath_is_on(read.fast_paths, FAST_REMOTE_EXPRESSIONS) &&
		read.states == NIL && read.target.rtindex == 0;
}

/* The plan in the place of an aggregation: a scan, if that can do all. */
static Plan *
send(const List *scans, Agg *agg)
{
	Nested		nested = {.agg = agg,.scan = find_scan(outerPlan(agg))};
	StringInfoData groups;
	List	   *targets;
	List	   *quals;

	if (!may_send(scans, agg, nested.scan))
		return &agg->plan;
	nested.attrs = plan_read_scan(nested.scan->fdw_private).attrs;
	initStringInfo(&groups);
	if (!write_groups(&groups, &nested))
		return &agg->plan;
	targets = (List *) replace((Node *) agg->plan.targetlist, &nested);
	quals = (List *) replace((Node *) agg->plan.qual, &nested);
	if (nested.is_refused || nested.columns == NIL)
		return &agg->plan;
	wrap(&nested, groups.data);
	take_place(&nested, targets, quals);
	return &nested.scan->scan.plan;
}

static Plan *search_plan(const List *scans, Plan *plan);

/* Searches the plans of a list. */
static void
search_plans(const List *scans, List *plans)
{
	ListCell   *cell;

	foreach(cell, plans)
		lfirst(cell) = search_plan(scans, lfirst(cell));
}

/* Sends the aggregations of a plan; returns what is in its place. */
static Plan *
search_plan(const List *scans, Plan *plan)
{
	check_stack_depth();
	if (plan == NULL)
		return NULL;
	plan->lefttree = search_plan(scans, plan->lefttree);
	plan->righttree = search_plan(scans, plan->righttree);
	if (IsA(plan, Append))
		search_plans(scans, ((Append *) plan)->appendplans);
	else if (IsA(plan, MergeAppend))
		search_plans(scans, ((MergeAppend *) plan)->mergeplans);
	else if (IsA(plan, SubqueryScan))
		((SubqueryScan *) plan)->subplan =
			search_plan(scans, ((SubqueryScan *) plan)->subplan);
	return IsA(plan, Agg) ? send(scans, (Agg *) plan) : plan;
}

/* Sends aggregations of these scans, each of which is all of a subquery. */
void
nested_finish(PlannedStmt *stmt, const List *scans)
{
	if (scans == NIL || stmt->rowMarks != NIL)
		return;
	stmt->planTree = search_plan(scans, stmt->planTree);
	search_plans(scans, stmt->subplans);
}
