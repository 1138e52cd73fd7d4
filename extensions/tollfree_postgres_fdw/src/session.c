/*
 * session.c
 *	  A session on a remote server, and the flights that it makes.
 *
 * A flight is what is sent without waiting for an answer in between: the
 * commands that bring the remote transaction where the local one is, what the
 * caller wants, and one Sync.  All of it goes through libpq's pipeline mode,
 * which the connection never leaves.  At most one flight is in the air, except
 * for a COMMIT that nobody waits for: its answer is read with the next flight.
 *
 * A part per expected answer remembers what the answer is about, so that
 * whoever reads, the caller or the clean-up after an error, knows what became
 * of the remote transaction.
 *
 * As long as no answer to START TRANSACTION has arrived a lost connection has
 * lost nothing, so the flight is repeated once on a new one.
 *
 * When transactions begin and end is transaction.c's business, which sessions
 * there are cache.c's.
 */
#include "postgres.h"

#include "access/xact.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/wait_event.h"

#include "connect.h"
#include "options.h"
#include "session.h"

#define WAIT_SOCKET 2			/* position in the wait set */
#define WAIT_EVENTS 3

/*
 * What goes with every transaction is prepared when the session begins: to
 * parse and plan it takes the remote server as long as many a query.
 */
#define START_STATEMENT "tollfree_start"
#define COMMIT_STATEMENT "tollfree_commit"
#define COMMIT_SQL "COMMIT TRANSACTION"

/* Answers with "t" if nothing has been written so far. */
#define WRITE_CHECK_STATEMENT "tollfree_check"
#define WRITE_CHECK_SQL \
	"SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NULL"
#define WRITE_CHECK_VERSION 130000

/* All that an error of the remote server says */
typedef struct RemoteError
{
	int			sqlstate;
	char	   *primary;
	char	   *detail;
	char	   *hint;
	char	   *context;
} RemoteError;

static const char *const settings[] = {
	"SET search_path = pg_catalog",
	"SET timezone = 'GMT'",
	"SET datestyle = ISO",
	"SET intervalstyle = postgres",
	"SET extra_float_digits = 3"
};

/*
 * Waits for the socket or the latch; false if the deadline has passed.  The
 * set is made with the connection: making one per wait costs more than many a
 * query.
 */
static bool
wait_for_socket(Session *session, uint32 events)
{
	long		timeout = -1;
	WaitEvent	event;

	if (session->deadline != 0)
	{
		timeout = TimestampDifferenceMilliseconds(GetCurrentTimestamp(),
												  session->deadline);
		if (timeout <= 0)
			return false;
	}
	if (session->wait_events != events)
		ModifyWaitEvent(session->wait_set, WAIT_SOCKET, events, NULL);
	session->wait_events = events;

	if (WaitEventSetWait(session->wait_set, timeout, &event, 1,
						 PG_WAIT_EXTENSION) == 1 &&
		(event.events & WL_LATCH_SET))
	{
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/*
 * The next thing that libpq has, as PQgetResult returns it; NULL, and marked
 * as timed out, once the deadline has passed.
 */
static PGresult *
wait_for_result(Session *session)
{
	while (PQisBusy(session->conn))
	{
		uint32		events = WL_SOCKET_READABLE;

		/* An interrupt may have left some of the flight unsent. */
		if (PQflush(session->conn) > 0)
			events |= WL_SOCKET_WRITEABLE;
		if (!wait_for_socket(session, events))
		{
			session->timed_out = true;
			return NULL;
		}
		if (!PQconsumeInput(session->conn))
			break;
	}
	return PQgetResult(session->conn);
}

/* Is anything unread, beside the answer to a COMMIT nobody waits for? */
bool
session_is_flying(const Session *session)
{
	for (int i = session->part; i < session->nparts; i++)
	{
		if (session->parts[i].kind != PART_COMMIT &&
			session->parts[i].kind != PART_SYNC)
			return true;
	}
	return false;
}

/* Reads the error into this context. */
static RemoteError
copy_error(Session *session, PGresult *res)
{
	const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	const char *primary = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
	const char *detail = PQresultErrorField(res, PG_DIAG_MESSAGE_DETAIL);
	const char *hint = PQresultErrorField(res, PG_DIAG_MESSAGE_HINT);
	const char *context = PQresultErrorField(res, PG_DIAG_CONTEXT);
	RemoteError error = {0};

	error.sqlstate = ERRCODE_CONNECTION_FAILURE;
	if (state != NULL)
		error.sqlstate = MAKE_SQLSTATE(state[0], state[1], state[2],
									   state[3], state[4]);
	error.primary = primary ? pstrdup(primary)
		: pchomp(PQerrorMessage(session->conn));
	error.detail = detail ? pstrdup(detail) : NULL;
	error.hint = hint ? pstrdup(hint) : NULL;
	error.context = context ? pstrdup(context) : NULL;
	return error;
}

/* Raises an error of the remote server as one of ours. */
static void
throw_error(int elevel, const RemoteError *error, const char *sql)
{
	ereport(elevel,
			(errcode(error->sqlstate),
			 error->primary[0] != '\0' ?
			 errmsg_internal("%s", error->primary) :
			 errmsg("could not obtain message string for remote error"),
			 error->detail ? errdetail_internal("%s", error->detail) : 0,
			 error->hint ? errhint("%s", error->hint) : 0,
			 error->context ? errcontext("%s", error->context) : 0,
			 sql ? errcontext("remote SQL command: %s", sql) : 0));
}

/*
 * Reports an error of the remote server, or of the connection if it was lost,
 * and clears the result, which may be NULL.  The rest of the flight is read
 * first: after an error nothing of it has been executed.
 */
void
session_report(Session *session, int elevel, PGresult *res, const char *sql)
{
	RemoteError error = copy_error(session, res);

	PQclear(res);
	if (session->nparts > session->part)
	{
		session->failed_depth = Max(session->remote_depth, 1);
		session_drain(session);
	}
	/* The server's last words are no SQLSTATE of the command. */
	if (PQstatus(session->conn) == CONNECTION_BAD)
	{
		char	   *message = pchomp(PQerrorMessage(session->conn));

		error.sqlstate = ERRCODE_CONNECTION_FAILURE;
		if (*message != '\0')
			error.primary = message;
	}

	throw_error(elevel, &error, sql);
}

/* Keeps what the answer to one of our own commands tells. */
static void
accept_answer(Session *session, const Part *part, PGresult *res)
{
	switch (part->kind)
	{
		case PART_RELEASE:
		case PART_START:
		case PART_SAVEPOINT:
			session->remote_depth = part->depth;
			session->kept_depth = part->depth;
			break;
		case PART_WRITE_CHECK:
			session->may_have_written = PQntuples(res) != 1 ||
				strcmp(PQgetvalue(res, 0, 0), "t") != 0;
			break;
		default:
			break;
	}
}

/*
 * Takes the answer to one of our own commands, and clears it.  An error leaves
 * the session half done, and is raised unless quiet.
 */
static void
take_answer(Session *session, PGresult *res, bool quiet)
{
	const Part *part = &session->parts[session->part];

	switch (PQresultStatus(res))
	{
		case PGRES_COMMAND_OK:
		case PGRES_TUPLES_OK:
			accept_answer(session, part, res);
			break;
		case PGRES_PIPELINE_SYNC:
			session->part++;	/* nothing follows it */
			break;
		case PGRES_PIPELINE_ABORTED:
			break;				/* what came before it has failed */
		default:
			session->half_done = true;
			if (!quiet)
				session_report(session, ERROR, res, part->sql);
			break;
	}
	PQclear(res);
}

/*
 * The next result of the caller's current command, which he must clear, or
 * NULL after its last one.  Answers to our own commands on the way are taken.
 * With a lost connection it is an error or NULL; PQstatus tells.
 */
PGresult *
session_result(Session *session)
{
	while (session->part < session->nparts)
	{
		const Part *part = &session->parts[session->part];
		PGresult   *res = wait_for_result(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
			return res;
		if (res == NULL)
		{
			session->part++;
			if (part->kind == PART_COMMAND)
				return NULL;
		}
		else if (part->kind == PART_COMMAND)
			return res;
		else
			take_answer(session, res, false);
	}
	return NULL;
}

/* Reads all that is left of the flight; an error in it is raised. */
void
session_finish(Session *session)
{
	while (session->part < session->nparts)
	{
		PGresult   *res = session_result(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
			session_report(session, ERROR, res, NULL);
		PQclear(res);
	}
}

/*
 * Reads all that is left of the flight, for the state it leaves behind; errors
 * of the remote server are not raised.  The flight is over in any case.
 */
void
session_drain(Session *session)
{
	while (session->part < session->nparts &&
		   PQstatus(session->conn) != CONNECTION_BAD)
	{
		PGresult   *res = wait_for_result(session);

		if (session->timed_out)
			break;
		if (res == NULL)
			session->part++;
		else if (session->parts[session->part].kind != PART_COMMAND)
			take_answer(session, res, true);
		else
		{
			if (PQresultStatus(res) == PGRES_FATAL_ERROR)
				session->failed_depth = Max(session->remote_depth, 1);
			PQclear(res);
		}
	}
	session->part = session->nparts;
	session->absorb = NULL;
}

/*
 * Begins to put a flight together.  What a scan is still reading is read
 * first; only the answer to a COMMIT may be outstanding.
 */
void
session_begin_flight(Session *session)
{
	if (session_is_flying(session) && session->absorb != NULL)
		session->absorb(session->absorb_arg);
	Assert(!session_is_flying(session));
	PQclear(session->result);
	session->result = NULL;
	if (session->part == session->nparts)
	{
		session->part = session->nparts = 0;
		MemoryContextReset(session->flight_context);
		session->parts_size = 0;
	}
}

/* Notes that an answer will come; the text is copied. */
static void
expect(Session *session, PartKind kind, int depth, const char *sql)
{
	MemoryContext context = session->flight_context;

	if (session->nparts == session->parts_size)
	{
		int			size = Max(2 * session->parts_size, 16);
		Part	   *parts = MemoryContextAlloc(context, size * sizeof(Part));

		if (session->nparts > 0)
			memcpy(parts, session->parts, session->nparts * sizeof(Part));
		session->parts = parts;
		session->parts_size = size;
	}
	session->parts[session->nparts].kind = kind;
	session->parts[session->nparts].depth = depth;
	session->parts[session->nparts].sql =
		sql ? MemoryContextStrdup(context, sql) : NULL;
	session->nparts++;
}

/*
 * Notes that something was queued, or else gives the flight up: a part of it
 * must not be executed without the others.  A lost connection shows when the
 * flight is launched.
 */
static void
check_queued(Session *session, bool queued, PartKind kind, int depth,
			 const char *sql)
{
	if (queued)
		expect(session, kind, depth, sql);
	else if (PQstatus(session->conn) != CONNECTION_BAD)
	{
		session->half_done = true;
		session->part = session->nparts;
		session_report(session, ERROR, NULL, sql);
	}
}

/* Adds a command of our own. */
void
session_add(Session *session, PartKind kind, int depth, const char *sql)
{
	bool		queued = PQsendQueryParams(session->conn, sql, 0, NULL, NULL,
										   NULL, NULL, 0);

	check_queued(session, queued, kind, depth, sql);
}

/* Adds one of the statements that were prepared when the session began. */
static void
add_statement(Session *session, PartKind kind, int depth,
			  const char *statement, const char *sql)
{
	bool		queued = PQsendQueryPrepared(session->conn, statement, 0, NULL,
											 NULL, NULL, 0);

	check_queued(session, queued, kind, depth, sql);
}

/* Adds the commit; the kind says whether its answer is for the caller. */
void
session_add_commit(Session *session, PartKind kind)
{
	add_statement(session, kind, 0, COMMIT_STATEMENT, COMMIT_SQL);
}

/* Prepares a statement of our own. */
static void
add_prepare(Session *session, const char *statement, const char *sql)
{
	bool		queued = PQsendPrepare(session->conn, statement, sql, 0, NULL);

	check_queued(session, queued, PART_CLEANUP, 0, sql);
}

/* How a remote transaction starts unless the local one is serializable. */
static const char *
start_sql(const Session *session)
{
	return session->read_committed ?
		"START TRANSACTION ISOLATION LEVEL READ COMMITTED" :
		"START TRANSACTION ISOLATION LEVEL REPEATABLE READ";
}

/* Adds a caller's command. */
static void
add_command(Session *session, const RemoteCommand *command)
{
	bool		queued;

	if (command->prepare)
		queued = PQsendPrepare(session->conn, command->statement, command->sql,
							   0, NULL);
	else if (command->statement != NULL)
		queued = PQsendQueryPrepared(session->conn, command->statement,
									 command->nparams, command->params,
									 NULL, NULL, 0);
	else
		queued = PQsendQueryParams(session->conn, command->sql,
								   command->nparams, NULL, command->params,
								   NULL, NULL, 0);
	check_queued(session, queued, PART_COMMAND, 0, command->shown);
}

/* Adds what brings the remote transaction to where the local one is. */
static void
add_transaction(Session *session)
{
	int			depth = session->remote_depth;
	char		sql[64];

	if (session->kept_depth < depth)
	{
		depth = session->kept_depth;
		snprintf(sql, sizeof(sql), "RELEASE SAVEPOINT s%d", depth + 1);
		session_add(session, PART_RELEASE, depth, sql);
	}
	if (depth == 0 && IsolationIsSerializable())
		session_add(session, PART_START, ++depth,
					"START TRANSACTION ISOLATION LEVEL SERIALIZABLE");
	else if (depth == 0)
		add_statement(session, PART_START, ++depth, START_STATEMENT,
					  start_sql(session));
	while (depth < session->xact_depth)
	{
		snprintf(sql, sizeof(sql), "SAVEPOINT s%d", ++depth);
		session_add(session, PART_SAVEPOINT, depth, sql);
	}
}

/* Adds the dropping of what is no longer used. */
void
session_add_cleanup(Session *session)
{
	ListCell   *cell;
	char		sql[NAMEDATALEN + 16];

	foreach(cell, session->closes)
	{
		snprintf(sql, sizeof(sql), "CLOSE c%u", (uint32) lfirst_int(cell));
		session_add(session, PART_CLEANUP, 0, sql);
	}
	list_free(session->closes);
	session->closes = NIL;
	foreach(cell, session->deallocates)
	{
		snprintf(sql, sizeof(sql), "DEALLOCATE %s", (char *) lfirst(cell));
		session_add(session, PART_CLEANUP, 0, sql);
	}
	list_free_deep(session->deallocates);
	session->deallocates = NIL;
}

/*
 * Ends what was put together with a Sync and sends all of it; false if the
 * connection is lost or the deadline has passed.
 */
bool
session_launch(Session *session)
{
	int			left;

	if (PQstatus(session->conn) == CONNECTION_BAD ||
		!PQpipelineSync(session->conn))
		return false;
	expect(session, PART_SYNC, 0, NULL);
	while ((left = PQflush(session->conn)) > 0)
	{
		if (!wait_for_socket(session, WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE))
		{
			session->timed_out = true;
			return false;
		}
		/* Both sides could wait for the other to read first. */
		if (!PQconsumeInput(session->conn))
			return false;
	}
	return left == 0;
}

/*
 * Takes an error before there is a remote transaction.  A server's farewell
 * looks like one until it hangs up; any other is raised.
 */
static void
take_early_error(Session *session, PGresult *res)
{
	const char *sql = session->parts[session->part].sql;
	RemoteError error = copy_error(session, res);

	PQclear(res);
	session_drain(session);
	if (PQstatus(session->conn) == CONNECTION_BAD)
		return;
	session->half_done = true;
	throw_error(ERROR, &error, sql);
}

/*
 * Reads the answers to our own commands at the front of a flight, or until the
 * connection is lost.
 */
static void
read_front(Session *session)
{
	while (session->part < session->nparts &&
		   session->parts[session->part].kind != PART_COMMAND)
	{
		PGresult   *res = wait_for_result(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
		{
			PQclear(res);
			break;
		}
		if (res == NULL)
			session->part++;
		else if (session->remote_depth == 0 &&
				 PQresultStatus(res) == PGRES_FATAL_ERROR)
			take_early_error(session, res);
		else
			take_answer(session, res, false);
	}
}

/*
 * Sends a flight and reads the answers to our own commands at its front; false
 * if the connection was lost before there was a remote transaction.
 */
static bool
fly(Session *session, const RemoteCommand *commands, int ncommands,
	bool only_reads)
{
	bool		launched;

	session_begin_flight(session);
	add_transaction(session);
	session_add_cleanup(session);
	for (int i = 0; i < ncommands; i++)
		add_command(session, &commands[i]);
	if (only_reads && PQserverVersion(session->conn) >= WRITE_CHECK_VERSION)
		add_statement(session, PART_WRITE_CHECK, 0, WRITE_CHECK_STATEMENT,
					  WRITE_CHECK_SQL);
	session->may_have_written = true;
	launched = session_launch(session);
	session->flights++;

	if (launched)
		read_front(session);
	return PQstatus(session->conn) != CONNECTION_BAD ||
		session->remote_depth > 0;
}

/* Raises an ERROR if it is not known what state the session is in. */
void
session_check_usable(Session *session)
{
	if (session->half_done)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_EXCEPTION),
				 errmsg("connection to server \"%s\" cannot be used due to abort cleanup failure",
						GetForeignServer(session->server)->servername)));
}

/*
 * Sends commands, in the remote transaction that belongs to the local one.
 * only_reads says that they write only what a function or view of the remote
 * server does, which is then checked.  The caller reads the results of each
 * command with session_result and then calls session_finish.
 */
void
session_send(Session *session, const RemoteCommand *commands, int ncommands,
			 bool only_reads)
{
	/* What is wrong with a lost connection, sending shows better. */
	if (PQstatus(session->conn) == CONNECTION_OK)
		session_check_usable(session);
	if (fly(session, commands, ncommands, only_reads))
		return;

	/* Nothing was lost with the connection. */
	session_disconnect(session);
	session_connect(session, GetUserMapping(session->user, session->server));
	if (!fly(session, commands, ncommands, only_reads))
		session_report(session, ERROR, NULL, commands[0].shown);
}

/*
 * Sends commands and waits for all of them; the last one's only result, which
 * the caller must clear.  An error of any of them is raised.
 */
PGresult *
session_execute(Session *session, const RemoteCommand *commands,
				int ncommands, bool only_reads)
{
	PGresult   *res;

	session_send(session, commands, ncommands, only_reads);
	for (int i = 0; i < ncommands; i++)
	{
		PQclear(session->result);
		session->result = NULL;
		res = session_result(session);
		if (PQresultStatus(res) != PGRES_COMMAND_OK &&
			PQresultStatus(res) != PGRES_TUPLES_OK)
			session_report(session, ERROR, res, commands[i].shown);
		session->result = res;
		if (commands[i].prepare)
		{
			MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

			session->statements = lappend(session->statements,
										  pstrdup(commands[i].statement));
			MemoryContextSwitchTo(old);
		}
		/* The result is followed by the command's end. */
		res = session_result(session);
		if (res != NULL || PQstatus(session->conn) == CONNECTION_BAD)
			session_report(session, ERROR, res, commands[i].shown);
	}
	session_finish(session);
	res = session->result;
	session->result = NULL;
	return res;
}

/* Closes a cursor with the next flight of this transaction, if there is one. */
void
session_close_later(Session *session, uint32 cursor)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	session->closes = lappend_int(session->closes, (int) cursor);
	MemoryContextSwitchTo(old);
}

/* Drops a prepared statement with the next flight. */
void
session_deallocate_later(Session *session, const char *name)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	ListCell   *cell;

	foreach(cell, session->statements)
	{
		char	   *known = lfirst(cell);

		if (strcmp(known, name) == 0)
		{
			session->statements = foreach_delete_current(session->statements,
														 cell);
			session->deallocates = lappend(session->deallocates, known);
			break;
		}
	}
	MemoryContextSwitchTo(old);
}

/*
 * Makes the settings that values are exchanged under, and prepares what every
 * transaction needs, in one flight.
 */
static void
configure(Session *session)
{
	PGresult   *res;

	session_begin_flight(session);
	for (int i = 0; i < lengthof(settings); i++)
		session_add(session, PART_CLEANUP, 0, settings[i]);
	add_prepare(session, START_STATEMENT, start_sql(session));
	add_prepare(session, COMMIT_STATEMENT, COMMIT_SQL);
	if (PQserverVersion(session->conn) >= WRITE_CHECK_VERSION)
		add_prepare(session, WRITE_CHECK_STATEMENT, WRITE_CHECK_SQL);
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
	session->read_committed = option_reads_committed(server->options);
	session->invalidated = false;
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
	session->half_done = session->timed_out = session->truncated = false;
	session->part = session->nparts = 0;
	session->deadline = 0;

	session->conn = connect_open(server, user);
	PG_TRY();
	{
		if (!PQenterPipelineMode(session->conn) ||
			PQsetnonblocking(session->conn, 1) != 0)
			session_report(session, ERROR, NULL, NULL);
		session->wait_set = compat_create_wait_event_set(WAIT_EVENTS);
		AddWaitEventToSet(session->wait_set, WL_EXIT_ON_PM_DEATH,
						  PGINVALID_SOCKET, NULL, NULL);
		AddWaitEventToSet(session->wait_set, WL_LATCH_SET,
						  PGINVALID_SOCKET, MyLatch, NULL);
		session->wait_events = WL_SOCKET_READABLE;
		AddWaitEventToSet(session->wait_set, session->wait_events,
						  PQsocket(session->conn), NULL, NULL);
		configure(session);
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
	if (session->wait_set != NULL)
		FreeWaitEventSet(session->wait_set);
	session->wait_set = NULL;
	PQclear(session->result);
	session->result = NULL;
	libpqsrv_disconnect(session->conn);
	session->conn = NULL;

	session->part = session->nparts = 0;
	session->absorb = NULL;
	list_free(session->closes);
	list_free_deep(session->deallocates);
	list_free_deep(session->statements);
	session->closes = session->deallocates = session->statements = NIL;
}
