/*
 * replan.c
 *	  Planning a query again whose plan does not suit the session's time zone.
 *
 * A plan that sends times in the session's zone (zones.c) is right only where the
 * remote servers have the rules of that zone.  When it is made there may be no
 * connection to ask, and when it is executed the session may have another zone.  So it
 * is looked at when its execution begins.  If a server has other rules, or does not
 * answer, the query is planned again, as if no such time could be sent, and that plan
 * is executed in place of the first one.
 *
 * For that the plan keeps the query as it was before planning.  It is in an entry of
 * the range table behind those of the query, which no plan node refers to: what
 * copies a plan, as the plan cache does, copies that, too.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "rewrite/replan.h"
#include "session/questions.h"
#include "session/session.h"
#include "xact/transaction.h"

/* The name of the entry of the range table */
#define REPLAN_NAME "tollfree_postgres_fdw query"

/* What its values_lists is */
enum KeptField
{
	KEPT_QUERY,
	KEPT_OPTIONS,				/* of its cursor */
	KEPT_SERVERS,				/* OIDs: a user, InvalidOid for who executes
								 * it, then the server; and so on */
	KEPT_FIELDS
};

static ExecutorStart_hook_type next_start_hook = NULL;

/* Is a query being planned again? */
static bool is_under_way = false;

/* Is a query being planned again?  Then no time in the session's zone is sent. */
bool
replan_is_under_way(void)
{
	return is_under_way;
}

/* Adds a server, used by this user, to a list for replan_keep. */
List *
replan_add_server(List *servers, Oid user, Oid server)
{
	for (int i = 0; i < list_length(servers); i += 2)
	{
		if (list_nth_oid(servers, i) == user &&
			list_nth_oid(servers, i + 1) == server)
			return servers;
	}
	return lappend_oid(lappend_oid(servers, user), server);
}

/* Keeps a query in its plan, and on which servers the plan depends. */
void
replan_keep(PlannedStmt *stmt, Query *query, int cursor_options, List *servers)
{
	RangeTblEntry *entry = makeNode(RangeTblEntry);

	entry->rtekind = RTE_RESULT;
	entry->eref = makeAlias(REPLAN_NAME, NIL);
	entry->values_lists = list_make3(query, makeInteger(cursor_options), servers);
	stmt->rtable = lappend(stmt->rtable, entry);
}

/* What replan_keep has kept in a plan; NIL if nothing. */
static List *
find_kept(const PlannedStmt *stmt)
{
	const RangeTblEntry *entry = stmt->rtable == NIL ? NULL : llast(stmt->rtable);

	return entry != NULL && entry->rtekind == RTE_RESULT &&
		list_length(entry->values_lists) == KEPT_FIELDS &&
		strcmp(entry->eref->aliasname, REPLAN_NAME) == 0 ?
		entry->values_lists : NIL;
}

/* Have all servers the rules of the session's zone?  Connects to them if need be. */
static bool
have_zone(const List *servers)
{
	pg_tz	   *zone = session_timezone;
	bool		have = true;

	questions_want_zone(zone);
	PG_TRY();
	{
		for (int i = 0; have && i < list_length(servers); i += 2)
		{
			Oid			user = list_nth_oid(servers, i);
			Session    *session =
				transaction_get_session(OidIsValid(user) ? user : GetUserId(),
										list_nth_oid(servers, i + 1));

			have = session_has_zone(session, zone);
		}
	}
	PG_FINALLY();
	{
		questions_want_zone(NULL);
	}
	PG_END_TRY();
	return have;
}

/*
 * The plan of a kept query without times in the session's zone, in the memory of the
 * execution.  Where the first plan could be read backwards, so can this one.
 */
static PlannedStmt *
plan_again(const QueryDesc *desc, const List *kept)
{
	MemoryContext old =
		MemoryContextSwitchTo(GetMemoryChunkContext(unconstify(QueryDesc *, desc)));
	Query	   *query = copyObjectImpl(list_nth(kept, KEPT_QUERY));
	int			options = intVal(list_nth(kept, KEPT_OPTIONS));
	PlannedStmt *stmt;

	if ((options & CURSOR_OPT_NO_SCROLL) == 0 &&
		ExecSupportsBackwardScan(desc->plannedstmt->planTree))
		options |= CURSOR_OPT_SCROLL;
	PushActiveSnapshot(desc->snapshot);
	is_under_way = true;
	PG_TRY();
	{
		stmt = compat_plan(query, desc->sourceText, options, desc->params);
	}
	PG_FINALLY();
	{
		is_under_way = false;
	}
	PG_END_TRY();
	PopActiveSnapshot();
	MemoryContextSwitchTo(old);
	return stmt;
}

/* The hook: begins an execution, perhaps of another plan. */
static void
start_executor(QueryDesc *queryDesc, int eflags)
{
	List	   *kept = (eflags & EXEC_FLAG_EXPLAIN_ONLY) || IsParallelWorker() ? NIL
		: find_kept(queryDesc->plannedstmt);

	if (kept != NIL && !have_zone(list_nth(kept, KEPT_SERVERS)))
		queryDesc->plannedstmt = plan_again(queryDesc, kept);
	if (next_start_hook != NULL)
		next_start_hook(queryDesc, eflags);
	else
		standard_ExecutorStart(queryDesc, eflags);
}

/* Installs the hook; called when the library is loaded. */
void
replan_install(void)
{
	next_start_hook = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
