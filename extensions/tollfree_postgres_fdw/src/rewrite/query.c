/*
 * query.c
 *	  Functions in a query that is not planned yet, in a form that is sent.
 *
 * Parts of times, as in GROUP BY date_trunc('month', t), never look at their
 * collation (collations.c), so that they need not get it back.  They lose it
 * wherever a query has them: in groups, aggregates, joins and orders.
 *
 * So do COALESCE and the like in what aggregates compute from: CASE has the same value
 * (forms.c).
 *
 * But what PostgreSQL knows of a table it finds by comparing expressions, with their
 * collations.  So only functions of columns are changed that all belong to foreign
 * tables of ours, or to partitioned tables of nothing else, and only if
 * none of these has a partition key, a CHECK constraint or extended statistics
 * that could have such a function, too.  Nor is a table whose rows are hidden by row
 * security: a condition that is sent may see them.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "partitioning/partdesc.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "base/fastpath.h"
#include "base/tables.h"
#include "rewrite/collations.h"
#include "rewrite/distinct.h"
#include "rewrite/forms.h"
#include "rewrite/query.h"
#include "rewrite/values.h"

/*
 * A query and those that it is a part of, the innermost one first; behind the
 * outermost one is a level without a query.
 */
typedef struct QueryLevel
{
	const Query *query;
	struct QueryLevel *outer;
	bool	   *is_changed;		/* has anything been changed? */
} QueryLevel;

/* How the scans of our tables begin */
static BeginForeignScan_function begin_scan = NULL;

/* Notes by which function the scans of our tables begin. */
void
query_know_tables(BeginForeignScan_function begin)
{
	begin_scan = begin;
}

/* Could any of a table's expressions be compared with those of a query? */
static bool
has_expressions(Relation rel)
{
	const TupleConstr *constraints = RelationGetDescr(rel)->constr;
	PartitionKey key;

	for (int i = 0; constraints != NULL && i < constraints->num_check; i++)
	{
		if (strstr(constraints->check[i].ccbin, "{FUNCEXPR") != NULL)
			return true;
	}
	if (RelationGetStatExtList(rel) != NIL)
		return true;
	key = RelationGetPartitionKey(rel);
	return key != NULL && key->partexprs != NIL;
}

/*
 * Is a foreign table ours, and has it a fast path?  The relation is NULL if it is not
 * open.
 */
static bool
is_foreign_ours(Oid relid, Relation rel, FastPath path)
{
	const FdwRoutine *routine = rel != NULL ?
		GetFdwRoutineForRelation(rel, false) : GetFdwRoutineByRelId(relid);

	return routine->BeginForeignScan == begin_scan &&
		fastpath_is_on(tables_fast_paths(relid), path);
}

/*
 * Are all partitions of a table foreign tables of ours that have a fast path?  They
 * need not be locked.
 */
static bool
is_partitioned_ours(Relation rel, FastPath path)
{
	PartitionDesc parts = RelationGetPartitionDesc(rel, true);

	for (int i = 0; i < parts->nparts; i++)
	{
		if (get_rel_relkind(parts->oids[i]) != RELKIND_FOREIGN_TABLE ||
			!is_foreign_ours(parts->oids[i], NULL, path))
			return false;
	}
	return parts->nparts > 0;
}

/*
 * Is a table of the query a foreign one of ours, or a partitioned one of nothing
 * else?  And can none of its expressions be compared with those of the query, if
 * these are to be changed?
 */
static bool
is_read_ours(const RangeTblEntry *rte, bool changes_expressions)
{
	Relation	rel;
	bool		is_ours = false;

	if (rte->securityQuals != NIL ||
		(rte->relkind != RELKIND_FOREIGN_TABLE &&
		 rte->relkind != RELKIND_PARTITIONED_TABLE))
		return false;
	rel = table_open(rte->relid, AccessShareLock);
	if (!changes_expressions || !has_expressions(rel))
		is_ours = rte->relkind == RELKIND_FOREIGN_TABLE ?
			!rel->rd_rel->relhassubclass &&
			is_foreign_ours(rte->relid, rel, FAST_REMOTE_EXPRESSIONS)
			: is_partitioned_ours(rel, FAST_REMOTE_EXPRESSIONS);
	table_close(rel, NoLock);
	return is_ours;
}

/* Is it one whose expressions may be changed? */
static bool
is_table_ours(const RangeTblEntry *rte)
{
	return is_read_ours(rte, true);
}

/* Are a table's rows all ours, and may expressions on it be rewritten? */
bool
query_has_our_rows(const RangeTblEntry *rte)
{
	return is_read_ours(rte, false);
}

/* Are two foreign tables ours, of one server, and may expressions on both be sent? */
bool
query_are_together(const RangeTblEntry *target, const RangeTblEntry *other)
{
	return target->relkind == RELKIND_FOREIGN_TABLE &&
		other->relkind == RELKIND_FOREIGN_TABLE &&
		GetForeignServerIdByRelId(target->relid) ==
		GetForeignServerIdByRelId(other->relid) &&
		query_has_our_rows(target) && query_has_our_rows(other);
}

/* Are all partitions of a table ours, and may they be aggregated where they are? */
bool
query_aggregates_ours(const RangeTblEntry *rte)
{
	Relation	rel = table_open(rte->relid, AccessShareLock);
	bool		is_ours = rte->securityQuals == NIL &&
		is_partitioned_ours(rel, FAST_REMOTE_EXPRESSIONS) &&
		is_partitioned_ours(rel, FAST_PARTIAL_AGGREGATES);

	table_close(rel, NoLock);
	return is_ours;
}

static bool has_other_column(Node *node, void *arg);

/* Does a column of a query, or what it stands for, belong to another table? */
static bool
is_other_column(const Var *var, QueryLevel *level)
{
	const RangeTblEntry *rte;
	QueryLevel	below;

	for (Index up = 0; up < var->varlevelsup; up++)
	{
		level = level->outer;
		if (level->query == NULL)
			return true;
	}
	if (var->varattno <= 0)
		return true;
	rte = rt_fetch(var->varno, level->query->rtable);
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			return !is_table_ours(rte);
		case RTE_JOIN:
			return has_other_column(list_nth(rte->joinaliasvars,
											 var->varattno - 1), level);
		case RTE_SUBQUERY:
			below = (QueryLevel)
			{
				rte->subquery, level, level->is_changed
			};
			if (var->varattno > list_length(rte->subquery->targetList))
				return true;
			return has_other_column((Node *)
									list_nth_node(TargetEntry,
												  rte->subquery->targetList,
												  var->varattno - 1)->expr,
									&below);
		default:
			return true;
	}
}

/* Walker: has an expression a column that does not belong to our tables? */
static bool
has_other_column(Node *node, void *arg)
{
	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return is_other_column((Var *) node, arg);
	if (IsA(node, SubLink) || IsA(node, Query))
		return true;
	return expression_tree_walker(node, has_other_column, arg);
}

/*
 * Changes a part of a time: it loses its collation.  That of a date is a function in
 * SQL, in whose place comes what it is made of.
 */
static void
change(FuncExpr *part)
{
	part->inputcollid = InvalidOid;
	if (part->funcid != F_DATE_PART_TEXT_DATE)
		return;
	part->funcid = F_DATE_PART_TEXT_TIMESTAMP;
	part->args = list_make2(linitial(part->args),
							makeFuncExpr(F_TIMESTAMP_DATE, TIMESTAMPOID,
										 list_make1(lsecond(part->args)),
										 InvalidOid, InvalidOid,
										 COERCE_EXPLICIT_CAST));
}

/*
 * Gives the arguments and the filter of an aggregate a form that can be sent, which
 * is as good here.  Returns whether they have one.
 */
static bool
change_aggregate(Aggref *aggregate)
{
	Expr	   *filter = aggregate->aggfilter;
	bool		is_changed;
	ListCell   *cell;

	if (collations_remain((Node *) aggregate) ||
		values_may_fail_early((Node *) aggregate, NULL))
		return false;
	aggregate->aggfilter = (Expr *) forms_replace((Node *) filter);
	is_changed = aggregate->aggfilter != filter;
	foreach(cell, aggregate->args)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Expr	   *arg = entry->expr;

		entry->expr = (Expr *) forms_replace((Node *) arg);
		is_changed |= entry->expr != arg;
	}
	return is_changed;
}

/* Walker: changes the parts of times in a query, and aggregates. */
static bool
rewrite(Node *node, void *arg)
{
	QueryLevel *level = arg;

	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		QueryLevel	inner = {(Query *) node, level, level->is_changed};

		distinct_to_groups((Query *) node, query_has_our_rows);
		return query_tree_walker((Query *) node, rewrite, &inner, 0);
	}
	if (collations_is_time_part(node) && contain_vars_of_level(node, 0) &&
		!has_other_column((Node *) ((FuncExpr *) node)->args, level))
	{
		change((FuncExpr *) node);
		*level->is_changed = true;
	}
	if (IsA(node, Aggref) && contain_vars_of_level(node, 0) &&
		!has_other_column(node, level))
		*level->is_changed |= change_aggregate((Aggref *) node);
	return expression_tree_walker(node, rewrite, arg);
}

/*
 * May a query read a foreign table, or a table whose partitions are such?  Subqueries in
 * expressions count as if they did.
 */
bool
query_reads_foreign(const Query *query)
{
	ListCell   *cell;

	if (query->hasSubLinks || query->cteList != NIL)
		return true;
	foreach(cell, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind == RTE_RELATION &&
			(rte->relkind == RELKIND_FOREIGN_TABLE ||
			 rte->relkind == RELKIND_PARTITIONED_TABLE))
			return true;
		if (rte->rtekind == RTE_SUBQUERY && query_reads_foreign(rte->subquery))
			return true;
	}
	return false;
}

/*
 * Rewrites what can be sent in another form of a query that is to be planned; returns
 * whether there was anything.
 */
bool
query_rewrite(Query *query)
{
	bool		is_changed = false;
	QueryLevel	outside = {.is_changed = &is_changed};

	if (query->commandType != CMD_UTILITY && query_reads_foreign(query))
		(void) rewrite((Node *) query, &outside);
	return is_changed;
}
