/*
 * semi.c
 *	  Semi and anti joins that the remote server executes.
 *
 * postgres_fdw sends no anti join, as of NOT EXISTS, and before 17 no semi join, so both
 * tables travel.  It does send
 *
 *		outer LEFT JOIN inner ON (conditions) WHERE inner.column IS NULL
 *
 * which has the rows of the anti join, if no row that meets the conditions is null in
 * that column.  PostgreSQL executes it as one.  So postgres_fdw is given a left join, and
 * one condition more.
 *
 * A semi join it is given likewise, with a condition that marks it.  In the command that
 * condition then becomes EXISTS, and the join goes (sql/exists.c).
 *
 * A modification, or a query that locks rows, is left alone: postgres_fdw joins its
 * target by inner joins only.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "join/semi.h"
#include "sql/exists.h"
#include "sql/plan.h"

/* An expression without casts that keep the value as it is. */
static Node *
without_casts(Node *expr)
{
	while (IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return expr;
}

/* Is an expression a column of a relation?  A row is no value: its fields can be null. */
static bool
is_column_of(const Node *expr, const RelOptInfo *rel)
{
	return IsA(expr, Var) && ((const Var *) expr)->varattno > 0 &&
		bms_is_member(((const Var *) expr)->varno, rel->relids) &&
		!type_is_rowtype(exprType(expr));
}

/* The column of a relation that is not null where a condition is met; NULL if none is. */
static Node *
column_with_value(const RestrictInfo *clause, const RelOptInfo *rel)
{
	const OpExpr *operation = (const OpExpr *) clause->clause;
	ListCell   *cell;

	if (!IsA(operation, OpExpr) || !op_strict(operation->opno))
		return NULL;
	foreach(cell, operation->args)
	{
		Node	   *arg = without_casts(lfirst(cell));

		if (is_column_of(arg, rel))
			return arg;
	}
	return NULL;
}

/* The column of an inner side that is not null in any match; NULL if none is known. */
static Node *
find_column(const RelOptInfo *joinrel, const RelOptInfo *inner, JoinType jointype,
			const List *clauses)
{
	const ListCell *cell;

	foreach(cell, clauses)
	{
		const RestrictInfo *clause = lfirst(cell);
		Node	   *column = column_with_value(clause, inner);

		/* What is checked after an anti join says nothing of matches. */
		if (column != NULL &&
			(jointype == JOIN_SEMI || !RINFO_IS_PUSHED_DOWN(clause, joinrel->relids)))
			return column;
	}
	return NULL;
}

/* A condition that is checked after a join, with an inner side of these tables. */
static RestrictInfo *
make_restriction(Expr *condition, Relids relids)
{
	RestrictInfo *clause = makeNode(RestrictInfo);

	clause->clause = condition;
	clause->is_pushed_down = true;
	clause->clause_relids = clause->required_relids = relids;
	clause->eval_cost.startup = -1;
	clause->norm_selec = clause->outer_selec = -1;
	return clause;
}

/* The conditions of a semi join, as those of an outer join. */
static List *
as_outer(const List *clauses)
{
	List	   *copies = NIL;
	const ListCell *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *copy = makeNode(RestrictInfo);

		*copy = *lfirst_node(RestrictInfo, cell);
		copy->is_pushed_down = false;
		copies = lappend(copies, copy);
	}
	return copies;
}

/* Is a column of the inner side used above a join? */
static bool
shows_inner(const RelOptInfo *joinrel, const RelOptInfo *inner)
{
	List	   *columns = pull_var_clause((Node *) joinrel->reltarget->exprs,
										  PVC_RECURSE_PLACEHOLDERS);
	ListCell   *cell;

	foreach(cell, columns)
	{
		if (bms_is_member(lfirst_node(Var, cell)->varno, inner->relids))
			return true;
	}
	return false;
}

/* Is any of these conditions evaluated once for a whole query? */
static bool
has_pseudoconstant(const List *clauses)
{
	const ListCell *cell;

	foreach(cell, clauses)
	{
		if (lfirst_node(RestrictInfo, cell)->pseudoconstant)
			return true;
	}
	return false;
}

/* Does a query at most read, or insert what it reads? */
static bool
only_reads(const PlannerInfo *root)
{
	return root->rowMarks == NIL &&
		(root->parse->commandType == CMD_SELECT ||
		 root->parse->commandType == CMD_INSERT);
}

/*
 * Can a join that returns outer rows only be sent as a left join?  EXISTS has one table,
 * of which nothing is known outside.
 */
static bool
may_be_left(const PlannerInfo *root, const RelOptInfo *joinrel, const RelOptInfo *inner,
			JoinType jointype, const List *clauses)
{
	if (jointype == JOIN_SEMI &&
		(COMPAT_STOCK_SEMI_JOINS || !IS_SIMPLE_REL(inner) ||
		 shows_inner(joinrel, inner) || has_pseudoconstant(clauses)))
		return false;
	return (jointype == JOIN_SEMI || jointype == JOIN_ANTI) && only_reads(root) &&
		fastpath_is_on(plan_fast_paths(root, joinrel, InvalidOid),
					   FAST_REMOTE_EXPRESSIONS);
}

/*
 * The type of join that postgres_fdw is to send in place of another one; changes the
 * conditions accordingly.
 */
JoinType
semi_sent_type(const PlannerInfo *root, const RelOptInfo *joinrel,
			   const RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra)
{
	Node	   *column = may_be_left(root, joinrel, inner, jointype, extra->restrictlist) ?
		find_column(joinrel, inner, jointype, extra->restrictlist) : NULL;
	NullTest   *test;

	if (column == NULL)
		return jointype;
	extra->restrictlist = jointype == JOIN_SEMI ? as_outer(extra->restrictlist) :
		list_copy(extra->restrictlist);
	test = jointype == JOIN_SEMI ? exists_mark(column) : exists_test(column, IS_NULL);
	extra->restrictlist = lappend(extra->restrictlist,
								  make_restriction((Expr *) test, inner->relids));
	return JOIN_LEFT;
}
