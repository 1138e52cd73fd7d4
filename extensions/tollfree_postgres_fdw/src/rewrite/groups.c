/*
 * groups.c
 *	  What a query groups by and aggregates, in a form that is sent.
 *
 *	GROUP BY doc->>'state'					without its collation
 *	GROUP BY COALESCE(x, 0), id::text		as CASE, as a cast by functions
 *	count(*) FILTER (WHERE doc->>'state' = 'open')
 *
 * If postgres_fdw does not send a grouping as it is written, it is asked again while
 * the relation has the other forms of its groups and aggregates (targets.c).  Nothing
 * of these forms is evaluated here.
 *
 * Groups are equal by bytes, whatever deterministic collation they have.  A grouping
 * that looks at an order of texts stays, and so does an order of its rows by texts
 * (rewrite.c).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "rewrite/casts.h"
#include "rewrite/collations.h"
#include "rewrite/forms.h"
#include "rewrite/groups.h"

/* A form that may be sent; the expression itself if it has none. */
static Expr *
form_of(Expr *written, bool is_value)
{
	return (Expr *) forms_replace(collations_drop(casts_replace((Node *) written),
												  is_value));
}

/* An aggregate with other forms of its arguments and its filter, or the same one. */
static Aggref *
aggregate_of(Aggref *written)
{
	Aggref	   *sent = makeNode(Aggref);
	bool		collects = collations_collects(written);
	bool		is_changed = false;
	ListCell   *cell;

	*sent = *written;
	sent->args = NIL;
	foreach(cell, written->args)
	{
		TargetEntry *entry = flatCopyTargetEntry(lfirst_node(TargetEntry, cell));
		Expr	   *arg = form_of(entry->expr, collects);

		is_changed |= arg != entry->expr;
		entry->expr = arg;
		sent->args = lappend(sent->args, entry);
	}
	if (written->aggfilter != NULL)
		sent->aggfilter = form_of(written->aggfilter, false);
	is_changed |= sent->aggfilter != written->aggfilter;
	if (is_changed && collects && OidIsValid(sent->inputcollid) &&
		get_collation_isdeterministic(sent->inputcollid))
		sent->inputcollid = InvalidOid;
	return is_changed ? sent : written;
}

/* Mutator: other forms of aggregates; sets whether there are any. */
static Node *
replace_aggregates(Node *node, void *is_changed)
{
	Aggref	   *sent;

	check_stack_depth();
	if (node == NULL)
		return NULL;
	if (!IsA(node, Aggref))
		return expression_tree_mutator(node, replace_aggregates, is_changed);
	sent = aggregate_of((Aggref *) node);
	if (sent != (Aggref *) node)
		*(bool *) is_changed = true;
	return (Node *) sent;
}

/*
 * A group, or an expression of aggregates and groups, with other forms of them; the
 * expression itself if there are none.
 */
Node *
groups_replace(Node *written, bool is_group)
{
	Oid			collation = exprCollation(written);
	bool		is_changed = false;
	Node	   *sent;

	if (is_group)
		return !OidIsValid(collation) || get_collation_isdeterministic(collation) ?
			(Node *) form_of((Expr *) written, true) : written;
	sent = replace_aggregates(written, &is_changed);
	return is_changed ? sent : written;
}
