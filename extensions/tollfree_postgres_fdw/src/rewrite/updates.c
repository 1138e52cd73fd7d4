/*
 * updates.c
 *	  What a modification that becomes one command computes, in a form that is sent.
 *
 * The values of SET, and again the conditions, are rewritten only while postgres_fdw
 * looks whether the modification can be one command.
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "rewrite/assigned.h"
#include "rewrite/planning.h"
#include "rewrite/remotes.h"
#include "rewrite/rewrite.h"
#include "rewrite/types.h"
#include "rewrite/updates.h"
#include "rewrite/values.h"
#include "sql/deparse.h"

/* The scan below a modification whose fdw_recheck_quals were restored, or NULL. */
static RestoredScan *
find_restored(const Plan *plan, Index target)
{
	ListCell   *cell;

	if (plan == NULL)
		return NULL;
	if (IsA(plan, Append))
	{
		foreach(cell, ((const Append *) plan)->appendplans)
		{
			RestoredScan *scan = find_restored(lfirst(cell), target);

			if (scan != NULL)
				return scan;
		}
		return NULL;
	}
	if (IsA(plan, Result))
		return find_restored(outerPlan(plan), target);
	foreach(cell, planned->scans)
	{
		RestoredScan *scan = lfirst(cell);

		if (&scan->plan->scan.plan == plan &&
			scan->plan->scan.scanrelid == target)
			return scan;
	}
	return NULL;
}

/*
 * The name of a remote column whose assigned value is a label; empty for any other
 * type.  attno is the column's in the table of the command, of which the target may
 * be a partition.
 */
static char *
label_column(const PlannerInfo *root, Index target, AttrNumber attno, Oid type)
{
	Oid			named = planner_rt_fetch(root->parse->resultRelation, root)->relid;
	Oid			relid = planner_rt_fetch(target, root)->relid;
	Relation	table;
	const char *name;

	if (!type_is_enum(getBaseType(type)))
		return "";
	table = table_open(relid, NoLock);
	name = deparse_column_name(table, get_attnum(relid, get_attname(named, attno,
																	false)));
	table_close(table, NoLock);
	return pstrdup(name);
}

/*
 * What SET assigns to a column, in a form that may be sent; what it is, if it has none.
 * Notes the column of a value without a type.
 */
static Node *
assigned_form(RewrittenUpdate *update, PlannerInfo *root, Index target,
			  AttrNumber attno, Node *written)
{
	const RelOptInfo *rel = find_base_rel(root, target);
	bool		is_value;
	Node	   *sent = types_replace_assigned(written, rel->serverid, &is_value);

	if (!is_value)
		return rewrite_sent_form(root, rel, sent, false);
	if (!remotes_can_encode(rel, sent))
		return written;
	update->columns = lappend(update->columns,
							  label_column(root, target, attno,
										   exprType(written)));
	return values_assign(sent, &planned->values);
}

/*
 * Rewrites what SET assigns and, again, the conditions of a modification that may
 * become one command, until updates_end.
 */
void
updates_begin(RewrittenUpdate *update, PlannerInfo *root,
			  ModifyTable *plan, Index target)
{
	RestoredScan *scan;
	ListCell   *cell;
	ListCell   *attno;

	*update = (RewrittenUpdate)
	{
		0
	};
	if (!planning_is_allowed(root, planner_rt_fetch(target, root)->relid))
		return;
	scan = find_restored(outerPlan(plan), target);
	if (scan != NULL)
	{
		update->scan = unconstify(ForeignScan *, scan->plan);
		update->rechecks = update->scan->fdw_recheck_quals;
		update->scan->fdw_recheck_quals = scan->sent;
	}
	if (plan->operation != CMD_UPDATE)
		return;
	/* What is assigned comes before other columns. */
	forboth(cell, root->processed_tlist, attno, root->update_colnos)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Node	   *sent = assigned_form(update, root, target, lfirst_int(attno),
										 (Node *) entry->expr);

		if (sent == (Node *) entry->expr)
			continue;
		update->entries = lappend(update->entries, entry);
		update->written = lappend(update->written, entry->expr);
		entry->expr = (Expr *) sent;
	}
}

/* The direct modifications of a table in a plan. */
static List *
find_direct(Plan *plan, Index target)
{
	ForeignScan *scan = (ForeignScan *) plan;
	List	   *found = NIL;
	ListCell   *cell;

	if (plan == NULL)
		return NIL;
	if (IsA(plan, Append))
	{
		foreach(cell, ((Append *) plan)->appendplans)
			found = list_concat(found, find_direct(lfirst(cell), target));
	}
	else if (IsA(plan, Result))
		found = find_direct(outerPlan(plan), target);
	else if (IsA(plan, ForeignScan) && scan->operation != CMD_SELECT &&
			 scan->resultRelation == target)
		found = list_make1(scan);
	return found;
}

/* Completes the commands of direct modifications, as postgres_fdw has made them. */
void
updates_finish(const RewrittenUpdate *update, const PlannerInfo *root,
			   ModifyTable *plan, Index target)
{
	ListCell   *cell;

	if (update->columns == NIL)
		return;
	foreach(cell, find_direct(outerPlan(plan), target))
	{
		ForeignScan *scan = lfirst_node(ForeignScan, cell);
		const char *schema;
		const char *table;
		const char *row;

		deparse_table_name(planner_rt_fetch(target, root)->relid, &schema, &table);
		/* postgres_fdw names the tables of a join so. */
		row = scan->scan.scanrelid > 0 ? quote_identifier(table) :
			psprintf("r%u", target);
		linitial(scan->fdw_private) =
			makeString(assigned_write(strVal(linitial(scan->fdw_private)),
									  update->columns, row));
	}
}

/* Puts back what updates_begin replaced, in the finished plan, too. */
void
updates_end(const RewrittenUpdate *update, const PlannerInfo *root,
			bool is_direct, ModifyTable *plan, Index target)
{
	ListCell   *cell;
	ListCell   *written;

	forboth(cell, update->entries, written, update->written)
		lfirst_node(TargetEntry, cell)->expr = lfirst(written);
	if (update->scan != NULL)
		update->scan->fdw_recheck_quals = update->rechecks;
	if (!is_direct || !planning_find(root) || planned->values == NIL)
		return;
	foreach(cell, find_direct(outerPlan(plan), target))
		rewrite_restore_values(lfirst_node(ForeignScan, cell),
							   find_base_rel(unconstify(PlannerInfo *, root), target));
}
