/*
 * batch.c
 *	  One batch of a session: putting it together, sending it.
 *
 * A batch is what is sent without waiting for an answer in between, and a
 * Sync.  All of it goes through libpq's pipeline mode, which the connection
 * never leaves.  At most one batch is in flight, except for a COMMIT that
 * nobody waits for, and questions behind it, whose answers are read with the next
 * batch, and for rows that are written (pipeline.c), several batches of which
 * follow one another.
 *
 * A part per expected answer remembers what the answer is about, so that
 * whoever reads (results.c) knows what became of the remote transaction.  Parts
 * live in the session's flight_context until the next batch begins.
 *
 * What a batch is made of is session.c's and transaction.c's business.
 */
#include "postgres.h"

#include "access/xact.h"

#include "base/compat.h"
#include "session/batch.h"
#include "session/error.h"
#include "session/relations.h"
#include "session/state.h"
#include "session/statement.h"
#include "session/wait.h"
#include "sql/command.h"

/*
 * Is anything unread, beside the answer to a COMMIT nobody waits for, to what
 * was tidied up with it and what was asked behind it?
 */
bool
batch_is_in_flight(const Session *session)
{
	for (int i = session->batch.part; i < session->batch.nparts; i++)
	{
		PartKind	kind = session->batch.parts[i].kind;

		if (kind != PART_COMMIT && kind != PART_CLEANUP &&
			kind != PART_SYNC && !part_is_apart(kind))
			return true;
	}
	return false;
}

/* Is such a COMMIT, or what was asked behind it, all that there is to be read? */
bool
batch_is_committing(const Session *session)
{
	for (int i = session->batch.part; i < session->batch.nparts; i++)
	{
		if (session->batch.parts[i].kind == PART_COMMIT ||
			part_is_apart(session->batch.parts[i].kind))
			return !batch_is_in_flight(session);
	}
	return false;
}

/*
 * Forgets the parts that are done, of which more is in flight than memory should
 * be kept for.
 */
static void
forget_done_parts(Session *session)
{
	for (int i = 0; i < session->batch.part; i++)
	{
		BatchPart  *part = &session->batch.parts[i];
		bool		is_shared = i + 1 < session->batch.nparts &&
			part[1].sql == part->sql;

		/* Neighbours may have one text (keep_text): the last one's goes. */
		if (part->sql != NULL && !is_shared)
			pfree(unconstify(char *, part->sql));
		if (part->prepares != NULL)
			pfree(unconstify(char *, part->prepares));
	}
	session->batch.nparts -= session->batch.part;
	memmove(session->batch.parts, session->batch.parts + session->batch.part,
			session->batch.nparts * sizeof(BatchPart));
	session->batch.part = 0;
}

/*
 * Begins to put a batch together, which may be sent behind one whose answers are
 * not read yet.  Else nothing must be in flight but the answer to a COMMIT.
 */
void
batch_begin(Session *session, bool append)
{
	Assert(append || !batch_is_in_flight(session));
	session->batch.level = GetCurrentTransactionNestLevel();
	session->batch.owner = CurrentResourceOwner;
	PQclear(session->batch.result);
	session->batch.result = NULL;
	session->prepared.repeatable = NULL;
	if (session->batch.part == session->batch.nparts)
	{
		session->batch.part = session->batch.nparts = 0;
		MemoryContextReset(session->batch.context);
		session->batch.size = 0;
	}
	else
		forget_done_parts(session);
}

/*
 * A text in the batch's memory, or NULL.  Rows are written by the same command
 * again and again: it is kept once.
 */
static const char *
keep_text(const Session *session, const char *sql)
{
	const char *last = session->batch.nparts > 0 ?
		session->batch.parts[session->batch.nparts - 1].sql : NULL;

	if (sql == NULL)
		return NULL;
	if (last != NULL && strcmp(last, sql) == 0)
		return last;
	return MemoryContextStrdup(session->batch.context, sql);
}

/* Notes that an answer will come; the text is copied. */
static void
expect(Session *session, PartKind kind, int depth, const char *sql)
{
	MemoryContext context = session->batch.context;

	if (session->batch.nparts == session->batch.size)
	{
		int			size = Max(2 * session->batch.size, 16);
		BatchPart  *parts = MemoryContextAlloc(context, size * sizeof(BatchPart));

		if (session->batch.nparts > 0)
			memcpy(parts, session->batch.parts, session->batch.nparts * sizeof(BatchPart));
		session->batch.parts = parts;
		session->batch.size = size;
	}
	session->batch.parts[session->batch.nparts] = (BatchPart)
	{
		.kind = kind,
			.depth = depth,
			.sql = keep_text(session, sql)
	};
	session->batch.nparts++;
}

/*
 * Notes that something was queued, or else gives the batch up: a part of it
 * must not be executed without the others.  A lost connection shows when the
 * batch is sent.
 */
static void
check_queued(Session *session, bool queued, PartKind kind, int depth,
			 const char *sql)
{
	if (queued)
		expect(session, kind, depth, sql);
	else if (PQstatus(session->conn) != CONNECTION_BAD)
	{
		RemoteError error = error_read(session, NULL);

		session->unusable = true;
		session->batch.part = session->batch.nparts;
		error_report(session, ERROR, &error, sql);
	}
}

/* Adds a command of our own. */
void
batch_add(Session *session, PartKind kind, int depth, const char *sql)
{
	bool		queued = PQsendQueryParams(session->conn, sql, 0, NULL, NULL,
										   NULL, NULL, 0);

	check_queued(session, queued, kind, depth, sql);
}

/* Adds one of the statements that were prepared when the session began. */
void
batch_add_statement(Session *session, PartKind kind, int depth,
					const char *statement, const char *sql)
{
	bool		queued = PQsendQueryPrepared(session->conn, statement, 0, NULL,
											 NULL, NULL, 0);

	check_queued(session, queued, kind, depth, sql);
}

/* Prepares a statement of our own. */
void
batch_add_prepare(Session *session, PartKind kind, const char *statement,
				  const char *sql)
{
	bool		queued = PQsendPrepare(session->conn, statement, sql, 0, NULL);

	check_queued(session, queued, kind, 0, sql);
}

/* Adds a Sync: what fails before it does not concern what comes after it. */
void
batch_add_sync(Session *session)
{
	check_queued(session, compat_send_sync(session->conn), PART_SYNC, 0, NULL);
}

/* Adds the dropping of a prepared statement. */
void
batch_add_deallocate(Session *session, const char *statement)
{
	check_queued(session, compat_send_deallocate(session->conn, statement),
				 PART_CLEANUP, 0, statement);
}

/*
 * Adds the beginning of a batch that would not have one of our own commands
 * there: once it has been answered the remote server is at the others.
 */
void
batch_add_beginning(Session *session)
{
	check_queued(session, compat_send_nothing(session->conn), PART_CLEANUP, 0,
				 NULL);
}

/* Notes the name of the caller's statement that the last part is about. */
static void
note_statement(Session *session, const char *name)
{
	session->batch.parts[session->batch.nparts - 1].prepares =
		MemoryContextStrdup(session->batch.context, name);
}

/* Adds a caller's command. */
void
batch_add_command(Session *session, const RemoteCommand *command)
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
		note_statement(session, command->statement);
	if (queued && command->describes)
	{
		queued = PQsendDescribePrepared(session->conn, command->statement);
		check_queued(session, queued, PART_DESCRIBE, 0, command->shown);
		if (queued)
			note_statement(session, command->statement);
	}
	if (command->hints.syncs)
		batch_add_sync(session);
}

/*
 * Adds a caller's command that a kept statement executes, which is prepared
 * before if need be.
 */
void
batch_add_cached(Session *session, const RemoteCommand *command,
				 CachedStatement *statement, bool prepares)
{
	RemoteCommand named = *command;
	int			first = session->batch.nparts;

	named.statement = statement->name;
	if (prepares)
		check_queued(session,
					 PQsendPrepare(session->conn, statement->name,
								   command->sql,
								   command->types ? command->nparams : 0,
								   command->types),
					 PART_PREPARE, 0, command->shown);
	if (prepares && command->hints.printed_types != NULL)
		check_queued(session,
					 PQsendDescribePrepared(session->conn, statement->name),
					 PART_DESCRIBE, 0, command->shown);
	batch_add_command(session, &named);
	while (first < session->batch.nparts)
		session->batch.parts[first++].statement = statement;
}

/* Adds the question what a relation is, the names of which are parameters. */
void
batch_add_question(Session *session, const char *sql,
				   const RelationQuestion *question)
{
	bool		queued = PQsendQueryParams(session->conn, sql,
										   lengthof(question->names), NULL,
										   question->names, NULL, NULL, 0);

	check_queued(session, queued, PART_RELATION_QUESTION, 0, sql);
	if (queued)
		session->batch.parts[session->batch.nparts - 1].relid = question->relid;
}

/*
 * Ends what was put together with a Sync and sends all of it; false if the
 * connection is lost or the deadline has passed.
 */
bool
batch_send(Session *session)
{
	int			left;

	if (PQstatus(session->conn) == CONNECTION_BAD ||
		!PQpipelineSync(session->conn))
		return false;
	expect(session, PART_SYNC, 0, NULL);
	while ((left = PQflush(session->conn)) > 0)
	{
		if (!wait_for(session, WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE))
		{
			session->batch.timed_out = true;
			return false;
		}
		/* Both sides could wait for the other to read first. */
		if (!PQconsumeInput(session->conn))
			return false;
	}
	return left == 0;
}
