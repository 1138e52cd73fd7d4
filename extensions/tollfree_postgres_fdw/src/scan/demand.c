/*
 * demand.c
 *	  What a query wants of the rows of its scans.
 *
 * The plan tells how much of a scan is read, and how many rows of it are used
 * at most.  From the top of the plan down, each node says what it wants of its
 * inputs (demand_want).  A node of a kind that is not listed may stop anywhere.
 *
 * All rows of a scan are certain to be read if
 *
 *	- each node between the scan and the query's result reads its input to the
 *	  end, and
 *	- this run of the executor returns all rows of the query, not the next ones
 *	  of a cursor (run.c).  Below a node that reads all of its input before it
 *	  returns a row, as a sort, this does not matter (at_once).
 *
 * The remote server can then send all of them at once.  A stream occupies the
 * session.  So it is also noted whether the query may use the same server
 * before all rows have been read (is_interleaved).
 *
 * A hash join may read one row of its outer side before it builds its hash
 * table, and no further row if that table is empty.  Then the outer side is
 * READS_REMAINING.
 *
 * A LIMIT bounds the rows of its input, and EXISTS needs one row.  The bound is
 * passed down through nodes that return all rows of their input and no others.  A
 * scan without local conditions can then send it as LIMIT, and what it returns is
 * read to its end.
 *
 * The answers for all plans of a query are kept until its memory is freed, for
 * one query at a time.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "foreign/fdwapi.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"

#include "base/inputs.h"
#include "base/run.h"
#include "scan/scan_state.h"

/* What is wanted of a plan */
typedef struct Wanted
{
	ScanDemand	demand;
	List	   *busy;			/* OIDs of servers that may be used before all
								 * rows have been read */
	bool		any_busy;		/* may any server? */
} Wanted;

/* The answer for a plan */
typedef struct DemandEntry
{
	const Plan *plan;			/* key */
	ScanDemand	demand;
} DemandEntry;

/* The search of a query's plans */
typedef struct DemandSearch
{
	const EState *estate;		/* NULL if there are no answers */
	const PlannedStmt *stmt;
	HTAB	   *entries;		/* of scans, nested loops and custom scans */
	Wanted	   *subplans;		/* what is wanted of the statement's subplans */
	bool		in_subplan;		/* is a plan of one being searched? */
	MemoryContextCallback forget;
} DemandSearch;

static DemandSearch *latest = NULL;

static void demand_want(DemandSearch *search, Plan *plan, Wanted wanted);

/* Is a plan the custom scan of this name? */
static bool
is_custom(const Plan *plan, const char *name)
{
	return IsA(plan, CustomScan) &&
		strcmp(((const CustomScan *) plan)->methods->CustomName, name) == 0;
}

/* Is it one of ours, which read all of their outer plan? */
static bool
is_lookups(const Plan *plan)
{
	return is_custom(plan, LOOKUP_NODE) || is_custom(plan, LOOKUP_STORE);
}

/*
 * Adds the servers that a plan reads to those that are busy.  A custom scan could
 * read any.
 */
static void
add_servers(Wanted *wanted, Plan *plan)
{
	ListCell   *cell;

	if (plan == NULL)
		return;
	if (IsA(plan, ForeignScan))
		wanted->busy = list_append_unique_oid(list_copy(wanted->busy),
											  ((ForeignScan *) plan)->fs_server);
	if (IsA(plan, CustomScan) && !is_lookups(plan))
		wanted->any_busy = true;
	foreach(cell, inputs_of_plan(plan))
		add_servers(wanted, lfirst(cell));
}

/* Adds the servers that a modification writes to. */
static void
add_written(Wanted *wanted, const ModifyTable *modify, const PlannedStmt *stmt)
{
	ListCell   *cell;

	/* Tuple routing can add partitions, which resultRelations does not list. */
	if (modify->operation == CMD_MERGE || modify->rootRelation != 0)
		wanted->any_busy = true;
	foreach(cell, modify->resultRelations)
	{
		const RangeTblEntry *rte = rt_fetch(lfirst_int(cell), stmt->rtable);

		if (rte->relkind == RELKIND_PARTITIONED_TABLE)
			wanted->any_busy = true;
		else if (rte->relkind == RELKIND_FOREIGN_TABLE)
			wanted->busy = list_append_unique_oid(list_copy(wanted->busy),
												  GetForeignServerIdByRelId(rte->relid));
	}
}

/* What is wanted of an input some of whose rows may not be returned. */
static Wanted
demand_filtered(Wanted wanted)
{
	if (wanted.demand.limit > 0)
		wanted.demand.reading = READS_SOME;
	wanted.demand.limit = 0;
	wanted.demand.is_output = false;
	return wanted;
}

/* What is wanted of an input that may be left anywhere. */
static Wanted
demand_partly(Wanted wanted)
{
	wanted = demand_filtered(wanted);
	wanted.demand.reading = READS_SOME;
	return wanted;
}

/* What is wanted of an input that is read before a row is returned. */
static Wanted
demand_at_once(void)
{
	return (Wanted)
	{
		.demand =
		{
			.reading = READS_ALL,.at_once = true
		}
	};
}

/* The same of an input of which no more rows are read. */
static Wanted
demand_at_most(int64 limit)
{
	Wanted		wanted = demand_at_once();

	wanted.demand.limit = limit;
	return wanted;
}

/*
 * The value of a LIMIT or OFFSET that does not change while the query is executed:
 * a constant, or a parameter of the query; else -1.
 */
static int64
fixed_value(Node *node, const EState *estate)
{
	ExprState  *state;
	ExprContext *econtext;
	Node	   *value = node;
	Datum		result;
	bool		isnull;

	if (IsA(value, FuncExpr) && ((FuncExpr *) value)->funcid == F_INT8_INT4)
		value = linitial(((FuncExpr *) value)->args);
	if (!IsA(value, Const) &&
		!(IsA(value, Param) && ((Param *) value)->paramkind == PARAM_EXTERN &&
		  estate->es_param_list_info != NULL))
		return -1;
	econtext = CreateStandaloneExprContext();
	state = ExecInitExprWithParams((Expr *) node, estate->es_param_list_info);
	econtext->ecxt_param_list_info = estate->es_param_list_info;
	result = ExecEvalExprSwitchContext(state, econtext, &isnull);
	FreeExprContext(econtext, true);
	return isnull ? -1 : DatumGetInt64(result);
}

/* What a LIMIT wants of its input. */
static Wanted
demand_of_limit(const Limit *limit, Wanted wanted, const EState *estate)
{
	int64		count = -1;
	int64		offset = 0;

	if (limit->limitOption == LIMIT_OPTION_COUNT && limit->limitCount != NULL)
		count = fixed_value(limit->limitCount, estate);
	if (limit->limitOffset != NULL)
		offset = fixed_value(limit->limitOffset, estate);
	if (count < 1 || count > INT_MAX || offset < 0 || offset > INT_MAX)
		return demand_partly(wanted);
	/* A limit above does not know of what the OFFSET passes over. */
	wanted.demand.limit = wanted.demand.limit == 0 ? count + offset :
		Min(wanted.demand.limit, count) + offset;
	wanted.demand.is_output &= offset == 0;
	return wanted;
}

/* Does an aggregation read all of its input before it returns a row? */
static bool
reads_at_once(const Agg *agg)
{
	return agg->chain == NIL &&
		(agg->aggstrategy == AGG_PLAIN || agg->aggstrategy == AGG_HASHED);
}

/* What a nested loop wants of both sides. */
static void
demand_want_loop(DemandSearch *search, NestLoop *loop, Wanted wanted)
{
	const Join *join = &loop->join;
	Wanted		outer = demand_filtered(wanted);
	Wanted		inner = demand_filtered(wanted);

	if (join->inner_unique || join->jointype == JOIN_SEMI ||
		join->jointype == JOIN_ANTI)
		inner = join->joinqual == NIL ? demand_at_most(1) : demand_partly(wanted);
	else if (join->jointype != JOIN_INNER && join->jointype != JOIN_LEFT)
		inner = demand_partly(wanted);
	inner.busy = wanted.busy;
	inner.any_busy = wanted.any_busy;
	add_servers(&outer, innerPlan(loop));
	add_servers(&inner, outerPlan(loop));
	demand_want(search, outerPlan(loop), outer);
	demand_want(search, innerPlan(loop), inner);
}

/* What a hash join wants of both sides; the executor has these rules, too. */
static void
demand_want_hash(DemandSearch *search, HashJoin *join, Wanted wanted)
{
	JoinType	type = join->join.jointype;
	Wanted		outer = demand_filtered(wanted);
	bool		fills_outer = type == JOIN_LEFT || type == JOIN_FULL ||
		type == JOIN_ANTI;
	bool		fills_inner = type == JOIN_FULL || type == JOIN_RIGHT;

#if PG_VERSION_NUM >= 160000
	fills_inner |= type == JOIN_RIGHT_ANTI;
#endif
	if (!fills_inner &&
		(fills_outer ||
		 outerPlan(join)->startup_cost < innerPlan(join)->total_cost))
	{
		add_servers(&outer, innerPlan(join));
		if (!fills_outer)
			outer.demand.reading = Min(outer.demand.reading, READS_REMAINING);
	}
	demand_want(search, innerPlan(join), demand_at_once());
	demand_want(search, outerPlan(join), outer);
}

/* The same of several inputs. */
static void
demand_want_list(DemandSearch *search, List *plans, Wanted wanted)
{
	ListCell   *cell;

	foreach(cell, plans)
		demand_want(search, lfirst(cell), wanted);
}

/*
 * What a MergeAppend wants of its inputs.  It takes their rows in turn, and has
 * a row of each before it returns one: none of them is a stream.
 */
static void
demand_want_merge(DemandSearch *search, MergeAppend *merge, Wanted wanted)
{
	wanted.demand.is_output = false;
	wanted.any_busy = true;
	demand_want_list(search, merge->mergeplans, wanted);
}

/* Notes that a WITH query is read like this; another scan may read it, too. */
static void
demand_want_cte(DemandSearch *search, const CteScan *scan, Wanted wanted)
{
	ScanDemand *known = &search->subplans[scan->ctePlanId - 1].demand;
	ScanDemand	demand = demand_filtered(wanted).demand;

	known->at_once = demand.reading > known->reading ? demand.at_once :
		known->at_once || (demand.reading == known->reading && demand.at_once);
	known->reading = Max(known->reading, demand.reading);
}

/* Walker: notes how the subqueries in an expression are read. */
static bool
demand_want_subqueries(Node *node, void *arg)
{
	DemandSearch *search = arg;

	if (node == NULL)
		return false;
	if (IsA(node, SubPlan))
	{
		const SubPlan *subplan = (SubPlan *) node;
		Wanted	   *wanted = &search->subplans[subplan->plan_id - 1];

		switch (subplan->subLinkType)
		{
			case EXISTS_SUBLINK:
				*wanted = demand_at_most(1);
				break;
			case EXPR_SUBLINK:
			case MULTIEXPR_SUBLINK:
			case ROWCOMPARE_SUBLINK:
			case ARRAY_SUBLINK:
				*wanted = demand_at_once();
				break;
			case ANY_SUBLINK:
			case ALL_SUBLINK:
				if (subplan->useHashTable)
					*wanted = demand_at_once();
				break;
			case CTE_SUBLINK:
				break;
		}
	}
	return expression_tree_walker(node, demand_want_subqueries, arg);
}

/* The same in all expressions of a plan. */
static void
demand_want_expressions(DemandSearch *search, Plan *plan)
{
	if (search->stmt->subplans == NIL)
		return;
	(void) demand_want_subqueries((Node *) plan->initPlan, search);
	(void) demand_want_subqueries((Node *) plan->targetlist, search);
	(void) demand_want_subqueries((Node *) plan->qual, search);
	if (IsA(plan, Result))
		(void) demand_want_subqueries(((Result *) plan)->resconstantqual, search);
	if (IsA(plan, NestLoop) || IsA(plan, HashJoin) || IsA(plan, MergeJoin))
		(void) demand_want_subqueries((Node *) ((Join *) plan)->joinqual, search);
}

/* Keeps the answer for a plan. */
static void
demand_keep(DemandSearch *search, const Plan *plan, Wanted wanted)
{
	DemandEntry *entry = hash_search(search->entries, &plan, HASH_ENTER, NULL);

	if (IsA(plan, ForeignScan))
	{
		const ForeignScan *scan = (const ForeignScan *) plan;

		if (plan->qual != NIL)
			wanted = demand_filtered(wanted);
		wanted.demand.is_interleaved = search->in_subplan || wanted.any_busy ||
			list_member_oid(wanted.busy, scan->fs_server);
	}
	entry->demand = wanted.demand;
}

/* Says what is wanted of a plan, and of the plans below it. */
static void
demand_want(DemandSearch *search, Plan *plan, Wanted wanted)
{
	Wanted		below;

	if (plan == NULL)
		return;
	demand_want_expressions(search, plan);
	below = plan->qual != NIL ? demand_filtered(wanted) : wanted;
	switch (nodeTag(plan))
	{
		case T_ForeignScan:
			demand_keep(search, plan, wanted);
			break;
		case T_Result:
			demand_want(search, outerPlan(plan), below);
			break;
		case T_SubqueryScan:
			demand_want(search, ((SubqueryScan *) plan)->subplan, below);
			break;
		case T_Append:
			demand_want_list(search, ((Append *) plan)->appendplans, below);
			break;
		case T_MergeAppend:
			demand_want_merge(search, (MergeAppend *) plan, below);
			break;
		case T_Limit:
			demand_want(search, outerPlan(plan),
						demand_of_limit((Limit *) plan, below, search->estate));
			break;
		case T_ProjectSet:
		case T_Material:
		case T_Unique:
		case T_Group:
		case T_IncrementalSort:
		case T_LockRows:
			demand_want(search, outerPlan(plan), demand_filtered(wanted));
			break;
		case T_Sort:
		case T_Hash:
			demand_want(search, outerPlan(plan), demand_at_once());
			break;
		case T_Agg:
			demand_want(search, outerPlan(plan), reads_at_once((Agg *) plan) ?
						demand_at_once() : demand_filtered(wanted));
			break;
		case T_WindowAgg:
			demand_want(search, outerPlan(plan),
						((WindowAgg *) plan)->runCondition == NIL ? demand_filtered(wanted) :
						demand_partly(wanted));
			break;
		case T_NestLoop:
			demand_keep(search, plan, wanted);
			demand_want_loop(search, (NestLoop *) plan, wanted);
			break;
		case T_HashJoin:
			demand_want_hash(search, (HashJoin *) plan, wanted);
			break;
		case T_ModifyTable:
			below = demand_filtered(wanted);
			add_written(&below, (ModifyTable *) plan, search->stmt);
			demand_want(search, outerPlan(plan), below);
			break;
		case T_CteScan:
			demand_want_cte(search, (CteScan *) plan, wanted);
			break;
		case T_CustomScan:
			demand_keep(search, plan, wanted);
			if (is_custom(plan, LOOKUP_STORE))
				demand_want(search, outerPlan(plan), demand_at_once());
			else if (is_lookups(plan))
				demand_want(search, outerPlan(plan), demand_filtered(wanted));
			else
				demand_want_list(search, inputs_of_plan(plan), demand_partly(wanted));
			break;
		default:
			demand_want_list(search, inputs_of_plan(plan), demand_partly(wanted));
			break;
	}
}

/* Searches all plans of the query; those that read a subquery come before it. */
static void
search_plans(DemandSearch *search)
{
	const PlannedStmt *stmt = search->stmt;
	int			nsubplans = list_length(stmt->subplans);
	Wanted		top = {.demand = {.reading = READS_ALL,.is_output = true}};
	ListCell   *cell;

	search->subplans = palloc0(Max(nsubplans, 1) * sizeof(Wanted));
	foreach(cell, stmt->subplans)
		add_servers(&top, lfirst(cell));
	demand_want(search, stmt->planTree, top);
	search->in_subplan = true;
	for (int i = nsubplans; i-- > 0;)
		demand_want(search, list_nth(stmt->subplans, i), search->subplans[i]);
}

/* Forgets the answers, whose memory is freed. */
static void
demand_forget(void *arg)
{
	if (latest == arg)
		latest = NULL;
}

/* The answers for all plans of a query. */
static const DemandSearch *
answers_for(EState *estate)
{
	HASHCTL		control = {
		.keysize = sizeof(Plan *),.entrysize = sizeof(DemandEntry),
		.hcxt = estate->es_query_cxt
	};
	MemoryContext old;
	DemandSearch *search;

	if (latest != NULL && latest->estate == estate)
		return latest;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	search = palloc0(sizeof(DemandSearch));
	search->estate = estate;
	search->stmt = estate->es_plannedstmt;
	search->entries = hash_create("tollfree_postgres_fdw demands", 64, &control,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	search_plans(search);
	search->forget.func = demand_forget;
	search->forget.arg = search;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &search->forget);
	MemoryContextSwitchTo(old);
	latest = search;
	return latest;
}

/*
 * What a query wants of a foreign scan, a nested loop or a custom scan.  A plan
 * that is not found may be left anywhere.
 */
ScanDemand
demand_of_plan(EState *estate, const Plan *plan)
{
	const PlannedStmt *stmt = estate->es_plannedstmt;
	const DemandEntry *entry;

	/* Most queries of one table are but the scan. */
	if (plan == stmt->planTree && stmt->subplans == NIL)
		return (ScanDemand)
	{
		.reading = READS_ALL,.is_output = plan->qual == NIL
	};
	entry = hash_search(answers_for(estate)->entries, &plan, HASH_FIND, NULL);
	if (entry == NULL)
		return (ScanDemand)
	{
		.is_interleaved = true
	};
	return entry->demand;
}

/*
 * Does the query, in this run of the executor, read this part of what it wants of
 * a scan?
 */
bool
demand_reads(const EState *estate, const ScanDemand *demand,
			 ScanReading reading)
{
	return demand->reading >= reading &&
		(demand->at_once || run_is_whole(estate));
}
