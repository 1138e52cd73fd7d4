/*
 * connection.c
 *	  How the connection of a session begins and ends.
 *
 * connect.c opens the connection; this file sets up the session on it.
 */
#include "postgres.h"

#include <poll.h>

#include "catalog/pg_user_mapping.h"
#include "mb/pg_wchar.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/options.h"
#include "session/batch.h"
#include "session/connection.h"
#include "session/control.h"
#include "session/facts.h"
#include "session/portals.h"
#include "session/prepared.h"
#include "session/questions.h"
#include "session/reader.h"
#include "session/remote_xact.h"
#include "session/results.h"
#include "session/shared_counters.h"
#include "session/wait.h"

/* Round trips that connecting takes, at least: TCP's own, and the startup */
#define CONNECT_ROUND_TRIPS 2

/* How long closing a connection may wait for answers, in ms */
#define CLOSE_LIMIT_MIN 100
#define CLOSE_LIMIT_MAX 1000

/* The greatest process ID of Linux; other systems have smaller ones. */
#define PROCESS_ID_MAX (1 << 22)

/*
 * Sets up the session in one batch: settings under which values are exchanged,
 * the statements that transactions need, and what the remote server is like.
 * The answers are read with those to the next batch.  What a pooler would hand to
 * another session with the server connection is left out.
 */
static void
connection_configure(Session *session)
{
	batch_begin(session, false);
	if (!session->options.is_pooled)
	{
		control_add_settings(session, 0);
		control_add_preparations(session);
	}
	questions_add_at_setup(session);
	if (!batch_send(session))
		results_report(session, ERROR, NULL, NULL);
	remote_xact_enter(session, PHASE_IDLE);
}

/* Whose mapping is read when the connection has to be replaced. */
void
connection_set_user(Session *session, Oid user)
{
	*session_own(Oid, session, user) = user;
}

/* The options have changed: the connection ends with the transaction. */
void
connection_outdate(Session *session)
{
	session_own(SessionOptions, session, options)->is_outdated = true;
}

/* Keeps a name for messages that must not fail: in ASCII. */
static void
keep_name(char *kept, const char *name)
{
	strlcpy(kept, name, NAMEDATALEN);
	for (; *kept != '\0'; kept++)
	{
		if (IS_HIGHBIT_SET(*kept))
			*kept = '?';
	}
}

/*
 * Reads the options of server and mapping, and the hash values by which a
 * change of either is recognized.
 */
static void
read_options(Session *session, ForeignServer *server, UserMapping *user)
{
	SessionOptions *options = session_own(SessionOptions, session, options);
	List	   *list = server->options;

	*session_own(Oid, session, server) = server->serverid;
	connection_set_user(session, user->userid);
	*session_own(Oid, session, mapping_user) =
		GetSysCacheOid1(USERMAPPINGOID, Anum_pg_user_mapping_umuser,
						ObjectIdGetDatum(user->umid));
	options->server_hash = GetSysCacheHashValue1(FOREIGNSERVEROID,
												 ObjectIdGetDatum(server->serverid));
	options->mapping_hash = GetSysCacheHashValue1(USERMAPPINGOID,
												  ObjectIdGetDatum(user->umid));
	options->keep = option_is_true(list, "keep_connections", true);
	options->parallel_commit = option_is_true(list, "parallel_commit", false);
	options->parallel_abort = option_is_true(list, "parallel_abort", false);
	options->read_committed = option_reads_committed(list);
	options->claims_collations = option_claims_collations(list);
	options->fast_paths = fastpath_of_server(list);
	options->statement_cache_size = option_statement_cache_size(list);
	options->pool_mode = option_pool_mode(list);
	keep_name(options->server_name, server->servername);
	options->is_outdated = false;
}

/*
 * Decides whether each transaction may get another server connection, unless the
 * server's option says so.  A pooler gives a key of its own for cancel requests, not
 * that of the server connection: PgBouncer's is random, so what would be the process
 * ID is none, but for one in a thousand.  That connection shows by the loss of its
 * prepared statements, as any other one does, and is replaced.
 */
static void
decide_pooled(Session *session)
{
	SessionOptions *options = session_own(SessionOptions, session, options);
	int			pid = PQbackendPID(session->conn);
	bool		looks_pooled = pid <= 0 || pid > PROCESS_ID_MAX;

	options->is_pooled = options->pool_mode == POOL_TRANSACTION ||
		(options->pool_mode == POOL_UNKNOWN && looks_pooled) ||
		session->remote.lost_statements;
	if (options->is_pooled)
		options->statement_cache_size = 0;
	facts_note_lost_statements(session, false);
}

/* Do the remote database and this one have the same encoding? */
static bool
is_same_encoding(const PGconn *conn)
{
	const char *encoding = PQparameterStatus(conn, "server_encoding");

	return encoding != NULL && strcmp(encoding, GetDatabaseEncodingName()) == 0;
}

/*
 * Connects and sets up a session.  If that fails, disconnects it and raises an
 * ERROR.  The local depth stays: the next batch brings the remote transaction
 * to it.
 */
void
connection_begin(Session *session, UserMapping *user)
{
	ForeignServer *server = GetForeignServer(user->serverid);
	TimestampTz start = GetCurrentTimestamp();

	Assert(session->conn == NULL);
	shared_counters_attach();
	read_options(session, server, user);
	wait_make_room(server->servername);
	*session_own(PGconn *, session, conn) = connect_open(server, user);
	decide_pooled(session);
	error_receive_notices(session);
	facts_begin(session,
				TimestampDifferenceMilliseconds(start, GetCurrentTimestamp()) /
				CONNECT_ROUND_TRIPS,
				is_same_encoding(session->conn));
	PG_TRY();
	{
		if (!PQenterPipelineMode(session->conn) ||
			PQsetnonblocking(session->conn, 1) != 0)
			results_report(session, ERROR, NULL, NULL);
		prepared_begin(session);
		connection_configure(session);
		questions_check_belief(session);
		*session_own(bool, session, is_set_up) = true;
		session->counters.connects++;
	}
	PG_CATCH();
	{
		connection_end(session);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/*
 * Reads what is still to come of answers that nobody waits for, until a time.
 * No interrupt is served, no ERROR raised, and nothing used that a backend has
 * lost by its exit, like its latch.
 */
static void
read_last_answers(PGconn *conn, TimestampTz until)
{
	while (PQstatus(conn) == CONNECTION_OK &&
		   PQtransactionStatus(conn) == PQTRANS_ACTIVE)
	{
		struct pollfd event = {.fd = PQsocket(conn),.events = POLLIN};
		long		left;
		int			unsent;

		if (!PQisBusy(conn))
		{
			PQclear(PQgetResult(conn));
			continue;
		}
		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until);
		unsent = PQflush(conn);
		if (left <= 0 || unsent < 0)
			return;
		if (unsent > 0)
			event.events |= POLLOUT;
		if (poll(&event, 1, left) < 0 && errno != EINTR)
			return;
		if (!PQconsumeInput(conn))
			return;
	}
}

/*
 * Closes the connection, if there is one, as a server expects it: with all
 * answers read and Terminate sent.  Else it would log that its client was lost.
 * Answers to a COMMIT and to questions come within a round trip and the time
 * that these take; a server that is slower than the limit has its log
 * lines.  The limit counts from a time that several connections may share.
 */
void
connection_close(Session *session, TimestampTz since)
{
	long		limit = Min(CLOSE_LIMIT_MIN + 2 * session->remote.round_trip,
							CLOSE_LIMIT_MAX);

	if (!remote_xact_is_unusable(session) && !batch_is_in_flight(session))
		read_last_answers(session->conn,
						  TimestampTzPlusMilliseconds(since, limit));
	libpqsrv_disconnect(session->conn);
	*session_own(PGconn *, session, conn) = NULL;
}

/* Ends the connection, if there is one, and forgets all that depends on it. */
void
connection_end(Session *session)
{
	wait_forget(session);
	shared_counters_end_connection(session);
	connection_close(session, GetCurrentTimestamp());
	*session_own(bool, session, is_set_up) = false;
	error_forget_fatal(session);
	remote_xact_disconnect(session);
	batch_forget(session);
	reader_forget(session);
	portals_forget(session);
	prepared_end(session);
	facts_forget(session);
}
