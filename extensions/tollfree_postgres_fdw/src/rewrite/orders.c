/*
 * orders.c
 *	  What rows are sorted by, in a form that is sent.
 *
 *	ORDER BY ts::date LIMIT 10					of a table
 *	GROUP BY ts::date ORDER BY ts::date			of groups that are sent
 *
 * postgres_fdw finds what it sorts by in the members of the pathkeys' equivalence
 * classes and, for groups, in the relation's target.  While it makes paths and plans
 * these have the form that is sent.  A form has the same values, of the same type, so
 * the same order.  Texts are sorted remotely by nothing that is another form, nor is
 * jsonb.
 *
 * For groups the forms are those of targets.c, for tables they are noted here.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "rewrite/collations.h"
#include "rewrite/orders.h"
#include "rewrite/planning.h"
#include "rewrite/rewrite.h"
#include "rewrite/targets.h"

/* What a table's rows are sorted by, in another form */
typedef struct TableOrder
{
	const PlannerInfo *root;
	const EquivalenceMember *member;
	Node	   *written;
	Node	   *sent;
} TableOrder;

/* The form that was noted for a member of a class, or NULL. */
static Node *
find_noted(const PlannerInfo *root, const EquivalenceMember *member)
{
	ListCell   *cell;

	foreach(cell, planned->orders)
	{
		const TableOrder *order = lfirst(cell);

		if (order->root == root && order->member == member &&
			order->written == (Node *) member->em_expr)
			return order->sent;
	}
	return NULL;
}

/* Notes the form of a member of a class, if it has another one for a table. */
static void
note_member(PlannerInfo *root, const RelOptInfo *rel,
			const EquivalenceMember *member)
{
	Node	   *written = (Node *) member->em_expr;
	Node	   *sent;
	TableOrder *order;

	if (IsA(written, Var) || member->em_is_const ||
		!bms_equal(member->em_relids, rel->relids) ||
		find_noted(root, member) != NULL)
		return;
	sent = rewrite_sent_form(root, rel, written, false);
	if (sent == written || exprType(sent) != exprType(written))
		return;
	order = palloc(sizeof(TableOrder));
	order->root = root;
	order->member = member;
	order->written = written;
	order->sent = sent;
	planned->orders = lappend(planned->orders, order);
}

/*
 * Does a condition of a table hide rows that nothing of the query may see before?  What
 * it is sorted by is evaluated where rows are hidden here only afterwards.
 */
static bool
hides_rows(const PlannerInfo *root, const RelOptInfo *rel)
{
	return rel->baserestrict_min_security < root->qual_security_level;
}

/*
 * Notes in which form a table's rows can be sorted as the query needs them.  Not for
 * what is made of the rows here: then postgres_fdw takes a sorted scan for one that
 * begins at once, though all rows must be sorted first.
 */
void
orders_note(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *key;

	if (root->query_pathkeys == NIL || root->query_pathkeys != root->sort_pathkeys ||
		root->parse->groupClause != NIL || root->parse->distinctClause != NIL ||
		root->parse->hasWindowFuncs || hides_rows(root, rel) ||
		collations_sort(root->query_pathkeys) ||
		!planning_is_rewritten(root, rel))
		return;
	foreach(key, root->query_pathkeys)
	{
		const EquivalenceClass *class = lfirst_node(PathKey, key)->pk_eclass;
		ListCell   *cell;

		if (class->ec_has_volatile)
			continue;
		foreach(cell, class->ec_members)
			note_member(root, rel, lfirst_node(EquivalenceMember, cell));
	}
}

/* The form of a member of a class for a relation, or NULL. */
static Node *
form_of(const PlannerInfo *root, const RelOptInfo *rel,
		const EquivalenceMember *member)
{
	Node	   *written = (Node *) member->em_expr;
	Node	   *sent;

	if (!IS_UPPER_REL(rel))
		return find_noted(root, member);
	if (!list_member(rel->reltarget->exprs, written))
		return NULL;
	sent = targets_sent(written, rel, planned->pairs);
	return sent != NULL && exprType(sent) == exprType(written) ? sent : NULL;
}

/*
 * Does the remote server name a result column that is written so as a column?  Grouping
 * sets mark the columns that they make null, but not in all places.
 */
static bool
is_named_as(Node *sent, const Var *column)
{
	for (;;)
	{
		switch (nodeTag(sent))
		{
			case T_Var:
				return ((Var *) sent)->varno == column->varno &&
					((Var *) sent)->varattno == column->varattno;
			case T_RelabelType:
				sent = (Node *) ((RelabelType *) sent)->arg;
				break;
			case T_CoerceViaIO:
				sent = (Node *) ((CoerceViaIO *) sent)->arg;
				break;
			case T_CaseExpr:
				sent = (Node *) ((CaseExpr *) sent)->defresult;
				break;
			case T_FuncExpr:
				if (((FuncExpr *) sent)->funcformat == COERCE_EXPLICIT_CALL ||
					((FuncExpr *) sent)->args == NIL)
					return false;
				sent = linitial(((FuncExpr *) sent)->args);
				break;
			default:
				return false;
		}
		if (sent == NULL)
			return false;
	}
}

/*
 * Would the remote server take a column that groups are sorted by for another result
 * column, whose form has its name?
 */
bool
orders_are_ambiguous(const PlannerInfo *root, const RelOptInfo *groups)
{
	ListCell   *key;
	ListCell   *cell;
	ListCell   *target;

	if (root->sort_pathkeys == NIL || !planning_find(root) || planned->pairs == NIL)
		return false;
	foreach(key, root->sort_pathkeys)
	{
		foreach(cell, lfirst_node(PathKey, key)->pk_eclass->ec_members)
		{
			const Expr *expr = lfirst_node(EquivalenceMember, cell)->em_expr;

			foreach(target, groups->reltarget->exprs)
			{
				Node	   *sent = targets_sent(lfirst(target), groups, planned->pairs);

				if (IsA(expr, Var) && sent != NULL && !IsA(lfirst(target), Var) &&
					is_named_as(sent, (const Var *) expr))
					return true;
			}
		}
	}
	return false;
}

/* Gives a member its form, and the same expression in the target. */
static void
replace(SentOrder *order, EquivalenceMember *member, Node *sent)
{
	ListCell   *cell;

	if (order->members == NIL)
		order->target->exprs = list_copy(order->exprs);
	order->members = lappend(order->members, member);
	order->written = lappend(order->written, member->em_expr);
	foreach(cell, order->target->exprs)
	{
		if (equal(lfirst(cell), member->em_expr))
			lfirst(cell) = sent;
	}
	member->em_expr = (Expr *) sent;
}

/*
 * Has what a query's rows, or a relation's, are sorted by in the form that is sent,
 * until orders_end.
 */
void
orders_begin(SentOrder *order, const PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *key;

	*order = (SentOrder)
	{
		.target = rel->reltarget,
			.exprs = rel->reltarget->exprs
	};
	if (root->query_pathkeys == NIL && root->sort_pathkeys == NIL)
		return;
	if (!planning_find(root) || (planned->orders == NIL && planned->pairs == NIL))
		return;
	foreach(key, list_union_ptr(root->query_pathkeys, root->sort_pathkeys))
	{
		const EquivalenceClass *class = lfirst_node(PathKey, key)->pk_eclass;
		ListCell   *cell;

		foreach(cell, class->ec_members)
		{
			EquivalenceMember *member = lfirst_node(EquivalenceMember, cell);
			Node	   *sent = form_of(root, rel, member);

			if (sent != NULL && sent != (Node *) member->em_expr)
				replace(order, member, sent);
		}
	}
}

/* Puts back what orders_begin replaced. */
void
orders_end(const SentOrder *order)
{
	ListCell   *member;
	ListCell   *written;

	forboth(member, order->members, written, order->written)
		lfirst_node(EquivalenceMember, member)->em_expr = lfirst(written);
	order->target->exprs = order->exprs;
}
