/*
 * remote.c
 *	  What a join costs that the remote server executes.
 *
 * Without use_remote_estimate postgres_fdw takes such a join for a nested loop:
 * it counts the conditions once for each pair of rows.  For two tables of
 * 100,000 rows that comes to so much that both are fetched, although their
 * server has hash joins, too.
 *
 * The planner keeps with each condition what evaluating it costs.  While
 * postgres_fdw makes the paths of a join, the costs kept are such that for all
 * pairs of rows they add up to those of a hash join.  To the conditions of an
 * inner join postgres_fdw adds those of its inputs, so these are remembered.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/tables.h"
#include "join/memory.h"
#include "join/remote.h"
#include "sql/plan.h"

/* Bytes of a row that fdw_tuple_cost is taken to be for */
#define ROW_BYTES 100

/* The conditions of an input, which is a table or a join. */
static List *
conditions_of(const RelOptInfo *rel)
{
	return IS_SIMPLE_REL(rel) ? rel->baserestrictinfo
		: memory_find(rel, MEMORY_CONDITIONS);
}

/* Can this condition's two sides be hashed, one for each input of the join? */
static bool
is_hashed(const RestrictInfo *clause, const RelOptInfo *outer,
		  const RelOptInfo *inner)
{
	if (!clause->can_join || !OidIsValid(clause->hashjoinoperator))
		return false;
	return (bms_is_subset(clause->left_relids, outer->relids) &&
			bms_is_subset(clause->right_relids, inner->relids)) ||
		(bms_is_subset(clause->left_relids, inner->relids) &&
		 bms_is_subset(clause->right_relids, outer->relids));
}

/* The conditions by which the rows of both inputs can be hashed. */
static List *
find_hashed(const List *clauses, const RelOptInfo *outer,
			const RelOptInfo *inner)
{
	List	   *hashed = NIL;
	const ListCell *cell;

	foreach(cell, clauses)
	{
		if (is_hashed(lfirst(cell), outer, inner))
			hashed = lappend(hashed, lfirst(cell));
	}
	return hashed;
}

/* What all of the conditions cost for a pair of rows. */
static Cost
cost_of_pair(PlannerInfo *root, List *clauses)
{
	QualCost	cost;

	cost_qual_eval(&cost, clauses, root);
	return cost.per_tuple;
}

/* Does the server of a foreign table tell what joins with it cost? */
static bool
has_remote_estimate(PlannerInfo *root, const RelOptInfo *rel)
{
	int			relid = -1;

	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
	{
		const RangeTblEntry *rte = planner_rt_fetch(relid, root);

		if (rte->rtekind == RTE_RELATION &&
			rte->relkind == RELKIND_FOREIGN_TABLE &&
			tables_asks_for_estimates(rte->relid))
			return true;
	}
	return false;
}

/* The bytes of a relation's rows. */
static double
bytes_of(const RelOptInfo *rel)
{
	return rel->rows * rel->reltarget->width;
}

/*
 * What it costs to send the bytes of a join beyond those of its inputs: it repeats
 * those of a row for each other row that this matches.
 */
static Cost
cost_of_repeating(const RelOptInfo *joinrel, const RelOptInfo *outer,
				  const RelOptInfo *inner)
{
	double		more = bytes_of(joinrel) - bytes_of(outer) - bytes_of(inner);

	return Max(more, 0) / ROW_BYTES * COMPAT_FDW_TUPLE_COST;
}

/* What a hash join of two inputs costs: see remote_begin_join. */
static Cost
cost_of_hash_join(PlannerInfo *root, const RelOptInfo *outer,
				  const RelOptInfo *inner, List *hashed, Cost pair,
				  JoinType jointype, SpecialJoinInfo *sjinfo)
{
	double		found = outer->rows * inner->rows *
		clauselist_selectivity(root, hashed, 0, jointype, sjinfo);

	return (outer->rows + inner->rows) * cost_of_pair(root, hashed) +
		inner->rows * cpu_tuple_cost + found * pair;
}

/*
 * Has the conditions of a join, before postgres_fdw estimates it, cost for all
 * pairs of rows what they do in a hash join, if it can be one.  There a hash is
 * computed for each row of both sides, the inner rows are kept, and pairs of
 * equal hash value are compared.
 */
void
remote_begin_join(RemoteJoin *join, PlannerInfo *root, RelOptInfo *joinrel,
				  const RelOptInfo *outer, const RelOptInfo *inner,
				  JoinType jointype, const JoinPathExtraData *extra)
{
	List	   *hashed = find_hashed(extra->restrictlist, outer, inner);
	List	   *clauses;
	Cost		pair;
	double		share;
	ListCell   *cell;

	join->clauses = NIL;
	/* postgres_fdw estimates a join once, however many pairs make it. */
	if (joinrel->fdw_private != NULL ||
		!fastpath_is_on(plan_fast_paths(root, joinrel, InvalidOid),
						FAST_JOIN_ESTIMATES) ||
		has_remote_estimate(root, joinrel))
		return;
	clauses = list_concat_copy(extra->restrictlist, conditions_of(outer));
	clauses = list_concat(clauses, conditions_of(inner));
	memory_keep(joinrel, MEMORY_CONDITIONS, clauses);
	if (hashed == NIL)
		return;

	pair = cost_of_pair(root, clauses);
	share = (cost_of_hash_join(root, outer, inner, hashed, pair, jointype,
							   extra->sjinfo) +
			 cost_of_repeating(joinrel, outer, inner)) /
		(outer->rows * inner->rows * pair);
	if (!(share < 1))
		return;
	join->clauses = clauses;
	join->costs = palloc(list_length(clauses) * sizeof(Cost));
	foreach(cell, clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);

		join->costs[foreach_current_index(cell)] = clause->eval_cost.per_tuple;
		clause->eval_cost.per_tuple *= share;
	}
}

/* Puts back what the conditions cost, when postgres_fdw has estimated the join. */
void
remote_end_join(const RemoteJoin *join)
{
	ListCell   *cell;

	foreach(cell, join->clauses)
		lfirst_node(RestrictInfo, cell)->eval_cost.per_tuple =
		join->costs[foreach_current_index(cell)];
}
