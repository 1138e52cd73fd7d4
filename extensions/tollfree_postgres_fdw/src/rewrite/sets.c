/*
 * sets.c
 *	  GROUPING SETS, ROLLUP and CUBE, sent whole.
 *
 *	GROUP BY ROLLUP (a, b)		GROUP BY GROUPING SETS ((1, 2), (1), ())
 *
 * postgres_fdw sends no grouping sets.  So they are hidden while it plans: what it
 * makes is the grouping by all columns that occur in a set, with the columns, the
 * aggregates, HAVING, the order and LIMIT that the sets need, too.  In the finished
 * command the groups are replaced by the sets, which the planner has written out.
 *
 * GROUPING (a, b) is an aggregate to the planner, but postgres_fdw has no words for
 * it.  It is sent as a call that nobody else writes (groups.c, targets.c)
 *
 *	bit_or(num_nulls(1871604734, a, b))
 *
 * and is replaced in the finished command, too.  Both are integers.
 *
 * The sets stay here if a group has no columns, since its place in the command could
 * be taken for another group; if a collation is not deterministic; or if anything
 * looks at an order of texts, which counts where postgres_fdw would look at it.
 */
#include "postgres.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "base/compat.h"
#include "base/options.h"
#include "rewrite/collations.h"
#include "rewrite/planning.h"
#include "rewrite/remotes.h"
#include "rewrite/sets.h"
#include "sql/plan.h"

/* What stands for GROUPING, as a number and as the beginning of its text */
#define MARK 1871604734
#define MARK_TEXT "bit_or(num_nulls(" CppAsString2(MARK) ", "

/* Why sets of these groups are not sent; NULL if they may be. */
const char *
sets_refusal(const List *groups)
{
	const ListCell *cell;

	foreach(cell, groups)
	{
		Node	   *group = lfirst(cell);
		Oid			collation = exprCollation(group);

		if (!contain_var_clause(group))
			return "GROUPING SETS, ROLLUP and CUBE of a constant are not sent";
		if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
			return "GROUPING SETS, ROLLUP and CUBE by a collation that is not deterministic are not sent";
	}
	return NULL;
}

/* Are all sets written out, as the planner does it, and is there anything to write? */
static bool
are_plain(const Query *query)
{
	const ListCell *cell;

	foreach(cell, query->groupingSets)
	{
		if (lfirst(cell) != NULL && !IsA(lfirst(cell), IntList))
			return false;
	}
	return query->groupClause != NIL || list_length(query->groupingSets) == 1;
}

/* May the sets of a query be sent? */
static bool
may_send(PlannerInfo *root, RelOptInfo *rel, const GroupPathExtraData *extra)
{
	const Query *query = root->parse;
	Node	   *aggregates = (Node *) rel->reltarget->exprs;

	return OidIsValid(rel->serverid) && planning_is_rewritten(root, rel) &&
		are_plain(query) &&
		sets_refusal(get_sortgrouplist_exprs(query->groupClause,
											 root->processed_tlist)) == NULL &&
		((!collations_order(aggregates) && !collations_order(extra->havingQual)) ||
		 remotes_have_same_collations(rel));
}

/*
 * Does the order of a query mean the same to the remote server?  Before 18 what is
 * equal before it is grouped is thought to be equal later, too.
 */
static bool
may_sort(const PlannerInfo *root)
{
	ListCell   *cell;

	if (list_length(root->sort_pathkeys) < list_length(root->parse->sortClause))
		return false;
	foreach(cell, root->sort_pathkeys)
	{
		if (list_length(lfirst_node(PathKey, cell)->pk_eclass->ec_members) > 1)
			return false;
	}
	return true;
}

/*
 * Hides the grouping sets of a query from postgres_fdw, which is asked for a stage of
 * it, until sets_show.  Returns them; NIL if there are none, or if they stay.
 */
List *
sets_hide(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *rel,
		  const GroupPathExtraData *extra)
{
	List	   *sets = root->parse->groupingSets;

	if (sets == NIL ||
		(stage == UPPERREL_GROUP_AGG && !may_send(root, rel, extra)) ||
		(stage == UPPERREL_ORDERED && !may_sort(root)))
		return NIL;
	root->parse->groupingSets = NIL;
	return sets;
}

/* Shows the sets again that sets_hide has hidden. */
void
sets_show(PlannerInfo *root, List *sets)
{
	if (sets != NIL)
		root->parse->groupingSets = sets;
}

/* What postgres_fdw is given for GROUPING of these groups, in the form that is sent. */
Node *
sets_mark(List *args)
{
	Const	   *mark = makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
								 Int32GetDatum(MARK), false, true);
	FuncExpr   *call = makeFuncExpr(F_NUM_NULLS, INT4OID, lcons(mark, args),
									InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	Aggref	   *aggregate = makeNode(Aggref);

	aggregate->aggfnoid = F_BIT_OR_INT4;
	aggregate->aggtype = INT4OID;
	aggregate->aggtranstype = INT4OID;
	aggregate->aggargtypes = list_make1_oid(INT4OID);
	aggregate->args = list_make1(makeTargetEntry((Expr *) call, 1, NULL, false));
	aggregate->aggkind = AGGKIND_NORMAL;
	aggregate->aggsplit = AGGSPLIT_SIMPLE;
	aggregate->aggno = aggregate->aggtransno = -1;
	aggregate->location = -1;
	return (Node *) aggregate;
}

/* How many groups a set makes. */
static double
count_groups(PlannerInfo *root, const RelOptInfo *input, const List *set)
{
	List	   *groups = NIL;
	const ListCell *cell;

	foreach(cell, set)
		groups = lappend(groups,
						 get_sortgroupref_tle(lfirst_int(cell),
											  root->processed_tlist)->expr);
	return groups == NIL ? 1 :
		estimate_num_groups(root, groups, input->rows, NULL, NULL);
}

/* How many groups all sets make, of rows or of a path of these groups. */
static double
count_all_groups(PlannerInfo *root, const RelOptInfo *input, const Path *path,
				 const List *sets)
{
	double		rows = 0;
	const ListCell *cell;

	if (IS_UPPER_REL(input))
		return input->cheapest_total_path->rows;
	foreach(cell, sets)
		rows += Min(count_groups(root, input, lfirst(cell)), path->rows);
	return rows;
}

/*
 * Adds to the rows and the cost of a remote aggregation's path, or one that sorts its
 * groups, which is by all columns, those of its sets.  Notes that postgres_fdw would
 * not send it.
 */
void
sets_adjust(PlannerInfo *root, const RelOptInfo *input, Path *path,
			const List *sets)
{
	double		row = cpu_tuple_cost + option_cost(input->serverid, "fdw_tuple_cost",
												   COMPAT_FDW_TUPLE_COST);
	double		rows = count_all_groups(root, input, path, sets);

	path->total_cost += row * Max(rows - path->rows, 0) +
		cpu_operator_cost * input->rows * (list_length(sets) - 1);
	path->rows = clamp_row_est(rows);
	planning_need(root);
	planning_note(root, input->relids, NULL, NULL);
}

/* The sets of a query, and its groups, in the order of the command */
typedef struct Sets
{
	const List *sets;
	const List *groups;			/* of SortGroupClause */
} Sets;

/* Writes the sets in place of groups, which are numbers; returns the text after them. */
static const char *
write_sets(StringInfo text, const char *numbers, const Sets *sets)
{
	int		   *places = palloc0(sizeof(int) * list_length(sets->groups));
	const ListCell *set;
	const ListCell *ref;

	for (int i = 0; i < list_length(sets->groups); i++)
		places[i] = strtol(numbers + (i == 0 ? 0 : strlen(", ")),
						   unconstify(char **, &numbers), 10);
	foreach(set, sets->sets)
	{
		appendStringInfoString(text, foreach_current_index(set) == 0 ?
							   "GROUPING SETS ((" : ", (");
		foreach(ref, (const List *) lfirst(set))
		{
			for (int i = 0; i < list_length(sets->groups); i++)
			{
				const SortGroupClause *group = list_nth(sets->groups, i);

				if (group->tleSortGroupRef == (Index) lfirst_int(ref))
					appendStringInfo(text, foreach_current_index(ref) == 0 ?
									 "%d" : ", %d", places[i]);
			}
		}
		appendStringInfoChar(text, ')');
	}
	appendStringInfoChar(text, ')');
	return numbers;
}

/*
 * plan_edit_query: replaces the groups of a command by sets, if it has any, and what
 * stands for GROUPING.  Texts and names in quotes are copied: a doubled quote ends one and begins
 * the next.
 */
static char *
edit(const char *sql, const void *arg)
{
	static const char words[] = " GROUP BY ";
	StringInfoData text;
	char		quote = '\0';
	int			depth = 0;		/* of parentheses */

	const Sets *sets = arg;

	initStringInfo(&text);
	while (*sql != '\0')
	{
		if (quote != '\0' && *sql == quote)
			quote = '\0';
		else if (quote == '\0' && (*sql == '\'' || *sql == '"'))
			quote = *sql;
		else if (quote == '\0' && strncmp(sql, MARK_TEXT, strlen(MARK_TEXT)) == 0)
		{
			appendStringInfoString(&text, "(GROUPING(");
			sql += strlen(MARK_TEXT);
			depth += 2;
			continue;
		}
		else if (quote == '\0' && depth == 0 && sets->sets != NIL &&
				 sets->groups != NIL && strncmp(sql, words, strlen(words)) == 0)
		{
			appendStringInfoString(&text, words);
			sql = write_sets(&text, sql + strlen(words), sets);
			continue;
		}
		if (quote == '\0')
			depth += *sql == '(' ? 1 : *sql == ')' ? -1 : 0;
		appendStringInfoChar(&text, *sql++);
	}
	return text.data;
}

/*
 * Has the finished scan of an aggregation group by the sets that were hidden, if there
 * were any, and return what GROUPING does.
 */
void
sets_finish_plan(const PlannerInfo *root, ForeignScan *plan, const List *sets)
{
	Sets		all = {.sets = sets,.groups = root->parse->groupClause};

	plan_edit_query(plan, edit, &all);
}
