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

/* What a column shows; it is null if that is not known. */
typedef struct StatisticsColumn
{
	const char *name;
	bool		known;
	Datum		value;
} StatisticsColumn;

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_statistics);

/*
 * Adds a row.  Its columns are those that the function was created with, which
 * may be another version's: they go by name, and one not known here is null.
 */
static void
put_row(ReturnSetInfo *rsinfo, const StatisticsColumn *known, size_t count)
{
	TupleDesc	desc = rsinfo->setDesc;
	Datum	   *values = palloc0(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * desc->natts);

	for (int i = 0; i < desc->natts; i++)
	{
		nulls[i] = true;
		for (size_t j = 0; j < count; j++)
		{
			if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), known[j].name) != 0)
				continue;
			values[i] = known[j].value;
			nulls[i] = !known[j].known;
		}
	}
	tuplestore_putvalues(rsinfo->setResult, desc, values, nulls);
}

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
	const StatisticsColumn columns[] = {
		{"server_name", server != NULL, server == NULL ? 0 : CStringGetTextDatum(server->servername)},
		{"user_name", user != NULL, user == NULL ? 0 : CStringGetTextDatum(user)},
		{"connects", true, Int64GetDatum(session->counters.connects)},
		{"round_trips", true, Int64GetDatum(session->counters.round_trips)},
		/* as 0.1.0 calls them */
		{"flights", true, Int64GetDatum(session->counters.round_trips)},
		{"rows", true, Int64GetDatum(session->counters.rows)},
		{"bytes_received", counted, Int64GetDatum(received)},
		{"bytes_sent", counted, Int64GetDatum(sent)},
		{"statement_hits", true, Int64GetDatum(session->counters.statements.hits)},
		{"statement_misses", true, Int64GetDatum(session->counters.statements.misses)},
		{"statement_evictions", true, Int64GetDatum(session->counters.statements.evictions)},
		{"unawaited_commits", true, Int64GetDatum(session->counters.unawaited_commits)},
		{"autocommit_scans", true, Int64GetDatum(session->counters.autocommit_scans)},
	};

	put_row(rsinfo, columns, lengthof(columns));
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
