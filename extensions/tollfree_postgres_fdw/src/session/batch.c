/*
 * batch.c
 *	  Building and sending the batches of a session.
 *
 * A batch is a sequence of commands, sent together, that ends with a Sync.  All
 * go through libpq's pipeline mode, which the connection never leaves.  At most
 * one batch is in flight, with two exceptions: a COMMIT that is not waited for,
 * with the questions behind it, whose answers are read with the next batch; and
 * written rows (modify/pipeline.c), several of whose batches follow one another.
 *
 * Each expected answer has a BatchPart, which says what the answer belongs to.
 * So the reader (results.c) always knows the state of the remote transaction.
 * Parts live in the batch's memory context until the next batch begins.
 *
 * What is sent is logged at DEBUG1, without the values of parameters, which
 * can be secret.  A message can fail, and a part of a batch must not be sent
 * alone.  So there is one message, once all of the batch has been sent.
 *
 * This file alone writes Batch.  session.c and xact/transaction.c decide which
 * commands go into a batch; results.c and xact/rollback.c say which of its
 * answers have been read.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "base/compat.h"
#include "session/batch.h"
#include "session/error.h"
#include "session/prepared.h"
#include "session/remote_xact.h"
#include "session/wait.h"

/* The part that this file writes. */
static Batch *
batch_own(Session *session)
{
	return session_own(Batch, session, batch);
}

/* Its parts. */
static BatchPart *
batch_parts(Session *session)
{
	return unconstify(BatchPart *, session->batch.parts);
}

/* Gives a new session an empty batch. */
void
batch_create(Session *session)
{
	batch_own(session)->context =
		AllocSetContextCreate(TopMemoryContext, "tollfree_postgres_fdw batch",
							  ALLOCSET_SMALL_SIZES);
}

/* The session is freed. */
void
batch_free(Session *session)
{
	MemoryContextDelete(session->batch.context);
}

/* The connection is gone, if there was one: no answer is expected. */
void
batch_forget(Session *session)
{
	Batch	   *batch = batch_own(session);

	PQclear(batch->result);
	*batch = (Batch)
	{
		.context = batch->context
	};
}

/*
 * Are there unread answers?  Not counted are those to a COMMIT that is not
 * waited for, to the clean-up sent with it, and to the questions behind it.
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

/* Is all that is unread such a COMMIT, or the questions behind it? */
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

/* Frees the answered parts: memory must not grow with each appended batch. */
static void
forget_done_parts(Session *session)
{
	Batch	   *batch = batch_own(session);

	for (int i = 0; i < batch->part; i++)
	{
		const BatchPart *part = &batch->parts[i];
		bool		is_shared = i + 1 < batch->nparts &&
			part[1].sql == part->sql;

		/* The last of neighbours that share a text (keep_text) frees it. */
		if (part->sql != NULL && !is_shared)
			pfree(unconstify(char *, part->sql));
		if (part->prepares != NULL)
			pfree(unconstify(char *, part->prepares));
	}
	batch->nparts -= batch->part;
	memmove(batch_parts(session), batch->parts + batch->part,
			batch->nparts * sizeof(BatchPart));
	batch->part = 0;
}

/*
 * Begins a batch.  With append it may follow a batch with unread answers.
 * Otherwise nothing may be in flight but a COMMIT that is not waited for.
 */
void
batch_begin(Session *session, bool append)
{
	Batch	   *batch = batch_own(session);

	Assert(append || !batch_is_in_flight(session));
	batch->level = GetCurrentTransactionNestLevel();
	batch->owner = CurrentResourceOwner;
	batch->is_commit = false;
	PQclear(batch->result);
	batch->result = NULL;
	batch->log.data = NULL;
	prepared_forget_repeatable(session);
	if (batch->part == batch->nparts)
	{
		batch->part = batch->nparts = batch->size = 0;
		batch->parts = NULL;
		MemoryContextReset(batch->context);
	}
	else
		forget_done_parts(session);
}

/*
 * Copies a text, which may be NULL, into the batch's memory.  Equal neighbours
 * share one copy, as rows are written by one command again and again.
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

/* Adds the part for an expected answer; the text is copied. */
static BatchPart *
batch_expect(Session *session, PartKind kind, int depth, const char *sql)
{
	Batch	   *batch = batch_own(session);
	BatchPart  *part;

	if (batch->nparts == batch->size)
	{
		batch->size = Max(2 * batch->size, 16);
		batch->parts = batch->parts == NULL ?
			MemoryContextAlloc(batch->context, batch->size * sizeof(BatchPart)) :
			repalloc(batch_parts(session), batch->size * sizeof(BatchPart));
	}
	part = &batch_parts(session)[batch->nparts];
	*part = (BatchPart)
	{
		.kind = kind,.depth = depth,.sql = keep_text(session, sql)
	};
	batch->nparts++;
	return part;
}

/*
 * Adds the part of a queued message, and returns it; NULL if the connection is
 * lost, which batch_send reports.  If libpq could not queue the message, the
 * whole batch is abandoned and an ERROR raised, since no part of it must be
 * executed without the others.
 */
static BatchPart *
check_queued(Session *session, bool queued, PartKind kind, int depth,
			 const char *sql)
{
	if (queued)
		return batch_expect(session, kind, depth, sql);
	if (PQstatus(session->conn) != CONNECTION_BAD)
	{
		RemoteError error = error_read(session, NULL);

		remote_xact_enter(session, PHASE_BROKEN);
		batch_abandon(session);
		error_report(session, ERROR, &error, sql);
	}
	return NULL;
}

/* Adds a line to the batch's log; a statement of NULL is the unnamed one. */
static void
log_command(Session *session, const char *action, const char *statement,
			int nparams, const char *sql)
{
	StringInfo	log = &batch_own(session)->log;

	if (!message_level_is_interesting(DEBUG1))
		return;
	if (log->data == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(session->batch.context);

		initStringInfo(log);
		MemoryContextSwitchTo(old);
	}
	appendStringInfo(log, "%s%s %s", log->len > 0 ? "\n" : "", action,
					 statement != NULL ? statement + STATEMENT_PREFIX_LENGTH :
					 "<unnamed>");
	if (nparams > 0)
		appendStringInfo(log, " (parameters: %d)", nparams);
	if (sql != NULL)
		appendStringInfo(log, ": %s", sql);
}

/*
 * Logs what was sent.  Where an ERROR must not come, behind a COMMIT and in a
 * clean-up, none does: the texts are ASCII there, and there is no context, which
 * may have characters that the client's encoding lacks, and no interrupt.
 */
static void
report_log(Session *session)
{
	ErrorContextCallback *context = error_context_stack;
	char	   *log = session->batch.log.data;

	if (log == NULL)
		return;
	batch_own(session)->log.data = NULL;
	HOLD_INTERRUPTS();
	error_context_stack = NULL;
	ereport(DEBUG1,
			(errmsg_internal("sent to server \"%s\" in one batch",
							 session->options.server_name),
			 errdetail_internal("%s", log)));
	error_context_stack = context;
	RESUME_INTERRUPTS();
	pfree(log);
}

/*
 * The name under which a statement is prepared on the server: none behind a pooler,
 * which could hand it to another session.
 */
static const char *
name_on_server(const Session *session, const char *statement)
{
	return session->options.is_pooled ? "" : statement;
}

/* Adds a command; returns its part, or NULL if the connection is lost. */
static BatchPart *
queue_command(Session *session, PartKind kind, int depth,
			  const RemoteCommand *command)
{
	PGconn	   *conn = session->conn;
	bool		queued;
	BatchPart  *part;

	if (command->prepare)
		queued = PQsendPrepare(conn, name_on_server(session, command->statement),
							   command->sql,
							   command->types ? command->nparams : 0,
							   command->types);
	else if (command->statement != NULL)
		queued = PQsendQueryPrepared(conn, command->statement,
									 command->nparams, command->params,
									 command->lengths, command->formats, 0);
	else
		queued = PQsendQueryParams(conn, command->sql, command->nparams,
								   command->types, command->params,
								   command->lengths, command->formats,
								   command->binary);
	part = check_queued(session, queued, kind, depth, command->shown);
	log_command(session, command->prepare ? "prepare" : "execute",
				command->statement, command->prepare ? 0 : command->nparams,
				command->sql);
	return part;
}

/* Adds a command of our own. */
void
batch_queue(Session *session, PartKind kind, int depth,
			const RemoteCommand *command)
{
	(void) queue_command(session, kind, depth, command);
}

/* Adds a question about the relation of a foreign table; number is facts.c's. */
void
batch_ask_relation(Session *session, const RemoteCommand *command, Oid relid,
				   uint32 number)
{
	BatchPart  *part = queue_command(session, PART_RELATION_QUESTION, 0, command);

	if (part != NULL)
	{
		part->relid = relid;
		part->relation_number = number;
	}
}

/* Adds the description of a prepared statement; returns its part, or NULL. */
static BatchPart *
queue_describe(Session *session, const RemoteCommand *command)
{
	bool		queued = PQsendDescribePrepared(session->conn,
												name_on_server(session, command->statement));
	BatchPart  *part = check_queued(session, queued, PART_DESCRIBE, 0,
									command->shown);

	log_command(session, "describe", command->statement, 0, NULL);
	return part;
}

/* Adds a command of our own that needs no prepared statement. */
void
batch_add(Session *session, PartKind kind, int depth, const char *sql)
{
	RemoteCommand command = {.sql = sql,.shown = sql};

	batch_queue(session, kind, depth, &command);
}

/* Adds a Sync: an error before it does not skip the commands behind it. */
void
batch_add_sync(Session *session)
{
	check_queued(session, compat_send_sync(session->conn), PART_SYNC, 0, NULL);
}

/* Adds the dropping of a prepared statement. */
void
batch_add_deallocate(Session *session, const char *statement)
{
	char		sql[sizeof("DEALLOCATE ") + STATEMENT_NAME_SIZE];

	snprintf(sql, sizeof(sql), "DEALLOCATE %s", statement);
	check_queued(session, compat_send_deallocate(session->conn, statement),
				 PART_CLEANUP, 0, sql);
	log_command(session, "deallocate", statement, 0, NULL);
}

/*
 * Adds a command that does nothing, in front of a caller's that would be the
 * first: its answer shows that the remote server has begun with the batch.
 */
void
batch_add_beginning(Session *session)
{
	check_queued(session, compat_send_nothing(session->conn), PART_CLEANUP, 0,
				 NULL);
}

/* Notes which of the caller's statements a part prepares or describes. */
static void
note_statement(Session *session, BatchPart *part, const char *name)
{
	if (part != NULL)
		part->prepares = MemoryContextStrdup(session->batch.context, name);
}

/* Adds a caller's command. */
void
batch_add_command(Session *session, const RemoteCommand *command)
{
	BatchPart  *part = queue_command(session, PART_COMMAND, 0, command);

	if (command->prepare)
		note_statement(session, part, command->statement);
	if (command->describes)
		note_statement(session, queue_describe(session, command),
					   command->statement);
	if (command->hints.syncs)
		batch_add_sync(session);
}

/*
 * Adds a caller's command, executed by a cached statement.  With prepares the
 * statement is prepared first, and described if its parameter types matter.
 */
void
batch_add_cached(Session *session, const RemoteCommand *command,
				 CachedStatement *statement, bool prepares)
{
	RemoteCommand named = *command;
	int			first = session->batch.nparts;

	named.statement = statement->name;
	named.prepare = prepares;
	if (prepares)
		batch_queue(session, PART_PREPARE, 0, &named);
	if (prepares && command->hints.printed_types != NULL)
		queue_describe(session, &named);
	named.prepare = false;
	batch_add_command(session, &named);
	while (first < session->batch.nparts)
		batch_parts(session)[first++].statement = statement;
}

/*
 * Ends the batch with a Sync and sends it.  Returns false if the connection is
 * lost or the deadline has passed.
 */
bool
batch_send(Session *session)
{
	bool		queued = PQstatus(session->conn) != CONNECTION_BAD &&
		PQpipelineSync(session->conn) == 1;
	int			left;

	/* A clean-up raises no ERROR. */
	if (!queued && session->wait.deadline != 0)
		return false;
	if (check_queued(session, queued, PART_SYNC, 0, NULL) == NULL)
		return false;
	while ((left = PQflush(session->conn)) > 0)
	{
		if (!wait_for(session, WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE))
			return false;
		/* Reading avoids a deadlock in which both sides wait to send. */
		if (!PQconsumeInput(session->conn))
			return false;
	}
	if (left == 0)
		report_log(session);
	return left == 0;
}

/* The answer that was expected next has been read. */
void
batch_advance(Session *session)
{
	batch_own(session)->part++;
}

/* Answers that are still expected are not read any more. */
void
batch_abandon(Session *session)
{
	Batch	   *batch = batch_own(session);

	batch->part = batch->nparts;
}

/* The batch ends the local transaction. */
void
batch_note_commit(Session *session)
{
	batch_own(session)->is_commit = true;
}

/*
 * The COMMIT whose answer is being read has succeeded: no later interrupt or error
 * may deny it.  What is left of the batch is read with the next one.
 */
void
batch_leave_commit(Session *session)
{
	batch_parts(session)[session->batch.part].kind = PART_COMMIT;
}

/* A batch of a local level that has ended belongs to the one around it. */
void
batch_release_level(Session *session, int level)
{
	Batch	   *batch = batch_own(session);

	batch->level = Min(batch->level, level - 1);
}

/* Keeps a result, in place of the last one, until it is taken or a batch begins. */
void
batch_keep_result(Session *session, PGresult *res)
{
	Batch	   *batch = batch_own(session);

	PQclear(batch->result);
	batch->result = res;
}

/* Hands over the kept result, or NULL; the caller must clear it. */
PGresult *
batch_take_result(Session *session)
{
	Batch	   *batch = batch_own(session);
	PGresult   *res = batch->result;

	batch->result = NULL;
	return res;
}
