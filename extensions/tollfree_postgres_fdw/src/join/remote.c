/*
 * remote.c
 *	  Costs of remote joins without use_remote_estimate.
 *
 * Without use_remote_estimate postgres_fdw costs such a join as a nested
 * loop: it charges the conditions for each pair of rows.  For two tables of
 * 100,000 rows this cost is so high that both are fetched, although their
 * server has hash joins, too.
 *
 * A RestrictInfo caches its evaluation cost.  While postgres_fdw makes the
 * paths of a join, the cached costs are changed so that they add up to those
 * of a hash join over all pairs of rows.  postgres_fdw adds the conditions of
 * the inputs to those of an inner join, so these are kept in memory.c.
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

/* The row width that fdw_tuple_cost is assumed for, in bytes */
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

/* The cost of all conditions for a pair of rows. */
static Cost
cost_of_pair(PlannerInfo *root, List *clauses)
{
	QualCost	cost;

	cost_qual_eval(&cost, clauses, root);
	return cost.per_tuple;
}

/* Has a foreign table remote estimates? */
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
 * The cost of sending the bytes of a join beyond those of its inputs: a row is
 * repeated for each of its matches.
 */
static Cost
cost_of_repeating(const RelOptInfo *joinrel, const RelOptInfo *outer,
				  const RelOptInfo *inner)
{
	double		more = bytes_of(joinrel) - bytes_of(outer) - bytes_of(inner);

	return Max(more, 0) / ROW_BYTES * COMPAT_FDW_TUPLE_COST;
}

/*
 * The pairs of rows that a hash join compares: those of equal hash value, or for a
 * semi or anti join one of each outer row.
 */
static double
count_pairs(PlannerInfo *root, const RelOptInfo *outer, const RelOptInfo *inner,
			List *hashed, JoinType jointype, SpecialJoinInfo *sjinfo)
{
	if (sjinfo->jointype == JOIN_SEMI || sjinfo->jointype == JOIN_ANTI)
		return outer->rows;
	return outer->rows * inner->rows *
		clauselist_selectivity(root, hashed, 0, jointype, sjinfo);
}

/* The cost of a hash join of two inputs: see remote_begin_join. */
static Cost
cost_of_hash_join(PlannerInfo *root, const RelOptInfo *outer,
				  const RelOptInfo *inner, List *hashed, Cost pair,
				  JoinType jointype, SpecialJoinInfo *sjinfo)
{
	double		found = count_pairs(root, outer, inner, hashed, jointype, sjinfo);

	return (outer->rows + inner->rows) * cost_of_pair(root, hashed) +
		inner->rows * cpu_tuple_cost + found * pair;
}

/*
 * Before postgres_fdw estimates a join that can be a hash join, changes the
 * costs of its conditions so that they add up to a hash join's over all pairs
 * of rows.  A hash join computes a hash for each row of both sides, stores the
 * inner rows, and compares pairs of equal hash value.
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
	/* postgres_fdw estimates a join relation once, for its first pair. */
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

/*
 * Restores the costs of the conditions after postgres_fdw has estimated the
 * join.
 */
void
remote_end_join(const RemoteJoin *join)
{
	ListCell   *cell;

	foreach(cell, join->clauses)
		lfirst_node(RestrictInfo, cell)->eval_cost.per_tuple =
		join->costs[foreach_current_index(cell)];
}
