/*
 * replan.c
 *	  Planning a query again whose plan does not suit the servers or the session.
 *
 * A plan that sends times in the session's zone, or in one that the query names
 * (zones.c), is right only where the remote servers have the rules of that zone.  One
 * that sends casts of texts (casts.c) is right only where they are of the local major
 * version, and one that has characters counted (collations.c) only where their
 * databases have the local encoding.  When it is made there may be no connection to
 * ask; when it is executed the session may have another zone, and the server may be
 * another one.  So it is looked at when its execution begins.  If a server lacks what
 * is needed, or does not answer, the query is planned again, as if nothing of the kind
 * could be sent, and that plan is executed in place of the first one.
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
#include "pgtime.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "rewrite/replan.h"
#include "rewrite/zone_values.h"
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
	KEPT_ZONES,					/* lists of a zone's name and OIDs: a user,
								 * InvalidOid for who executes it, and the
								 * server */
	KEPT_SERVERS,				/* OIDs: a user likewise, the server, bits of
								 * ReplanNeed; and so on */
	KEPT_FIELDS
};

/* Of each server: the user, the server, what is needed of it */
#define KEPT_SERVER_FIELDS 3

static ExecutorStart_hook_type next_start_hook = NULL;

/* Is a query being planned again? */
static bool is_under_way = false;

/* Is a query being planned again?  Then nothing is sent that its servers may lack. */
bool
replan_is_under_way(void)
{
	return is_under_way;
}

/*
 * Adds what a plan needs of a server, used by this user, to a list for replan_keep.
 * needs are bits of ReplanNeed.
 */
List *
replan_add_server(List *servers, Oid user, Oid server, int needs)
{
	for (int i = 0; i < list_length(servers); i += KEPT_SERVER_FIELDS)
	{
		ListCell   *needed = list_nth_cell(servers, i + 2);

		if (list_nth_oid(servers, i) == user &&
			list_nth_oid(servers, i + 1) == server)
		{
			lfirst_oid(needed) |= needs;
			return servers;
		}
	}
	servers = lappend_oid(lappend_oid(servers, user), server);
	return lappend_oid(servers, (Oid) needs);
}

/*
 * Adds zones by their names (zone_values.c), and a server that this user uses, to a
 * list for replan_keep.
 */
List *
replan_add_zones(List *zones, Oid user, Oid server, const List *names)
{
	const ListCell *cell;

	foreach(cell, names)
	{
		List	   *zone = list_make2(lfirst(cell), list_make2_oid(user, server));

		zones = list_append_unique(zones, zone);
	}
	return zones;
}

/* Keeps a query in its plan, and on which zones of servers, and servers, that depends. */
void
replan_keep(PlannedStmt *stmt, Query *query, int cursor_options, List *zones,
			List *servers)
{
	RangeTblEntry *entry = makeNode(RangeTblEntry);

	entry->rtekind = RTE_RESULT;
	entry->eref = makeAlias(REPLAN_NAME, NIL);
	entry->values_lists = list_make4(query, makeInteger(cursor_options), zones,
									 servers);
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

/* Has a server, which this user uses, the rules of a zone?  Connects to it if need be. */
static bool
has_zone(Oid user, Oid server, const pg_tz *zone)
{
	bool		has = false;

	questions_want_zone(zone);
	PG_TRY();
	{
		has = session_has_zone(transaction_get_session(OidIsValid(user) ? user :
													   GetUserId(), server),
							   zone);
	}
	PG_FINALLY();
	{
		questions_want_zone(NULL);
	}
	PG_END_TRY();
	return has;
}

/* Have all servers the rules of their zones? */
static bool
have_zones(const List *zones)
{
	const ListCell *cell;

	foreach(cell, zones)
	{
		const char *name = strVal(linitial(lfirst(cell)));
		const List *used = lsecond(lfirst(cell));
		const pg_tz *zone = strcmp(name, ZONE_VALUES_SESSION) == 0 ?
			session_timezone : pg_tzset(name);

		if (zone == NULL || !has_zone(linitial_oid(used), lsecond_oid(used), zone))
			return false;
	}
	return true;
}

/* Has a server what a plan needs of it?  Connects to it if need be. */
static bool
has_needed(Oid user, Oid server, int needs)
{
	Session    *session = transaction_get_session(OidIsValid(user) ? user :
												  GetUserId(), server);

	return (!(needs & REPLAN_VERSION) || session_has_version(session)) &&
		(!(needs & REPLAN_ENCODING) || session_has_encoding(session));
}

/* Have all servers what a plan needs of them? */
static bool
have_needed(const List *servers)
{
	for (int i = 0; i < list_length(servers); i += KEPT_SERVER_FIELDS)
	{
		if (!has_needed(list_nth_oid(servers, i), list_nth_oid(servers, i + 1),
						list_nth_oid(servers, i + 2)))
			return false;
	}
	return true;
}

/*
 * The plan of a kept query that needs nothing of its servers, in the memory of the
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

	if (kept != NIL && !(have_zones(list_nth(kept, KEPT_ZONES)) &&
						 have_needed(list_nth(kept, KEPT_SERVERS))))
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
