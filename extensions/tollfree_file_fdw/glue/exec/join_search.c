/*
 * join_search.c
 *	  Which hash joins can tell a scan what rows they drop.
 *
 * When the executor has made the nodes of a query, each hash join is followed down
 * on its outer side, whose rows are looked up in its table:
 *
 *		Hash Join			keys: outer columns 2, 5
 *		  Hash Join			passes them on: its outer columns 1, 3
 *			Append			passes them on
 *			  Foreign Scan	columns of the file: gets a filter
 *			Hash
 *		  Hash
 *
 * A row that the scan drops for an upper join is not seen by what is in between.
 * So nothing there may raise an error, do anything else than compute, or return
 * another row because it has not seen this one.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "base/guc.h"
#include "exec/join_search.h"
#include "exec/scan_state.h"
#include "plan/callbacks.h"
#include "translate/quals.h"

/* A hash join that is followed down. */
typedef struct JoinSearch
{
	HashJoinState *join;
	List	   *between;		/* HashJoinState: passed on the way */
	List	   *keys;			/* integers: the key's columns, as numbered in
								 * the rows of the node that was reached */
	List	   *inner;			/* integers: of each key, see JoinFilter */
} JoinSearch;

static ExecutorStart_hook_type next_start_hook = NULL;

/* Walker: is there a parameter in an expression? */
static bool
has_param(Node *node, void *context)
{
	return node != NULL &&
		(IsA(node, Param) || expression_tree_walker(node, has_param, context));
}

/* Can a function fail, or tell of its arguments otherwise? */
static bool
is_leaky(Oid function, void *context)
{
	return !get_func_leakproof(function);
}

/* Can a function fail in one execution of a plan, and not in another one? */
static bool
join_search_is_unpredictable(Oid function, void *context)
{
	return !get_func_leakproof(function) && !quals_is_predictable(function);
}

/*
 * Walker: has an expression of parameters a subquery executed for them, or can it
 * fail for what they are, or in this execution only?  PostgreSQL executes an
 * uncorrelated subquery when its value is asked for first.  Arrays of columns that
 * are cast can fail, too.
 */
static bool
may_fail(Node *node, void *context)
{
	const EState *estate = context;

	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC &&
			estate->es_param_exec_vals[((Param *) node)->paramid].execPlan != NULL;
	/* Its function is called for elements, which show no parameter or column. */
	if (IsA(node, ArrayCoerceExpr) &&
		(has_param(node, NULL) || contain_var_clause(node)))
		return true;
	if (check_functions_in_node(node, join_search_is_unpredictable, NULL) ||
		(check_functions_in_node(node, is_leaky, NULL) && has_param(node, NULL)))
		return true;
	return expression_tree_walker(node, may_fail, context);
}

/*
 * Can an expression of a node neither raise an error nor do anything but compute?
 * contain_leaked_vars looks at columns of rows only.
 */
static bool
is_harmless(Node *node, const PlanState *ps)
{
	return !contain_leaked_vars(node) && !contain_volatile_functions(node) &&
		!may_fail(node, ps->state);
}

/* Walker: is there a function that can fail? */
static bool
has_leaky(Node *node, void *context)
{
	return node != NULL &&
		(check_functions_in_node(node, is_leaky, NULL) ||
		 expression_tree_walker(node, has_leaky, context));
}

/*
 * The same for all expressions of a target list.  The planner has not computed
 * them, unlike the values of conditions (quals.c).
 */
static bool
are_targets_harmless(List *targets, const PlanState *ps)
{
	ListCell   *cell;

	foreach(cell, targets)
	{
		Node	   *expr = (Node *) lfirst_node(TargetEntry, cell)->expr;

		if (!is_harmless(expr, ps) || has_leaky(expr, NULL))
			return false;
	}
	return true;
}

/*
 * The number that a key column has one node below, as found in that node's target
 * list; 0 if it is computed there or comes from elsewhere than varno.
 */
static AttrNumber
find_below(List *targets, AttrNumber attnum, int varno)
{
	TargetEntry *target = list_nth_node(TargetEntry, targets, attnum - 1);
	Var		   *var = (Var *) target->expr;

	return IsA(var, Var) && var->varno == varno && var->varattno > 0 ?
		var->varattno : 0;
}

/* Renumbers all key columns so; false if one is not found. */
static bool
follow_keys(JoinSearch *search, const PlanState *node, int varno)
{
	List	   *keys = NIL;
	ListCell   *cell;

	foreach(cell, search->keys)
	{
		AttrNumber	key = find_below(node->plan->targetlist, lfirst_int(cell),
									 varno);

		if (key == 0)
			return false;
		keys = lappend_int(keys, key);
	}
	search->keys = keys;
	return true;
}

/*
 * Can rows be dropped below a join that another one would drop?  It must return
 * rows for its outer rows alone, and test these by what cannot fail.
 */
static bool
passes_on(const HashJoinState *join)
{
	const PlanState *ps = &join->js.ps;
	const HashJoin *plan = castNode(HashJoin, ps->plan);
	ListCell   *cell;

	foreach(cell, plan->hashoperators)
	{
		/* The hash functions of PostgreSQL's own types do not fail. */
		if (lfirst_oid(cell) >= FirstUnpinnedObjectId)
			return false;
	}
	return join->hj_NullOuterTupleSlot == NULL &&
		!plan->join.plan.parallel_aware &&
		is_harmless((Node *) plan->hashclauses, ps) &&
		is_harmless((Node *) plan->join.joinqual, ps) &&
		is_harmless((Node *) plan->join.plan.qual, ps) &&
		are_targets_harmless(plan->join.plan.targetlist, ps);
}

/* Gives a scan a filter, if it can have one. */
static void
add_filter(const JoinSearch *search, ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	const Plan *plan = node->ss.ps.plan;
	List	   *columns = NIL;
	ListCell   *cell;

	if (scan->aggregate != NULL || scan->input.slow_reason != NULL ||
		!are_targets_harmless(plan->targetlist, &node->ss.ps) ||
		!is_harmless((Node *) list_copy_tail(plan->qual, scan->npushed),
					 &node->ss.ps))
		return;
	foreach(cell, search->keys)
	{
		int			column = columns_find(&scan->input.columns, lfirst_int(cell));

		if (column < 0 ||
			!hash_filter_takes(&scan->input.columns.specs[column]))
			return;
		columns = lappend_int(columns, column);
	}
	select_add_keys(scan->selector, &scan->input.columns,
					scan_text_mode(scan), columns);
	select_add_keys(scan->cached_selector, &scan->kept.cache.columns,
					SELECT_BY_TESTS, columns);
	if (scan->joins == NULL)
		scan->joins = join_filters_create();
	join_filters_add(scan->joins,
					 join_filter_create(search->join, search->between, columns,
										search->inner));
}

/* Follows a join down, from a node whose rows have its key in these columns. */
static void
join_search_follow(JoinSearch search, PlanState *node)
{
	if (IsA(node, HashJoinState))
	{
		HashJoinState *join = castNode(HashJoinState, node);

		if (!passes_on(join) || !follow_keys(&search, node, OUTER_VAR))
			return;
		search.between = lappend(list_copy(search.between), join);
		join_search_follow(search, outerPlanState(node));
	}
	else if (IsA(node, AppendState))
	{
		AppendState *append = castNode(AppendState, node);

		if (!follow_keys(&search, node, OUTER_VAR))
			return;
		for (int i = 0; i < append->as_nplans; i++)
			join_search_follow(search, append->appendplans[i]);
	}
	else if (IsA(node, ForeignScanState))
	{
		ForeignScanState *scan = castNode(ForeignScanState, node);
		const ForeignScan *plan = castNode(ForeignScan, node->plan);

		if (scan->fdwroutine->IterateForeignScan == tollfreeIterateForeignScan &&
			follow_keys(&search, node, plan->scan.scanrelid))
			add_filter(&search, scan);
	}
}

/* The type's own hash function is the one that vector/ knows. */
static bool
has_known_hash(Oid type, Oid hash_function)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TEXTOID:
		case BPCHAROID:
			return lookup_type_cache(type, TYPECACHE_HASH_PROC)->hash_proc ==
				hash_function;
		default:
			return false;
	}
}

/*
 * The outer column that a key of a join is, as hashed by that function; 0 if it is
 * none, or nobody here knows how it is hashed.
 */
static AttrNumber
find_key(Expr *key, Oid hash_function, Oid collation)
{
	Oid			type = exprType((Node *) key);
	Var		   *var = (Var *) key;

	/* A varchar is hashed as text. */
	if (IsA(key, RelabelType) && type == TEXTOID &&
		exprType((Node *) castNode(RelabelType, key)->arg) == VARCHAROID)
		var = (Var *) castNode(RelabelType, key)->arg;
	if (!IsA(var, Var) || var->varno != OUTER_VAR ||
		!has_known_hash(type, hash_function) ||
		(OidIsValid(collation) &&
		 !get_collation_isdeterministic(collation)))
		return 0;
	return var->varattno;
}

/* Have both types one order of integers, and equal values in both one integer? */
static bool
are_same_integers(Oid type, Oid other)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return other == INT2OID || other == INT4OID || other == INT8OID;
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return other == type;
		default:
			return false;
	}
}

/*
 * The column of the tuples in the hash table that a key, the nth, must be equal to,
 * as integers; 0 if there is none.  Only PostgreSQL's own operators are known.
 */
static AttrNumber
find_inner(const HashJoinState *join, int n)
{
	const HashJoin *plan = castNode(HashJoin, join->js.ps.plan);
	const Hash *hash = castNode(Hash, innerPlan(plan));
	Expr	   *key = list_nth(hash->hashkeys, n);
	Var		   *var = (Var *) key;

	if (!IsA(key, Var) || var->varattno <= 0 ||
		list_nth_oid(plan->hashoperators, n) >= FirstUnpinnedObjectId ||
		!are_same_integers(exprType(list_nth(plan->hashkeys, n)), var->vartype))
		return 0;
	return var->varattno;
}

/* Finds the scans that a join can tell what rows it drops, and has it do so. */
static void
search_below(HashJoinState *join)
{
	const HashJoin *plan = castNode(HashJoin, join->js.ps.plan);
	JoinSearch	search = {.join = join};

	/* An outer join of the outer side drops none of its rows. */
	if (join->hj_NullInnerTupleSlot != NULL)
		return;
	for (int i = 0; i < list_length(plan->hashkeys); i++)
	{
		Oid			hash_operator = list_nth_oid(plan->hashoperators, i);
		Oid			outer_function;
		Oid			inner_function;
		AttrNumber	key;

		/* Rows with a null are dropped if no operator can be true for them. */
		if (!op_strict(hash_operator) ||
			!get_op_hash_functions(hash_operator, &outer_function,
								   &inner_function))
			return;
		key = find_key(list_nth(plan->hashkeys, i), outer_function,
					   list_nth_oid(plan->hashcollations, i));
		if (key == 0)
			return;
		search.keys = lappend_int(search.keys, key);
		search.inner = lappend_int(search.inner, find_inner(join, i));
	}
	join_search_follow(search, outerPlanState(join));
}

/* Looks at each node of a query. */
static bool
search_node(PlanState *node, void *context)
{
	if (IsA(node, HashJoinState))
		search_below(castNode(HashJoinState, node));
	return planstate_tree_walker(node, search_node, context);
}

/* The hook: the executor has made the nodes of a query. */
static void
join_search_start(QueryDesc *query, int eflags)
{
	MemoryContext old;

	if (next_start_hook != NULL)
		next_start_hook(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (!setting_join_filters || query->planstate == NULL)
		return;
	old = MemoryContextSwitchTo(query->estate->es_query_cxt);
	search_node(query->planstate, NULL);
	MemoryContextSwitchTo(old);
}

/* Installs the hook; called when the library is loaded. */
void
join_search_install(void)
{
	next_start_hook = ExecutorStart_hook;
	ExecutorStart_hook = join_search_start;
}
