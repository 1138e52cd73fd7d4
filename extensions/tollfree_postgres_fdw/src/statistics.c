/*
 * statistics.c
 *	  What the sessions of this backend, and of all, have done, for SQL.
 *
 * The counters are the sessions', kept where what they count happens, and last
 * as long as the backend.  Only the bytes are the kernel's: a lost connection
 * takes its count along, so the present one's is shown.  Those of all backends
 * are what sessions have added by the end of a transaction (shared_counters.c).
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"

#include "base/compat_export.h"
#include "session/sessions.h"
#include "session/shared_counters.h"
#include "session/traffic.h"

/* A column that can be shown; it is null if its value is not known. */
typedef struct StatisticsColumn
{
	const char *name;
	bool		known;
	Datum		value;
} StatisticsColumn;

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_statistics);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_all_statistics);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_reset_statistics);

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

/*
 * One row: what the sessions of a user mapping have done.  Those that had no room
 * of their own have neither database nor server nor user.
 */
static void
show_entry(const CountersEntry *entry, TimestampTz since, ReturnSetInfo *rsinfo)
{
	const SessionCounters *counters = &entry->counters;
	bool		has_room = OidIsValid(entry->server);
	const char *scope = shared_counters_are_shared() ? "server" : "session";
	const StatisticsColumn columns[] = {
		{"datid", has_room, ObjectIdGetDatum(entry->database)},
		{"serverid", has_room, ObjectIdGetDatum(entry->server)},
		{"userid", has_room, ObjectIdGetDatum(entry->user)},
		{"connects", true, Int64GetDatum(counters->connects)},
		{"reconnects", true, Int64GetDatum(counters->reconnects)},
		{"round_trips", true, Int64GetDatum(counters->round_trips)},
		{"rows", true, Int64GetDatum(counters->rows)},
		/* A connection that is counted has received some. */
		{"bytes_received", counters->bytes_received > 0, Int64GetDatum(counters->bytes_received)},
		{"bytes_sent", counters->bytes_received > 0, Int64GetDatum(counters->bytes_sent)},
		{"statement_hits", true, Int64GetDatum(counters->statements.hits)},
		{"statement_misses", true, Int64GetDatum(counters->statements.misses)},
		{"statement_evictions", true, Int64GetDatum(counters->statements.evictions)},
		{"repeats", true, Int64GetDatum(counters->repeats)},
		{"unawaited_commits", true, Int64GetDatum(counters->unawaited_commits)},
		{"autocommit_scans", true, Int64GetDatum(counters->autocommit_scans)},
		{"spills", true, Int64GetDatum(counters->spills)},
		{"errors", true, Int64GetDatum(counters->errors)},
		{"stats_reset", true, TimestampTzGetDatum(since)},
		{"scope", true, CStringGetTextDatum(scope)},
	};

	put_row(rsinfo, columns, lengthof(columns));
}

/* The SQL function of the view; its columns are in the extension's script. */
Datum
tollfree_postgres_fdw_all_statistics(PG_FUNCTION_ARGS)
{
	CountersEntry entry;
	TimestampTz since;

	shared_counters_attach();
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; shared_counters_get(i, &entry, &since); i++)
	{
		if (OidIsValid(entry.server) || entry.counters.round_trips > 0)
			show_entry(&entry, since, (ReturnSetInfo *) fcinfo->resultinfo);
	}
	PG_RETURN_VOID();
}

/* The SQL function: all of that begins anew. */
Datum
tollfree_postgres_fdw_reset_statistics(PG_FUNCTION_ARGS)
{
	shared_counters_attach();
	shared_counters_reset();
	PG_RETURN_VOID();
}
