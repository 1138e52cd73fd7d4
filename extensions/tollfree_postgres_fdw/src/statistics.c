/*
 * statistics.c
 *	  What the sessions of this backend have done, for SQL and for EXPLAIN.
 *
 * The counters are the sessions', kept where what they count happens, and last
 * as long as the backend.  Only the bytes are the kernel's: a lost connection
 * takes its count along, so the present one's is shown.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "cache.h"
#include "compat_export.h"
#include "traffic.h"

#define STATISTICS_COLUMNS 13

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_statistics);

/* One row: a session's server and user, and what it has done. */
static void
show_statistics(const Session *session, ReturnSetInfo *rsinfo)
{
	ForeignServer *server = GetForeignServerExtended(session->server,
													 FSV_MISSING_OK);
	const char *user = cache_user_name(session);
	int64_t		received = 0;
	int64_t		sent = 0;
	bool		counted = session->conn != NULL &&
		traffic_count(PQsocket(session->conn), &received, &sent);
	Datum		values[STATISTICS_COLUMNS] = {0};
	bool		nulls[STATISTICS_COLUMNS] = {0};

	nulls[0] = server == NULL;
	if (server != NULL)
		values[0] = CStringGetTextDatum(server->servername);
	nulls[1] = user == NULL;
	if (user != NULL)
		values[1] = CStringGetTextDatum(user);
	values[2] = Int64GetDatum(session->connects);
	values[3] = Int64GetDatum(session->flights);
	values[4] = Int64GetDatum(session->rows);
	values[5] = Int64GetDatum(received);
	values[6] = Int64GetDatum(sent);
	nulls[5] = nulls[6] = !counted;
	values[7] = Int64GetDatum(session->cached.hits);
	values[8] = Int64GetDatum(session->cached.misses);
	values[9] = Int64GetDatum(session->cached.evictions);
	values[10] = Int64GetDatum(session->unawaited_commits);
	values[11] = Int64GetDatum(session->autocommit_scans);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* Adds to a node what the session did for it. */
void
session_explain_usage(const SessionUsage *usage, ExplainState *es)
{
	ExplainPropertyInteger("Round Trips", NULL, usage->flights, es);
	ExplainPropertyInteger("Statement Cache Hits", NULL, usage->hits, es);
}

/* The SQL function; its columns are in the extension's script. */
Datum
tollfree_postgres_fdw_statistics(PG_FUNCTION_ARGS)
{
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		if (session->connects > 0)
			show_statistics(session, (ReturnSetInfo *) fcinfo->resultinfo);
	}
	PG_RETURN_VOID();
}
