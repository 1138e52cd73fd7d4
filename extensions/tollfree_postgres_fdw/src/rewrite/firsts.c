/*
 * firsts.c
 *	  Scans of which only the first rows of each group are sent.
 *
 *	SELECT DISTINCT ON (k) ... ORDER BY k, ts DESC
 *	SELECT ... FROM (SELECT ..., row_number() OVER (PARTITION BY k ORDER BY ts DESC)
 *					 AS n ...) WHERE n <= 3
 *
 * need the first row, or few, of each group.  So a scan of the only table of such a
 * query numbers its rows remotely, and sends no more:
 *
 *	SELECT c1, c2 FROM (SELECT c1, c2, row_number() OVER (PARTITION BY c1 ORDER BY
 *		c2 DESC) FROM (what postgres_fdw sends) s(c1, c2)) s(c1, c2, n) WHERE n <= 3
 *
 * Without PARTITION BY it sorts them and has a LIMIT, so that it may stop early, as
 * what is executed here does; rank and dense_rank then stay.
 *
 * The rest of the plan stays as it is.  The first rows of the first rows are the
 * first rows, so that each partition of a table can send its own.  Which one comes
 * first of two that are equal is as open as it was.
 *
 * Groups and orders must be those of columns that mean the same there: groups are of
 * plain types or of texts by a deterministic collation; orders of plain types, or of
 * texts by the collation "C".  All conditions must be sent, and nothing may be between
 * the table and the window.
 *
 * A path's fdw_private has a list of the function, the number of rows, and IntLists:
 * columns of groups; of the order, as triples (column, descending?, nulls first?); and
 * of the path's own order.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/options.h"
#include "base/tables.h"
#include "rewrite/firsts.h"
#include "rewrite/meaning.h"
#include "sql/plan.h"

/* Rows of a group, at most: a number that is no bound has no use */
#define FIRSTS_MAX_ROWS 1000000

/* A window that is numbered, and how many rows of each group are needed */
typedef struct Window
{
	const char *function;
	int			rows;
	List	   *groups;			/* of SortGroupClause */
	List	   *order;
} Window;

/* The function whose numbers of rows are bounded, if its bounds can be sent. */
static const char *
function_name(Oid function)
{
	switch (function)
	{
		case F_ROW_NUMBER:
			return "row_number";
		case F_RANK_:
			return "rank";
		case F_DENSE_RANK_:
			return "dense_rank";
		default:
			return NULL;
	}
}

/* The greatest number that meets a bound of a window function; 0 if unknown. */
static int
bound_of(const OpExpr *condition)
{
	const Const *bound = lsecond(condition->args);
	bool		is_less = false;
	int64		rows;

	switch (get_opcode(condition->opno))
	{
		case F_INT8LT:
		case F_INT84LT:
		case F_INT82LT:
			is_less = true;
			break;
		case F_INT8LE:
		case F_INT84LE:
		case F_INT82LE:
			break;
		default:
			return 0;
	}
	if (!IsA(linitial(condition->args), WindowFunc) || !IsA(bound, Const) ||
		bound->constisnull)
		return 0;
	if (bound->consttype == INT8OID)
		rows = DatumGetInt64(bound->constvalue);
	else
		rows = bound->consttype == INT4OID ? DatumGetInt32(bound->constvalue)
			: DatumGetInt16(bound->constvalue);
	rows -= is_less ? 1 : 0;
	return rows > 0 && rows <= FIRSTS_MAX_ROWS ? (int) rows : 0;
}

/* Finds the bounded window function of a query that has one window. */
static bool
find_window(const PlannerInfo *root, Window *window)
{
	const Query *query = root->parse;
	const WindowClause *clause;
	List	   *functions;
	ListCell   *cell;

	if (list_length(query->windowClause) != 1 || query->distinctClause != NIL)
		return false;
	clause = linitial_node(WindowClause, query->windowClause);
	functions = pull_var_clause((Node *) root->processed_tlist,
								PVC_INCLUDE_WINDOWFUNCS |
								PVC_RECURSE_PLACEHOLDERS |
								PVC_INCLUDE_AGGREGATES);
	foreach(cell, functions)
	{
		WindowFunc *function = lfirst(cell);
		ListCell   *condition;

		if (!IsA(function, WindowFunc))
			continue;
		if (function_name(function->winfnoid) == NULL)
			return false;
		foreach(condition, compat_run_conditions(function, clause))
		{
			const OpExpr *bound = lfirst_node(OpExpr, condition);
			int			rows = bound_of(bound);

			if (rows == 0 || (window->rows > 0 && window->rows <= rows))
				continue;
			window->rows = rows;
			window->function =
				function_name(linitial_node(WindowFunc, bound->args)->winfnoid);
		}
	}
	window->groups = clause->partitionClause;
	window->order = clause->orderClause;
	return window->rows > 0 && window->function != NULL;
}

/* Finds the rows that DISTINCT ON needs. */
static bool
find_distinct(const Query *query, Window *window)
{
	ListCell   *cell;

	if (!query->hasDistinctOn || query->hasWindowFuncs)
		return false;
	window->function = "row_number";
	window->rows = 1;
	window->groups = query->distinctClause;
	foreach(cell, query->sortClause)
	{
		const SortGroupClause *clause = lfirst(cell);

		if (get_sortgroupref_clause_noerr(clause->tleSortGroupRef,
										  query->distinctClause) == NULL)
			window->order = lappend(window->order, unconstify(SortGroupClause *, clause));
	}
	return true;
}

/* Is there nothing in a query between its only table and a window? */
static bool
is_plain(const PlannerInfo *root)
{
	const Query *query = root->parse;

	return query->commandType == CMD_SELECT && query->setOperations == NULL &&
		query->groupClause == NIL && query->groupingSets == NIL &&
		!query->hasAggs && query->havingQual == NULL &&
		!query->hasTargetSRFs && query->rowMarks == NIL &&
		!query->hasSubLinks && root->placeholder_list == NIL &&
		bms_membership(root->all_baserels) == BMS_SINGLETON &&
		(query->hasDistinctOn ||
		 (query->hasWindowFuncs && query->limitCount == NULL &&
		  query->limitOffset == NULL)) &&
		!contain_volatile_functions((Node *) root->processed_tlist);
}

/* Is it the only table of a query, or a partition of it? */
static bool
is_only_table(const PlannerInfo *root, const RelOptInfo *rel)
{
	int			only = bms_singleton_member(root->all_baserels);

	if (rel->lateral_relids != NULL)
		return false;
	if (rel->reloptkind == RELOPT_BASEREL)
		return rel->relid == only;
	return rel->reloptkind == RELOPT_OTHER_MEMBER_REL &&
		root->append_rel_array[rel->relid]->parent_relid == only;
}

/* The column of a table that an expression of the query is; 0 if it is none. */
static AttrNumber
column_of(PlannerInfo *root, const RelOptInfo *rel, Node *expr)
{
	if (rel->reloptkind == RELOPT_OTHER_MEMBER_REL)
		expr = adjust_appendrel_attrs(root, expr, 1,
									  &root->append_rel_array[rel->relid]);
	while (IsA(expr, RelabelType) &&
		   ((RelabelType *) expr)->resultcollid == exprCollation((Node *) ((RelabelType *) expr)->arg))
		expr = (Node *) ((RelabelType *) expr)->arg;
	if (!IsA(expr, Var) || ((Var *) expr)->varno != rel->relid ||
		((Var *) expr)->varlevelsup != 0 || ((Var *) expr)->varattno < 0)
		return 0;
	return ((Var *) expr)->varattno;
}

/* The columns of groups; false if one is none, or has another meaning there. */
static bool
find_groups(PlannerInfo *root, const RelOptInfo *rel, const Window *window,
			List **columns)
{
	ListCell   *cell;

	foreach(cell, window->groups)
	{
		Node	   *expr = get_sortgroupclause_expr(lfirst(cell),
													root->processed_tlist);
		AttrNumber	column = column_of(root, rel, expr);

		if (column == 0 || !meaning_is_same(expr, false))
			return false;
		*columns = lappend_int(*columns, column);
	}
	return true;
}

/* A triple of an order. */
static List *
append_order(List *order, AttrNumber column, bool descends, bool nulls_first)
{
	return list_concat(order, list_make3_int(column, descends, nulls_first));
}

/* The triples of a window's order; false if there is another meaning there. */
static bool
find_order(PlannerInfo *root, const RelOptInfo *rel, const Window *window,
		   List **order)
{
	ListCell   *cell;

	foreach(cell, window->order)
	{
		const SortGroupClause *clause = lfirst_node(SortGroupClause, cell);
		Node	   *expr = get_sortgroupclause_expr(lfirst(cell),
													root->processed_tlist);
		AttrNumber	column = column_of(root, rel, expr);
		const TypeCacheEntry *type = lookup_type_cache(exprType(expr),
													   TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

		if (column == 0 || !meaning_is_same(expr, true) ||
			(clause->sortop != type->lt_opr && clause->sortop != type->gt_opr))
			return false;
		*order = append_order(*order, column, clause->sortop == type->gt_opr,
							  clause->nulls_first);
	}
	return true;
}

/*
 * What a scan of a table may leave out, for firsts_reduce_path; NIL if nothing.  The
 * caller makes sure that all of its conditions are sent.
 */
List *
firsts_find(PlannerInfo *root, RelOptInfo *rel, Oid tableid)
{
	Window		window = {0};
	List	   *groups = NIL;
	List	   *order = NIL;

	if ((root->parse->windowClause == NIL && !root->parse->hasDistinctOn) ||
		!is_plain(root) || !is_only_table(root, rel) ||
		!fastpath_is_on(tables_fast_paths(tableid), FAST_REMOTE_EXPRESSIONS) ||
		!(find_distinct(root->parse, &window) || find_window(root, &window)) ||
		!find_groups(root, rel, &window, &groups) ||
		!find_order(root, rel, &window, &order) ||
		(groups == NIL && strcmp(window.function, "row_number") != 0))
		return NIL;
	return list_make4(makeString(pstrdup(window.function)),
					  makeInteger(window.rows), groups, order);
}

/* The column of a table that has a place in an equivalence class; 0 if there is none. */
static AttrNumber
member_of(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *class)
{
	CompatMembers members;
	EquivalenceMember *member;

	compat_begin_members(&members, class, rel->relids);
	while ((member = compat_next_member(&members)) != NULL)
	{
		Node	   *expr = (Node *) member->em_expr;

		while (IsA(expr, RelabelType))
			expr = (Node *) ((RelabelType *) expr)->arg;
		if (bms_equal(member->em_relids, rel->relids) && IsA(expr, Var) &&
			((Var *) expr)->varattno > 0)
			return ((Var *) expr)->varattno;
	}
	return 0;
}

/* The triples of a path's order; false if it is not one of columns. */
static bool
find_path_order(PlannerInfo *root, const ForeignPath *path, List **order)
{
	ListCell   *cell;

	foreach(cell, path->path.pathkeys)
	{
		const PathKey *key = lfirst_node(PathKey, cell);
		AttrNumber	column = member_of(root, path->path.parent, key->pk_eclass);

		if (column == 0)
			return false;
		*order = append_order(*order, column, !compat_ascends(key),
							  key->pk_nulls_first);
	}
	return true;
}

/* How many rows of a scan are the first ones of their groups. */
static double
estimate_rows(PlannerInfo *root, const ForeignPath *path, const List *firsts)
{
	const RelOptInfo *rel = path->path.parent;
	List	   *exprs = NIL;
	ListCell   *cell;
	double		groups;

	foreach(cell, lthird_node(List, firsts))
	{
		ListCell   *column;

		foreach(column, rel->reltarget->exprs)
		{
			const Var  *var = lfirst(column);

			if (IsA(var, Var) && var->varno == rel->relid &&
				var->varattno == lfirst_int(cell))
				exprs = lappend(exprs, unconstify(Var *, var));
		}
	}
	groups = exprs == NIL ? 1 :
		estimate_num_groups(root, exprs, path->path.rows, NULL, NULL);
	return clamp_row_est(Min(path->path.rows, groups * intVal(lsecond(firsts))));
}

/* Does the first order begin as the second one does, or is it all of it? */
static bool
is_beginning(const List *first, const List *second)
{
	for (int i = 0; i < list_length(first); i++)
	{
		if (i >= list_length(second) ||
			list_nth_int(first, i) != list_nth_int(second, i))
			return false;
	}
	return true;
}

/*
 * Has a path of postgres_fdw return the first rows only, unless its order is none of
 * columns.  Its rows and costs get fewer by what is not sent.
 */
void
firsts_reduce_path(PlannerInfo *root, ForeignPath *path, const List *firsts)
{
	List	   *order = NIL;
	double		rows;
	Cost		row;

	if (path->fdw_private != NIL || path->path.param_info != NULL ||
		!find_path_order(root, path, &order) ||
		(lthird_node(List, firsts) == NIL &&
		 !is_beginning(order, lfourth_node(List, firsts))))
		return;
	rows = estimate_rows(root, path, firsts);
	row = option_cost(path->path.parent->serverid, "fdw_tuple_cost",
					  COMPAT_FDW_TUPLE_COST) + cpu_tuple_cost;
	path->path.total_cost -= Min(row * (path->path.rows - rows),
								 path->path.total_cost - path->path.startup_cost);
	path->path.rows = rows;
	path->fdw_private = list_make1(lappend(list_copy(firsts), order));
}

/* What a path of ours leaves out; NIL if it is postgres_fdw's. */
const List *
firsts_of_path(const ForeignPath *path)
{
	return path->fdw_private != NIL && linitial(path->fdw_private) != NULL &&
		IsA(linitial(path->fdw_private), List) ? linitial(path->fdw_private) : NIL;
}

/* Writes the name that a column of a scan has in our query; false if it has none. */
static bool
write_column(StringInfo text, const List *attrs, int column)
{
	ListCell   *cell;

	foreach(cell, attrs)
	{
		if (lfirst_int(cell) != column)
			continue;
		appendStringInfo(text, "c%d", foreach_current_index(cell) + 1);
		return true;
	}
	return false;
}

/* Writes " ORDER BY" and an order, if there is any; false if a column has no name. */
static bool
write_order(StringInfo text, const List *attrs, const List *order)
{
	for (int i = 0; i < list_length(order); i += 3)
	{
		appendStringInfoString(text, i == 0 ? " ORDER BY " : ", ");
		if (!write_column(text, attrs, list_nth_int(order, i)))
			return false;
		appendStringInfo(text, " %s NULLS %s",
						 list_nth_int(order, i + 1) != 0 ? "DESC" : "ASC",
						 list_nth_int(order, i + 2) != 0 ? "FIRST" : "LAST");
	}
	return true;
}

/* Writes the window; false if a column has no name. */
static bool
write_window(StringInfo text, const List *attrs, const List *firsts)
{
	ListCell   *cell;

	appendStringInfo(text, "%s() OVER (", strVal(linitial(firsts)));
	foreach(cell, lthird_node(List, firsts))
	{
		appendStringInfoString(text, foreach_current_index(cell) == 0 ?
							   "PARTITION BY " : ", ");
		if (!write_column(text, attrs, lfirst_int(cell)))
			return false;
	}
	if (!write_order(text, attrs, lfourth_node(List, firsts)))
		return false;
	appendStringInfoChar(text, ')');
	return true;
}

/* Writes what stands before and after the query; false if columns have no names. */
static bool
write_wrapper(StringInfo before, StringInfo after, const List *attrs,
			  const List *firsts)
{
	int			rows = intVal(lsecond(firsts));
	StringInfo	columns = makeStringInfo();

	if (attrs == NIL)
		return false;
	for (int i = 1; i <= list_length(attrs); i++)
		appendStringInfo(columns, i == 1 ? "c%d" : ", c%d", i);
	appendStringInfo(before, "SELECT %s FROM (", columns->data);
	if (lthird_node(List, firsts) == NIL)
	{
		appendStringInfo(after, ") s(%s)", columns->data);
		if (!write_order(after, attrs, lfourth_node(List, firsts)))
			return false;
		appendStringInfo(after, " LIMIT %d", rows);
		return true;
	}
	appendStringInfo(before, "SELECT %s, ", columns->data);
	if (!write_window(before, attrs, firsts))
		return false;
	appendStringInfoString(before, " FROM (");
	appendStringInfo(after, ") s(%s)) s(%s, n) WHERE n <= %d", columns->data,
					 columns->data, rows);
	return write_order(after, attrs, list_nth_node(List, firsts, 4));
}

/*
 * Has a finished scan send the first rows only.  If it has conditions that are
 * evaluated here, or does not fetch a column, it is left as it is.
 */
void
firsts_finish_plan(ForeignScan *plan, const List *firsts)
{
	const List *attrs = plan_read_scan(plan->fdw_private).attrs;
	StringInfo	before = makeStringInfo();
	StringInfo	after = makeStringInfo();

	if (plan->scan.plan.qual == NIL && write_wrapper(before, after, attrs, firsts))
		plan_wrap_query(plan, before->data, after->data);
}
