/*
 * plan.c
 *	  The private lists of postgres_fdw's plans, and what we add to them.
 *
 * In versions 15 to 19 the lists are
 *
 *	scan	sql, attrs, fetch_size [, relations, for EXPLAIN]
 *	modify	sql, targets, values_end, has_returning, attrs
 *	direct	sql, has_returning, attrs, set_processed
 *
 * In the list of a scan we replace fetch_size by a list of
 *
 *			fetch_size, bytes of the result, bytes of a row, fast paths that
 *			options allow, states of aggregates (upper/), is it of a sorted
 *			partition?, rows of the result, are there no more for
 *			certain? [, command [, target]]
 *
 * and to that of a direct modification we may append a command.  A command is
 * a list of the SQL that is executed, the types that are declared for its
 * parameters, and whether it may be kept prepared (parameterize.c).  If there
 * is one, the sql at the start of the list is for EXPLAIN and errors only.  A
 * target is a ScanTarget, as a list of integers (located.c).
 *
 * Any other shape is refused.  compat.h refuses to compile for a version whose
 * lists we do not know.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/fastpath.h"
#include "base/tables.h"
#include "sql/plan.h"

/*
 * Of a table whose size is a guess, rows are few if the table has this many
 * times more
 */
#define FEW_OF_GUESSED 10

/* Bytes of a row's message, and of each value in it, beside the value itself */
#define ROW_OVERHEAD 7
#define VALUE_OVERHEAD 4

/* How the relations of an aggregation begin */
#define AGGREGATED "Aggregate on "

/* Expected bytes of an aggregate's value */
#define AGGREGATE_WIDTH 10

/* Positions in the list that replaces a scan's fetch_size */
#define PLAN_ROWS 6
#define PLAN_BOUNDED 7
#define PLAN_COMMAND 8
#define PLAN_TARGET 9

/* The position of has_limit in the private list of postgres_fdw's path */
#define PATH_HAS_LIMIT 1

/* Is the nth member a node of this tag?  The empty list is NULL. */
static bool
is_kind(List *private, int n, NodeTag tag)
{
	Node	   *member = list_nth(private, n);

	return member == NULL ? tag == T_IntList : nodeTag(member) == tag;
}

/*
 * The text length of a value of a type in a message, given its length here.
 * Of times and floating-point numbers the longest text is taken.
 */
static int32
text_width(Oid type, int32 width)
{
	switch (type)
	{
		case INT4OID:
		case OIDOID:
			return 8;
		case INT8OID:
		case DATEOID:
		case FLOAT4OID:
			return 10;
		case FLOAT8OID:
			return 18;
		case TIMEOID:
			return 15;
		case TIMESTAMPOID:
			return 26;
		case TIMESTAMPTZOID:
			return 29;
		case UUIDOID:
			return 36;
		case NUMERICOID:
		case BYTEAOID:
			return 2 * width + 2;
		default:
			return width;
	}
}

/* The expected bytes of a column, by its statistics or else its type. */
static int32
column_width(Oid relid, AttrNumber attno)
{
	int32		width = get_attavgwidth(relid, attno);
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(relid, attno, &type, &typmod, &collation);
	return text_width(type, width > 0 ? width : get_typavgwidth(type, typmod));
}

/* The expected bytes of a column that a join or an aggregate returns. */
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
	return text_width(exprType(expr),
					  get_typavgwidth(exprType(expr), exprTypmod(expr)));
}

/*
 * The expected bytes of a row that the remote server sends.  The plan's own
 * width cannot be used: it leaves out columns that only local conditions use.
 */
static double
sent_width(PlannerInfo *root, const ForeignScan *plan, Oid tableid, List *attrs)
{
	double		width = ROW_OVERHEAD;
	ListCell   *cell;

	foreach(cell, attrs)
	{
		int			attr = lfirst_int(cell);

		width += VALUE_OVERHEAD;
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

/*
 * The conditions of a plan, as the planner's RestrictInfos.  These cache their
 * selectivity, so it is not estimated again: an operator's estimator may run a
 * user's function.
 */
List *
plan_find_restrictions(const List *quals, const List *clauses)
{
	List	   *found = NIL;
	const ListCell *qual;
	const ListCell *clause;

	foreach(qual, quals)
	{
		void	   *condition = lfirst(qual);

		foreach(clause, clauses)
		{
			if ((void *) lfirst_node(RestrictInfo, clause)->clause == condition)
			{
				condition = lfirst(clause);
				break;
			}
		}
		found = lappend(found, condition);
	}
	return found;
}

/* The expected rows that the remote server sends, before local conditions. */
static double
sent_rows(PlannerInfo *root, const RelOptInfo *rel, const List *quals,
		  const List *clauses, double rows)
{
	if (quals == NIL)
		return rows;
	return clamp_row_est(rows /
						 clauselist_selectivity(root,
												plan_find_restrictions(quals, clauses),
												rel->relid, JOIN_INNER, NULL));
}

/* The rows of a table at its last ANALYZE; negative without one. */
static double
analyzed_rows(Oid tableid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(tableid));
	double		rows = -1;

	if (HeapTupleIsValid(tuple))
	{
		rows = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
		ReleaseSysCache(tuple);
	}
	return rows;
}

/*
 * Is the estimate that a scan sends few rows a mere guess?  A table that has
 * never been analyzed is assumed to be small.
 */
static bool
is_guessed(const RelOptInfo *rel, Oid tableid, double sent)
{
	return analyzed_rows(tableid) < 0 &&
		(sent > PLAN_FEW_ROWS ||
		 (rel->tuples >= 0 && sent * FEW_OF_GUESSED > rel->tuples));
}

/* Is a scan one of an aggregate without groups, which has one row at most? */
static bool
has_one_row(const PlannerInfo *root, const RelOptInfo *rel)
{
	return IS_UPPER_REL(rel) && root->parse->hasAggs &&
		root->parse->groupClause == NIL && root->parse->groupingSets == NIL;
}

/*
 * Is the number of rows that a scan sends known from statistics of all of its
 * foreign tables, or from the remote server?  A table that was empty when it was
 * analyzed says nothing.
 */
static bool
is_known(const PlannerInfo *root, const RelOptInfo *rel)
{
	const Bitmapset *relids = rel->relids != NULL ? rel->relids :
		root->all_baserels;
	int			rtindex = -1;

	while ((rtindex = bms_next_member(relids, rtindex)) >= 0)
	{
		const RangeTblEntry *rte = rtindex < root->simple_rel_array_size ?
			root->simple_rte_array[rtindex] : NULL;

		if (rte != NULL && rte->rtekind == RTE_RELATION &&
			rte->relkind == RELKIND_FOREIGN_TABLE &&
			analyzed_rows(rte->relid) <= 0 &&
			!tables_asks_for_estimates(rte->relid))
			return false;
	}
	return true;
}

/* Has postgres_fdw put a LIMIT into the query of a path? */
static bool
sends_limit(const ForeignPath *path)
{
	return path->fdw_private != NIL &&
		boolVal(list_nth(path->fdw_private, PATH_HAS_LIMIT));
}

/* Walker: is there a parameter? */
static bool
has_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Param) ||
		expression_tree_walker(node, has_param, context);
}

/* Does an aggregated query have an aggregate of parameters, but of no column? */
static bool
aggregates_params(const PlannerInfo *root)
{
	List	   *exprs = list_make2(root->processed_tlist,
								   root->parse->havingQual);
	ListCell   *cell;

	foreach(cell, pull_var_clause((Node *) exprs, PVC_INCLUDE_AGGREGATES |
								  PVC_RECURSE_WINDOWFUNCS |
								  PVC_RECURSE_PLACEHOLDERS))
	{
		Node	   *aggregate = lfirst(cell);

		if (IsA(aggregate, Aggref) && !contain_var_clause(aggregate) &&
			has_param(aggregate, NULL))
			return true;
	}
	return false;
}

/*
 * The fast paths that the options of all tables allow that a scan reads.  For
 * an aggregate these are all tables of the query.
 *
 * deparse_lookups replaces parameters by columns of another table; an
 * aggregate of these alone would belong to the outer query.
 */
int
plan_fast_paths(const PlannerInfo *root, const RelOptInfo *rel, Oid tableid)
{
	const Bitmapset *relids = rel->reloptkind == RELOPT_UPPER_REL ?
		root->all_baserels : rel->relids;
	int			allowed = -1;
	int			rtindex = -1;

	if (OidIsValid(tableid))
		return tables_fast_paths(tableid);
	while ((rtindex = bms_next_member(relids, rtindex)) >= 0)
	{
		const RangeTblEntry *rte = planner_rt_fetch(rtindex, root);

		if (rte->rtekind == RTE_RELATION &&
			rte->relkind == RELKIND_FOREIGN_TABLE)
			allowed &= tables_fast_paths(rte->relid);
	}
	if (IS_UPPER_REL(rel) && aggregates_params(root))
		allowed &= ~(1 << FAST_LOOKUPS);
	return allowed;
}

/*
 * Stores in a scan's plan the expected rows and bytes of the remote result,
 * negative and INT_MAX if they are a mere guess, and the fast paths that
 * options allow.  The scan is of a table, a join or an aggregate; clauses are
 * those that a table's scan was planned with.
 */
void
plan_annotate_scan(ForeignScan *plan, PlannerInfo *root, const RelOptInfo *rel,
				   const ForeignPath *path, const List *clauses, int fast_paths)
{
	ScanPlan	scan = plan_read_scan(plan->fdw_private);
	Oid			tableid = IS_SIMPLE_REL(rel) ?
		planner_rt_fetch(rel->relid, root)->relid : InvalidOid;
	double		sent = sent_rows(root, rel, plan->scan.plan.qual, clauses,
								 path->path.rows);
	double		width = sent_width(root, plan, tableid, scan.attrs);
	double		bytes = sent * width;
	bool		is_bounded = sends_limit(path) || has_one_row(root, rel);
	bool		is_sorted_member = path->path.pathkeys != NIL &&
		rel->reloptkind == RELOPT_OTHER_MEMBER_REL;
	List	   *noted;

	if (plan->scan.scanrelid > 0 && !is_bounded && is_guessed(rel, tableid, sent))
		bytes = INT_MAX;
	if (!is_bounded && !is_known(root, rel))
		sent = -1;
	noted = list_make5(makeInteger(scan.fetch_size),
					   makeInteger((int) Min(bytes, INT_MAX)),
					   makeInteger((int) Min(width, INT_MAX)),
					   makeInteger(fast_paths), NIL);
	noted = lappend(noted, makeBoolean(is_sorted_member));
	noted = lappend(noted, makeInteger((int) Min(sent, INT_MAX)));
	noted = lappend(noted, makeBoolean(is_bounded));
	lfirst(list_nth_cell(plan->fdw_private, 2)) = noted;
}

/*
 * Changes the query of a scan.  It must have gone through plan_annotate_scan, and may
 * have a command.
 */
void
plan_edit_query(ForeignScan *plan, plan_edit_function edit, const void *arg)
{
	List	   *noted = lthird_node(List, plan->fdw_private);
	List	   *command = list_length(noted) > PLAN_COMMAND ?
		list_nth_node(List, noted, PLAN_COMMAND) : NIL;

	linitial(plan->fdw_private) =
		makeString(edit(strVal(linitial(plan->fdw_private)), arg));
	if (command != NIL)
		linitial(command) = makeString(edit(strVal(linitial(command)), arg));
}

/* plan_edit_query: puts a query between two texts. */
static char *
wrap(const char *sql, const void *arg)
{
	const char *const *texts = arg;

	return psprintf("%s%s%s", texts[0], sql, texts[1]);
}

/* Puts the query of a scan between two texts, as plan_edit_query. */
void
plan_wrap_query(ForeignScan *plan, const char *before, const char *after)
{
	const char *texts[] = {before, after};

	plan_edit_query(plan, wrap, texts);
}

/* A query that returns one row if another query returns any. */
static Node *
existence_query(const char *query)
{
	return (Node *) makeString(psprintf("SELECT NULL WHERE EXISTS (%s)", query));
}

/*
 * Makes a scan without columns return one row if there is any.  It must have
 * gone through plan_annotate_scan.
 */
void
plan_check_existence(ForeignScan *plan)
{
	List	   *noted = lthird_node(List, plan->fdw_private);

	linitial(plan->fdw_private) =
		existence_query(strVal(linitial(plan->fdw_private)));
	lsecond(noted) = makeInteger(intVal(lthird(noted)));
	lfirst(list_nth_cell(noted, PLAN_ROWS)) = makeInteger(1);
	if (list_length(noted) > PLAN_COMMAND)
	{
		List	   *command = list_nth_node(List, noted, PLAN_COMMAND);

		linitial(command) = existence_query(strVal(linitial(command)));
	}
}

/*
 * Stores in the plan of a scan, whose query now aggregates the rows that it returned,
 * the new columns and the expected rows.  If it reads one table, its relations are
 * noted as those of an aggregation, which it then is to EXPLAIN.
 */
void
plan_note_aggregates(ForeignScan *plan, int columns, double rows, bool has_one_row)
{
	List	   *noted = lthird_node(List, plan->fdw_private);
	double		width = ROW_OVERHEAD + columns * (VALUE_OVERHEAD + AGGREGATE_WIDTH);
	bool		is_known = has_one_row || intVal(list_nth(noted, PLAN_ROWS)) >= 0;
	char	   *relations = list_length(plan->fdw_private) > 3 ?
		strVal(lfourth(plan->fdw_private)) : psprintf("%d", plan->scan.scanrelid);
	List	   *attrs = NIL;

	for (int i = 1; i <= columns; i++)
		attrs = lappend_int(attrs, i);
	lsecond(plan->fdw_private) = attrs;
	plan->fdw_private = list_truncate(plan->fdw_private, 3);
	plan->fdw_private = lappend(plan->fdw_private,
								makeString(psprintf(AGGREGATED "(%s)", relations)));
	lsecond(noted) = makeInteger((int) Min(rows * width, INT_MAX));
	lthird(noted) = makeInteger((int) width);
	lfirst(list_nth_cell(noted, PLAN_ROWS)) =
		makeInteger(is_known ? (int) Min(rows, INT_MAX) : -1);
	lfirst(list_nth_cell(noted, PLAN_BOUNDED)) = makeBoolean(has_one_row);
}

/*
 * Stores the attributes of the result columns, and the states made of them.
 * The scan must have gone through plan_annotate_scan.
 */
void
plan_note_states(ForeignScan *plan, List *attrs, List *states)
{
	List	   *noted = lthird_node(List, plan->fdw_private);

	lsecond(plan->fdw_private) = attrs;
	lfirst(list_nth_cell(noted, 4)) = states;
}

/* Raises an ERROR rather than misread memory. */
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
 * Stores the executed command in the plan of a scan or a direct modification.
 * A scan must have gone through plan_annotate_scan.
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

/*
 * Stores in the plan of a scan, which has no command yet, the executed one and
 * the table whose ctids it returns.
 */
void
plan_note_target(ForeignScan *plan, char *sql, ScanTarget target)
{
	const char *shown = strVal(linitial(plan->fdw_private));
	List	   *noted;

	Assert(list_length(lthird_node(List, plan->fdw_private)) == PLAN_COMMAND);
	plan_note_command(plan, (Node *) makeString(sql), NIL,
					  strchr(shown, '\'') == NULL);
	noted = lthird_node(List, plan->fdw_private);
	lfirst(list_nth_cell(plan->fdw_private, 2)) =
		lappend(noted, list_make3_int(target.rtindex, target.attno,
									  target.uses_ctid));
}

/* An array of the types to be declared, or NULL. */
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
 * The executed command: the nth member of the list, or the text that is shown
 * if there is none.  That text may be kept prepared only if it has no string,
 * which the remote server could read as another value the next time.
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

/*
 * The plan of a scan.  Before plan_annotate_scan sizes and fast paths are 0.
 */
ScanPlan
plan_read_scan(List *private)
{
	int			length = list_length(private);
	ScanPlan	plan = {0};
	List	   *noted = NIL;

	if (length < 3 || length > 4 || !is_kind(private, 0, T_String) ||
		!is_kind(private, 1, T_IntList) ||
		!(is_kind(private, 2, T_Integer) || is_kind(private, 2, T_List)) ||
		(length == 4 && !is_kind(private, 3, T_String)))
		refuse("scan");
	plan.attrs = lsecond(private);
	plan.is_aggregated = length == 4 &&
		strncmp(strVal(lfourth(private)), AGGREGATED, strlen(AGGREGATED)) == 0;
	if (is_kind(private, 2, T_Integer))
		plan.fetch_size = intVal(lthird(private));
	else
	{
		noted = lthird_node(List, private);
		plan.fetch_size = intVal(linitial(noted));
		plan.bytes = intVal(lsecond(noted));
		plan.width = intVal(lthird(noted));
		plan.fast_paths = intVal(lfourth(noted));
		plan.states = list_nth(noted, 4);
		plan.is_sorted_member = boolVal(list_nth(noted, 5));
		plan.rows = intVal(list_nth(noted, PLAN_ROWS));
		plan.is_bounded = boolVal(list_nth(noted, PLAN_BOUNDED));
	}
	if (list_length(noted) > PLAN_TARGET)
	{
		List	   *target = list_nth(noted, PLAN_TARGET);

		plan.target.rtindex = linitial_int(target);
		plan.target.attno = lsecond_int(target);
		plan.target.uses_ctid = lthird_int(target) != 0;
	}
	plan.command = read_command(noted, PLAN_COMMAND, strVal(linitial(private)));
	return plan;
}

/* The plan of a modification row by row. */
ModifyPlan
plan_read_modify(List *private)
{
	if (list_length(private) != 5 || !is_kind(private, 0, T_String) ||
		!is_kind(private, 1, T_IntList) || !is_kind(private, 2, T_Integer) ||
		!is_kind(private, 3, T_Boolean) || !is_kind(private, 4, T_IntList))
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
		!is_kind(private, 1, T_Boolean) || !is_kind(private, 2, T_IntList) ||
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
