/*
 * first.c
 *	  Planning a session's first statement again, by the hooks of the library.
 *
 * A session loads the library while it plans the first statement that uses a foreign
 * table of ours, unless the library is preloaded.  For that plan the hook of the
 * planner comes too late: DISTINCT, groups of times, aggregates of partitions and the
 * like fetch whole tables, and whoever connects for each query would have nothing but
 * first statements.
 *
 * The planner has used up the statement by then, so it is analyzed once more, from its
 * text, when its execution begins, and that plan is executed in place of the first one.
 * The tables are locked, and the settings are the same.  This is done of a statement
 * that the client has sent alone: SELECT, INSERT, UPDATE, DELETE or MERGE, or EXPLAIN or
 * CREATE TABLE AS of one.  What functions execute, and cursors, keep their first plan;
 * kept plans are made anew when they are used again.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/planner.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/parser.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "rewrite/first.h"
#include "rewrite/planning.h"

static ExecutorStart_hook_type next_start_hook = NULL;

/*
 * Is a plan one whose scan does all of the work remotely?  Then there is nothing to be
 * gained.
 */
static bool
is_sent_whole(const PlannedStmt *stmt)
{
	return IsA(stmt->planTree, ForeignScan) && stmt->planTree->qual == NIL &&
		stmt->planTree->lefttree == NULL && stmt->subplans == NIL;
}

/* Has the client sent the statement, with values for its parameters? */
static bool
is_of_client(const QueryDesc *desc)
{
	return ActivePortal != NULL && desc->sourceText != NULL &&
		desc->sourceText == ActivePortal->sourceText && desc->queryEnv == NULL &&
		(desc->params == NULL || desc->params->paramFetch == NULL);
}

/* The statement in a text that is to be planned; NULL if there is not exactly one. */
static RawStmt *
parse(const char *text)
{
	List	   *statements = raw_parser(text, RAW_PARSE_DEFAULT);
	RawStmt    *statement;

	if (list_length(statements) != 1)
		return NULL;
	statement = linitial_node(RawStmt, statements);
	if (IsA(statement->stmt, ExplainStmt))
		statement->stmt = ((ExplainStmt *) statement->stmt)->query;
	if (IsA(statement->stmt, CreateTableAsStmt))
		statement->stmt = ((CreateTableAsStmt *) statement->stmt)->query;
	switch (nodeTag(statement->stmt))
	{
		case T_SelectStmt:
		case T_InsertStmt:
		case T_UpdateStmt:
		case T_DeleteStmt:
		case T_MergeStmt:
			return statement;
		default:
			return NULL;
	}
}

/* The query of a statement, with parameters of these types; NULL if rules add others. */
static Query *
analyze(RawStmt *statement, const char *text, const ParamListInfo params)
{
	int			nparams = params == NULL ? 0 : params->numParams;
	Oid		   *types = palloc(sizeof(Oid) * (nparams + 1));
	List	   *queries;

	for (int i = 0; i < nparams; i++)
		types[i] = params->params[i].ptype;
	queries = pg_analyze_and_rewrite_fixedparams(statement, text, types, nparams, NULL);
	return list_length(queries) == 1 ? linitial_node(Query, queries) : NULL;
}

/* Do two plans return columns of the same types? */
static bool
have_same_columns(const Plan *plan, const Plan *other)
{
	int			ncolumns = ExecCleanTargetListLength(plan->targetlist);

	if (ExecCleanTargetListLength(other->targetlist) != ncolumns)
		return false;
	/* Those behind them are junk. */
	for (int i = 0; i < ncolumns; i++)
	{
		if (exprType((Node *) list_nth_node(TargetEntry, plan->targetlist, i)->expr) !=
			exprType((Node *) list_nth_node(TargetEntry, other->targetlist, i)->expr))
			return false;
	}
	return true;
}

/* Can one plan be executed in place of another one? */
static bool
are_exchangeable(const PlannedStmt *stmt, const PlannedStmt *other)
{
	return stmt->commandType == other->commandType &&
		stmt->hasReturning == other->hasReturning &&
		stmt->hasModifyingCTE == other->hasModifyingCTE &&
		have_same_columns(stmt->planTree, other->planTree);
}

/* The plan of a statement's text; NULL if it is not planned from its text. */
static PlannedStmt *
plan_text(const QueryDesc *desc)
{
	RawStmt    *statement = parse(desc->sourceText);
	PlannedStmt *stmt;
	Query	   *query;

	if (statement == NULL)
		return NULL;
	query = analyze(statement, desc->sourceText, desc->params);
	if (query == NULL || query->commandType != desc->operation)
		return NULL;
	stmt = compat_plan(query, desc->sourceText, CURSOR_OPT_PARALLEL_OK, desc->params);
	stmt->queryId = desc->plannedstmt->queryId;
	stmt->stmt_location = desc->plannedstmt->stmt_location;
	stmt->stmt_len = desc->plannedstmt->stmt_len;
	return are_exchangeable(stmt, desc->plannedstmt) ? stmt : NULL;
}

/*
 * Plans a statement again whose plan was made without the library's hooks, if there may
 * be anything to gain.
 */
static void
plan_again(QueryDesc *desc)
{
	MemoryContext old;
	PlannedStmt *stmt;

	ResetPlanCache();
	if (!is_of_client(desc) || is_sent_whole(desc->plannedstmt))
		return;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(desc));
	PushActiveSnapshot(desc->snapshot);
	stmt = plan_text(desc);
	PopActiveSnapshot();
	MemoryContextSwitchTo(old);
	if (stmt != NULL)
		desc->plannedstmt = stmt;
}

/* The hook: begins an execution, perhaps of another plan. */
static void
start_executor(QueryDesc *queryDesc, int eflags)
{
	if (planning_take_missed() && !IsParallelWorker() &&
		!(eflags & COMPAT_EXPLAINS_GENERIC))
		plan_again(queryDesc);
	if (next_start_hook != NULL)
		next_start_hook(queryDesc, eflags);
	else
		standard_ExecutorStart(queryDesc, eflags);
}

/* Installs the hook, when the library is loaded. */
void
first_install(void)
{
	next_start_hook = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
