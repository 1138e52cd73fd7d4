/*
 * evaluated.c
 *	  What EXPLAIN shows of expressions that are evaluated here.
 *
 * EXPLAIN (VERBOSE) of a foreign scan names each condition that the scan evaluates
 * here, and the reason (reasons.c).  If its rows go into groups or an aggregate here,
 * sorted or not, and nothing else is between, it names what keeps these here, too; and
 * so for a join with another scan of the same server:
 *
 *	Evaluated Here: (v = other_function(1))
 *	  Reason: other_function is not known to be the same on the remote server
 *
 * How many rows travelled for nothing PostgreSQL says itself, as Rows Removed by
 * Filter.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/ruleutils.h"

#include "base/inputs.h"
#include "rewrite/collations.h"
#include "rewrite/evaluated.h"
#include "rewrite/reasons.h"
#include "rewrite/sets.h"
#include "sql/plan.h"

/* A scan that is being explained */
typedef struct Explained
{
	ForeignScan *plan;
	ReasonScan	scan;
	List	   *ancestors;		/* Plans above it, the nearest one first */
	bool		is_open;		/* has a line been shown? */
	ExplainState *es;
} Explained;

/* The plans above a plan, the nearest one first, in *ancestors.  False if not below. */
static bool
find_ancestors(Plan *top, const Plan *plan, List **ancestors)
{
	ListCell   *cell;

	if (top == NULL || top == plan)
		return top != NULL;
	foreach(cell, inputs_of_plan(top))
	{
		if (find_ancestors(lfirst(cell), plan, ancestors))
		{
			*ancestors = lappend(*ancestors, top);
			return true;
		}
	}
	return false;
}

/* The same in a statement. */
static List *
ancestors_in(const PlannedStmt *stmt, const Plan *plan)
{
	List	   *ancestors = NIL;
	ListCell   *cell;

	if (find_ancestors(stmt->planTree, plan, &ancestors))
		return ancestors;
	foreach(cell, stmt->subplans)
	{
		if (find_ancestors(lfirst(cell), plan, &ancestors))
			break;
	}
	return ancestors;
}

/* Mutator: an expression of a plan by columns of the foreign tables below it. */
static Node *
by_columns(Node *node, void *arg)
{
	Plan	   *plan = arg;
	const Var  *var = (const Var *) node;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && var->varattno > 0 && var->varno == OUTER_VAR)
		return by_columns((Node *)
						  list_nth_node(TargetEntry, outerPlan(plan)->targetlist,
										var->varattno - 1)->expr,
						  outerPlan(plan));
	if (IsA(node, Var) && var->varattno > 0 && var->varno == INNER_VAR)
		return by_columns((Node *)
						  list_nth_node(TargetEntry, innerPlan(plan)->targetlist,
										var->varattno - 1)->expr,
						  innerPlan(plan));
	if (IsA(node, Var) && var->varattno > 0 && var->varno == INDEX_VAR &&
		IsA(plan, ForeignScan))
		return copyObjectImpl(list_nth_node(TargetEntry,
											((ForeignScan *) plan)->fdw_scan_tlist,
											var->varattno - 1)->expr);
	return expression_tree_mutator(node, by_columns, arg);
}

/* The text of an expression of a plan, whose own ancestors are given. */
static char *
text_of(const Explained *explained, Plan *plan, List *ancestors, Node *expr)
{
	List	   *context = set_deparse_context_plan(explained->es->deparse_cxt, plan,
												   ancestors);

	return deparse_expression(expr, context, true, false);
}

/* Shows what is evaluated here, and why. */
static void
show(Explained *explained, const char *what, const char *reason)
{
	ExplainState *es = explained->es;
	bool		is_text = es->format == EXPLAIN_FORMAT_TEXT;

	if (!explained->is_open)
		ExplainOpenGroup("Evaluated Here", "Evaluated Here", false, es);
	explained->is_open = true;
	ExplainOpenGroup("Evaluation", NULL, true, es);
	ExplainPropertyText(is_text ? "Evaluated Here" : "Expression", what, es);
	if (is_text)
		es->indent++;
	ExplainPropertyText("Reason", reason, es);
	if (is_text)
		es->indent--;
	ExplainCloseGroup("Evaluation", NULL, true, es);
}

/* Shows the conditions of the scan. */
static void
show_conditions(Explained *explained)
{
	Plan	   *plan = &explained->plan->scan.plan;
	ListCell   *cell;

	foreach(cell, plan->qual)
	{
		Node	   *condition = lfirst(cell);

		show(explained, text_of(explained, plan, explained->ancestors, condition),
			 reasons_condition(&explained->scan, by_columns(condition, plan)));
	}
}

/* What an aggregation groups by, as text; NULL without groups. */
static char *
groups_of(const Explained *explained, Agg *agg, List *ancestors)
{
	Plan	   *below = outerPlan(agg);
	StringInfoData text;

	if (agg->numCols == 0)
		return NULL;
	initStringInfo(&text);
	ancestors = lcons(agg, list_copy(ancestors));
	for (int i = 0; i < agg->numCols; i++)
	{
		TargetEntry *key = list_nth_node(TargetEntry, below->targetlist,
										 agg->grpColIdx[i] - 1);

		appendStringInfo(&text, "%s%s", i == 0 ? "GROUP BY " : ", ",
						 text_of(explained, below, ancestors, (Node *) key->expr));
	}
	return text.data;
}

/*
 * Shows that an aggregation is here because of something that it groups by or
 * aggregates.  Returns whether that was so.
 */
static bool
show_part(Explained *explained, Agg *agg, List *ancestors, List *aggregates)
{
	Plan	   *below = outerPlan(agg);
	const char *reason;
	ListCell   *cell;

	for (int i = 0; i < agg->numCols; i++)
	{
		Node	   *key = (Node *) list_nth_node(TargetEntry, below->targetlist,
												 agg->grpColIdx[i] - 1)->expr;

		reason = reasons_value(&explained->scan, by_columns(key, below), true);
		if (reason != NULL)
		{
			show(explained, groups_of(explained, agg, ancestors), reason);
			return true;
		}
	}
	foreach(cell, aggregates)
	{
		Node	   *aggregate = lfirst(cell);

		reason = reasons_value(&explained->scan,
							   by_columns(aggregate, &agg->plan), false);
		if (reason != NULL)
		{
			show(explained,
				 text_of(explained, &agg->plan, ancestors, aggregate), reason);
			return true;
		}
	}
	return false;
}

/* Why the grouping sets of an aggregation are not sent; NULL if they could be. */
static const char *
reason_of_sets(const Explained *explained, const Agg *agg)
{
	List	   *groups = NIL;

	if (agg->groupingSets == NIL && agg->chain == NIL)
		return NULL;
	if (!explained->scan.is_on)
		return "GROUPING SETS, ROLLUP and CUBE are not sent while remote_expressions is off";
	for (int i = 0; i < agg->numCols; i++)
		groups = lappend(groups,
						 by_columns((Node *) list_nth_node(TargetEntry,
														   outerPlan(agg)->targetlist,
														   agg->grpColIdx[i] - 1)->expr,
									outerPlan(agg)));
	return sets_refusal(groups);
}

/* Does a scan return the rows of a subquery, which has groups or a LIMIT? */
static bool
is_of_subquery(const ForeignScan *plan)
{
	ScanPlan	scan = plan_read_scan(plan->fdw_private);

	return scan.is_aggregated || scan.is_bounded;
}

/* Why an aggregation whose parts could all be sent is evaluated here. */
static const char *
reason_of_groups(const Explained *explained, Agg *agg, List *aggregates)
{
	const char *reason;

	if (explained->plan->scan.plan.qual != NIL)
		return "it needs the rows that meet the condition evaluated here";
	reason = reason_of_sets(explained, agg);
	if (reason != NULL)
		return reason;
	if (is_of_subquery(explained->plan))
		return explained->scan.is_on ?
			"of a subquery's rows only common aggregates of plain columns are sent, unless outer rows decide about them" :
			"aggregates of a subquery's rows are not sent while remote_expressions is off";
	if (collations_order(by_columns((Node *) aggregates, &agg->plan)))
		return "it depends on the order of texts, which the remote database may have otherwise";
	if (aggregates == NIL)
		return "SELECT DISTINCT is not sent, and GROUP BY perhaps estimated to cost less here";
	return "perhaps it is estimated to cost less here";
}

/* Shows an aggregation above the scan. */
static void
show_groups(Explained *explained, Agg *agg, List *ancestors)
{
	List	   *aggregates = pull_var_clause((Node *)
											 list_make2(agg->plan.targetlist,
														agg->plan.qual),
											 PVC_INCLUDE_AGGREGATES |
											 PVC_RECURSE_WINDOWFUNCS |
											 PVC_RECURSE_PLACEHOLDERS);
	List	   *found = NIL;
	char	   *what;
	ListCell   *cell;

	foreach(cell, aggregates)
	{
		if (IsA(lfirst(cell), Aggref))
			found = lappend(found, lfirst(cell));
	}
	if (show_part(explained, agg, ancestors, found))
		return;
	what = groups_of(explained, agg, ancestors);
	if (what == NULL && found != NIL)
		what = text_of(explained, &agg->plan, ancestors, linitial(found));
	if (what != NULL)
		show(explained, what, reason_of_groups(explained, agg, found));
}

/* Does a node return the rows of its only input, perhaps in another order? */
static bool
passes_rows(const Plan *plan)
{
	return IsA(plan, Sort) || IsA(plan, IncrementalSort) || IsA(plan, Hash) ||
		IsA(plan, Material) || IsA(plan, Memoize);
}

/* The scan of a server whose rows are an input of a join; NULL if it has none. */
static ForeignScan *
find_input(Plan *plan, Oid server)
{
	while (plan != NULL && passes_rows(plan))
		plan = outerPlan(plan);
	return plan != NULL && IsA(plan, ForeignScan) &&
		((ForeignScan *) plan)->fs_server == server ? (ForeignScan *) plan : NULL;
}

/* The conditions of a join, those that it hashes or merges by first. */
static List *
conditions_of(const Join *join)
{
	List	   *first = IsA(join, HashJoin) ? ((const HashJoin *) join)->hashclauses :
		IsA(join, MergeJoin) ? ((const MergeJoin *) join)->mergeclauses : NIL;

	return list_concat_copy(list_concat_copy(first, join->joinqual),
							join->plan.qual);
}

/* Why a join of two scans, whose conditions could all be sent, is executed here. */
static const char *
reason_of_join(const Join *join, const ForeignScan *outer, const ForeignScan *inner)
{
	if (outer->scan.plan.qual != NIL || inner->scan.plan.qual != NIL)
		return "it needs the rows that meet the condition evaluated here";
	if (join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI)
		return "EXISTS, IN and their like are not sent, or perhaps estimated to cost less here";
	return "perhaps it is estimated to cost less here";
}

/* Shows a join of the scan, as its outer input, with another one of its server. */
static void
show_join(Explained *explained, Join *join, List *ancestors)
{
	ForeignScan *outer = find_input(outerPlan(join), explained->plan->fs_server);
	ForeignScan *inner = find_input(innerPlan(join), explained->plan->fs_server);
	List	   *conditions = conditions_of(join);
	ReasonScan	both = explained->scan;
	ListCell   *cell;

	if (outer != explained->plan || inner == NULL)
		return;
	both.relids = bms_union(both.relids,
							reasons_scan(inner, explained->es->pstmt).relids);
	foreach(cell, conditions)
	{
		const char *reason = reasons_value(&both,
										   by_columns(lfirst(cell), &join->plan),
										   false);

		if (reason == NULL)
			continue;
		show(explained, psprintf("JOIN ON %s", text_of(explained, &join->plan, ancestors,
													   lfirst(cell))), reason);
		return;
	}
	show(explained, conditions == NIL ? "JOIN" :
		 psprintf("JOIN ON %s", text_of(explained, &join->plan, ancestors,
										(Node *) make_ands_explicit(conditions))),
		 reason_of_join(join, outer, inner));
}

/* Shows what is done here with all rows of the scan. */
static void
show_above(Explained *explained)
{
	ListCell   *cell;

	foreach(cell, explained->ancestors)
	{
		Plan	   *plan = lfirst(cell);
		List	   *above = list_copy_tail(explained->ancestors,
										   foreach_current_index(cell) + 1);

		if (passes_rows(plan))
			continue;
		if (IsA(plan, Agg) && ((Agg *) plan)->aggsplit == AGGSPLIT_SIMPLE)
			show_groups(explained, (Agg *) plan, above);
		else if (IsA(plan, HashJoin) || IsA(plan, MergeJoin) || IsA(plan, NestLoop))
			show_join(explained, (Join *) plan, above);
		return;
	}
}

/* Shows what is evaluated here of a scan, under VERBOSE. */
void
evaluated_explain(const ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	Explained	explained = {.plan = plan,.es = es};

	if (!es->verbose || plan->operation != CMD_SELECT)
		return;
	explained.scan = reasons_scan(plan, es->pstmt);
	explained.ancestors = ancestors_in(es->pstmt, &plan->scan.plan);
	show_conditions(&explained);
	show_above(&explained);
	if (explained.is_open)
		ExplainCloseGroup("Evaluated Here", "Evaluated Here", false, es);
}
