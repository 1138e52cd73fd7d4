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

#include "access/transam.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "rewrite/casts.h"
#include "rewrite/collations.h"
#include "rewrite/forms.h"
#include "rewrite/groups.h"
#include "rewrite/planning.h"
#include "rewrite/remotes.h"
#include "rewrite/rewrite.h"
#include "rewrite/sets.h"
#include "rewrite/types.h"
#include "rewrite/values.h"
#include "rewrite/zones.h"

/* A form that may be sent; the expression itself if it has none. */
static Expr *
form_of(Expr *written, bool is_value, const FormRules *rules)
{
	Node	   *form = casts_replace((Node *) written, rules->may_read_texts);

	return (Expr *) forms_replace(collations_drop(form, is_value,
												  rules->may_count));
}

/* An aggregate with other forms of its arguments and its filter, or the same one. */
static Aggref *
aggregate_of(Aggref *written, const FormRules *rules)
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
		Expr	   *arg = form_of(entry->expr, collects, rules);

		is_changed |= arg != entry->expr;
		entry->expr = arg;
		sent->args = lappend(sent->args, entry);
	}
	if (written->aggfilter != NULL)
		sent->aggfilter = form_of(written->aggfilter, false, rules);
	is_changed |= sent->aggfilter != written->aggfilter;
	if (is_changed && collects && OidIsValid(sent->inputcollid) &&
		get_collation_isdeterministic(sent->inputcollid))
		sent->inputcollid = InvalidOid;
	return is_changed ? sent : written;
}

/* Aggregates that are being replaced */
typedef struct Replacing
{
	const FormRules *rules;
	bool		is_changed;		/* has any another form? */
} Replacing;

/* Mutator: other forms of aggregates. */
static Node *
replace_aggregates(Node *node, void *arg)
{
	Replacing  *replacing = arg;
	Aggref	   *sent;

	check_stack_depth();
	if (node == NULL)
		return NULL;
	if (!IsA(node, Aggref))
		return expression_tree_mutator(node, replace_aggregates, arg);
	sent = aggregate_of((Aggref *) node, replacing->rules);
	if (sent != (Aggref *) node)
		replacing->is_changed = true;
	return (Node *) sent;
}

/*
 * A group, or an expression of aggregates and groups, with other forms of them; the
 * expression itself if there are none.
 */
static Node *
replace(Node *written, bool is_group, const FormRules *rules)
{
	Oid			collation = exprCollation(written);
	Replacing	replacing = {.rules = rules};
	Node	   *sent;

	if (is_group)
		return !OidIsValid(collation) || get_collation_isdeterministic(collation) ?
			(Node *) form_of((Expr *) written, true, rules) : written;
	sent = replace_aggregates(written, &replacing);
	return replacing.is_changed ? sent : written;
}

/*
 * Has a condition on groups a column of a type that is not PostgreSQL's own, outside
 * of aggregates?  postgres_fdw computes its selectivity from the column's statistics.
 */
bool
groups_have_other_type(Node *condition)
{
	ListCell   *cell;

	foreach(cell, pull_var_clause(condition, PVC_INCLUDE_AGGREGATES |
								  PVC_INCLUDE_PLACEHOLDERS))
	{
		if (!IsA(lfirst(cell), Aggref) &&
			exprType(lfirst(cell)) >= FirstGenbkiObjectId)
			return true;
	}
	return false;
}

/*
 * An expression of an aggregation in a form that postgres_fdw may have words for; what
 * it is, if it has none.
 */
Node *
groups_form(Node *written, bool is_group, const FormRules *rules)
{
	Node	   *form = types_replace_output(written, rules->serverid, rules->types);

	form = values_replace(form, false, rules->values);
	form = zones_replace(form, rules);
	return replace(form, is_group, rules);
}

static Node *sent_target(Node *written, TargetKind kind, const PlannerInfo *root,
						 const RelOptInfo *rel);

/* The aggregation that GROUPING is of */
typedef struct Grouping
{
	const PlannerInfo *root;
	const RelOptInfo *rel;
} Grouping;

/* Mutator: what is sent in place of GROUPING, with its groups as they are sent. */
static Node *
mark_grouping(Node *node, void *arg)
{
	const Grouping *grouping = arg;
	List	   *args = NIL;
	ListCell   *cell;

	check_stack_depth();
	if (node == NULL)
		return NULL;
	if (!IsA(node, GroupingFunc))
		return expression_tree_mutator(node, mark_grouping, arg);
	foreach(cell, ((GroupingFunc *) node)->refs)
	{
		TargetEntry *group = get_sortgroupref_tle(lfirst_int(cell),
												  grouping->root->processed_tlist);

		args = lappend(args, sent_target((Node *) group->expr, TARGET_GROUP,
										 grouping->root, grouping->rel));
	}
	return sets_mark(args);
}

/* How an expression of an aggregation is sent to the server of its relation */
static Node *
sent_target(Node *written, TargetKind kind, const PlannerInfo *root,
			const RelOptInfo *rel)
{
	FormRules	rules = {
		.serverid = rel->serverid,
		.zones = remotes_zone_rules(root, rel),
		.may_read_texts = remotes_may_read_texts(rel),
		.may_count = remotes_may_count(rel),
		.values = &planned->values,
		.types = &planned->types
	};
	Grouping	grouping = {.root = root,.rel = rel};
	Node	   *sent;

	if (kind == TARGET_CONDITION && groups_have_other_type(written))
		return written;
	sent = groups_form(written, kind == TARGET_GROUP, &rules);
	if (targets_have_grouping(sent))
		sent = mark_grouping(sent, &grouping);
	return values_may_fail_early(sent, NULL) ? written :
		rewrite_depending(rel, sent, &rules);
}

/*
 * Has a grouping, in its present form, what must not be sent as it is?  postgres_fdw
 * would leave GROUPING in HAVING to a scan, which cannot evaluate it.
 */
bool
groups_need_other_form(const RelOptInfo *rel, const GroupPathExtraData *extra)
{
	return targets_have_grouping((Node *) rel->reltarget->exprs) ||
		targets_have_grouping(extra->havingQual);
}

/*
 * Is a grouping to be sent in another form, though postgres_fdw would send it as it
 * is?  It would evaluate a HAVING with a value of this session here, for all groups.
 */
bool
groups_prefer_other_form(const GroupPathExtraData *extra)
{
	return contain_mutable_functions(extra->havingQual);
}

/* May an expression of a grouping be sent in this form? */
static bool
may_send_target(const RelOptInfo *input, Node *sent)
{
	return !collations_order(sent) && remotes_can_encode(input, sent);
}

/*
 * Has a grouping in the form that is sent, until groups_end.  Returns
 * whether it has another one.
 */
bool
groups_begin(RewrittenTarget *rewritten, const PlannerInfo *root,
			 const RelOptInfo *input, RelOptInfo *rel,
			 GroupPathExtraData *extra)
{
	if (!planning_is_rewritten(root, rel) ||
		!targets_begin(rewritten, root, rel, extra, sent_target,
					   &planned->pairs))
		return false;
	if (may_send_target(input, (Node *) rel->reltarget->exprs) &&
		may_send_target(input, extra->havingQual) &&
		!groups_need_other_form(rel, extra))
		return true;
	targets_end(rewritten);
	return false;
}

/* Puts back what was written, and notes whether postgres_fdw sends the other form. */
void
groups_end(const RewrittenTarget *rewritten, const PlannerInfo *root,
		   const RelOptInfo *input, const RelOptInfo *rel)
{
	targets_end(rewritten);
	if (rel->pathlist == NIL)
		return;
	planning_need(root);
	planning_note(root, input->relids, NULL, NULL);
}
