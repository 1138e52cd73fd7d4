/*
 * rewrite.c
 *	  Expressions that postgres_fdw does not send, in a form that it sends.
 *
 * postgres_fdw decides which conditions of a table it sends when the planner wants
 * the table's size.  Before that some of them are rewritten:
 *
 *	- stable values without columns become parameters (values.c);
 *	- what does not depend on its collation has none (collations.c), nor what looks
 *	  at the default one, if the remote database has the same;
 *	- times in the session's zone get the zone as a parameter (zones.c, replan.c);
 *	- COALESCE and the like become CASE, rows are compared by columns (forms.c);
 *	- casts to text are written as calls of functions (casts.c);
 *	- enums are compared by their labels, domains as their base types (types.c).
 *
 * Functions that never look at a collation lose it in the whole query, before it is
 * planned (query.c), and SELECT DISTINCT becomes GROUP BY (distinct.c).  Groups and
 * aggregates are rewritten for the remote command alone (groups.c, targets.c).
 *
 * A condition keeps its selectivity, which is computed before.  All that is made of
 * it while the query is planned is made of its new form.  What the finished plan of a
 * scan evaluates here gets the written form back: conditions that are not sent after
 * all, and those that are checked again when a row is locked.  They are found by
 * their addresses, so nothing else can change.
 *
 * What a modification assigns is rewritten by updates.c.
 */
#include "postgres.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "rewrite/casts.h"
#include "rewrite/collations.h"
#include "rewrite/distinct.h"
#include "rewrite/instants.h"
#include "rewrite/kinds.h"
#include "rewrite/planning.h"
#include "rewrite/remotes.h"
#include "rewrite/replan.h"
#include "rewrite/rewrite.h"
#include "rewrite/sources.h"
#include "rewrite/targets.h"
#include "rewrite/types.h"
#include "rewrite/values.h"
#include "rewrite/zone_values.h"
#include "rewrite/zones.h"

/*
 * Has a condition keep its selectivity, also where postgres_fdw counts it among
 * those of an outer join, whose it is, too: it is of one table.  Nobody could compute
 * that of what has no collation.
 */
static void
keep_selectivity(PlannerInfo *root, RestrictInfo *clause)
{
	(void) clause_selectivity(root, (Node *) clause, 0, JOIN_INNER, NULL);
	if (clause->outer_selec < 0)
		clause->outer_selec = clause->norm_selec;
}

/*
 * A condition, or what SET assigns, in a form that postgres_fdw may have words for;
 * what it is, if it has none.
 */
Node *
rewrite_form(Node *written, bool is_condition, const FormRules *rules)
{
	Node	   *form = is_condition ? values_compare_texts(written) : written;
	int			kinds = kinds_of(form);

	if (rules->types != NULL && (kinds & KIND_TYPE))
		form = types_replace(form, rules->serverid, rules->types);
	if (kinds & KIND_TIMES)
		form = instants_compare(form);
	if ((kinds & KIND_GIVEN) || form != written)
		form = values_replace(form, is_condition, rules->values);
	if (kinds & KIND_ZONE)
		form = zones_replace(form, rules);
	/* to_char may have become casts. */
	if (kinds & (KIND_CAST | KIND_ZONE))
		form = casts_replace(form, rules->may_read_texts);
	if ((kinds & KIND_COLLATION) || form != written)
		form = collations_drop(form, !is_condition, rules->may_count);
	/* A cast may have become COALESCE. */
	if (kinds & (KIND_FORM | KIND_CAST | KIND_ZONE))
		form = forms_replace(form);
	return rules->same_collations ? collations_drop_default(form) : form;
}

/*
 * Is it another form, whose value does not depend on a collation, and that fails no
 * earlier?
 */
static bool
may_be_sent(Node *written, Node *form, const FormRules *rules)
{
	return form != written && !collations_remain(form) &&
		!values_may_fail_early(form, NULL) &&
		!(rules->other_encoding && remotes_have_odd_text(form));
}

/* Notes what a form that is sent to the server of a relation needs of it. */
Node *
rewrite_depending(const RelOptInfo *rel, Node *form, const FormRules *rules)
{
	if (rules->may_read_texts && casts_read_text(form))
		planning_depend(rel, REPLAN_VERSION);
	if (rules->may_count && collations_count(form))
		planning_depend(rel, REPLAN_ENCODING);
	return form;
}

/* What forms the expressions of a relation may be given. */
static FormRules
rules_of(const PlannerInfo *root, const RelOptInfo *rel)
{
	/* Extended statistics would be read as if they were of the other types. */
	return (FormRules)
	{
		.serverid = rel->serverid,
			.may_count = remotes_may_count(rel),
			.zones = remotes_zone_rules(root, rel),
			.may_read_texts = remotes_may_read_texts(rel),
			.other_encoding = remotes_have_other_encoding(rel),
			.values = &planned->values,
			.types = rel->statlist == NIL ? &planned->types : NULL
	};
}

/*
 * A condition, or what SET assigns, in a form that may be sent; what it is, if it has
 * none, or if postgres_fdw sends it as it is.
 */
static Node *
sent_form(const RelOptInfo *rel, Node *written, bool is_condition,
		  FormRules *rules)
{
	Node	   *form = rewrite_form(written, is_condition, rules);
	FormRules	with_same = *rules;
	Oid			collation;

	if (may_be_sent(written, form, rules))
		return rewrite_depending(rel, form, rules);
	if (form == written &&
		sources_find_other(written, rel->relids, &collation) == NULL)
		return written;
	with_same.same_collations = true;
	form = rewrite_form(written, is_condition, &with_same);
	if (!may_be_sent(written, form, &with_same) ||
		sources_find_other(form, rel->relids, &collation) != NULL)
		return written;
	with_same.same_collations = remotes_have_same_collations(rel);
	/* A connection may have been made. */
	rules->other_encoding = remotes_have_other_encoding(rel);
	return with_same.same_collations ? rewrite_depending(rel, form, rules) : written;
}

/* The same, of one expression of a relation. */
Node *
rewrite_sent_form(const PlannerInfo *root, const RelOptInfo *rel, Node *written,
				  bool is_condition)
{
	FormRules	rules = rules_of(root, rel);

	return sent_form(rel, written, is_condition, &rules);
}

/* Rewrites a condition; its selectivity stays that of the written form. */
static void
rewrite_condition(PlannerInfo *root, const RelOptInfo *rel, RestrictInfo *clause,
				  FormRules *rules)
{
	Node	   *written = (Node *) clause->clause;
	Node	   *sent = sent_form(rel, written, true, rules);

	if (sent == written)
		return;
	keep_selectivity(root, clause);
	/* An estimator may have had a function's query planned. */
	(void) planning_find(root);
	clause->clause = (Expr *) sent;
	planning_note(root, rel->relids, written, sent);
}

/*
 * Rewrites the conditions of a foreign table, before postgres_fdw decides which of
 * them it sends.
 */
void
rewrite_conditions(PlannerInfo *root, RelOptInfo *rel, Oid tableid)
{
	FormRules	rules;
	ListCell   *cell;

	if (rel->baserestrictinfo == NIL || !planning_is_allowed(root, tableid))
		return;
	rules = rules_of(root, rel);
	foreach(cell, rel->baserestrictinfo)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);

		/* What hidden rows could be seen by waits for what hides them. */
		if (!clause->pseudoconstant &&
			restriction_is_securely_promotable(clause, rel))
			rewrite_condition(root, rel, clause, &rules);
	}
}

/*
 * A copy of a join's condition with another expression.  It has the selectivity of
 * the written form, for any join: to compute it from statistics of other types than
 * the expression has would crash.
 */
static RestrictInfo *
copy_join_clause(PlannerInfo *root, RestrictInfo *clause, Node *sent,
				 SpecialJoinInfo *sjinfo)
{
	Selectivity selectivity = clause_selectivity(root, (Node *) clause, 0,
												 sjinfo->jointype, sjinfo);
	RestrictInfo *copy = makeNode(RestrictInfo);

	*copy = *clause;
	copy->clause = (Expr *) sent;
	if (copy->norm_selec < 0)
		copy->norm_selec = selectivity;
	if (copy->outer_selec < 0)
		copy->outer_selec = selectivity;
	return copy;
}

/* What a join's condition has been found to be sent as, or NULL. */
static Node *
find_join_form(const PlannerInfo *root, const RestrictInfo *clause)
{
	ListCell   *cell;

	foreach(cell, planned->conditions)
	{
		const Condition *condition = lfirst(cell);

		if (condition->root == root &&
			bms_equal(condition->relids, clause->clause_relids) &&
			equal(condition->written, clause->clause))
			return (Node *) condition->sent;
	}
	return NULL;
}

/*
 * A join's condition, or a copy of it with other types.  Joins are planned several
 * times, by GEQO in memory that it frees: what is noted is copied, and noted once.
 */
static RestrictInfo *
rewrite_join_clause(PlannerInfo *root, const RelOptInfo *rel,
					RestrictInfo *clause, SpecialJoinInfo *sjinfo)
{
	Node	   *written = (Node *) clause->clause;
	Node	   *sent = find_join_form(root, clause);

	if (sent != NULL)
		return copy_join_clause(root, clause, sent, sjinfo);
	if (!types_are_other(written))
		return clause;
	sent = rewrite_sent_form(root, rel, written, true);
	if (sent == written)
		return clause;
	clause = copy_join_clause(root, clause, sent, sjinfo);
	(void) planning_find(root);
	planning_note(root, bms_copy(clause->clause_relids), copyObjectImpl(written),
				  sent);
	return clause;
}

/*
 * The conditions of a join that postgres_fdw may execute remotely, with those copied
 * whose types are replaced.
 */
List *
rewrite_join(PlannerInfo *root, const RelOptInfo *rel,
			 const JoinPathExtraData *extra)
{
	List	   *rewritten = NIL;
	MemoryContext old;
	ListCell   *cell;

	if (!OidIsValid(rel->serverid) ||
		!types_are_other((Node *) extract_actual_clauses(extra->restrictlist,
														 false)) ||
		!planning_is_rewritten(root, rel))
		return extra->restrictlist;
	old = MemoryContextSwitchTo(root->planner_cxt);
	foreach(cell, extra->restrictlist)
		rewritten = lappend(rewritten,
							rewrite_join_clause(root, rel,
												lfirst_node(RestrictInfo, cell),
												extra->sjinfo));
	MemoryContextSwitchTo(old);
	return rewritten;
}

/*
 * The type that values of this one are sent as to the server of a foreign table; the
 * type itself if they are sent as such, or not at all.
 */
Oid
rewrite_sent_as(const PlannerInfo *root, const RelOptInfo *rel, Oid type)
{
	return type >= FirstGenbkiObjectId && OidIsValid(rel->serverid) &&
		planning_is_rewritten(root, rel) ?
		types_sent_as(type, rel->serverid) : type;
}

/*
 * A condition of a join with the types that are sent with a scan of a table, whose
 * parameters are other tables' columns; the condition itself if there are none.
 */
Node *
rewrite_lookup(const PlannerInfo *root, const RelOptInfo *rel, Node *clause)
{
	Node	   *sent = planning_is_rewritten(root, rel) ?
		types_replace_lookup(clause, rel, &planned->types) : clause;

	return sent == clause ? clause :
		values_replace_lookup(sent, rel->relid, &planned->values);
}

/* Notes what a scan sends in place of a condition, of rewrite_lookup. */
void
rewrite_note_lookup(const PlannerInfo *root, const RelOptInfo *rel,
					Node *written, Node *sent)
{
	if (planning_find(root))
		planning_note(root, rel->relids, written, sent);
}

/*
 * May more be sent of a relation of a query, or of all of it if that is NULL, than
 * postgres_fdw would send?
 */
static bool
sends_more(const PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *cell;

	if (!planning_find(root))
		return false;
	if (planned->is_changed)
		return true;
	foreach(cell, planned->conditions)
	{
		const Condition *condition = lfirst(cell);

		if (condition->root == root &&
			(rel == NULL ||
			 bms_is_subset(condition->relids, rel->relids)))
			return true;
	}
	foreach(cell, planned->joins)
	{
		const SentJoin *join = lfirst(cell);

		if (join->root == root &&
			(rel == NULL || bms_is_subset(join->relids, rel->relids)))
			return true;
	}
	return false;
}

/* Notes that a join may be sent which postgres_fdw would not send. */
void
rewrite_note_join(const PlannerInfo *root, const RelOptInfo *rel, bool is_semi)
{
	SentJoin   *join;
	MemoryContext old;

	planning_need(root);
	/* GEQO frees the memory of joins. */
	old = MemoryContextSwitchTo(root->planner_cxt);
	join = palloc(sizeof(SentJoin));
	join->root = root;
	join->relids = bms_copy(rel->relids);
	join->is_semi = is_semi;
	planned->joins = lappend(planned->joins, join);
	MemoryContextSwitchTo(old);
}

/*
 * Must a join be executed here?  If postgres_fdw would do so, and a condition looks at
 * an order of texts, the local collation counts.
 */
bool
rewrite_keeps_join(const PlannerInfo *root, const RelOptInfo *rel,
				   const List *clauses)
{
	const ListCell *cell;

	if (!sends_more(root, rel))
		return false;
	foreach(cell, clauses)
	{
		if (collations_order((Node *) lfirst_node(RestrictInfo, cell)->clause))
			return !remotes_have_same_collations(rel);
	}
	return false;
}

/*
 * Is a semi join sent in a relation, whose inner side may be equal to what rows are
 * sorted by?  postgres_fdw might name that side.
 */
static bool
has_semi_join(const PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *cell;

	if (!planning_find(root))
		return false;
	foreach(cell, planned->joins)
	{
		const SentJoin *join = lfirst(cell);

		if (join->is_semi && join->root == root &&
			bms_is_subset(join->relids, rel->relids))
			return true;
	}
	return false;
}

/* The same for groups, and for sorting them, or rows of a semi join. */
bool
rewrite_keeps_upper(const PlannerInfo *root, UpperRelationKind stage,
					const RelOptInfo *input, const RelOptInfo *rel)
{
	bool		is_distinct = distinct_is_replaced(root->parse);

	if (stage == UPPERREL_GROUP_AGG || stage == UPPERREL_PARTIAL_GROUP_AGG)
		return (is_distinct || sends_more(root, input)) &&
			(collations_order((Node *) rel->reltarget->exprs) ||
			 collations_order(root->parse->havingQual)) &&
			!remotes_have_same_collations(input);
	if (stage == UPPERREL_ORDERED && has_semi_join(root, input))
		return true;
	return stage == UPPERREL_ORDERED && IS_UPPER_REL(input) &&
		(is_distinct || sends_more(root, NULL)) &&
		collations_sort(root->sort_pathkeys) && !remotes_have_same_collations(input);
}

/*
 * Must rows that are brought together here, as by GROUP BY, be sorted here?  They may
 * be together by another expression's value there, if that looks at an order of texts.
 * So must those of a semi join, whatever for.
 */
bool
rewrite_keeps_order(const PlannerInfo *root, const RelOptInfo *rel)
{
	const Query *query = root->parse;
	ListCell   *key;

	if (has_semi_join(root, rel))
		return true;
	if ((query->groupClause == NIL && query->distinctClause == NIL &&
		 query->windowClause == NIL) || !sends_more(root, rel))
		return false;
	foreach(key, root->query_pathkeys)
	{
		ListCell   *member;

		foreach(member, lfirst_node(PathKey, key)->pk_eclass->ec_members)
		{
			if (collations_order((Node *) lfirst_node(EquivalenceMember,
													  member)->em_expr))
				return true;
		}
	}
	return false;
}

/* The written form of a condition; the condition itself if it is not rewritten. */
static Expr *
written_form(Expr *sent)
{
	ListCell   *cell;

	foreach(cell, planned->conditions)
	{
		const Condition *condition = lfirst(cell);

		if (condition->sent == sent)
			return condition->written;
	}
	return sent;
}

/* A copy of a list of conditions, in their written forms. */
static List *
written_forms(const List *conditions)
{
	List	   *written = NIL;
	const ListCell *cell;

	foreach(cell, conditions)
		written = lappend(written, written_form(lfirst(cell)));
	return written;
}

/* Gives the parameters of a scan their written form, and notes if one is the zone. */
void
rewrite_restore_values(ForeignScan *plan, const RelOptInfo *rel)
{
	if (planned->values == NIL)
		return;
	plan->fdw_exprs = values_restore(plan->fdw_exprs, planned->values);
	planned->zones = replan_add_zones(planned->zones, rel->userid, rel->serverid,
									  zone_values_names(plan->fdw_exprs));
}

/*
 * Gives what a finished scan evaluates here its written form: conditions, and
 * parameters.  Of fdw_recheck_quals postgres_fdw keeps the list that it made.
 */
void
rewrite_restore_scan(const PlannerInfo *root, const RelOptInfo *rel,
					 ForeignScan *plan)
{
	RestoredScan *scan;

	if (!planning_find(root))
		return;
	rewrite_restore_values(plan, rel);
	if (planned->pairs != NIL && IS_UPPER_REL(rel))
	{
		plan->fdw_scan_tlist = targets_restore(plan->fdw_scan_tlist, rel,
											   planned->pairs);
		plan->scan.plan.qual = targets_restore(plan->scan.plan.qual, rel,
											   planned->pairs);
	}
	if (planned->types != NIL && plan->fdw_scan_tlist != NIL)
		plan->fdw_scan_tlist =
			types_restore(values_restore(plan->fdw_scan_tlist, planned->values),
						  planned->types);
	if (planned->conditions == NIL)
		return;
	plan->scan.plan.qual = written_forms(plan->scan.plan.qual);
	scan = palloc(sizeof(RestoredScan));
	scan->plan = plan;
	scan->sent = plan->fdw_recheck_quals;
	plan->fdw_recheck_quals = written_forms(scan->sent);
	planned->scans = lappend(planned->scans, scan);
}
