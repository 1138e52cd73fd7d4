/*
 * statistics.c
 *	  The SQL function that shows what the sessions of this backend have done.
 *
 * Each session has its own counters, which last as long as the backend.  The
 * kernel counts the bytes, for each connection: those of the present
 * connection are shown.
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"

#include "base/compat_export.h"
#include "session/sessions.h"
#include "session/traffic.h"

/* A column that can be shown; it is null if its value is not known. */
typedef struct StatisticsColumn
{
	const char *name;
	bool		known;
	Datum		value;
} StatisticsColumn;

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_statistics);

/*
 * Adds a row.  The function may have been created by another version of the
 * extension, with other columns.  So columns are found by name, and one that
 * is not known here is null.
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

/* Adds a row: a session's server and user, and what it has done. */
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
		/* the name of round_trips in version 0.1.0 */
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
