/*
 * correlated.c
 *	  Which subqueries can look up the foreign rows of many outer rows at once,
 *	  and which of those a custom scan of node.c has.
 *
 * They take columns or aggregates of each outer row, and have foreign scans
 * that use these as a query's parameters.  Subqueries below a CASE, COALESCE,
 * AND, OR or aggregate, in a comparison of rows, in the index of a subscript
 * or in JSON_VALUE and the like are excluded: they may not be evaluated at
 * all.
 *
 * A lookup must fetch no rows that the subquery does not read: all rows of a
 * key for a scalar subquery or an ARRAY, one row for an EXISTS.  IN is
 * excluded.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"

#include "base/compat.h"
#include "base/inputs.h"
#include "join/correlated.h"
#include "join/lookup.h"
#include "scan/scan.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "sql/plan.h"

/* State of the search in a subquery's plan */
typedef struct SubqueryPlan
{
	const SubPlan *subquery;
	const PlannedStmt *stmt;
	const Plan *top;			/* of its plan */
	List	   *found;			/* Foreign scans, and Appends of them */
} SubqueryPlan;

/* The plan of a subquery. */
static Plan *
plan_of(const PlannedStmt *stmt, const SubPlan *subquery)
{
	return list_nth(stmt->subplans, subquery->plan_id - 1);
}

/* Is a foreign scan one of ours that may look up rows in batches? */
static bool
may_batch(const ForeignScan *scan, const PlannedStmt *stmt)
{
	const RangeTblEntry *rte;

	if (scan->operation != CMD_SELECT || !scan_is_ours(scan))
		return false;
	rte = rt_fetch(compat_scan_rtindex(scan), stmt->rtable);
	return lookup_is_on(plan_read_scan(scan->fdw_private).fast_paths) &&
		sessions_may_send_arrays(compat_scan_user(scan, rte), scan->fs_server);
}

/* Walker: is there a parameter that the executor sets? */
static bool
has_exec_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC;
	return expression_tree_walker(node, has_exec_param, context);
}

/*
 * What a parameter of a scan is computed from: the label of an enum from it, a
 * domain's base type from the domain.
 */
static const Param *
source_of(const Node *expr)
{
	if (IsA(expr, CoerceViaIO))
		return (const Param *) ((const CoerceViaIO *) expr)->arg;
	if (IsA(expr, RelabelType))
		return (const Param *) ((const RelabelType *) expr)->arg;
	return (const Param *) expr;
}

/*
 * Can a foreign scan's parameters be sent in arrays, are they known before its
 * subquery is executed, and does the subquery set any of them?
 */
static bool
has_outer_params(const ForeignScan *scan, const SubqueryPlan *plan)
{
	bool		is_correlated = false;
	ListCell   *cell;

	foreach(cell, scan->fdw_exprs)
	{
		const Param *param = source_of(lfirst(cell));

		if (!deparse_may_be_key(exprType(lfirst(cell))))
			return false;
		if (!has_exec_param(lfirst(cell), NULL))
			continue;
		if (!IsA(param, Param))
			return false;
		if (!bms_is_member(param->paramid, plan->top->extParam))
			return false;
		is_correlated = is_correlated ||
			list_member_int(plan->subquery->parParam, param->paramid);
	}
	return is_correlated;
}

/* Can the rows of a plan, which is a foreign scan, be looked up? */
static bool
is_lookup(const Plan *plan, const SubqueryPlan *subquery)
{
	const ForeignScan *scan = (const ForeignScan *) plan;

	return IsA(scan, ForeignScan) && has_outer_params(scan, subquery) &&
		may_batch(scan, subquery->stmt);
}

/*
 * Can the rows of all foreign scans that an Append reads be looked up, unless
 * they have no parameters, and is there one?
 */
static bool
is_append_of_lookups(const Append *append, const SubqueryPlan *subquery)
{
	bool		found = false;
	ListCell   *cell;

	foreach(cell, append->appendplans)
	{
		const ForeignScan *scan = lfirst(cell);

		if (!IsA(scan, ForeignScan) || scan->fdw_exprs == NIL)
			continue;
		if (!is_lookup(&scan->scan.plan, subquery))
			return false;
		found = true;
	}
	return found;
}

/*
 * Finds the foreign scans, and Appends, whose rows can be looked up.  Not
 * below a LIMIT, which may read only few of their rows.
 */
static void
find_lookups(Plan *plan, SubqueryPlan *subquery)
{
	ListCell   *cell;

	if (IsA(plan, Limit))
		return;
	if (is_lookup(plan, subquery) ||
		(IsA(plan, Append) &&
		 is_append_of_lookups((const Append *) plan, subquery)))
	{
		subquery->found = lappend(subquery->found, plan);
		return;
	}
	foreach(cell, inputs_of_plan(plan))
		find_lookups(lfirst(cell), subquery);
}

/*
 * The foreign scans, and Appends of them, that a subquery reads and whose rows
 * can be looked up.
 */
List *
correlated_lookups(const SubPlan *subquery, const PlannedStmt *stmt)
{
	Plan	   *top = plan_of(stmt, subquery);
	SubqueryPlan plan = {.subquery = subquery,.stmt = stmt,.top = top};

	find_lookups(top, &plan);
	return plan.found;
}

/* Does a plan, or one that it reads, have uncorrelated subqueries? */
static bool
has_init_plans(const Plan *plan)
{
	ListCell   *cell;

	if (plan->initPlan != NIL)
		return true;
	foreach(cell, inputs_of_plan(plan))
	{
		if (has_init_plans(lfirst(cell)))
			return true;
	}
	return false;
}

/*
 * The scans that decide whether a subquery has rows: its plan, or the inputs
 * of its Append.  NIL if there are none, or if one has local conditions.
 */
static List *
find_witnesses(const SubPlan *subquery, Plan *top, const PlannedStmt *stmt)
{
	SubqueryPlan plan = {.subquery = subquery,.stmt = stmt,.top = top};
	List	   *witnesses = NIL;
	ListCell   *cell;

	foreach(cell, IsA(top, Append) ? ((Append *) top)->appendplans
			: list_make1(top))
	{
		ForeignScan *scan = lfirst(cell);

		if (!is_lookup(&scan->scan.plan, &plan))
			continue;
		if (scan->scan.plan.qual != NIL ||
			plan_read_scan(scan->fdw_private).attrs != NIL)
			return NIL;
		witnesses = lappend(witnesses, scan);
	}
	return witnesses;
}

/*
 * Does a subquery read all rows that a lookup fetches?  Most kinds of
 * subqueries read all rows.  An EXISTS needs one, and IN stops at one.
 */
static bool
reads_what_comes(const SubPlan *subquery, const PlannedStmt *stmt)
{
	switch (subquery->subLinkType)
	{
		case EXPR_SUBLINK:
		case ROWCOMPARE_SUBLINK:
		case ARRAY_SUBLINK:
			return true;
		case EXISTS_SUBLINK:
			return find_witnesses(subquery, plan_of(stmt, subquery), stmt) != NIL;
		default:
			return false;
	}
}

/* Gives a copied plan its own pruning of partitions. */
static void
own_pruning(Plan *plan, PlannedStmt *stmt)
{
	ListCell   *cell;

	compat_own_pruning(plan, stmt);
	foreach(cell, inputs_of_plan(plan))
		own_pruning(lfirst(cell), stmt);
}

/* A copy of the plan of a subquery, for the node that batches its lookups. */
Plan *
correlated_copy_plan(const SubPlan *subquery, PlannedStmt *stmt)
{
	Plan	   *plan = copyObjectImpl(plan_of(stmt, subquery));
	ListCell   *cell;

	own_pruning(plan, stmt);
	if (subquery->subLinkType == EXISTS_SUBLINK)
	{
		foreach(cell, find_witnesses(subquery, plan, stmt))
			plan_check_existence(lfirst(cell));
	}
	return plan;
}

/*
 * Is a subquery executed for each row, with columns and aggregates only?  Its
 * plan will be copied; copies cannot share uncorrelated subqueries.
 */
static bool
is_correlated(const SubPlan *subquery, const PlannedStmt *stmt)
{
	ListCell   *cell;

	if (subquery->useHashTable || subquery->parParam == NIL ||
		!reads_what_comes(subquery, stmt) ||
		has_init_plans(plan_of(stmt, subquery)))
		return false;
	foreach(cell, subquery->args)
	{
		if (!IsA(lfirst(cell), Var) && !IsA(lfirst(cell), Aggref) &&
			!IsA(lfirst(cell), GroupingFunc))
			return false;
	}
	return true;
}

/* State of the walker for subqueries in an expression */
typedef struct SubquerySearch
{
	const PlannedStmt *stmt;
	List	   *found;			/* SubPlans whose rows can be looked up */
} SubquerySearch;

/* Walker: finds the subqueries that are certain to be evaluated. */
static bool
find_subqueries(Node *node, void *arg)
{
	SubquerySearch *search = arg;

	if (node == NULL || compat_is_json_expr(node))
		return false;
	switch (nodeTag(node))
	{
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_RowCompareExpr:
		case T_Aggref:
		case T_WindowFunc:
			return false;
		case T_SubscriptingRef:
			/* The subscript of a null is not evaluated. */
			return find_subqueries((Node *) ((SubscriptingRef *) node)->refexpr,
								   arg);
		case T_BoolExpr:
			if (((BoolExpr *) node)->boolop != NOT_EXPR)
				return false;
			break;
		case T_SubPlan:
			if (is_correlated((SubPlan *) node, search->stmt) &&
				correlated_lookups((SubPlan *) node, search->stmt) != NIL)
				search->found = lappend(search->found, node);
			/* The left side is evaluated only if the subquery has rows. */
			return expression_tree_walker((Node *) ((SubPlan *) node)->args,
										  find_subqueries, arg);
		default:
			break;
	}
	return expression_tree_walker(node, find_subqueries, arg);
}

/*
 * The subqueries in an expression, or a list of them, that are executed for each
 * row, are certain to be evaluated, and can look up rows: SubPlans.
 */
List *
correlated_find(const void *expression, const PlannedStmt *stmt)
{
	SubquerySearch search = {.stmt = stmt};

	(void) find_subqueries(unconstify(Node *, (const Node *) expression), &search);
	return search.found;
}

/* What looks for a subquery by the number of its plan */
typedef struct NumberSearch
{
	int			plan_id;
	SubPlan    *found;
} NumberSearch;

/* Walker: true once the subquery is found. */
static bool
find_number(Node *node, void *arg)
{
	NumberSearch *search = arg;

	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) && ((SubPlan *) node)->plan_id == search->plan_id)
	{
		search->found = (SubPlan *) node;
		return true;
	}
	return expression_tree_walker(node, find_number, arg);
}

/* The subquery of a custom scan whose plan has this number. */
static const SubPlan *
find_subquery(const CustomScan *scan, int plan_id)
{
	NumberSearch search = {.plan_id = plan_id};

	if (!find_number((Node *) scan->scan.plan.qual, &search))
		(void) find_number((Node *) scan->scan.plan.targetlist, &search);
	Assert(search.found != NULL);
	return search.found;
}

/* The plans that look up rows, of all subqueries that a custom scan batches. */
List *
correlated_scan_lookups(const CustomScan *scan, const PlannedStmt *stmt)
{
	List	   *plans = NIL;
	ListCell   *cell;

	foreach(cell, scan->custom_private)
		plans = list_concat(plans,
							correlated_lookups(find_subquery(scan, lfirst_int(cell)),
											   stmt));
	return plans;
}

/* Their parameters: NestLoopParams, of columns that the custom scan reads. */
List *
correlated_scan_params(const CustomScan *scan)
{
	List	   *params = NIL;
	ListCell   *cell;

	foreach(cell, scan->custom_private)
	{
		const SubPlan *subquery = find_subquery(scan, lfirst_int(cell));
		ListCell   *number;
		ListCell   *arg;

		forboth(number, subquery->parParam, arg, subquery->args)
		{
			NestLoopParam *param = makeNode(NestLoopParam);

			param->paramno = lfirst_int(number);
			param->paramval = lfirst_node(Var, arg);
			params = lappend(params, param);
		}
	}
	return params;
}
