/*
 * matches.c
 *	  UPDATE and DELETE of rows that have a match, as of rows that are joined.
 *
 *	DELETE FROM f WHERE f.k IN (SELECT g.k FROM g WHERE ...)
 *	DELETE FROM f USING g WHERE f.k = g.k AND ...
 *
 * delete the same rows, but postgres_fdw sends only the second one as one command; of
 * the first one both tables are fetched.  So does EXISTS.  A row that has several
 * matches is modified once: by the remote server, and here, too, where the second
 * attempt finds no row of that ctid any more.
 *
 * If PostgreSQL does not make it one command after all, the query is planned once more, as
 * it was: its join would find rows several times.
 *
 * Left as it is: what returns rows; a target with triggers of rows, which would be
 * executed for each match; matches in more than one table, in groups or in the first
 * rows; volatile expressions.
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "rewrite/matches.h"

/* The query that is to be planned as it is; only compared */
static const Query *usual = NULL;

/* Is a subquery a plain one of one table, whose rows are all matches? */
static bool
is_plain(const Query *sub)
{
	return sub->commandType == CMD_SELECT && list_length(sub->rtable) == 1 &&
		list_length(sub->jointree->fromlist) == 1 && sub->cteList == NIL &&
		sub->setOperations == NULL && sub->groupClause == NIL &&
		sub->groupingSets == NIL && sub->havingQual == NULL && !sub->hasAggs &&
		!sub->hasWindowFuncs && !sub->hasTargetSRFs && !sub->hasSubLinks &&
		sub->limitCount == NULL && sub->limitOffset == NULL && sub->rowMarks == NIL &&
		!contain_volatile_functions((Node *) sub);
}

/* May a condition be one of a join with the only table of its subquery? */
static bool
may_be_join(const Query *query, const Node *condition,
			matches_are_together_function are_together)
{
	const SubLink *link = (const SubLink *) condition;
	const Query *sub;

	if (!IsA(condition, SubLink) ||
		(link->subLinkType != ANY_SUBLINK && link->subLinkType != EXISTS_SUBLINK) ||
		contain_subplans(link->testexpr))
		return false;
	sub = castNode(Query, link->subselect);
	return is_plain(sub) &&
		linitial_node(RangeTblEntry, sub->rtable)->rtekind == RTE_RELATION &&
		are_together(rt_fetch(query->resultRelation, query->rtable),
					 linitial_node(RangeTblEntry, sub->rtable));
}

/* Mutator: the columns that a subquery selects, in place of the Params for them. */
static Node *
replace_outputs(Node *node, void *columns)
{
	const Param *param = (const Param *) node;

	if (node == NULL)
		return NULL;
	if (IsA(node, Param) && param->paramkind == PARAM_SUBLINK)
		return copyObjectImpl(list_nth_node(TargetEntry, columns,
											param->paramid - 1)->expr);
	return expression_tree_mutator(node, replace_outputs, columns);
}

/* Joins a query with the table of a condition's subquery; returns their condition. */
static Node *
join(Query *query, SubLink *link)
{
	Query	   *sub = castNode(Query, link->subselect);
	Node	   *test = link->subLinkType == EXISTS_SUBLINK ? NULL : link->testexpr;

	OffsetVarNodes((Node *) sub, list_length(query->rtable), 0);
	IncrementVarSublevelsUp((Node *) sub, -1, 1);
	compat_combine_tables(query, sub);
	query->jointree->fromlist = list_concat(query->jointree->fromlist,
											sub->jointree->fromlist);
	if (test != NULL)
		test = replace_outputs(test, sub->targetList);
	return make_and_qual(test, sub->jointree->quals);
}

/* May rows that a query modifies be found more than once? */
static bool
may_repeat(const Query *query)
{
	Relation	rel;
	bool		has_triggers;

	if ((query->commandType != CMD_UPDATE && query->commandType != CMD_DELETE) ||
		query->returningList != NIL || query->withCheckOptions != NIL ||
		!query->hasSubLinks ||
		contain_volatile_functions((Node *) query->targetList))
		return false;
	rel = table_open(rt_fetch(query->resultRelation, query->rtable)->relid,
					 NoLock);
	has_triggers = rel->trigdesc != NULL;
	table_close(rel, NoLock);
	return !has_triggers;
}

/*
 * Replaces conditions of an UPDATE or DELETE that is not planned yet by joins, where
 * all of the tables are of one server.  Returns the query as it was; NULL if there are
 * none.
 */
Query *
matches_to_joins(Query *query, matches_are_together_function are_together)
{
	bool		is_usual = query == usual;
	Query	   *written = NULL;
	List	   *conditions = NIL;
	ListCell   *cell;

	usual = NULL;
	if (is_usual || !may_repeat(query))
		return NULL;
	foreach(cell, make_ands_implicit((Expr *) query->jointree->quals))
	{
		Node	   *condition = lfirst(cell);

		if (may_be_join(query, condition, are_together))
		{
			if (written == NULL)
				written = copyObject(query);
			condition = join(query, castNode(SubLink, condition));
		}
		conditions = lappend(conditions, condition);
	}
	if (written != NULL)
		query->jointree->quals = (Node *) make_ands_explicit(conditions);
	return written;
}

/* Is a query to be planned in place of this plan as it was before its joins? */
bool
matches_plan_again(const PlannedStmt *stmt, const Query *written)
{
	if (written == NULL || (IsA(stmt->planTree, ModifyTable) &&
							!bms_is_empty(((ModifyTable *) stmt->planTree)->fdwDirectModifyPlans)))
		return false;
	usual = written;
	return true;
}
