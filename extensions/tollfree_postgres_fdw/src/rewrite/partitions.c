/*
 * partitions.c
 *	  Aggregation of partitions where they are, unless the user decides otherwise.
 *
 * PostgreSQL aggregates partitions one by one only if enable_partitionwise_aggregate
 * is on, since to look at many partitions takes the planner time.  By default it is
 * off, and all rows of foreign partitions travel.  So it is on while a query is planned
 * whose partitioned tables have no other partitions than foreign tables of ours, if
 * nobody has set it.  Whoever has, decides.
 *
 * The planner reads the setting's variable.  That is changed here, not the setting,
 * which would be restored later than another plan may be made.
 *
 * That is worth it only where the servers aggregate.  A plan that aggregates rows of
 * partitions here, one by one, would not read them at the same time, so the query is
 * then planned once more, as usual.  A subquery in an expression is looked up by keys,
 * which are not dealt to the partitions where these are aggregated.
 *
 * Sums of floating-point numbers depend on the order in which they are added.  A query
 * that has any is planned as without us.  So is one with a variance of numeric, whose
 * squares may be too large.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "utils/fmgroids.h"

#include "base/compat.h"
#include "base/inputs.h"
#include "rewrite/partitions.h"
#include "rewrite/query.h"

/* What a query has that decides */
typedef struct Found
{
	bool		groups;			/* a part that groups partitions of ours? */
	bool		refuses;		/* anything for which it is planned as usual? */
	bool		has_sets;		/* UNION or the like? Its parts may be
								 * grouped. */
} Found;

/* Is the variable changed here? */
static bool is_raised = false;

/* The query that is to be planned as usual; only compared */
static const Query *usual = NULL;

/*
 * Does an aggregate add floating-point numbers, or is it a variance of numbers whose
 * squares may be too large to be sent?
 */
static bool
adds_floats(const Aggref *aggregate)
{
	ListCell   *cell;

	switch (aggregate->aggfnoid)
	{
		case F_COUNT_ANY:
		case F_COUNT_:
		case F_MAX_FLOAT4:
		case F_MAX_FLOAT8:
		case F_MIN_FLOAT4:
		case F_MIN_FLOAT8:
			return false;
		case F_STDDEV_NUMERIC:
		case F_STDDEV_POP_NUMERIC:
		case F_STDDEV_SAMP_NUMERIC:
		case F_VARIANCE_NUMERIC:
		case F_VAR_POP_NUMERIC:
		case F_VAR_SAMP_NUMERIC:
			return true;
	}
	foreach(cell, aggregate->aggargtypes)
	{
		if (lfirst_oid(cell) == FLOAT4OID || lfirst_oid(cell) == FLOAT8OID)
			return true;
	}
	return false;
}

/* Looks at the tables of a query. */
static void
look_at_tables(const Query *query, Found *found)
{
	bool		groups = query->hasAggs || query->groupClause != NIL ||
		query->distinctClause != NIL || found->has_sets;
	ListCell   *cell;

	foreach(cell, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind != RTE_RELATION ||
			rte->relkind != RELKIND_PARTITIONED_TABLE)
			continue;
		if (!query_aggregates_ours(rte))
			found->refuses = true;
		found->groups |= groups;
	}
}

/* Walker: looks at a query and its parts; true if it is to be planned as usual. */
static bool
look(Node *node, void *arg)
{
	Found	   *found = arg;

	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
	{
		Found		inner = {0};

		(void) look(((SubLink *) node)->subselect, &inner);
		found->refuses |= inner.groups;
	}
	if (IsA(node, Query))
	{
		look_at_tables((Query *) node, found);
		found->has_sets |= ((Query *) node)->setOperations != NULL;
		return found->refuses ||
			query_tree_walker((Query *) node, look, arg, 0);
	}
	if (IsA(node, Aggref) && adds_floats((Aggref *) node))
		found->refuses = true;
	return found->refuses || expression_tree_walker(node, look, arg);
}

/* Does a query, or a part of it, aggregate partitions that are all ours? */
static bool
aggregates_ours(Query *query)
{
	Found		found = {0};

	(void) look((Node *) query, &found);
	return found.groups && !found.refuses;
}

/* Is there an aggregation below the plans of partitions? */
static bool
aggregates_below(const Plan *plan, bool is_part)
{
	bool		is_append = IsA(plan, Append) || IsA(plan, MergeAppend);
	ListCell   *cell;

	check_stack_depth();
	if (is_part && IsA(plan, Agg))
		return true;
	foreach(cell, inputs_of_plan(plan))
	{
		if (aggregates_below(lfirst(cell), is_part || is_append))
			return true;
	}
	return false;
}

/* Has a plan rows of partitions aggregated here, one by one? */
static bool
aggregates_here(const PlannedStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, stmt->subplans)
	{
		if (lfirst(cell) != NULL && aggregates_below(lfirst(cell), false))
			return true;
	}
	return aggregates_below(stmt->planTree, false);
}

/* Is the copy of a query to be planned in place of this plan, as usual? */
bool
partitions_plan_again(const PlannedStmt *stmt, const Query *copy)
{
	if (copy == NULL || !aggregates_here(stmt))
		return false;
	usual = copy;
	return true;
}

/*
 * A copy of a query that is about to be planned, if its partitions should be aggregated
 * one by one, for the case that it has to be planned as usual after all; else NULL.
 */
Query *
partitions_copy(Query *query)
{
	bool		may_be_on = query != usual &&
		(is_raised || !enable_partitionwise_aggregate);

	usual = NULL;
	return may_be_on && query_reads_foreign(query) &&
		compat_is_default("enable_partitionwise_aggregate") &&
		aggregates_ours(query) ? copyObject(query) : NULL;
}

/*
 * Has partitions be aggregated one by one, or not, while a query is planned, until
 * partitions_end with what this returns.  Planning another query within, as a function
 * may, begins anew.
 */
bool
partitions_begin(bool is_wanted)
{
	bool		former = is_raised;

	if (is_wanted != former)
		enable_partitionwise_aggregate = is_raised = is_wanted;
	return former;
}

/* Puts back what partitions_begin has changed, if anything. */
void
partitions_end(bool former)
{
	if (is_raised != former)
		enable_partitionwise_aggregate = is_raised = former;
}
