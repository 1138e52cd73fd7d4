/*
 * connections.c
 *	  The SQL functions that show and close connections.
 */
#include "postgres.h"

#include <poll.h>

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/compat_export.h"
#include "session/connection.h"
#include "session/sessions.h"

#define CONNECTION_COLUMNS 7

/* Can poll tell that the other side has closed?  If not the column is null. */
#ifdef POLLRDHUP
#define CAN_SEE_CLOSED true
#else
#define CAN_SEE_CLOSED false
#define POLLRDHUP 0
#endif

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_get_connections);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_disconnect);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_disconnect_all);

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

/*
 * Adds a row: the session's server, user and state.  Whether the other side
 * has closed the connection is null unless check asks for it and poll can
 * tell.
 */
static void
show_session(const Session *session, bool check, ReturnSetInfo *rsinfo)
{
	ForeignServer *server = GetForeignServerExtended(session->server,
													 FSV_MISSING_OK);
	const char *user = sessions_user_name(session);
	Datum		values[CONNECTION_COLUMNS] = {0};
	bool		nulls[CONNECTION_COLUMNS] = {0};

	nulls[0] = server == NULL;
	if (server != NULL)
		values[0] = CStringGetTextDatum(server->servername);
	nulls[1] = user == NULL;
	if (user != NULL)
		values[1] = CStringGetTextDatum(user);
	values[2] = BoolGetDatum(!session->options.is_outdated);
	values[3] = BoolGetDatum(session->xact.local_depth > 0);
	nulls[4] = !check || !CAN_SEE_CLOSED;
	if (!nulls[4])
		values[4] = BoolGetDatum(is_closed(session->conn));
	values[5] = Int32GetDatum(PQbackendPID(session->conn));
	values[6] = Int64GetDatum(session->counters.round_trips);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* The SQL function; its columns are in the extension's script. */
Datum
tollfree_postgres_fdw_get_connections(PG_FUNCTION_ARGS)
{
	bool		check = PG_GETARG_BOOL(0);
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);

		if (session->conn != NULL)
			show_session(session, check, (ReturnSetInfo *) fcinfo->resultinfo);
	}
	PG_RETURN_VOID();
}

/* Warns that a session cannot be closed now. */
static void
warn_in_use(const Session *session)
{
	ForeignServer *server = GetForeignServerExtended(session->server,
													 FSV_MISSING_OK);

	if (server == NULL)
		ereport(WARNING,
				(errmsg("cannot close dropped server connection because it is still in use")));
	else
		ereport(WARNING,
				(errmsg("cannot close connection for server \"%s\" because it is still in use",
						server->servername)));
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
