/*
 * arguments.c
 *	  Subqueries in the arguments of aggregates, as in SELECT sum((SELECT v FROM ft
 *	  WHERE id = l.k)) FROM l.
 *
 * An aggregation computes the arguments of its aggregates for each of its input's rows.
 * A custom scan of node.c that is put below it can do so, and batch the lookups of their
 * subqueries:
 *
 *	Aggregate							Aggregate
 *	  Output: sum((SubPlan 1))	->		  Output: sum(n)
 *	  ->  Seq Scan on l					  ->  Custom Scan (Batched Foreign Lookup)
 *											    Output: k, (SubPlan 1) AS n
 *											    ->  Seq Scan on l
 *
 * The scan returns the columns of its input, in their places, and behind them the
 * arguments.  Of aggregates with FILTER that is computed so; their arguments, which are not
 * computed for each row, stay where they are.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "join/arguments.h"
#include "join/correlated.h"
#include "join/lookup.h"

/* Arguments that move to a custom scan */
typedef struct MovedArguments
{
	const PlannedStmt *stmt;
	int			ncolumns;		/* of its input, before the arguments */
	List	   *exprs;			/* as the aggregation has them */
} MovedArguments;

/* The column of the custom scan that has this argument. */
static Var *
arguments_move(MovedArguments *moved, Expr *expr)
{
	ListCell   *cell;
	int			n = 0;

	foreach(cell, moved->exprs)
	{
		if (equal(lfirst(cell), expr))
			break;
		n++;
	}
	if (n == list_length(moved->exprs))
		moved->exprs = lappend(moved->exprs, expr);
	return makeVar(OUTER_VAR, moved->ncolumns + n + 1, exprType((Node *) expr),
				   exprTypmod((Node *) expr), exprCollation((Node *) expr), 0);
}

/* The column in place of an expression, if that looks up rows. */
static Expr *
arguments_replace(MovedArguments *moved, Expr *expr)
{
	return correlated_find(expr, moved->stmt) == NIL ? expr :
		(Expr *) arguments_move(moved, expr);
}

/*
 * Mutator: replaces what is computed for each row, and looks up rows, by columns of the
 * custom scan.
 */
static Node *
replace_arguments(Node *node, void *arg)
{
	MovedArguments *moved = arg;
	Aggref	   *aggregate;
	ListCell   *cell;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Aggref))
		return expression_tree_mutator(node, replace_arguments, arg);
	aggregate = (Aggref *) node;
	if (aggregate->agglevelsup > 0 || aggregate->aggsplit != AGGSPLIT_SIMPLE)
		return node;
	aggregate = copyObjectImpl(aggregate);
	if (aggregate->aggfilter != NULL)
	{
		aggregate->aggfilter = arguments_replace(moved, aggregate->aggfilter);
		return (Node *) aggregate;
	}
	foreach(cell, aggregate->args)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		entry->expr = arguments_replace(moved, entry->expr);
	}
	return (Node *) aggregate;
}

/* Mutator: has the custom scan's own columns in place of those of its input. */
static Node *
read_columns(Node *node, void *arg)
{
	Var		   *var;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, read_columns, arg);
	var = copyObjectImpl(node);
	var->varno = INDEX_VAR;
	return (Node *) var;
}

/* A custom scan above a plan, which returns its columns and these expressions. */
static CustomScan *
make_scan(Plan *input, const List *exprs)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *plan = &scan->scan.plan;
	const ListCell *cell;

	*plan = *input;
	plan->type = T_CustomScan;
	plan->targetlist = plan->qual = plan->initPlan = NIL;
	plan->lefttree = input;
	plan->righttree = NULL;
	foreach(cell, input->targetlist)
	{
		TargetEntry *column = lfirst(cell);

		scan->custom_scan_tlist =
			lappend(scan->custom_scan_tlist,
					makeTargetEntry((Expr *) makeVarFromTargetEntry(OUTER_VAR, column),
									column->resno, NULL, false));
		plan->targetlist =
			lappend(plan->targetlist,
					makeTargetEntry((Expr *) makeVarFromTargetEntry(INDEX_VAR, column),
									column->resno, NULL, false));
	}
	foreach(cell, exprs)
		plan->targetlist =
		lappend(plan->targetlist,
				makeTargetEntry((Expr *) read_columns(lfirst(cell), NULL),
								list_length(plan->targetlist) + 1, NULL, false));
	scan->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	scan->methods = &lookup_scan_methods;
	return scan;
}

/*
 * Puts a custom scan below an aggregation, if an argument of its aggregates has a
 * subquery that can look up rows; NULL if none has.
 */
CustomScan *
arguments_cut_below(Agg *agg, const PlannedStmt *stmt)
{
	Plan	   *plan = &agg->plan;
	Plan	   *input = outerPlan(plan);
	MovedArguments moved = {.stmt = stmt,.ncolumns = list_length(input->targetlist)};
	List	   *targets = (List *) replace_arguments((Node *) plan->targetlist, &moved);
	List	   *quals = (List *) replace_arguments((Node *) plan->qual, &moved);
	CustomScan *scan;

	if (moved.exprs == NIL)
		return NULL;
	scan = make_scan(input, moved.exprs);
	scan->scan.plan.extParam = bms_union(input->extParam, plan->extParam);
	scan->scan.plan.allParam = bms_union(input->allParam, plan->allParam);
	plan->targetlist = targets;
	plan->qual = quals;
	outerPlan(plan) = &scan->scan.plan;
	return scan;
}
