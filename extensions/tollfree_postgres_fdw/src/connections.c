/*
 * connections.c
 *	  The SQL functions that show and close connections, and their counters.
 *
 * The counters belong to the sessions, and last as long as the backend. Bytes
 * are counted by the kernel for each connection, so those of lost connections
 * are not shown. The counters of all backends are in shared memory; sessions
 * add to them at the end of a transaction (shared_counters.c).
 */
#include "postgres.h"

#include <poll.h>

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "base/compat_export.h"
#include "session/connection.h"
#include "session/session.h"
#include "session/shared_counters.h"
#include "session/traffic.h"

/*
 * Does poll report that the other side has closed? If not the column is null.
 */
#ifdef POLLRDHUP
#define CAN_SEE_CLOSED true
#else
#define CAN_SEE_CLOSED false
#define POLLRDHUP 0
#endif

/* A result column; null if its value is not known. */
typedef struct ShownColumn
{
	const char *name;
	bool		known;
	Datum		value;
} ShownColumn;

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_get_connections);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_disconnect);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_disconnect_all);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_statistics);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_all_statistics);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_reset_statistics);

/* A column with a text, or with a null if that is NULL. */
static ShownColumn
text_column(const char *name, const char *value)
{
	return (ShownColumn)
	{
		name, value != NULL, value != NULL ? CStringGetTextDatum(value) : 0
	};
}

/* The name of a session's server, or NULL if that was dropped. */
static const char *
server_name(const Session *session)
{
	ForeignServer *server = GetForeignServerExtended(session->server,
													 FSV_MISSING_OK);

	return server == NULL ? NULL : server->servername;
}

/* Sets the columns of a row that are among those given. */
static void
set_columns(TupleDesc desc, Datum *values, bool *nulls,
			const ShownColumn *columns, int ncolumns)
{
	for (int i = 0; i < desc->natts; i++)
	{
		for (int j = 0; j < ncolumns; j++)
		{
			if (strcmp(NameStr(TupleDescAttr(desc, i)->attname),
					   columns[j].name) != 0)
				continue;
			values[i] = columns[j].value;
			nulls[i] = !columns[j].known;
		}
	}
}

/*
 * Adds a row of some columns and counters.  The function may have been created
 * by another version of the extension, with other columns.  So columns are
 * found by name, and an unknown one is null.
 */
static void
put_row(FunctionCallInfo fcinfo, const ShownColumn *columns, int ncolumns,
		const SessionCounters *counters)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	TupleDesc	desc = rsinfo->setDesc;
	Datum	   *values = palloc0(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * desc->natts);

	/* A connection whose bytes are counted has received some. */
	bool		counts_bytes = counters->bytes_received > 0;
	const ShownColumn counted[] = {
		{"connects", true, Int64GetDatum(counters->connects)},
		{"reconnects", true, Int64GetDatum(counters->reconnects)},
		{"round_trips", true, Int64GetDatum(counters->round_trips)},
		{"rows", true, Int64GetDatum(counters->rows)},
		{"bytes_received", counts_bytes, Int64GetDatum(counters->bytes_received)},
		{"bytes_sent", counts_bytes, Int64GetDatum(counters->bytes_sent)},
		{"statement_hits", true, Int64GetDatum(counters->statements.hits)},
		{"statement_misses", true, Int64GetDatum(counters->statements.misses)},
		{"statement_evictions", true, Int64GetDatum(counters->statements.evictions)},
		{"repeats", true, Int64GetDatum(counters->repeats)},
		{"unawaited_commits", true, Int64GetDatum(counters->unawaited_commits)},
		{"autocommit_scans", true, Int64GetDatum(counters->autocommit_scans)},
		{"spills", true, Int64GetDatum(counters->spills)},
		{"errors", true, Int64GetDatum(counters->errors)}
	};

	memset(nulls, true, sizeof(bool) * desc->natts);
	set_columns(desc, values, nulls, columns, ncolumns);
	set_columns(desc, values, nulls, counted, lengthof(counted));
	tuplestore_putvalues(rsinfo->setResult, desc, values, nulls);
}

/* Has the other side closed the connection, as far as the kernel knows? */
static bool
is_closed(const PGconn *conn)
{
	struct pollfd descriptor = {.fd = PQsocket(conn),.events = POLLRDHUP};
	int			ready;

	if (descriptor.fd < 0)
		return true;
	do
		ready = poll(&descriptor, 1, 0);
	while (ready < 0 && errno == EINTR);
	return ready != 0;
}

/* Adds a row: a connection's server and user, and its state. */
static void
show_connection(FunctionCallInfo fcinfo, const Session *session, bool check)
{
	const ShownColumn columns[] = {
		text_column("server_name", server_name(session)),
		text_column("user_name", sessions_user_name(session)),
		{"valid", true, BoolGetDatum(!session->options.is_outdated)},
		{"used_in_xact", true, BoolGetDatum(session->xact.local_depth > 0)},
		{"closed", check, BoolGetDatum(check && is_closed(session->conn))},
		{"remote_backend_pid", true, Int32GetDatum(PQbackendPID(session->conn))}
	};

	put_row(fcinfo, columns, lengthof(columns), &session->counters);
}

/* The SQL function: the connections that are open. */
Datum
tollfree_postgres_fdw_get_connections(PG_FUNCTION_ARGS)
{
	bool		check = PG_GETARG_BOOL(0) && CAN_SEE_CLOSED;
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);

		if (session->conn != NULL)
			show_connection(fcinfo, session, check);
	}
	PG_RETURN_VOID();
}

/* Adds a row: a session's server and user, and its counters. */
static void
show_statistics(FunctionCallInfo fcinfo, const Session *session)
{
	SessionCounters counters = session->counters;
	int64_t		received = 0;
	int64_t		sent = 0;
	const ShownColumn columns[] = {
		text_column("server_name", server_name(session)),
		text_column("user_name", sessions_user_name(session))
	};

	if (session->conn != NULL)
		(void) traffic_count(PQsocket(session->conn), &received, &sent);
	counters.bytes_received = received;
	counters.bytes_sent = sent;
	put_row(fcinfo, columns, lengthof(columns), &counters);
}

/* The SQL function: the counters of this backend's sessions. */
Datum
tollfree_postgres_fdw_statistics(PG_FUNCTION_ARGS)
{
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);

		if (session->counters.connects > 0)
			show_statistics(fcinfo, session);
	}
	PG_RETURN_VOID();
}

/* Removes the counters of dropped databases. */
static void
forget_databases(void)
{
	CountersEntry entry;
	TimestampTz since;
	int			i = 0;

	while (shared_counters_get(i, &entry, &since))
	{
		if (!OidIsValid(entry.database) ||
			SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(entry.database)))
			i++;
		else
			shared_counters_forget(entry.database);
	}
}

/*
 * The SQL function of the view: the counters of each user mapping. The
 * overflow entry has neither database nor server nor user.
 */
Datum
tollfree_postgres_fdw_all_statistics(PG_FUNCTION_ARGS)
{
	CountersEntry entry;
	TimestampTz since;

	shared_counters_attach();
	forget_databases();
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; shared_counters_get(i, &entry, &since); i++)
	{
		bool		has_room = OidIsValid(entry.server);
		const ShownColumn columns[] = {
			{"datid", has_room, ObjectIdGetDatum(entry.database)},
			{"serverid", has_room, ObjectIdGetDatum(entry.server)},
			{"userid", has_room, ObjectIdGetDatum(entry.user)},
			{"stats_reset", true, TimestampTzGetDatum(since)},
			text_column("scope", shared_counters_are_shared() ? "server" : "session")
		};

		if (has_room || entry.counters.round_trips > 0)
			put_row(fcinfo, columns, lengthof(columns), &entry.counters);
	}
	PG_RETURN_VOID();
}

/* The SQL function: resets these counters. */
Datum
tollfree_postgres_fdw_reset_statistics(PG_FUNCTION_ARGS)
{
	shared_counters_attach();
	shared_counters_reset();
	PG_RETURN_VOID();
}

/* Warns that a session cannot be closed now. */
static void
warn_in_use(const Session *session)
{
	const char *name = server_name(session);

	ereport(WARNING,
			name == NULL ?
			errmsg("cannot close dropped server connection because it is still in use") :
			errmsg("cannot close connection for server \"%s\" because it is still in use",
				   name));
}

/*
 * Closes the idle sessions on a server, or on all servers if that is 0; true
 * if there was one.
 */
static bool
disconnect(Oid server)
{
	bool		closed = false;
	ListCell   *cell;

	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);

		if (session->conn == NULL ||
			(OidIsValid(server) && session->server != server))
			continue;
		if (session->xact.local_depth > 0)
			warn_in_use(session);
		else
		{
			connection_end(session);
			closed = true;
		}
	}
	return closed;
}

/* The SQL function: closes the sessions on one server. */
Datum
tollfree_postgres_fdw_disconnect(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	PG_RETURN_BOOL(disconnect(GetForeignServerByName(name, false)->serverid));
}

/* The SQL function: closes all sessions. */
Datum
tollfree_postgres_fdw_disconnect_all(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(disconnect(InvalidOid));
}
