/*
 * flight.c
 *	  One flight of a session: putting it together, sending, reading.
 *
 * A flight is what is sent without waiting for an answer in between, and one
 * Sync.  All of it goes through libpq's pipeline mode, which the connection
 * never leaves.  At most one flight is in the air, except for a COMMIT that
 * nobody waits for: its answer is read with the next flight.
 *
 * A part per expected answer remembers what the answer is about, so that
 * whoever reads, the caller or the clean-up after an error, knows what became
 * of the remote transaction.  Parts live in the session's flight_context until
 * the next flight begins; results are the reader's.
 *
 * What a flight is made of is session.c's and transaction.c's business.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/wait_event.h"

#include "session.h"

#define WAIT_SOCKET 0			/* position in the wait set */
#define WAIT_EVENTS 3

/* All that an error of the remote server says */
typedef struct RemoteError
{
	int			sqlstate;
	char	   *primary;
	char	   *detail;
	char	   *hint;
	char	   *context;
} RemoteError;

/*
 * Makes the set of events that the session waits for, to be kept as long as
 * the connection: making one per wait costs more than many a query.
 */
void
session_make_wait_set(Session *session)
{
	session->wait_set = compat_create_wait_event_set(WAIT_EVENTS);
	session->wait_events = WL_SOCKET_READABLE;
	AddWaitEventToSet(session->wait_set, session->wait_events,
					  PQsocket(session->conn), NULL, NULL);
	AddWaitEventToSet(session->wait_set, WL_LATCH_SET,
					  PGINVALID_SOCKET, MyLatch, NULL);
	/* A stand-alone backend has no postmaster. */
	if (IsUnderPostmaster)
		AddWaitEventToSet(session->wait_set, WL_EXIT_ON_PM_DEATH,
						  PGINVALID_SOCKET, NULL, NULL);
}

/* Waits for the socket or the latch; false if the deadline has passed. */
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

/* Is a result one row that begins with true? */
static bool
is_true(const PGresult *res)
{
	return PQntuples(res) == 1 && strcmp(PQgetvalue(res, 0, 0), "t") == 0;
}

/* Keeps the types that a description gives to a statement's parameters. */
static void
accept_types(Session *session, CachedStatement *statement, PGresult *res)
{
	int			ntypes = PQnparams(res);
	Oid		   *types = palloc(Max(ntypes, 1) * sizeof(Oid));

	for (int i = 0; i < ntypes; i++)
		types[i] = PQparamtype(res, i);
	statement_set_types(session->cache, statement, types, ntypes);
	pfree(types);
}

/* Keeps what the answer to one of our own commands tells. */
static void
accept_answer(Session *session, const Part *part, PGresult *res)
{
	switch (part->kind)
	{
		case PART_ROLLBACK:
		case PART_RELEASE:
		case PART_START:
		case PART_SAVEPOINT:
			session->remote_depth = part->depth;
			session->kept_depth = part->depth;
			break;
		case PART_PREPARE:
			part->statement->is_prepared = true;
			part->statement->safe_epoch = session_lock_epoch(session);
			break;
		case PART_DESCRIBE:
			accept_types(session, part->statement, res);
			break;
		case PART_GUARD:
			part->statement->safe_epoch = session_lock_epoch(session);
			break;
		case PART_WRITE_CHECK:
			session->may_have_written = !is_true(res);
			session->has_written |= session->may_have_written;
			break;
		case PART_RELATION_CHECK:
			relations_answer(session->relations, part->relid, is_true(res));
			break;
		default:
			break;
	}
}

/*
 * Takes the answer to one of our own commands, and clears it.  An error is
 * raised unless quiet, and leaves the session half done, but for one in a
 * statement that was to be prepared for the caller, and for what a guard finds,
 * which is noted.
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
			if (part->kind == PART_COMMIT)
			{
				session->is_stale = true;
				break;
			}
			if (part->kind == PART_GUARD)
			{
				session->failed_depth = Max(session->remote_depth, 1);
				session->stale = part->statement;
				break;
			}
			if (part->kind != PART_PREPARE)
				session->half_done = true;
			else
				session->failed_depth = Max(session->remote_depth, 1);
			if (!quiet)
				session_report(session, ERROR, res, part->sql);
			break;
	}
	PQclear(res);
}

/*
 * Counts the rows of a result, and notes what statement made it.  Rows that
 * were written have given the remote transaction an ID.
 */
static void
note_result(Session *session, const Part *part, PGresult *res)
{
	session->rows += PQntuples(res);
	if (!session->repeats_reads && atoi(PQcmdTuples(res)) > 0)
		session->has_written = true;
	if (part->statement == NULL)
		return;
	if (PQresultStatus(res) == PGRES_FATAL_ERROR)
		part->statement->is_doubtful = part->statement->types != NULL;
	else if (PQresultStatus(res) != PGRES_PIPELINE_ABORTED)
		part->statement->safe_epoch = session_lock_epoch(session);
}

/*
 * The next result of the current command, which the caller must clear, or NULL
 * after its last one.  Answers to our own commands on the way are taken.  With
 * a lost connection it is an error or NULL; PQstatus tells.
 */
PGresult *
session_next_result(Session *session)
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
		{
			note_result(session, part, res);
			return res;
		}
		else
			take_answer(session, res, false);
	}
	return NULL;
}

/*
 * Is it to be read without waiting what comes next, the front of the flight or
 * a caller's result?  Takes in what has arrived, and answers that nobody asks
 * for.
 */
bool
session_is_ready(Session *session)
{
	bool		is_taken = false;

	while (session->part < session->nparts && !session->is_stale &&
		   PQstatus(session->conn) != CONNECTION_BAD)
	{
		PartKind	kind = session->parts[session->part].kind;
		PGresult   *res;

		if (PQisBusy(session->conn))
		{
			if (is_taken)
				return false;
			(void) PQconsumeInput(session->conn);
			is_taken = true;
			continue;
		}
		if (kind == PART_COMMAND ||
			(session->ahead != NULL && kind != PART_COMMIT &&
			 kind != PART_SYNC))
			return true;
		res = PQgetResult(session->conn);
		if (res == NULL)
			session->part++;
		else
			take_answer(session, res, false);
	}
	return true;
}

/*
 * Reads all that is left of the flight; an error in it is raised, also that of
 * a command whose results nobody asked for.
 */
void
session_finish(Session *session)
{
	while (session->part < session->nparts)
	{
		PGresult   *res = session_next_result(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
			session_report(session, ERROR, res, NULL);
		if (res != NULL && PQresultStatus(res) == PGRES_FATAL_ERROR)
			session_report(session, ERROR, res,
						   session->parts[session->part].sql);
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
	session->repeatable = NULL;
	session->stale = NULL;
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
	session->parts[session->nparts++] = (Part)
	{
		.kind = kind,
			.depth = depth,
			.sql = sql ? MemoryContextStrdup(context, sql) : NULL
	};
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
void
session_add_statement(Session *session, PartKind kind, int depth,
					  const char *statement, const char *sql)
{
	bool		queued = PQsendQueryPrepared(session->conn, statement, 0, NULL,
											 NULL, NULL, 0);

	check_queued(session, queued, kind, depth, sql);
}

/* Prepares a statement of our own. */
void
session_add_prepare(Session *session, const char *statement, const char *sql)
{
	bool		queued = PQsendPrepare(session->conn, statement, sql, 0, NULL);

	check_queued(session, queued, PART_CLEANUP, 0, sql);
}

/* Adds the dropping of a prepared statement. */
void
session_add_deallocate(Session *session, const char *statement)
{
	check_queued(session, compat_send_deallocate(session->conn, statement),
				 PART_CLEANUP, 0, statement);
}

/*
 * Adds the beginning of a flight that would not have one of our own commands
 * there: once it has been answered the remote server is at the others.
 */
void
session_add_beginning(Session *session)
{
	check_queued(session, compat_send_nothing(session->conn), PART_CLEANUP, 0,
				 NULL);
}

/* Adds a caller's command. */
void
session_add_command(Session *session, const RemoteCommand *command)
{
	bool		queued;

	if (command->prepare)
		queued = PQsendPrepare(session->conn, command->statement, command->sql,
							   0, NULL);
	else if (command->statement != NULL)
		queued = PQsendQueryPrepared(session->conn, command->statement,
									 command->nparams, command->params,
									 command->lengths, command->formats, 0);
	else
		queued = PQsendQueryParams(session->conn, command->sql,
								   command->nparams, command->types,
								   command->params,
								   NULL, NULL, command->binary);
	check_queued(session, queued, PART_COMMAND, 0, command->shown);
}

/*
 * Adds a caller's command that a kept statement executes, which is prepared
 * before if need be.
 */
void
session_add_cached(Session *session, const RemoteCommand *command,
				   CachedStatement *statement, bool prepares)
{
	RemoteCommand named = *command;
	int			first = session->nparts;

	named.statement = statement->name;
	if (prepares)
		check_queued(session,
					 PQsendPrepare(session->conn, statement->name,
								   command->sql,
								   command->types ? command->nparams : 0,
								   command->types),
					 PART_PREPARE, 0, command->shown);
	if (prepares && command->printed_types != NULL)
		check_queued(session,
					 PQsendDescribePrepared(session->conn, statement->name),
					 PART_DESCRIBE, 0, command->shown);
	session_add_command(session, &named);
	while (first < session->nparts)
		session->parts[first++].statement = statement;
}

/* Adds the question whether a kept statement is stale. */
void
session_add_guard(Session *session, CachedStatement *statement)
{
	check_queued(session,
				 PQsendDescribePrepared(session->conn, statement->name),
				 PART_GUARD, 0, statement->sql);
	session->parts[session->nparts - 1].statement = statement;
}

/* Adds the question what a relation is, the names of which are parameters. */
void
session_add_question(Session *session, const char *sql,
					 const RelationQuestion *question)
{
	bool		queued = PQsendQueryParams(session->conn, sql,
										   lengthof(question->names), NULL,
										   question->names, NULL, NULL, 0);

	check_queued(session, queued, PART_RELATION_CHECK, 0, sql);
	if (queued)
		session->parts[session->nparts - 1].relid = question->relid;
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
 * looks like one until it hangs up, and a session whose own statements are
 * gone may be replaced by another one; any other error is raised.
 */
static void
take_early_error(Session *session, PGresult *res, bool may_replace)
{
	const char *sql = session->parts[session->part].sql;
	RemoteError error = copy_error(session, res);

	PQclear(res);
	session_drain(session);
	if (PQstatus(session->conn) == CONNECTION_BAD)
		return;
	session->half_done = true;
	if (may_replace && error.sqlstate == ERRCODE_UNDEFINED_PSTATEMENT)
		return;
	throw_error(ERROR, &error, sql);
}

/*
 * Reads the answers to our own commands at the front of a flight; false if the
 * session is of no use any more, but nothing is lost with it.
 */
bool
session_read_front(Session *session, bool may_replace)
{
	while (session->part < session->nparts && !session->is_stale &&
		   session->parts[session->part].kind != PART_COMMAND)
	{
		PGresult   *res = wait_for_result(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
		{
			PQclear(res);
			return session->remote_depth > 0;
		}
		if (res == NULL)
			session->part++;
		else if (session->remote_depth == 0 &&
				 PQresultStatus(res) == PGRES_FATAL_ERROR &&
				 session->parts[session->part].kind != PART_COMMIT)
		{
			take_early_error(session, res, may_replace);
			return false;
		}
		else
			take_answer(session, res, false);
	}
	return !session->is_stale;
}
