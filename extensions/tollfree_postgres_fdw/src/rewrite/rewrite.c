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
 * aggregates are rewritten for the remote command alone (groups.c).
 *
 * A condition keeps its selectivity, which is computed before.  All that is made of
 * it while the query is planned is made of its new form.  What the finished plan of a
 * scan evaluates here gets the written form back: conditions that are not sent after
 * all, and those that are checked again when a row is locked.  They are found by
 * their addresses, so nothing else can change.
 *
 * The values of SET are rewritten only while postgres_fdw looks whether the
 * modification can be one command.
 *
 * What is known of a query lasts as long as the planner works on it.  Plans may
 * be made in plans, each with a state of its own.  A session's first query may load
 * the library when it is being planned; then the hook does not see it.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/options.h"
#include "base/tables.h"
#include "rewrite/assigned.h"
#include "rewrite/casts.h"
#include "rewrite/collations.h"
#include "rewrite/distinct.h"
#include "rewrite/forms.h"
#include "rewrite/groups.h"
#include "rewrite/query.h"
#include "rewrite/replan.h"
#include "rewrite/rewrite.h"
#include "rewrite/sources.h"
#include "rewrite/targets.h"
#include "rewrite/types.h"
#include "rewrite/values.h"
#include "rewrite/zones.h"
#include "session/questions.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "sql/plan.h"
#include "xact/transaction.h"

/* Rows of a table for which a question that takes ten milliseconds is worth it */
#define ZONE_MIN_ROWS 5000

/* A condition that is rewritten, or a grouping, which has no forms here */
typedef struct Condition
{
	Relids		relids;			/* of the tables that it is of */
	const PlannerInfo *root;
	Expr	   *written;
	Expr	   *sent;			/* in a form that may be sent */
} Condition;

/* A join that postgres_fdw would not send */
typedef struct SentJoin
{
	const PlannerInfo *root;
	Relids		relids;
} SentJoin;

/* A scan whose fdw_recheck_quals got the written forms back */
typedef struct RestoredScan
{
	const ForeignScan *plan;
	List	   *sent;			/* the list that postgres_fdw made */
} RestoredScan;

/* What is rewritten in the query that is being planned */
typedef struct QueryState
{
	const PlannerGlobal *query; /* if it is the first one; else NULL */
	bool		is_changed;		/* by query.c? */
	Query	   *written;		/* before planning, if it has times in the
								 * session's zone and may be planned again */
	List	   *zone_servers;	/* on which its plan depends then (replan.c) */
	List	   *conditions;		/* of Condition */
	List	   *joins;			/* of SentJoin */
	List	   *values;			/* of Node, for values.c */
	List	   *types;			/* what types.c has replaced */
	List	   *pairs;			/* for targets.c */
	List	   *scans;			/* of RestoredScan */
} QueryState;

/* The state of the innermost planner that the hook knows of; NULL outside of it */
static QueryState *hooked = NULL;

/*
 * That of the query whose planning loaded the library, before there was a hook; NULL
 * when its memory is gone.
 */
static QueryState *first = NULL;

/* The one of the query that a callback is for, until it returns */
static QueryState *current = NULL;

static planner_hook_type next_planner = NULL;

/* The hook: plans a query with a state of its own. */
static PlannedStmt *
plan_query(COMPAT_PLANNER_PARAMS)
{
	QueryState	state = {0};
	QueryState *outer = hooked;
	PlannedStmt *stmt;

	if (!replan_is_under_way() && query_reads_foreign(query) && zones_in_query(query))
		state.written = copyObject(query);
	state.is_changed = query_rewrite(query);
	hooked = &state;
	PG_TRY();
	{
		stmt = next_planner != NULL ? next_planner(COMPAT_PLANNER_ARGS) :
			standard_planner(COMPAT_PLANNER_ARGS);
	}
	PG_FINALLY();
	{
		hooked = outer;
	}
	PG_END_TRY();
	if (state.zone_servers != NIL)
		replan_keep(stmt, state.written, cursor_options, state.zone_servers);
	return stmt;
}

/* A reset callback: the memory of a state goes. */
static void
forget(void *state)
{
	if (first == state)
		first = NULL;
}

/* Makes the state of a query that is planned without the hook. */
static void
begin_first(const PlannerInfo *root)
{
	MemoryContextCallback *callback =
		MemoryContextAllocZero(root->planner_cxt, sizeof(MemoryContextCallback));

	first = MemoryContextAllocZero(root->planner_cxt, sizeof(QueryState));
	first->query = root->glob;
	callback->func = forget;
	callback->arg = first;
	MemoryContextRegisterResetCallback(root->planner_cxt, callback);
}

/* Finds the state of a query; false if it has none. */
static bool
find_state(const PlannerInfo *root)
{
	current = hooked;
	if (current == NULL && first != NULL && first->query == root->glob)
		current = first;
	return current != NULL;
}

/* Finds the state of a query, or makes one. */
static void
need_state(const PlannerInfo *root)
{
	if (find_state(root))
		return;
	begin_first(root);
	current = first;
}

/* May expressions on this table be rewritten?  Then the query has a state. */
static bool
is_allowed(const PlannerInfo *root, Oid tableid)
{
	need_state(root);
	return fastpath_is_on(tables_fast_paths(tableid), FAST_REMOTE_EXPRESSIONS);
}

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
 * Walker: is there a text with characters that another encoding may lack?  To send it
 * would be an error.
 */
static bool
has_odd_text(Node *node, void *context)
{
	const Const *constant = (const Const *) node;
	Oid			output;
	bool		is_varlena;

	if (node == NULL)
		return false;
	if ((!IsA(node, Const) && !IsA(node, Param)) ||
		!(type_is_collatable(exprType(node)) || exprType(node) == JSONBOID))
		return expression_tree_walker(node, has_odd_text, context);
	if (IsA(node, Param))
		return true;
	if (constant->constisnull)
		return false;
	getTypeOutputInfo(constant->consttype, &output, &is_varlena);
	for (const char *c = OidOutputFunctionCall(output, constant->constvalue);
		 *c != '\0'; c++)
	{
		if (IS_HIGHBIT_SET(*c))
			return true;
	}
	return false;
}

/* Is the database of a table known to have another encoding than the local one? */
static bool
has_other_encoding(const RelOptInfo *rel)
{
	return !sessions_have_same_encoding(OidIsValid(rel->userid) ? rel->userid :
										GetUserId(), rel->serverid);
}

/* Can all texts of an expression be sent to the database of a table? */
static bool
can_encode(const RelOptInfo *rel, Node *expr)
{
	return !has_other_encoding(rel) || !has_odd_text(expr, NULL);
}

/*
 * Is a table, or any table of a query that an aggregation is of, so large that it is
 * worth asking whether the server has the rules of a zone?  Yes if that is not known.
 */
static bool
is_worth_asking(const PlannerInfo *root, const RelOptInfo *rel)
{
	if (rel->relid > 0)
		return rel->tuples < 0 || rel->tuples >= ZONE_MIN_ROWS;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		if (root->simple_rel_array[i] != NULL && root->simple_rel_array[i]->relid > 0 &&
			is_worth_asking(root, root->simple_rel_array[i]))
			return true;
	}
	return false;
}

/*
 * May times in the session's zone be sent to the server of a relation?  Not if its
 * rules of that zone are known to differ, nor if that could not be found out later, or
 * would take longer than to fetch the rows.
 */
static bool
may_send_zone(const PlannerInfo *root, const RelOptInfo *rel)
{
	bool		is_same;

	if (current->written == NULL)
		return false;
	if (sessions_know_zone(OidIsValid(rel->userid) ? rel->userid : GetUserId(),
						   rel->serverid, session_timezone, &is_same))
		return is_same;
	return is_worth_asking(root, rel);
}

/*
 * A condition, or what SET assigns, in a form that postgres_fdw may have words for;
 * what it is, if it has none.
 */
Node *
rewrite_form(Node *written, bool is_condition, const FormRules *rules)
{
	Node	   *form = is_condition ? values_compare_texts(written) : written;

	if (rules->types != NULL)
		form = types_replace(form, rules->serverid, rules->types);
	form = values_replace(zones_compare(form), is_condition, rules->values);
	form = zones_replace(form, rules->may_send_zones, rules->values);
	form = forms_replace(collations_drop(casts_replace(form), !is_condition));
	return rules->same_collations ? collations_drop_default(form) : form;
}

/*
 * Is it another form, whose value does not depend on a collation, and that fails no
 * earlier?
 */
static bool
may_be_sent(const RelOptInfo *rel, Node *written, Node *form)
{
	return form != written && !collations_remain(form) &&
		!values_may_fail_early(form, NULL) &&
		can_encode(rel, form);
}

/*
 * Has the remote database the collations of this one?  It is asked only if the
 * server's option says so; then a connection is made, if there is none.
 */
static bool
has_same_collations(const RelOptInfo *rel)
{
	Oid			user = OidIsValid(rel->userid) ? rel->userid : GetUserId();

	return OidIsValid(rel->serverid) &&
		option_claims_collations(GetForeignServer(rel->serverid)->options) &&
		questions_have_same_collations(transaction_get_session(user,
															   rel->serverid));
}

/*
 * A condition, or what SET assigns, in a form that may be sent; what it is, if it has
 * none, or if postgres_fdw sends it as it is.
 */
static Node *
sent_form(const PlannerInfo *root, const RelOptInfo *rel, Node *written,
		  bool is_condition)
{
	/* Extended statistics would be read as if they were of the other types. */
	FormRules	rules = {
		.serverid = rel->serverid,
		.may_send_zones = may_send_zone(root, rel),
		.values = &current->values,
		.types = rel->statlist == NIL ? &current->types : NULL
	};
	Node	   *form = rewrite_form(written, is_condition, &rules);
	Oid			collation;

	if (may_be_sent(rel, written, form))
		return form;
	if (form == written &&
		sources_find_other(written, rel->relids, &collation) == NULL)
		return written;
	rules.same_collations = true;
	form = rewrite_form(written, is_condition, &rules);
	return may_be_sent(rel, written, form) &&
		sources_find_other(form, rel->relids, &collation) == NULL &&
		has_same_collations(rel) ? form : written;
}

/* Notes the written form of a condition that is sent in another one. */
static void
note_condition(const PlannerInfo *root, Relids relids, Node *written, Node *sent)
{
	Condition  *condition = palloc(sizeof(Condition));

	condition->relids = relids;
	condition->root = root;
	condition->written = (Expr *) written;
	condition->sent = (Expr *) sent;
	current->conditions = lappend(current->conditions, condition);
}

/* Rewrites a condition; its selectivity stays that of the written form. */
static void
rewrite_condition(PlannerInfo *root, const RelOptInfo *rel, RestrictInfo *clause)
{
	Node	   *written = (Node *) clause->clause;
	Node	   *sent = sent_form(root, rel, written, true);

	if (sent == written)
		return;
	keep_selectivity(root, clause);
	/* An estimator may have had a function's query planned. */
	(void) find_state(root);
	clause->clause = (Expr *) sent;
	note_condition(root, rel->relids, written, sent);
}

/*
 * Rewrites the conditions of a foreign table, before postgres_fdw decides which of
 * them it sends.
 */
void
rewrite_conditions(PlannerInfo *root, RelOptInfo *rel, Oid tableid)
{
	ListCell   *cell;

	if (rel->baserestrictinfo == NIL || !is_allowed(root, tableid))
		return;
	foreach(cell, rel->baserestrictinfo)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);

		/* What hidden rows could be seen by waits for what hides them. */
		if (!clause->pseudoconstant &&
			restriction_is_securely_promotable(clause, rel))
			rewrite_condition(root, rel, clause);
	}
}

/*
 * May expressions on all foreign tables of a relation be rewritten?  Then the query
 * has a state.
 */
static bool
is_rewritten(const PlannerInfo *root, const RelOptInfo *rel)
{
	need_state(root);
	return fastpath_is_on(plan_fast_paths(root, rel, InvalidOid),
						  FAST_REMOTE_EXPRESSIONS);
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

	foreach(cell, current->conditions)
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
	sent = sent_form(root, rel, written, true);
	if (sent == written)
		return clause;
	clause = copy_join_clause(root, clause, sent, sjinfo);
	(void) find_state(root);
	note_condition(root, bms_copy(clause->clause_relids), copyObjectImpl(written),
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
		!is_rewritten(root, rel))
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
		is_rewritten(root, rel) ?
		types_sent_as(type, rel->serverid) : type;
}

/*
 * A condition of a join with the types that are sent with a scan of a table, whose
 * parameters are other tables' columns; the condition itself if there are none.
 */
Node *
rewrite_lookup(const PlannerInfo *root, const RelOptInfo *rel, Node *clause)
{
	Node	   *sent = is_rewritten(root, rel) ?
		types_replace_lookup(clause, rel, &current->types) : clause;

	return sent == clause ? clause :
		values_replace_lookup(sent, rel->relid, &current->values);
}

/* Notes what a scan sends in place of a condition, of rewrite_lookup. */
void
rewrite_note_lookup(const PlannerInfo *root, const RelOptInfo *rel,
					Node *written, Node *sent)
{
	if (find_state(root))
		note_condition(root, rel->relids, written, sent);
}

/*
 * May more be sent of a relation of a query, or of all of it if that is NULL, than
 * postgres_fdw would send?
 */
static bool
sends_more(const PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *cell;

	if (!find_state(root))
		return false;
	if (current->is_changed)
		return true;
	foreach(cell, current->conditions)
	{
		const Condition *condition = lfirst(cell);

		if (condition->root == root &&
			(rel == NULL ||
			 bms_is_subset(condition->relids, rel->relids)))
			return true;
	}
	foreach(cell, current->joins)
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
rewrite_note_join(const PlannerInfo *root, const RelOptInfo *rel)
{
	SentJoin   *join;
	MemoryContext old;

	need_state(root);
	/* GEQO frees the memory of joins. */
	old = MemoryContextSwitchTo(root->planner_cxt);
	join = palloc(sizeof(SentJoin));
	join->root = root;
	join->relids = bms_copy(rel->relids);
	current->joins = lappend(current->joins, join);
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
			return !has_same_collations(rel);
	}
	return false;
}

/* The same for groups, and for sorting them. */
bool
rewrite_keeps_upper(const PlannerInfo *root, UpperRelationKind stage,
					const RelOptInfo *input, const RelOptInfo *rel)
{
	bool		is_distinct = distinct_is_replaced(root->parse);

	if (stage == UPPERREL_GROUP_AGG || stage == UPPERREL_PARTIAL_GROUP_AGG)
		return (is_distinct || sends_more(root, input)) &&
			(collations_order((Node *) rel->reltarget->exprs) ||
			 collations_order(root->parse->havingQual)) &&
			!has_same_collations(input);
	return stage == UPPERREL_ORDERED && IS_UPPER_REL(input) &&
		(is_distinct || sends_more(root, NULL)) &&
		collations_sort(root->sort_pathkeys) && !has_same_collations(input);
}

/*
 * Must rows that are brought together here, as by GROUP BY, be sorted here?  They may
 * be together by another expression's value there, if that looks at an order of texts.
 */
bool
rewrite_keeps_order(const PlannerInfo *root, const RelOptInfo *rel)
{
	const Query *query = root->parse;
	ListCell   *key;

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

/*
 * Has a condition on groups a column of a type that is not PostgreSQL's own, outside
 * of aggregates?  postgres_fdw computes its selectivity from the column's statistics.
 */
bool
rewrite_has_other_group(Node *condition)
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
rewrite_target(Node *written, bool is_group, const FormRules *rules)
{
	Node	   *form = types_replace_output(written, rules->serverid, rules->types);

	if (form != written)
		form = values_replace(form, false, rules->values);
	form = zones_replace(form, rules->may_send_zones, rules->values);
	return groups_replace(form, is_group);
}

/* How an expression of an aggregation is sent to the server of its relation */
static Node *
sent_target(Node *written, TargetKind kind, const PlannerInfo *root,
			const RelOptInfo *rel)
{
	FormRules	rules = {
		.serverid = rel->serverid,
		.may_send_zones = may_send_zone(root, rel),
		.values = &current->values,
		.types = &current->types
	};
	Node	   *sent;

	if (kind == TARGET_CONDITION && rewrite_has_other_group(written))
		return written;
	sent = rewrite_target(written, kind == TARGET_GROUP, &rules);
	return values_may_fail_early(sent, NULL) ? written : sent;
}

/* May an expression of a grouping be sent in this form? */
static bool
may_send_target(const RelOptInfo *input, Node *sent)
{
	return !collations_order(sent) && can_encode(input, sent);
}

/*
 * Has a grouping in the form that is sent, until rewrite_end_grouping.  Returns
 * whether it has another one.
 */
bool
rewrite_begin_grouping(RewrittenTarget *rewritten, const PlannerInfo *root,
					   const RelOptInfo *input, RelOptInfo *rel,
					   GroupPathExtraData *extra)
{
	if (!is_rewritten(root, rel) ||
		!targets_begin(rewritten, root, rel, extra, sent_target,
					   &current->pairs))
		return false;
	if (may_send_target(input, (Node *) rel->reltarget->exprs) &&
		may_send_target(input, extra->havingQual))
		return true;
	targets_end(rewritten);
	return false;
}

/* Puts back what was written, and notes whether postgres_fdw sends the other form. */
void
rewrite_end_grouping(const RewrittenTarget *rewritten, const PlannerInfo *root,
					 const RelOptInfo *input, const RelOptInfo *rel)
{
	Condition  *grouping;

	targets_end(rewritten);
	if (rel->pathlist == NIL)
		return;
	need_state(root);
	grouping = palloc0(sizeof(Condition));
	grouping->relids = input->relids;
	grouping->root = root;
	current->conditions = lappend(current->conditions, grouping);
}

/* The written form of a condition; the condition itself if it is not rewritten. */
static Expr *
written_form(Expr *sent)
{
	ListCell   *cell;

	foreach(cell, current->conditions)
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
static void
restore_values(ForeignScan *plan, const RelOptInfo *rel)
{
	if (current->values == NIL)
		return;
	plan->fdw_exprs = values_restore(plan->fdw_exprs, current->values);
	if (zones_among(plan->fdw_exprs))
		current->zone_servers = replan_add_server(current->zone_servers,
												  rel->userid, rel->serverid);
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

	if (!find_state(root))
		return;
	restore_values(plan, rel);
	if (current->pairs != NIL && IS_UPPER_REL(rel))
	{
		plan->fdw_scan_tlist = targets_restore(plan->fdw_scan_tlist, rel,
											   current->pairs);
		plan->scan.plan.qual = targets_restore(plan->scan.plan.qual, rel,
											   current->pairs);
	}
	if (current->types != NIL && plan->fdw_scan_tlist != NIL)
		plan->fdw_scan_tlist =
			types_restore(values_restore(plan->fdw_scan_tlist, current->values),
						  current->types);
	if (current->conditions == NIL)
		return;
	plan->scan.plan.qual = written_forms(plan->scan.plan.qual);
	scan = palloc(sizeof(RestoredScan));
	scan->plan = plan;
	scan->sent = plan->fdw_recheck_quals;
	plan->fdw_recheck_quals = written_forms(scan->sent);
	current->scans = lappend(current->scans, scan);
}

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
	foreach(cell, current->scans)
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
		return sent_form(root, rel, sent, false);
	if (has_other_encoding(rel) && has_odd_text(sent, NULL))
		return written;
	update->columns = lappend(update->columns,
							  label_column(root, target, attno,
										   exprType(written)));
	return values_assign(sent, &current->values);
}

/*
 * Rewrites what SET assigns and, again, the conditions of a modification that may
 * become one command, until rewrite_end_direct.
 */
void
rewrite_begin_direct(RewrittenUpdate *update, PlannerInfo *root,
					 ModifyTable *plan, Index target)
{
	RestoredScan *scan;
	ListCell   *cell;
	ListCell   *attno;

	*update = (RewrittenUpdate)
	{
		0
	};
	if (!is_allowed(root, planner_rt_fetch(target, root)->relid))
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
rewrite_finish_direct(const RewrittenUpdate *update, const PlannerInfo *root,
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

/* Puts back what rewrite_begin_direct replaced, in the finished plan, too. */
void
rewrite_end_direct(const RewrittenUpdate *update, const PlannerInfo *root,
				   bool is_direct, ModifyTable *plan, Index target)
{
	ListCell   *cell;
	ListCell   *written;

	forboth(cell, update->entries, written, update->written)
		lfirst_node(TargetEntry, cell)->expr = lfirst(written);
	if (update->scan != NULL)
		update->scan->fdw_recheck_quals = update->rechecks;
	if (!is_direct || !find_state(root) || current->values == NIL)
		return;
	foreach(cell, find_direct(outerPlan(plan), target))
		restore_values(lfirst_node(ForeignScan, cell),
					   find_base_rel(unconstify(PlannerInfo *, root), target));
}

/*
 * Installs the hook; called when the library is loaded.  Foreign tables whose scans
 * begin by this function are ours.
 */
void
rewrite_install(BeginForeignScan_function begin)
{
	query_know_tables(begin);
	next_planner = planner_hook;
	planner_hook = plan_query;
	replan_install();
}
