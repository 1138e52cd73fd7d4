/*
 * limit.c
 *	  LIMIT for foreign partitions of a query that has one.
 *
 * postgres_fdw sends the LIMIT of a query for one foreign table.  Of a query
 * for the first n rows of a partitioned table, each partition has to return n
 * rows at most, in the order of the query.  So postgres_fdw is made to write
 * LIMIT n, with OFFSET counted in, into the partition's query.
 *
 * The query must read nothing but the partitioned table, and pass on the rows
 * of a partition as they are: with no grouping and the like (then the planner
 * has no limit_tuples), and with no condition that is checked here.  Whoever
 * calls has to see whether there is such a condition.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/paths.h"

#include "base/fastpath.h"
#include "sql/plan.h"
#include "upper/limit.h"

/* The value of a constant LIMIT or OFFSET; absent if there is none, else -1. */
static int64
constant_of(const Node *node, int64 absent)
{
	if (node == NULL)
		return absent;
	return IsA(node, Const) && !((const Const *) node)->constisnull ?
		DatumGetInt64(((const Const *) node)->constvalue) : -1;
}

/* The rows that the query may need of each of its partitions; 0 if unknown. */
static int64
rows_needed(const PlannerInfo *root)
{
	const Query *parse = root->parse;
	int64		count = constant_of(parse->limitCount, -1);
	int64		offset = constant_of(parse->limitOffset, 0);

	if (root->limit_tuples < 1 || parse->limitOption != LIMIT_OPTION_COUNT ||
		count < 0 || offset < 0 || count > INT_MAX || offset > INT_MAX)
		return 0;
	return count + offset;
}

/*
 * Prepares to plan a scan with a LIMIT; false if it is none of a partition that
 * can have one.  The path's rows become those that the query needs.
 */
bool
limit_begin(LimitedScan *limited, PlannerInfo *root, const RelOptInfo *rel,
			ForeignPath *path)
{
	Query	   *parse = root->parse;
	int64		needed = rows_needed(root);

	if (needed == 0 || rel->reloptkind != RELOPT_OTHER_MEMBER_REL ||
		bms_membership(root->all_baserels) != BMS_SINGLETON ||
		parse->commandType != CMD_SELECT || root->rowMarks != NIL ||
		path->path.param_info != NULL || path->fdw_private != NIL ||
		!pathkeys_contained_in(root->sort_pathkeys, path->path.pathkeys) ||
		!fastpath_is_on(plan_fast_paths(root, rel, InvalidOid),
						FAST_PARTITION_LIMITS))
		return false;
	limited->count = parse->limitCount;
	limited->offset = parse->limitOffset;
	parse->limitCount = (Node *)
		makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
				  Int64GetDatum(needed), false, FLOAT8PASSBYVAL);
	parse->limitOffset = NULL;
	/* For postgres_fdw: the sort is not the final one, but there is a LIMIT. */
	path->fdw_private = list_make2(makeBoolean(false), makeBoolean(true));
	path->path.rows = Min(path->path.rows, (double) needed);
	return true;
}

/* Puts back what limit_begin has put aside. */
void
limit_end(const LimitedScan *limited, PlannerInfo *root, ForeignPath *path)
{
	root->parse->limitCount = limited->count;
	root->parse->limitOffset = limited->offset;
	path->fdw_private = NIL;
}
