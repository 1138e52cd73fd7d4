/*
 * lifetime.c
 *	  How the connection of a session begins and ends.
 *
 * Opening it is connect.c's business; here it is made ready for flights.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/syscache.h"

#include "connect.h"
#include "options.h"
#include "portals.h"
#include "questions.h"

static const char *const settings[] = {
	"SET search_path = pg_catalog",
	"SET timezone = 'GMT'",
	"SET datestyle = ISO",
	"SET intervalstyle = postgres",
	"SET extra_float_digits = 3"
};

/*
 * Makes the settings that values are exchanged under, prepares what every
 * transaction needs, and asks what can be done, in one flight.
 */
static void
configure(Session *session)
{
	TimestampTz start = GetCurrentTimestamp();
	PGresult   *res;

	session_begin_flight(session);
	for (int i = 0; i < lengthof(settings); i++)
		session_add(session, PART_CLEANUP, 0, settings[i]);
	session_add_preparations(session);
	questions_add_at_setup(session);
	if (!session_launch(session))
		session_report(session, ERROR, NULL, settings[0]);
	session->flights++;
	while (session->part < session->nparts)
	{
		const char *sql = session->parts[session->part].sql;

		res = session_result(session);
		if (PQstatus(session->conn) == CONNECTION_BAD)
			session_report(session, ERROR, res, sql);
		PQclear(res);
	}
	session->half_done = false;
	session->round_trip =
		TimestampDifferenceMilliseconds(start, GetCurrentTimestamp());
}

/* What is remembered of options; a change of them invalidates the session. */
static void
read_options(Session *session, ForeignServer *server, UserMapping *user)
{
	session->server = server->serverid;
	session->user = user->userid;
	session->server_hash =
		GetSysCacheHashValue1(FOREIGNSERVEROID,
							  ObjectIdGetDatum(server->serverid));
	session->mapping_hash =
		GetSysCacheHashValue1(USERMAPPINGOID, ObjectIdGetDatum(user->umid));
	session->keep = option_is_true(server->options, "keep_connections", true);
	session->parallel_commit = option_is_true(server->options,
											  "parallel_commit", false);
	session->parallel_abort = option_is_true(server->options,
											 "parallel_abort", false);
	session->read_committed = option_reads_committed(server->options);
	session->invalidated = false;
}

/* Does the remote database store texts in the encoding of this one? */
static bool
is_same_encoding(const PGconn *conn)
{
	const char *encoding = PQparameterStatus(conn, "server_encoding");

	return encoding != NULL && strcmp(encoding, GetDatabaseEncodingName()) == 0;
}

/*
 * Connects; raises an ERROR, with the session disconnected, if it fails.  The
 * local depth stays: it is what the next flight brings the new session to.
 */
void
session_connect(Session *session, UserMapping *user)
{
	ForeignServer *server = GetForeignServer(user->serverid);

	Assert(session->conn == NULL);
	read_options(session, server, user);
	session->remote_depth = session->kept_depth = session->failed_depth = 0;
	session->timed_out = session->truncated = false;
	session->is_stale = false;
	session->part = session->nparts = 0;
	session->deadline = session->cancel_again = 0;

	session_make_room(server->servername);
	session->conn = connect_open(server, user);
	session->same_encoding = is_same_encoding(session->conn);
	PG_TRY();
	{
		if (!PQenterPipelineMode(session->conn) ||
			PQsetnonblocking(session->conn, 1) != 0)
			session_report(session, ERROR, NULL, NULL);
		session->cache = statement_create_cache(&session->deallocates);
		configure(session);
		session->is_set_up = true;
		session->connects++;
	}
	PG_CATCH();
	{
		session_disconnect(session);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* Ends the connection, if there is one, and all that it held. */
void
session_disconnect(Session *session)
{
	session_free_wait_set(session);
	PQclear(session->result);
	session->result = NULL;
	libpqsrv_disconnect(session->conn);
	session->conn = NULL;
	statement_drop_cache(session->cache);
	session->cache = NULL;
	hash_destroy(session->relations);
	session->relations = NULL;
	session->repeatable = NULL;

	session->is_set_up = session->half_done = false;
	session->part = session->nparts = 0;
	session_forget_readers(session);
	portals_forget(session);
	list_free_deep(session->deallocates);
	list_free_deep(session->statements);
	session->deallocates = session->statements = NIL;
}
