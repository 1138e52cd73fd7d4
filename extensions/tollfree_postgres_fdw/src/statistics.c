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

#include "base/compat_export.h"
#include "session/sessions.h"
#include "session/state.h"
#include "session/traffic.h"

#define STATISTICS_COLUMNS 13

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_statistics);

/* One row: a session's server and user, and what it has done. */
static void
show_statistics(const Session *session, ReturnSetInfo *rsinfo)
{
	ForeignServer *server = GetForeignServerExtended(session->server,
													 FSV_MISSING_OK);
	const char *user = sessions_user_name(session);
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
	values[2] = Int64GetDatum(session->counters.connects);
	values[3] = Int64GetDatum(session->counters.round_trips);
	values[4] = Int64GetDatum(session->counters.rows);
	values[5] = Int64GetDatum(received);
	values[6] = Int64GetDatum(sent);
	nulls[5] = nulls[6] = !counted;
	values[7] = Int64GetDatum(session->counters.statements.hits);
	values[8] = Int64GetDatum(session->counters.statements.misses);
	values[9] = Int64GetDatum(session->counters.statements.evictions);
	values[10] = Int64GetDatum(session->counters.unawaited_commits);
	values[11] = Int64GetDatum(session->counters.autocommit_scans);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* The SQL function; its columns are in the extension's script. */
Datum
tollfree_postgres_fdw_statistics(PG_FUNCTION_ARGS)
{
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);

		if (session->counters.connects > 0)
			show_statistics(session, (ReturnSetInfo *) fcinfo->resultinfo);
	}
	PG_RETURN_VOID();
}
