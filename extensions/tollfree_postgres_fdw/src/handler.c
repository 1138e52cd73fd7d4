/*
 * handler.c
 *	  The wrapper's handler: postgres_fdw plans, this wrapper executes.
 *
 * The routine is a copy of postgres_fdw's own.  ANALYZE is replaced, and as
 * one set all callbacks that share the state of an executor node.  Callbacks
 * that plan, or only read plans or catalogs, are wrapped or left as they are.
 *
 * IMPORT FOREIGN SCHEMA still uses postgres_fdw's own connection.  It only reads,
 * in a remote transaction of its own that lasts as long as the local one.  TRUNCATE
 * would wait for it, or it for TRUNCATE, in a deadlock that no server detects.
 * So each is refused after the other.
 */
#include "postgres.h"

#include "foreign/foreign.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "optimizer/tlist.h"
#include "utils/memutils.h"

#include "analyze/analyze.h"
#include "base/compat.h"
#include "base/compat_export.h"
#include "base/run.h"
#include "base/settings.h"
#include "estimates/estimates.h"
#include "join/lookup.h"
#include "join/subqueries.h"
#include "modify/modify.h"
#include "modify/pipeline.h"
#include "rewrite/evaluated.h"
#include "rewrite/first.h"
#include "rewrite/firsts.h"
#include "rewrite/orders.h"
#include "rewrite/planning.h"
#include "rewrite/rewrite.h"
#include "rewrite/sets.h"
#include "rewrite/updates.h"
#include "scan/scan.h"
#include "session/session.h"
#include "session/shared_counters.h"
#include "sql/exists.h"
#include "sql/located.h"
#include "sql/parameterize.h"
#include "sql/plan.h"
#include "upper/partial.h"
#include "xact/transaction.h"

PG_MODULE_MAGIC;

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_handler);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_connection);

/* postgres_fdw's own routine */
static FdwRoutine *stock = NULL;

/* Called when the library is loaded. */
void
_PG_init(void)
{
	settings_define();
	run_install(pipeline_finish_run);
	lookup_install();
	subqueries_install();
	planning_install(tollfreeBeginForeignScan);
	first_install();
	shared_counters_install();
}

/* Has postgres_fdw plan a scan, as it is asked to. */
static ForeignScan *
plan_by_stock(PlannerInfo *root, RelOptInfo *rel, Oid tableid, ForeignPath *path,
			  List *tlist, List *clauses, Plan *outer_plan)
{
	SentOrder	order;
	ForeignScan *plan;

	orders_begin(&order, root, rel);
	plan = stock->GetForeignPlan(root, rel, tableid, path, tlist, clauses,
								 outer_plan);
	orders_end(&order);
	exists_finish_plan(plan);
	return plan;
}

/*
 * Has postgres_fdw plan a scan, with parameters in place of constants where
 * possible. Stores in the plan the expected size of the remote result.
 */
static ForeignScan *
plan_scan(PlannerInfo *root, RelOptInfo *rel, Oid tableid, ForeignPath *path,
		  List *tlist, List *clauses, Plan *outer_plan)
{
	int			fast_paths = plan_fast_paths(root, rel, tableid);
	List	   *all = clauses;
	List	   *kept = lookup_split_clauses(root, rel, &path->path, &clauses);
	Parameterization command = {0};
	ForeignScan *plan;

	parameterize_scan(&command, root, rel, path, clauses, fast_paths);
	plan = plan_by_stock(root, rel, tableid, path, tlist, clauses, outer_plan);
	parameterize_restore(&command, plan);
	if (!parameterize_finish(&command, plan))
		plan = plan_by_stock(root, rel, tableid, path, tlist, clauses, outer_plan);
	plan->scan.plan.qual = list_concat(plan->scan.plan.qual, kept);
	plan_annotate_scan(plan, root, rel, path, all, fast_paths);
	parameterize_note(&command, plan);
	located_note_target(root, plan);
	rewrite_restore_scan(root, rel, plan);
	return plan;
}

/* plan_scan for a path that returns the first rows of groups. */
static ForeignScan *
plan_firsts(PlannerInfo *root, RelOptInfo *rel, Oid tableid, ForeignPath *path,
			List *tlist, List *clauses)
{
	const List *firsts = firsts_of_path(path);
	ForeignPath all = *path;
	ForeignScan *plan;

	all.fdw_private = NIL;
	plan = plan_scan(root, rel, tableid, &all, tlist, clauses, NULL);
	firsts_finish_plan(plan, firsts);
	return plan;
}

/* plan_scan for what is made of all rows of a query, perhaps by grouping sets. */
static ForeignScan *
plan_upper(PlannerInfo *root, RelOptInfo *rel, ForeignPath *path, List *tlist,
		   List *clauses, Plan *outer_plan)
{
	List	   *sets = root->parse->groupingSets;
	ForeignScan *plan;

	root->parse->groupingSets = NIL;
	plan = plan_scan(root, rel, InvalidOid, path, tlist, clauses, outer_plan);
	sets_show(root, sets);
	sets_finish_plan(root, plan, sets);
	return plan;
}

/*
 * GetForeignPlan: a scan, perhaps of the first rows of groups, or of the columns of a
 * partial aggregation.
 */
static ForeignScan *
get_plan(PlannerInfo *root, RelOptInfo *rel, Oid tableid, ForeignPath *path,
		 List *tlist, List *clauses, Plan *outer_plan)
{
	ForeignPath *full = partial_full_path(path);
	ForeignScan *plan;

	if (firsts_of_path(path) != NIL)
		return plan_firsts(root, rel, tableid, path, tlist, clauses);
	if (full == NULL)
	{
		plan = IS_UPPER_REL(rel) ?
			plan_upper(root, rel, path, tlist, clauses, outer_plan) :
			plan_scan(root, rel, tableid, path, tlist, clauses, outer_plan);
		planning_note_scan(root, rel, plan);
		return plan;
	}
	plan = plan_scan(root, full->path.parent, tableid, full,
					 make_tlist_from_pathtarget(full->path.pathtarget),
					 clauses, outer_plan);
	partial_finish_plan(plan, path, tlist);
	return plan;
}

/* Has postgres_fdw look whether a modification can be one command. */
static bool
plan_rewritten_direct(PlannerInfo *root, ModifyTable *plan, Index target,
					  int subplan_index, const RewrittenUpdate *update)
{
	if (!stock->PlanDirectModify(root, plan, target, subplan_index))
		return false;
	updates_finish(update, root, plan, target);
	return true;
}

/* plan_scan for a modification; true if it becomes one remote command. */
static bool
plan_direct(PlannerInfo *root, ModifyTable *plan, Index target,
			int subplan_index)
{
	Parameterization command = {0};
	RewrittenUpdate update;
	ForeignScan *scan;
	bool		is_direct;

	updates_begin(&update, root, plan, target);
	scan = parameterize_direct(&command, root, plan, target);
	is_direct = plan_rewritten_direct(root, plan, target, subplan_index, &update);
	parameterize_restore(&command, scan);
	if (is_direct && !parameterize_finish(&command, scan))
		is_direct = plan_rewritten_direct(root, plan, target, subplan_index,
										  &update);
	if (is_direct)
		parameterize_note(&command, scan);
	updates_end(&update, root, is_direct, plan, target);
	return is_direct;
}

/*
 * Records that postgres_fdw's connection is used, and has it import a schema.
 * Raises an ERROR if it would wait for ours, which has truncated a table.
 */
static List *
import_schema(ImportForeignSchemaStmt *stmt, Oid server)
{
	if (sessions_use_server(server, true))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("schemas of server \"%s\" cannot be imported after TRUNCATE in the same transaction",
						GetForeignServer(server)->servername),
				 errhint("Commit the TRUNCATE first.")));
	transaction_note_stock(server);
	return stock->ImportForeignSchema(stmt, server);
}

/* EXPLAIN of a scan: the lines of postgres_fdw, then ours. */
static void
explain_scan(ForeignScanState *node, ExplainState *es)
{
	stock->ExplainForeignScan(node, es);
	evaluated_explain(node, es);
	scan_explain(node, es->verbose &&
				 lookup_has_scan(es->pstmt,
								 castNode(ForeignScan, node->ss.ps.plan)), es);
}

/* EXPLAIN of a modification row by row. */
static void
explain_modify(ModifyTableState *node, ResultRelInfo *rinfo, List *private,
			   int subplan_index, ExplainState *es)
{
	stock->ExplainForeignModify(node, rinfo, private, subplan_index, es);
	modify_explain(node, rinfo, private, es);
}

/* EXPLAIN of a modification that is one remote command. */
static void
explain_direct(ForeignScanState *node, ExplainState *es)
{
	stock->ExplainDirectModify(node, es);
	direct_explain(node, es);
}

/* Gets the routine of postgres_fdw, once per backend. */
static void
load_stock(void)
{
	LOCAL_FCINFO(fcinfo, 0);
	PGFunction	handler = load_external_function("$libdir/postgres_fdw",
												 "postgres_fdw_handler",
												 true, NULL);
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	FdwRoutine *routine;

	InitFunctionCallInfoData(*fcinfo, NULL, 0, InvalidOid, NULL, NULL);
	routine = (FdwRoutine *) DatumGetPointer(handler(fcinfo));
	MemoryContextSwitchTo(old);
	if (routine == NULL || !IsA(routine, FdwRoutine))
		elog(ERROR, "postgres_fdw_handler did not return an FdwRoutine");
	stock = routine;
}

/* The SQL function: the wrapper's handler. */
Datum
tollfree_postgres_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	if (stock == NULL)
		load_stock();
	*routine = *stock;

	estimates_install(routine, stock);
	routine->GetForeignPlan = get_plan;
	routine->PlanDirectModify = plan_direct;
	routine->AnalyzeForeignTable = tollfreeAnalyzeForeignTable;
	restore_stats_install(routine);
	routine->ImportForeignSchema = import_schema;

	routine->ExplainForeignScan = explain_scan;
	routine->ExplainForeignModify = explain_modify;
	routine->ExplainDirectModify = explain_direct;

	routine->BeginForeignScan = tollfreeBeginForeignScan;
	routine->IterateForeignScan = tollfreeIterateForeignScan;
	routine->ReScanForeignScan = tollfreeReScanForeignScan;
	routine->EndForeignScan = tollfreeEndForeignScan;
	routine->ForeignAsyncRequest = tollfreeForeignAsyncRequest;
	routine->ForeignAsyncConfigureWait = tollfreeForeignAsyncConfigureWait;
	routine->ForeignAsyncNotify = tollfreeForeignAsyncNotify;

	routine->BeginDirectModify = tollfreeBeginDirectModify;
	routine->IterateDirectModify = tollfreeIterateDirectModify;
	routine->EndDirectModify = tollfreeEndDirectModify;

	routine->BeginForeignModify = tollfreeBeginForeignModify;
	routine->ExecForeignInsert = tollfreeExecForeignModify;
	routine->ExecForeignBatchInsert = tollfreeExecForeignBatchInsert;
	routine->GetForeignModifyBatchSize = tollfreeGetForeignModifyBatchSize;
	routine->ExecForeignUpdate = tollfreeExecForeignModify;
	routine->ExecForeignDelete = tollfreeExecForeignModify;
	routine->EndForeignModify = tollfreeEndForeignModify;
	routine->BeginForeignInsert = tollfreeBeginForeignInsert;
	routine->EndForeignInsert = tollfreeEndForeignModify;

	routine->ExecForeignTruncate = tollfreeExecForeignTruncate;
	PG_RETURN_POINTER(routine);
}

/*
 * The SQL function: the connection string of a subscription to a server, by
 * postgres_fdw's function, which exists from 19 on.
 */
Datum
tollfree_postgres_fdw_connection(PG_FUNCTION_ARGS)
{
	PGFunction	connection = load_external_function("$libdir/postgres_fdw",
													"postgres_fdw_connection",
													true, NULL);

	return DirectFunctionCall3(connection, PG_GETARG_DATUM(0),
							   PG_GETARG_DATUM(1), PG_GETARG_DATUM(2));
}
