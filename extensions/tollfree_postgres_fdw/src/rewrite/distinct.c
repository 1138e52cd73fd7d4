/*
 * distinct.c
 *	  SELECT DISTINCT as GROUP BY, which is sent.
 *
 *	SELECT DISTINCT a, b ...	SELECT a, b ... GROUP BY a, b
 *
 * have the same rows, but postgres_fdw sends only the second one.  So the clause
 * moves in a query that reads nothing but our tables.  PostgreSQL knows GROUP BY
 * wherever it knows DISTINCT: orders, LIMIT, partial aggregation of partitions,
 * subqueries.
 *
 * Equal values are equal there, too, except by a collation that is not
 * deterministic.  But what the query selects was evaluated here, so that a query of
 * expressions which look at an order of texts is left as it is, and orders by texts
 * stay (rewrite.c).
 *
 * Of the parts of a UNION, INTERSECT or EXCEPT without ALL each row counts once, too:
 *
 *	SELECT a FROM f UNION SELECT b FROM g	SELECT a FROM f GROUP BY a UNION ...
 *
 * Left as it is: DISTINCT ON; what has groups, aggregates, window functions or sets
 * below; volatile values; subqueries in what is selected.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_clause.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "rewrite/collations.h"
#include "rewrite/distinct.h"

static bool reads_only(const Query *query, const Node *from,
					   distinct_is_ours_function is_ours);

/* Does a list in FROM have only our tables, and subqueries of these? */
static bool
list_reads_only(const Query *query, const List *from,
				distinct_is_ours_function is_ours)
{
	const ListCell *cell;

	foreach(cell, from)
	{
		if (!reads_only(query, lfirst(cell), is_ours))
			return false;
	}
	return from != NIL;
}

/* Does a node of FROM? */
static bool
reads_only(const Query *query, const Node *from,
		   distinct_is_ours_function is_ours)
{
	const RangeTblEntry *rte;

	check_stack_depth();
	if (IsA(from, JoinExpr))
		return reads_only(query, ((const JoinExpr *) from)->larg, is_ours) &&
			reads_only(query, ((const JoinExpr *) from)->rarg, is_ours);
	if (!IsA(from, RangeTblRef))
		return false;
	rte = rt_fetch(((const RangeTblRef *) from)->rtindex, query->rtable);
	if (rte->rtekind == RTE_SUBQUERY)
		return rte->subquery->setOperations == NULL &&
			list_reads_only(rte->subquery, rte->subquery->jointree->fromlist,
							is_ours);
	return rte->rtekind == RTE_RELATION && is_ours(rte);
}

/* Can what is distinct be compared remotely, and is there any that is no constant? */
static bool
is_comparable(const Query *query)
{
	bool		has_column = false;
	const ListCell *cell;

	foreach(cell, query->distinctClause)
	{
		const Node *expr = get_sortgroupclause_expr(lfirst(cell),
													query->targetList);
		Oid			collation = exprCollation(expr);

		if ((OidIsValid(collation) && !get_collation_isdeterministic(collation)) ||
			collations_order(unconstify(Node *, expr)))
			return false;
		has_column |= !IsA(expr, Const) && !IsA(expr, Param);
	}
	return has_column;
}

/* Is a query a plain SELECT DISTINCT? */
static bool
is_plain(const Query *query)
{
	return query->commandType == CMD_SELECT && query->distinctClause != NIL &&
		!query->hasDistinctOn && query->setOperations == NULL &&
		query->groupClause == NIL && query->groupingSets == NIL &&
		query->havingQual == NULL && query->rowMarks == NIL &&
		!query->hasAggs && !query->hasWindowFuncs && !query->hasTargetSRFs &&
		!contain_subplans((Node *) query->targetList) &&
		!contain_volatile_functions((Node *) query->targetList);
}

/* Replaces the DISTINCT of a query that is not planned yet, if that can be sent. */
static void
to_groups(Query *query, distinct_is_ours_function is_ours)
{
	if (!is_plain(query) || !is_comparable(query) ||
		!list_reads_only(query, query->jointree->fromlist, is_ours))
		return;
	query->groupClause = query->distinctClause;
	query->distinctClause = NIL;
	/* Of GROUP BY DISTINCT, that is without a meaning where no sets are. */
	query->groupDistinct = true;
}

/* Are values of a type that are equal the same, whatever they are cast to? */
static bool
is_exact(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case TEXTOID:
		case VARCHAROID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case UUIDOID:
			return true;
		default:
			return false;
	}
}

/*
 * The clause of SELECT DISTINCT for a part of columns of these types; NIL if its rows
 * could be equal there, and not any more as columns of these.
 */
static List *
clause_for(Query *part, const List *types)
{
	List	   *clause = NIL;
	ListCell   *cell;
	const ListCell *type;

	forboth(cell, part->targetList, type, types)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Oid			own = exprType((Node *) entry->expr);
		SortGroupClause *column = makeNode(SortGroupClause);

		if (entry->resjunk || (own != lfirst_oid(type) && !is_exact(own)))
			return NIL;
		get_sort_group_operators(own, false, false, false, &column->sortop,
								 &column->eqop, NULL, &column->hashable);
		if (!OidIsValid(column->eqop))
			return NIL;
		column->tleSortGroupRef = assignSortGroupRef(entry, part->targetList);
		clause = lappend(clause, column);
	}
	return clause;
}

/* Has a part of a set operation, which counts each row once, return it once. */
static void
make_distinct(Query *part, const SetOperationStmt *operation,
			  distinct_is_ours_function is_ours)
{
	ListCell   *cell;

	if (part->distinctClause != NIL || part->sortClause != NIL ||
		part->groupClause != NIL || part->windowClause != NIL ||
		part->limitCount != NULL || part->limitOffset != NULL)
		return;
	part->distinctClause = clause_for(part, operation->colTypes);
	to_groups(part, is_ours);
	if (part->groupClause != NIL)
		return;
	part->distinctClause = NIL;
	foreach(cell, part->targetList)
		lfirst_node(TargetEntry, cell)->ressortgroupref = 0;
}

/* Goes through the parts of a set operation; is_set says that rows count once. */
static void
make_parts_distinct(const Query *query, Node *node, bool is_set,
					const SetOperationStmt *above,
					distinct_is_ours_function is_ours)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) node;
	RangeTblEntry *rte;

	check_stack_depth();
	if (!IsA(node, SetOperationStmt))
	{
		rte = rt_fetch(((const RangeTblRef *) node)->rtindex, query->rtable);
		if (is_set)
			make_distinct(rte->subquery, above, is_ours);
		return;
	}
	is_set = !operation->all || (is_set && operation->op == SETOP_UNION);
	make_parts_distinct(query, operation->larg, is_set, operation, is_ours);
	make_parts_distinct(query, operation->rarg, is_set, operation, is_ours);
}

/*
 * Replaces the DISTINCT of a query that is not planned yet, if that can be sent, and
 * has the parts of a set operation return each row once.
 */
void
distinct_to_groups(Query *query, distinct_is_ours_function is_ours)
{
	if (query->setOperations != NULL)
		make_parts_distinct(query, query->setOperations, false, NULL, is_ours);
	else
		to_groups(query, is_ours);
}

/* Is the GROUP BY of a query in place of its DISTINCT?  GROUP BY DISTINCT is alike. */
bool
distinct_is_replaced(const Query *query)
{
	return query->groupDistinct && query->groupingSets == NIL;
}
