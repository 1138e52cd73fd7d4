/*
 * results.c
 *	  Reading the answers to a batch of a session, reporting errors.
 *
 * The parts of the batch (batch.c) say what each answer belongs to.  The caller
 * reads the results of its own commands and owns them.  Answers to our own
 * commands are consumed on the way, and update what is known of the remote
 * transaction.  After an error the rest of the batch is read for that purpose.
 *
 * The leading answers are those before the answer to the caller's first command.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "session/batch.h"
#include "session/questions.h"
#include "session/results.h"
#include "session/wait.h"

/* What PQgetResult returns.  Every answer is read here. */
static PGresult *
get_result(Session *session)
{
	PGresult   *res = PQgetResult(session->conn);

	error_note_fatal(session, res);
	return res;
}

/*
 * What PQgetResult returns next; NULL if the connection is lost, and, with
 * timed_out, after the deadline.
 */
static PGresult *
wait_for_result(Session *session)
{
	while (PQisBusy(session->conn))
	{
		uint32		events = WL_SOCKET_READABLE;

		/* An interrupt may have left a part of the batch unsent. */
		int			unsent = PQflush(session->conn);

		if (unsent < 0)
			break;
		if (unsent > 0)
			events |= WL_SOCKET_WRITEABLE;
		if (!wait_for(session, events))
		{
			session->batch.timed_out = true;
			return NULL;
		}
		if (!PQconsumeInput(session->conn))
		{
			/* To read on would add to libpq's message. */
			if (PQstatus(session->conn) == CONNECTION_BAD)
				return NULL;
			break;
		}
	}
	return get_result(session);
}

/*
 * Reports an error of the remote server, or of the connection if it was lost.
 * Clears the result, which may be NULL.  The rest of the batch is read first:
 * the remote server has skipped it.
 */
void
results_report(Session *session, int elevel, PGresult *res, const char *sql)
{
	RemoteError error = error_read(session, res);

	PQclear(res);
	if (batch_part(session) != NULL)
	{
		session->xact.failed_depth = Max(session->xact.remote_depth, 1);
		results_drain(session);
	}
	error_report(session, elevel, &error, sql);
}

/*
 * The first value of a result of one row, which may be NULL; NULL if it has none.
 * Nothing is certain of what calls itself a server.
 */
const char *
results_value(const PGresult *res)
{
	return PQntuples(res) == 1 && PQnfields(res) > 0 ?
		PQgetvalue(res, 0, 0) : NULL;
}

/*
 * The bytes of the messages that the rows of a result came in: type and length of
 * the message, number of columns, length and value of each.
 */
int64
results_bytes(const PGresult *res)
{
	int64		bytes = 0;

	for (int row = 0; row < PQntuples(res); row++)
	{
		bytes += 1 + sizeof(int32) + sizeof(int16);
		for (int i = 0; i < PQnfields(res); i++)
			bytes += sizeof(int32) + PQgetlength(res, row, i);
	}
	return bytes;
}

/* Is the result, which may be NULL, one row that begins with true? */
static bool
is_true(const PGresult *res)
{
	const char *value = results_value(res);

	return value != NULL && strcmp(value, "t") == 0;
}

/*
 * Has a COMMIT failed that nobody waited for, and is no transaction known to have
 * begun since?
 */
static bool
has_lost_commit(const Session *session)
{
	return session->xact.commit_failed && session->xact.remote_depth == 0;
}

/* Keeps the types of a cached statement's parameters from its description. */
static void
accept_types(Session *session, CachedStatement *statement, PGresult *res)
{
	statement_make_types(session->prepared.cache, statement, PQnparams(res));
	for (int i = 0; i < statement->ntypes; i++)
		statement->types[i] = PQparamtype(res, i);
}

/* The same for a caller's statement.  Only the last one is remembered. */
static void
accept_description(Session *session, const char *statement, PGresult *res)
{
	int			ntypes = PQnparams(res);
	Oid		   *types = MemoryContextAlloc(TopMemoryContext,
										   Max(ntypes, 1) * sizeof(Oid));

	results_forget_description(session);
	for (int i = 0; i < ntypes; i++)
		types[i] = PQparamtype(res, i);
	session->prepared.described_types = types;
	session->prepared.ndescribed = ntypes;
	strlcpy(session->prepared.described, statement, NAMEDATALEN);
}

/* Forgets the statement that was described last. */
void
results_forget_description(Session *session)
{
	if (session->prepared.described_types != NULL)
		pfree(session->prepared.described_types);
	session->prepared.described_types = NULL;
	session->prepared.described[0] = '\0';
}

/*
 * The types that the remote server chose for a statement's first ntypes
 * parameters; NULL if another one was described last, or if it has fewer.
 */
const Oid  *
results_described_types(const Session *session, const char *statement,
						int ntypes)
{
	const PreparedStatements *prepared = &session->prepared;

	return strcmp(prepared->described, statement) == 0 &&
		ntypes <= prepared->ndescribed ? prepared->described_types : NULL;
}

/* Updates the session from the answer to one of our own commands. */
static void
accept_answer(Session *session, const BatchPart *part, PGresult *res)
{
	switch (part->kind)
	{
		case PART_ROLLBACK:
		case PART_RELEASE:
		case PART_START:
		case PART_SAVEPOINT:
			session->xact.remote_depth = part->depth;
			/* The level may have been released since the command was sent. */
			session->xact.kept_depth = Min(part->depth, session->xact.local_depth);
			/* A level that has begun is no more what an earlier one was. */
			if (part->kind != PART_RELEASE &&
				session->xact.read_only_depth >= part->depth)
				session->xact.read_only_depth = 0;
			break;
		case PART_READ_ONLY:
			session->xact.read_only_depth = part->depth;
			break;
		case PART_PREPARE:
			part->statement->is_prepared = true;
			part->statement->safe_epoch = session->xact.lock_epoch;
			break;
		case PART_DESCRIBE:
			if (part->statement != NULL)
				accept_types(session, part->statement, res);
			else
				accept_description(session, part->prepares, res);
			break;
		case PART_WRITE_CHECK:
			session->xact.may_have_written = !is_true(res);
			session->xact.has_written |= session->xact.may_have_written;
			break;
		default:
			break;
	}
}

/*
 * Warns that a COMMIT that was not waited for has failed; not if it was never
 * executed, because the session was ending or the prepared COMMIT was gone.
 */
static void
warn_of_commit(Session *session, PGresult *res)
{
	int			sqlstate = error_sqlstate(res);
	const char *severity = PQresultErrorField(res,
											  PG_DIAG_SEVERITY_NONLOCALIZED);
	RemoteError error;

	if (severity == NULL || strcmp(severity, "ERROR") != 0 ||
		sqlstate == ERRCODE_UNDEFINED_PSTATEMENT)
		return;
	error = error_read(session, res);
	ereport(WARNING,
			(errcode(sqlstate),
			 errmsg("a remote COMMIT that was not waited for has failed: %s",
					error.primary),
			 errhint("Set tollfree_postgres_fdw.unawaited_commit to off where remote functions do more than write to tables of their server.")));
}

/*
 * The command to be shown with an error that answers one of our own.  If the
 * session has been ended, that is the caller's, not what happened to be before it
 * in the batch, or behind it.
 */
static const char *
shown_command(const Session *session, const BatchPart *part,
			  const PGresult *res)
{
	const Batch *batch = &session->batch;

	if (!error_is_fatal(res) ||
		(part->kind != PART_CLEANUP && part->kind != PART_WRITE_CHECK))
		return part->sql;
	for (int i = batch->part; i < batch->nparts; i++)
	{
		if (batch->parts[i].kind == PART_COMMAND)
			return batch->parts[i].sql;
	}
	for (int i = batch->part - 1; i >= 0; i--)
	{
		if (batch->parts[i].kind == PART_COMMAND)
			return batch->parts[i].sql;
	}
	return part->sql;
}

/*
 * Takes the answer to one of our own commands, and clears it; a NULL ends the
 * answer to any command.  An error leaves the session unusable, and is raised
 * unless quiet.  Exceptions: an error of a question is a no, one of a COMMIT that
 * was not waited for is warned of, and one of preparing a cached statement leaves
 * the session usable.
 */
static void
take_answer(Session *session, PGresult *res, bool quiet)
{
	const BatchPart *part = batch_part(session);

	if (res == NULL)
	{
		session->batch.part++;
		return;
	}
	if (part_is_apart(part->kind))
	{
		questions_take(session, part, res);
		PQclear(res);
		return;
	}
	switch (PQresultStatus(res))
	{
		case PGRES_COMMAND_OK:
		case PGRES_TUPLES_OK:
			accept_answer(session, part, res);
			break;
		case PGRES_PIPELINE_SYNC:
			session->batch.part++;	/* no NULL follows a Sync */
			break;
		case PGRES_PIPELINE_ABORTED:
			break;				/* skipped after an error */
		default:
			if (part->kind == PART_COMMIT)
			{
				session->xact.commit_failed = true;
				warn_of_commit(session, res);
				break;
			}
			session->xact.failed_depth = Max(session->xact.remote_depth, 1);
			if (part->kind != PART_PREPARE)
				session->unusable = true;
			if (!quiet)
				results_report(session, ERROR, res,
							   shown_command(session, part, res));
			break;
	}
	PQclear(res);
}

/* Notes that a caller's statement exists; the caller is to drop it. */
static void
note_prepared(Session *session, const char *name)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	session->prepared.own = lappend(session->prepared.own, pstrdup(name));
	MemoryContextSwitchTo(old);
}

/* Updates the session from a result of a caller's command, read or drained. */
static void
note_command(Session *session, const BatchPart *part, const PGresult *res)
{
	CachedStatement *statement = part->statement;

	if (PQresultStatus(res) == PGRES_COMMAND_OK && part->prepares != NULL)
		note_prepared(session, part->prepares);
	if (PQresultStatus(res) != PGRES_FATAL_ERROR)
		return;
	session->counters.errors++;
	if (statement == NULL)
		return;
	statement->is_doubtful = statement->types != NULL;
	if (error_sqlstate(res) == ERRCODE_UNDEFINED_PSTATEMENT)
		statement->is_prepared = false;
}

/*
 * The same for a result that the caller reads: counts its rows.  Success shows that
 * a cached statement is not stale, unless the remote server chose its parameter
 * types.
 */
static void
note_result(Session *session, const BatchPart *part, PGresult *res)
{
	note_command(session, part, res);
	session->counters.rows += PQntuples(res);
	if (part->statement != NULL && part->statement->types == NULL &&
		PQresultStatus(res) != PGRES_FATAL_ERROR &&
		PQresultStatus(res) != PGRES_PIPELINE_ABORTED)
		part->statement->safe_epoch = session->xact.lock_epoch;
}

/*
 * The next result of the caller's current command, which the caller must
 * clear; NULL after its last one.  Answers to our own commands on the way are
 * taken.  With a lost connection it is an error or NULL; PQstatus tells.
 */
PGresult *
results_next(Session *session)
{
	const BatchPart *part;

	while ((part = batch_part(session)) != NULL)
	{
		PGresult   *res = wait_for_result(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
			return res;
		if (part->kind != PART_COMMAND)
		{
			take_answer(session, res, false);
			continue;
		}
		if (res != NULL)
			note_result(session, part, res);
		else
			session->batch.part++;
		return res;
	}
	return NULL;
}

/*
 * Can the caller go on without waiting?  Yes if its result, or the leading
 * answers that it has yet to read, can be read now, if nothing is left to be
 * read, the connection is lost, or a COMMIT has failed.  Reads what has arrived.
 */
bool
results_are_ready(Session *session)
{
	const BatchPart *part;
	bool		is_taken = false;

	while ((part = batch_part(session)) != NULL &&
		   !has_lost_commit(session) &&
		   PQstatus(session->conn) != CONNECTION_BAD)
	{
		if (PQisBusy(session->conn))
		{
			if (is_taken)
				return false;
			(void) PQconsumeInput(session->conn);
			is_taken = true;
			continue;
		}
		if (part->kind == PART_COMMAND ||
			(session->pending.ahead != NULL && part->kind != PART_COMMIT &&
			 part->kind != PART_SYNC && !part_is_apart(part->kind)))
			return true;
		take_answer(session, get_result(session), false);
	}
	return true;
}

/*
 * Reads on until the questions about the server are answered, or the connection is
 * lost.  No command of the caller is before them.  The Sync behind the last one is
 * read, too: if that has failed, libpq would skip a result where the next command
 * is queued before.
 */
void
results_read_questions(Session *session)
{
	const BatchPart *part = batch_part(session);
	bool		is_apart = false;

	while (part != NULL && part->kind != PART_COMMAND &&
		   (session->remote.unanswered > 0 || is_apart))
	{
		PGresult   *res = wait_for_result(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
		{
			PQclear(res);
			return;
		}
		if (error_is_fatal(res))
		{
			PQclear(res);
			results_drain(session);
			return;
		}
		is_apart = part->kind != PART_SYNC;
		take_answer(session, res, false);
		part = batch_part(session);
	}
}

/* Reads the rest of the batch, and raises an error of any command in it. */
void
results_finish(Session *session)
{
	while (batch_part(session) != NULL)
	{
		PGresult   *res = results_next(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
			results_report(session, ERROR, res, NULL);
		if (res != NULL && PQresultStatus(res) == PGRES_FATAL_ERROR)
			results_report(session, ERROR, res, batch_part(session)->sql);
		PQclear(res);
	}
}

/*
 * Reads the rest of the batch to learn the state of the remote transaction, and
 * raises no error of the remote server.  Nothing of the batch is left to be read,
 * even if the connection is lost or the deadline has passed.
 */
void
results_drain(Session *session)
{
	const BatchPart *part;

	while ((part = batch_part(session)) != NULL &&
		   PQstatus(session->conn) != CONNECTION_BAD)
	{
		PGresult   *res = wait_for_result(session);

		if (session->batch.timed_out)
			break;
		if (part->kind == PART_COMMAND && res != NULL)
		{
			if (PQresultStatus(res) == PGRES_FATAL_ERROR)
				session->xact.failed_depth = Max(session->xact.remote_depth, 1);
			note_command(session, part, res);
			PQclear(res);
		}
		else
			take_answer(session, res, true);
	}
	session->batch.part = session->batch.nparts;
	session->pending.drain = NOTHING_PENDING;
	session->batch.is_appended = false;
}

/*
 * Handles an error among the leading answers, before there is a remote
 * transaction.  The caller replaces a lost connection, which shows only once the
 * rest is read, after a FATAL.  So it does, with may_replace, one whose own
 * prepared statements are gone, as behind a pooler; the new one prepares none.
 * Any other error is raised.
 */
static void
take_early_error(Session *session, PGresult *res, bool may_replace)
{
	const char *sql = batch_part(session)->sql;
	RemoteError error = error_read(session, res);

	PQclear(res);
	results_drain(session);
	if (PQstatus(session->conn) == CONNECTION_BAD)
		return;
	session->unusable = true;
	if (may_replace && error.sqlstate == ERRCODE_UNDEFINED_PSTATEMENT)
	{
		session->remote.has_forgotten = true;
		return;
	}
	error_report(session, ERROR, &error, sql);
}

/*
 * Reads the leading answers.  Returns false if the session cannot be used any
 * more, but nothing is lost with it.
 */
bool
results_read_leading(Session *session, bool may_replace)
{
	while (PQstatus(session->conn) != CONNECTION_BAD)
	{
		const BatchPart *part = batch_part(session);
		PGresult   *res;

		if (has_lost_commit(session))
			return false;
		if (part == NULL || part->kind == PART_COMMAND)
			return true;
		res = wait_for_result(session);
		if (PQstatus(session->conn) == CONNECTION_BAD)
			PQclear(res);
		else if (session->xact.remote_depth == 0 && res != NULL &&
				 PQresultStatus(res) == PGRES_FATAL_ERROR &&
				 part->kind != PART_COMMIT && !part_is_apart(part->kind))
		{
			take_early_error(session, res, may_replace);
			return false;
		}
		else
			take_answer(session, res, false);
	}
	return session->xact.remote_depth > 0;
}
