/*
 * plan.c
 *	  What postgres_fdw leaves for the executor in its plans.
 *
 * The lists are private to postgres_fdw.  From 15 to 18 they are
 *
 *	scan	sql, attrs, fetch_size [, relations, for EXPLAIN]; we put a list of
 *			fetch_size, the bytes expected, those of a row and the fast paths
 *			that options allow in its place, which a command may follow
 *	modify	sql, targets, values_end, has_returning, attrs
 *	direct	sql, has_returning, attrs, set_processed; a command may follow
 *
 * The command is a list of the SQL that is executed, the types that are declared
 * for its parameters, and whether it may be kept prepared (parameterize.c).  The
 * one in front is for EXPLAIN and errors.
 *
 * Any other shape is refused.  compat.h refuses to compile for a version whose
 * plans have not been looked at.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/fastpath.h"
#include "sql/plan.h"

/* What is expected to be few rows even if that is but a guess */
#define FEW_ROWS 100

/* Of a table whose size is a guess, so many times fewer rows are few */
#define FEW_OF_GUESSED 10

/* Are so many rows of one table few? */
bool
plan_is_few(double rows)
{
	return rows <= FEW_ROWS;
}

/* Is the nth member a list of integers?  The empty one is NULL. */
static bool
is_attrs(List *private, int n)
{
	Node	   *member = list_nth(private, n);

	return member == NULL || IsA(member, IntList);
}

/* Is the nth member a node of that kind? */
static bool
is_kind(List *private, int n, NodeTag tag)
{
	Node	   *member = list_nth(private, n);

	return member != NULL && nodeTag(member) == tag;
}

/* The bytes of a column, by its statistics or else its type. */
static int32
column_width(Oid relid, AttrNumber attno)
{
	int32		width = get_attavgwidth(relid, attno);
	Oid			type;
	int32		typmod;
	Oid			collation;

	if (width > 0)
		return width;
	get_atttypetypmodcoll(relid, attno, &type, &typmod, &collation);
	return get_typavgwidth(type, typmod);
}

/* The bytes of what a join or an aggregate returns in a column. */
static int32
expression_width(PlannerInfo *root, const Node *expr)
{
	if (IsA(expr, Var))
	{
		const Var  *var = (const Var *) expr;
		RangeTblEntry *rte = planner_rt_fetch(var->varno, root);

		if (rte->rtekind == RTE_RELATION && var->varattno > 0)
			return column_width(rte->relid, var->varattno);
		if (rte->rtekind == RTE_RELATION && var->varattno == 0)
			return get_relation_data_width(rte->relid, NULL);
	}
	return get_typavgwidth(exprType(expr), exprTypmod(expr));
}

/*
 * The bytes of a row as the remote server sends it: those of all columns that
 * are asked for, of which the plan's own width leaves out what is only looked at.
 */
static double
sent_width(PlannerInfo *root, const ForeignScan *plan, Oid tableid, List *attrs)
{
	double		width = 0;
	ListCell   *cell;

	foreach(cell, attrs)
	{
		int			attr = lfirst_int(cell);

		if (plan->scan.scanrelid == 0)
		{
			TargetEntry *entry = list_nth(plan->fdw_scan_tlist, attr - 1);

			width += expression_width(root, (Node *) entry->expr);
		}
		else if (attr > 0)
			width += column_width(tableid, attr);
	}
	return width;
}

/* The rows that the remote server sends, before local conditions drop some. */
static double
sent_rows(PlannerInfo *root, const RelOptInfo *rel, const ForeignScan *plan,
		  double rows)
{
	List	   *quals = plan->scan.plan.qual;

	if (quals == NIL)
		return rows;
	return clamp_row_est(rows / clauselist_selectivity(root, quals, rel->relid,
													   JOIN_INNER, NULL));
}

/* Is nothing known of a table's size? */
static bool
is_guessed(Oid tableid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(tableid));
	bool		guessed = HeapTupleIsValid(tuple) &&
		((Form_pg_class) GETSTRUCT(tuple))->reltuples < 0;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return guessed;
}

/*
 * What the options of all tables allow that a scan reads.  The ones below an
 * aggregate are all of the query's.
 */
static int
allowed_paths(PlannerInfo *root, const RelOptInfo *rel, Oid tableid)
{
	const Bitmapset *relids = rel->reloptkind == RELOPT_UPPER_REL ?
		root->all_baserels : rel->relids;
	int			allowed = -1;
	int			rtindex = -1;

	if (OidIsValid(tableid))
		return fastpath_of_table(tableid);
	while ((rtindex = bms_next_member(relids, rtindex)) >= 0)
	{
		const RangeTblEntry *rte = planner_rt_fetch(rtindex, root);

		if (rte->rtekind == RTE_RELATION &&
			rte->relkind == RELKIND_FOREIGN_TABLE)
			allowed &= fastpath_of_table(rte->relid);
	}
	return allowed;
}

/*
 * Puts into a scan's plan what its execution depends on: the bytes that it is
 * expected to be sent, or INT_MAX where they are anybody's guess, and which fast
 * paths are open.  It is of a table, a join or an aggregate, and returns so many
 * rows.
 */
void
plan_annotate_scan(ForeignScan *plan, PlannerInfo *root, const RelOptInfo *rel,
				   Oid tableid, double rows)
{
	ScanPlan	scan = plan_read_scan(plan->fdw_private);
	double		sent = sent_rows(root, rel, plan, rows);
	double		width = Max(sent_width(root, plan, tableid, scan.attrs), 1);
	double		bytes = sent * width;

	if (plan->scan.scanrelid > 0 && is_guessed(tableid) &&
		(sent > FEW_ROWS ||
		 (rel->tuples >= 0 && sent * FEW_OF_GUESSED > rel->tuples)))
		bytes = INT_MAX;
	lfirst(list_nth_cell(plan->fdw_private, 2)) =
		list_make4(makeInteger(scan.fetch_size),
				   makeInteger((int) Min(bytes, INT_MAX)),
				   makeInteger((int) Min(width, INT_MAX)),
				   makeInteger(allowed_paths(root, rel, tableid)));
}

/* Raises an ERROR: going on would misread memory. */
static void
refuse(const char *kind)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_ERROR),
			 errmsg("the %s plan made by postgres_fdw has an unknown layout",
					kind),
			 errhint("Rebuild tollfree_postgres_fdw for this PostgreSQL, or return the server with tollfree_postgres_fdw_release.")));
}

/*
 * Notes in the plan of a scan or a direct modification which command is executed;
 * of a scan the bytes have been noted.
 */
void
plan_note_command(ForeignScan *plan, Node *sql, List *types,
				  bool is_cacheable)
{
	List	   *command = list_make3(sql, types, makeBoolean(is_cacheable));

	if (plan->operation == CMD_SELECT)
		lfirst(list_nth_cell(plan->fdw_private, 2)) =
			lappend(lthird_node(List, plan->fdw_private), command);
	else
		plan->fdw_private = lappend(plan->fdw_private, command);
}

/* The types to be declared, or NULL. */
static Oid *
copy_types(List *types)
{
	Oid		   *copy = NULL;
	ListCell   *cell;

	if (types != NIL)
		copy = palloc(list_length(types) * sizeof(Oid));
	foreach(cell, types)
		copy[foreach_current_index(cell)] = lfirst_oid(cell);
	return copy;
}

/*
 * The command that is executed: the nth member, or what is shown if nothing is
 * noted.  That is kept only if it has no string, which the remote server could read
 * otherwise the next time.
 */
static PlanCommand
read_command(List *members, int n, char *shown)
{
	PlanCommand command = {.sql = shown,.shown = shown};

	if (list_length(members) > n)
	{
		List	   *noted = list_nth_node(List, members, n);

		command.sql = strVal(linitial(noted));
		command.types = copy_types(lsecond(noted));
		command.is_cacheable = boolVal(lthird(noted));
	}
	else
		command.is_cacheable = strchr(shown, '\'') == NULL;
	return command;
}

/* The plan of a scan; of one that nothing is noted in, without the bytes. */
ScanPlan
plan_read_scan(List *private)
{
	int			length = list_length(private);
	ScanPlan	plan = {0};
	List	   *noted = NIL;

	if (length < 3 || length > 4 || !is_kind(private, 0, T_String) ||
		!is_attrs(private, 1) ||
		!(is_kind(private, 2, T_Integer) || is_kind(private, 2, T_List)) ||
		(length == 4 && !is_kind(private, 3, T_String)))
		refuse("scan");
	plan.attrs = lsecond(private);
	if (is_kind(private, 2, T_Integer))
		plan.fetch_size = intVal(lthird(private));
	else
	{
		noted = lthird_node(List, private);
		plan.fetch_size = intVal(linitial(noted));
		plan.bytes = intVal(lsecond(noted));
		plan.width = intVal(lthird(noted));
		plan.fast_paths = intVal(lfourth(noted));
	}
	plan.command = read_command(noted, 4, strVal(linitial(private)));
	return plan;
}

/* The plan of a modification row by row. */
ModifyPlan
plan_read_modify(List *private)
{
	if (list_length(private) != 5 || !is_kind(private, 0, T_String) ||
		!is_attrs(private, 1) || !is_kind(private, 2, T_Integer) ||
		!is_kind(private, 3, T_Boolean) || !is_attrs(private, 4))
		refuse("modification");
	return (ModifyPlan)
	{
		.sql = strVal(linitial(private)),
			.targets = lsecond(private),
			.values_end = intVal(lthird(private)),
			.has_returning = boolVal(lfourth(private)),
			.attrs = list_nth(private, 4)
	};
}

/* The plan of a modification that is one remote command. */
DirectPlan
plan_read_direct(List *private)
{
	int			length = list_length(private);

	if (length < 4 || length > 5 || !is_kind(private, 0, T_String) ||
		!is_kind(private, 1, T_Boolean) || !is_attrs(private, 2) ||
		!is_kind(private, 3, T_Boolean) ||
		(length == 5 && !is_kind(private, 4, T_List)))
		refuse("direct modification");
	return (DirectPlan)
	{
		.command = read_command(private, 4, strVal(linitial(private))),
			.has_returning = boolVal(lsecond(private)),
			.attrs = lthird(private),
			.set_processed = boolVal(lfourth(private))
	};
}
