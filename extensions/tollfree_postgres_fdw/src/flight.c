/*
 * flight.c
 *	  One flight of a session: putting it together, sending it.
 *
 * A flight is what is sent without waiting for an answer in between, and a
 * Sync.  All of it goes through libpq's pipeline mode, which the connection
 * never leaves.  At most one flight is in the air, except for a COMMIT that
 * nobody waits for, and questions behind it, whose answers are read with the next
 * flight, and for rows that are written (pipeline.c), several flights of which
 * follow one another.
 *
 * A part per expected answer remembers what the answer is about, so that
 * whoever reads (answers.c) knows what became of the remote transaction.  Parts
 * live in the session's flight_context until the next flight begins.
 *
 * What a flight is made of is session.c's and transaction.c's business.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "compat.h"
#include "landing.h"
#include "session.h"

/* Between the first cancellation of a flight and the second, ms */
#define CANCEL_PAUSE 1000

/*
 * Sends a cancel request; an error message, or NULL.  A clean-up must not raise
 * an ERROR: so where that waits, it is not sent without the descriptor to wait
 * with.
 */
static const char *
send_cancel(Session *session, TimestampTz deadline)
{
	if (COMPAT_CANCEL_IS_BOUNDED && !session_spare_descriptor())
		return "too many open files";
	return compat_cancel(session->conn, deadline);
}

/*
 * Cancels the flight, and once more after a while: a server that was waiting for
 * the rest of it, or had not received it, hears nothing.  An error message, or
 * NULL.
 */
const char *
session_cancel(Session *session)
{
	const char *error = send_cancel(session, session->deadline);

	session->cancel_pause = CANCEL_PAUSE;
	session->cancel_again =
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(), CANCEL_PAUSE);
	return error;
}

/* Cancels it once more, and again later where that cannot take for ever. */
static void
repeat_cancel(Session *session)
{
	TimestampTz until;

	session->cancel_pause *= 2;
	until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
										session->cancel_pause);
	(void) send_cancel(session, Min(until, session->deadline));
	session->cancel_again = COMPAT_CANCEL_IS_BOUNDED ?
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
									session->cancel_pause) : 0;
}

/*
 * How long a flight that cleans up may be waited for, in ms; 0 if the deadline
 * has passed.
 */
static long
time_left(Session *session)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz until = session->deadline;

	if (session->cancel_again != 0 && now >= session->cancel_again &&
		now < until)
	{
		repeat_cancel(session);
		now = GetCurrentTimestamp();
	}
	if (session->cancel_again != 0)
		until = Min(until, session->cancel_again);
	return TimestampDifferenceMilliseconds(now, until);
}

/*
 * Waits for the socket or the latch; false if the deadline has passed.  A flight
 * that cleans up must not raise an ERROR: if it cannot wait, it has passed, too.
 */
bool
session_wait(Session *session, uint32 events)
{
	long		timeout = -1;

	if (session->deadline != 0)
	{
		timeout = time_left(session);
		if (timeout <= 0 || !session_can_wait(session))
			return false;
	}
	if (session_await_events(session, events, timeout))
	{
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/*
 * Is anything unread, beside the answer to a COMMIT nobody waits for, to what
 * was tidied up with it and what was asked behind it?
 */
bool
session_is_flying(const Session *session)
{
	for (int i = session->part; i < session->nparts; i++)
	{
		PartKind	kind = session->parts[i].kind;

		if (kind != PART_COMMIT && kind != PART_CLEANUP &&
			kind != PART_SYNC && !part_is_apart(kind))
			return true;
	}
	return false;
}

/* Is such a COMMIT, or what was asked behind it, all that there is to be read? */
bool
session_is_committing(const Session *session)
{
	for (int i = session->part; i < session->nparts; i++)
	{
		if (session->parts[i].kind == PART_COMMIT ||
			part_is_apart(session->parts[i].kind))
			return !session_is_flying(session);
	}
	return false;
}

/*
 * Forgets the parts that are done, of which more is in the air than memory should
 * be kept for.
 */
static void
forget_done_parts(Session *session)
{
	for (int i = 0; i < session->part; i++)
	{
		Part	   *part = &session->parts[i];
		bool		is_shared = i + 1 < session->nparts &&
			part[1].sql == part->sql;

		/* Neighbours may have one text (keep_text): the last one's goes. */
		if (part->sql != NULL && !is_shared)
			pfree(unconstify(char *, part->sql));
		if (part->prepares != NULL)
			pfree(unconstify(char *, part->prepares));
	}
	session->nparts -= session->part;
	memmove(session->parts, session->parts + session->part,
			session->nparts * sizeof(Part));
	session->part = 0;
}

/*
 * May the next flight be sent behind one whose answers are not read yet?  Not if
 * it has to change the depth of the remote transaction, which that may do, too.
 */
static bool
can_join(const Session *session)
{
	return session->joins_flight && session->remote_depth > 0 &&
		session->remote_depth == session->xact_depth &&
		session->kept_depth == session->xact_depth;
}

/*
 * Begins to put a flight together.  What is still being read is read first,
 * unless whoever reads it joins in; and the answer to a COMMIT may be outstanding.
 */
void
session_begin_flight(Session *session)
{
	if (!can_join(session))
	{
		landing_read_all(session);
		Assert(!session_is_flying(session));
		session->joins_flight = false;
	}
	session->flight_level = GetCurrentTransactionNestLevel();
	session->flight_owner = CurrentResourceOwner;
	PQclear(session->result);
	session->result = NULL;
	session->repeatable = NULL;
	if (session->part == session->nparts)
	{
		session->part = session->nparts = 0;
		MemoryContextReset(session->flight_context);
		session->parts_size = 0;
	}
	else
		forget_done_parts(session);
}

/*
 * A text in the flight's memory, or NULL.  Rows are written by the same command
 * again and again: it is kept once.
 */
static const char *
keep_text(const Session *session, const char *sql)
{
	const char *last = session->nparts > 0 ?
		session->parts[session->nparts - 1].sql : NULL;

	if (sql == NULL)
		return NULL;
	if (last != NULL && strcmp(last, sql) == 0)
		return last;
	return MemoryContextStrdup(session->flight_context, sql);
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
	session->parts[session->nparts] = (Part)
	{
		.kind = kind,
			.depth = depth,
			.sql = keep_text(session, sql)
	};
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
session_add_prepare(Session *session, PartKind kind, const char *statement,
					const char *sql)
{
	bool		queued = PQsendPrepare(session->conn, statement, sql, 0, NULL);

	check_queued(session, queued, kind, 0, sql);
}

/* Adds a Sync: what fails before it does not concern what comes after it. */
void
session_add_sync(Session *session)
{
	check_queued(session, compat_send_sync(session->conn), PART_SYNC, 0, NULL);
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
	if (queued && command->prepare)
		session->parts[session->nparts - 1].prepares =
			MemoryContextStrdup(session->flight_context, command->statement);
	if (command->syncs)
		session_add_sync(session);
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

/* Adds the question what a relation is, the names of which are parameters. */
void
session_add_question(Session *session, const char *sql,
					 const RelationQuestion *question)
{
	bool		queued = PQsendQueryParams(session->conn, sql,
										   lengthof(question->names), NULL,
										   question->names, NULL, NULL, 0);

	check_queued(session, queued, PART_RELATION_QUESTION, 0, sql);
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
		if (!session_wait(session, WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE))
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
