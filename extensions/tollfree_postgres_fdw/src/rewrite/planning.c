/*
 * planning.c
 *	  What is rewritten in the query that is being planned.
 *
 * What is known of a query lasts as long as the planner works on it.  Plans may be
 * made in plans, each with a state of its own.  A session's first query may load the
 * library when it is being planned; then the hook does not see it (first.c).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/planner.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/tables.h"
#include "rewrite/casts.h"
#include "rewrite/collations.h"
#include "rewrite/matches.h"
#include "rewrite/nested.h"
#include "rewrite/partitions.h"
#include "rewrite/planning.h"
#include "rewrite/query.h"
#include "rewrite/replan.h"
#include "rewrite/zones.h"
#include "sql/plan.h"

/* The state of the innermost planner that the hook knows of; NULL outside of it */
static QueryState *hooked = NULL;

/*
 * That of the query whose planning loaded the library, before there was a hook; NULL
 * when its memory is gone.
 */
static QueryState *first = NULL;

/* Has a query been planned without the hook? */
static bool is_missed = false;

QueryState *planned = NULL;

static planner_hook_type next_planner = NULL;

/* The hook: plans a query with a state of its own. */
static PlannedStmt *
plan_query(COMPAT_PLANNER_PARAMS)
{
	QueryState	state = {0};
	QueryState *outer = hooked;
	Query	   *copy = partitions_copy(query);
	Query	   *unmatched = NULL;
	bool		aggregates_parts;
	PlannedStmt *stmt;

	if (!replan_is_under_way() && query_reads_foreign(query) &&
		(zones_in_query(query) || casts_in_query(query) ||
		 collations_count_in_query(query)))
		state.written = copyObject(query);
	unmatched = matches_to_joins(query, query_are_together);
	state.is_joined = unmatched != NULL;
	state.is_changed = query_rewrite(query) || state.is_joined;
	aggregates_parts = partitions_begin(copy != NULL);
	hooked = &state;
	PG_TRY();
	{
		stmt = next_planner != NULL ? next_planner(COMPAT_PLANNER_ARGS) :
			standard_planner(COMPAT_PLANNER_ARGS);
	}
	PG_FINALLY();
	{
		hooked = outer;
		partitions_end(aggregates_parts);
	}
	PG_END_TRY();
	if (partitions_plan_again(stmt, copy))
	{
		query = copy;
		return plan_query(COMPAT_PLANNER_ARGS);
	}
	if (matches_plan_again(stmt, unmatched))
	{
		query = unmatched;
		return plan_query(COMPAT_PLANNER_ARGS);
	}
	nested_finish(stmt, state.results);
	if (state.zones != NIL || state.servers != NIL)
		replan_keep(stmt, state.written, cursor_options, state.zones, state.servers);
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
bool
planning_find(const PlannerInfo *root)
{
	planned = hooked;
	if (planned == NULL && first != NULL && first->query == root->glob)
		planned = first;
	return planned != NULL;
}

/* Finds the state of a query, or makes one. */
void
planning_need(const PlannerInfo *root)
{
	if (planning_find(root))
		return;
	begin_first(root);
	planned = first;
}

/* May expressions on this table be rewritten?  Then the query has a state. */
bool
planning_is_allowed(const PlannerInfo *root, Oid tableid)
{
	planning_need(root);
	return fastpath_is_on(tables_fast_paths(tableid), FAST_REMOTE_EXPRESSIONS);
}

/*
 * May expressions on all foreign tables of a relation be rewritten?  Then the query
 * has a state.
 */
bool
planning_is_rewritten(const PlannerInfo *root, const RelOptInfo *rel)
{
	planning_need(root);
	return fastpath_is_on(plan_fast_paths(root, rel, InvalidOid),
						  FAST_REMOTE_EXPRESSIONS);
}

/* Notes what the plan needs of the server of a relation; bits of ReplanNeed. */
void
planning_depend(const RelOptInfo *rel, int needs)
{
	planned->servers = replan_add_server(planned->servers, rel->userid,
										 rel->serverid, needs);
}

/* Notes the written form of a condition that is sent in another one. */
void
planning_note(const PlannerInfo *root, Relids relids, Node *written, Node *sent)
{
	Condition  *condition = palloc(sizeof(Condition));

	condition->relids = relids;
	condition->root = root;
	condition->written = (Expr *) written;
	condition->sent = (Expr *) sent;
	planned->conditions = lappend(planned->conditions, condition);
}

/* Is a relation all of a modification whose joins matches.c has made? */
bool
planning_is_joined(const PlannerInfo *root, const RelOptInfo *rel)
{
	return planning_find(root) && planned->is_joined && root->parent_root == NULL &&
		bms_equal(rel->relids, root->all_baserels);
}

/* Has a query been planned without the hook since this was asked last? */
bool
planning_take_missed(void)
{
	bool		missed = is_missed;

	is_missed = false;
	return missed;
}

/*
 * Notes a finished scan if an aggregation above it can only be one of the query that
 * this one is a subquery of, or its DISTINCT; and whether the hook has missed it.
 */
void
planning_note_scan(const PlannerInfo *root, const RelOptInfo *rel, ForeignScan *plan)
{
	const Query *query = root->parse;

	is_missed |= hooked == NULL;
	if ((IS_UPPER_REL(rel) ||
		 (root->parent_root != NULL && !query->hasAggs &&
		  query->groupClause == NIL && query->groupingSets == NIL &&
		  query->distinctClause == NIL && query->setOperations == NULL)) &&
		planning_find(root))
		planned->results = lappend(planned->results, plan);
}

/*
 * Installs the hook; called when the library is loaded.  Foreign tables whose scans
 * begin by this function are ours.
 */
void
planning_install(BeginForeignScan_function begin)
{
	query_know_tables(begin);
	next_planner = planner_hook;
	planner_hook = plan_query;
	replan_install();
}
