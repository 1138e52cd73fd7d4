/*
 * costs.c
 *	  Costs of batched lookups.
 */
#include "postgres.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "base/compat.h"
#include "base/options.h"
#include "join/lookup.h"
#include "sql/plan.h"

/* The cost of sending a key, with its number in the rows: half that of a row */
#define KEY_COST (COMPAT_FDW_TUPLE_COST / 2)

/*
 * The number of batches for a number of outer rows.  If all are certain to be read the
 * first batch is no smaller than the others.
 */
static double
count_batches(const PlannerInfo *root, double rows)
{
	double		batches = 0;

	if (!lookup_may_stop(root))
		return Max(ceil(rows / LOOKUP_MAX_ROWS), 1);
	for (double size = LOOKUP_FIRST_ROWS; rows > 0; batches++)
	{
		rows -= size;
		size = Min(size * LOOKUP_GROWTH, LOOKUP_MAX_ROWS);
		if (size == LOOKUP_MAX_ROWS && rows > 0)
			return batches + 1 + ceil(rows / size);
	}
	return Max(batches, 1);
}

/* The startup cost of the foreign scans of an inner side. */
static Cost
beginning_cost(const Path *inner)
{
	Cost		cost = 0;
	ListCell   *cell;

	if (!IsA(inner, AppendPath))
		return inner->startup_cost;
	foreach(cell, ((const AppendPath *) inner)->subpaths)
	{
		if (IsA(lfirst(cell), ForeignPath))
			cost += ((const Path *) lfirst(cell))->startup_cost;
	}
	return cost;
}

/* Is any of the clauses an equality with one of these expressions? */
static bool
has_equality(const List *clauses, const List *exprs)
{
	const ListCell *cell;

	foreach(cell, clauses)
	{
		const RestrictInfo *clause = lfirst(cell);
		const OpExpr *operation = (const OpExpr *) clause->clause;

		if (OidIsValid(clause->hashjoinoperator) &&
			(list_member(exprs, linitial(operation->args)) ||
			 list_member(exprs, lsecond(operation->args))))
			return true;
	}
	return false;
}

/* Does the Append query only one partition, selected by its parameters? */
static bool
scans_one_partition(const Path *append)
{
	const RelOptInfo *rel = append->parent;

	if (rel->part_scheme == NULL)
		return false;
	for (int i = 0; i < rel->part_scheme->partnatts; i++)
	{
		if (!has_equality(append->param_info->ppi_clauses, rel->partexprs[i]))
			return false;
	}
	return true;
}

/* The cost of an inner side for one key, without its startup cost. */
static Cost
key_cost(const Path *inner)
{
	Cost		cost = inner->total_cost - beginning_cost(inner);

	return IsA(inner, AppendPath) && scans_one_partition(inner) ?
		cost / list_length(((const AppendPath *) inner)->subpaths) : cost;
}

/*
 * The node's startup cost, beside a scan's: the foreign rows of all keys of
 * the first batch, if the query may stop early.
 */
Cost
lookup_first_cost(double rows, const Path *inner)
{
	return Min(rows, lookup_first_rows(inner->rows, PLAN_FEW_ROWS)) *
		key_cost(inner);
}

/*
 * The cost of a nested loop's inner side.  Where one match is enough, the loop
 * is expected to stop at the first.
 */
static Cost
charged_cost(double rows, const Path *inner, JoinType jointype,
			 const JoinPathExtraData *extra)
{
	Cost		run = inner->total_cost - inner->startup_cost;
	double		matched;

	if (jointype != JOIN_SEMI && jointype != JOIN_ANTI && !extra->inner_unique)
		return rows * inner->total_cost;
	matched = rint(rows * extra->semifactors.outer_match_frac);
	return rows * inner->startup_cost +
		run * (rows - matched +
			   matched * 2 / (extra->semifactors.match_count + 1));
}

/*
 * The cost of finding the rows of a number of keys, beside a scan's startup cost.  For
 * many of them the remote server reads the table once for each batch, rather than an
 * index for each key.
 */
static Cost
keys_cost(const PlannerInfo *root, double keys, double batches, const Path *inner)
{
	const RelOptInfo *rel = inner->parent;
	Cost		index = keys * lookup_index_cost(root, inner);
	Cost		table = batches *
		(rel->pages * seq_page_cost + rel->tuples * cpu_tuple_cost);

	return keys * (key_cost(inner) + KEY_COST) - Max(index - table, 0);
}

/*
 * The number of different keys of a number of outer rows.  Without statistics,
 * as of a function's result, the planner assumes 200 at most.  Where rows are to
 * be modified all keys count as different then: more of them than the table has
 * rows would cost more than to fetch the table.
 */
static double
count_different(PlannerInfo *root, double rows, List *keys)
{
	EstimationInfo info;
	double		different = estimate_num_groups(root, keys, rows, NULL, &info);

	if ((info.flags & SELFLAG_USED_DEFAULT) != 0 &&
		(root->parse->commandType == CMD_UPDATE ||
		 root->parse->commandType == CMD_DELETE))
		return rows;
	return Min(different, rows);
}

/*
 * What the node saves a nested loop, which is costed as if each outer row
 * began a scan: all of these but one for each batch, the rows of repeated
 * keys, and partitions that are not queried.  Negative where the loop would
 * stop at the first match, since all rows of a key are fetched.  Keys that are
 * repeated in another batch count as saved, too: Memoize saves these, but
 * loses more by its round trips.
 */
Cost
lookup_saved_cost(PlannerInfo *root, double rows, const Path *inner, List *keys,
				  JoinType jointype, const JoinPathExtraData *extra)
{
	double		batches = Min(count_batches(root, rows), rows);

	return charged_cost(rows, inner, jointype, extra) -
		batches * beginning_cost(inner) -
		keys_cost(root, count_different(root, rows, keys), batches, inner);
}

/*
 * The cost of looking up the rows of a table for all outer rows, where the remote
 * server reads the table once for each batch, as by a hash join, and not by an
 * index.  A key travels as a row does.
 */
Cost
lookup_whole_cost(PlannerInfo *root, const Path *outer, const Path *inner,
				  List *keys)
{
	const RelOptInfo *rel = inner->parent;
	double		bytes = outer->rows * outer->pathtarget->width;
	double		batches = ceil(Max(outer->rows / LOOKUP_MAX_ROWS,
								   bytes / LOOKUP_BYTES));
	Cost		batch = option_cost(rel->serverid, "fdw_startup_cost",
									COMPAT_FDW_STARTUP_COST) +
		rel->pages * seq_page_cost + rel->tuples * cpu_tuple_cost;
	Cost		row = option_cost(rel->serverid, "fdw_tuple_cost",
								  COMPAT_FDW_TUPLE_COST) + cpu_tuple_cost;

	return outer->total_cost + batches * batch +
		count_different(root, outer->rows, keys) * (inner->rows + 1) * row;
}
