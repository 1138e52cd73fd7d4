/*
 * results.c
 *	  Reading the answers to a batch of a session, reporting errors.
 *
 * The parts of the batch (batch.c) say what each answer belongs to.  The caller
 * reads the results of its own commands and owns them.  Answers to our own
 * commands are consumed on the way, and update what is known of the remote
 * transaction.  After an error the remaining answers are read for that purpose.
 *
 * The leading answers are those before the answer to the caller's first command.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "session/batch.h"
#include "session/facts.h"
#include "session/prepared.h"
#include "session/reader.h"
#include "session/remote_xact.h"
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
			return NULL;
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
 * Clears the result, which may be NULL.  The remaining answers are read first:
 * the remote server has skipped their commands.
 */
void
results_report(Session *session, int elevel, PGresult *res, const char *sql)
{
	RemoteError error = error_read(session, res);

	PQclear(res);
	if (batch_part(session) != NULL)
	{
		remote_xact_fail(session);
		results_drain(session);
	}
	error_report(session, elevel, &error, sql);
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

/* Updates the session from the answer to one of our own commands. */
static void
accept_answer(Session *session, const BatchPart *part, PGresult *res)
{
	const char *value;

	switch (part->kind)
	{
		case PART_ROLLBACK:
		case PART_RELEASE:
		case PART_START:
		case PART_SAVEPOINT:
		case PART_READ_ONLY:
			remote_xact_confirm(session, part->kind, part->depth);
			break;
		case PART_PREPARE:
			statement_note_prepared(part->statement, session->xact.lock_epoch);
			break;
		case PART_DESCRIBE:
			if (part->statement != NULL)
				statement_note_types(session->prepared.cache, part->statement, res);
			else
				prepared_describe(session, part->prepares, res);
			break;
		case PART_WRITE_CHECK:
			value = result_value(res);
			remote_xact_check_writes(session,
									 value == NULL || strcmp(value, "t") != 0);
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

/* What an answer to one of our own commands means */
typedef enum AnswerMeaning
{
	ANSWER_END,					/* NULL: the command has no further answer */
	ANSWER_FACT,				/* to a question; an error is a no */
	ANSWER_DONE,				/* the command has been executed */
	ANSWER_SYNC,				/* no NULL follows */
	ANSWER_SKIPPED,				/* after an error */
	ANSWER_COMMIT_FAILED,		/* one that was not waited for */
	ANSWER_NOT_PREPARED,		/* a cached statement; its command fails, too */
	ANSWER_FAILED				/* the remote state is not known any more */
} AnswerMeaning;

/* Decides what an answer means; it may be NULL. */
static AnswerMeaning
classify_answer(const BatchPart *part, const PGresult *res)
{
	if (res == NULL)
		return ANSWER_END;
	if (part_is_apart(part->kind))
		return ANSWER_FACT;
	switch (PQresultStatus(res))
	{
		case PGRES_COMMAND_OK:
		case PGRES_TUPLES_OK:
			return ANSWER_DONE;
		case PGRES_PIPELINE_SYNC:
			return ANSWER_SYNC;
		case PGRES_PIPELINE_ABORTED:
			return ANSWER_SKIPPED;
		default:
			return part->kind == PART_COMMIT ? ANSWER_COMMIT_FAILED :
				part->kind == PART_PREPARE ? ANSWER_NOT_PREPARED : ANSWER_FAILED;
	}
}

/*
 * Takes the answer to one of our own commands, which may be NULL, and clears it.
 * Raises an error of the command unless quiet.
 */
static void
take_answer(Session *session, PGresult *res, bool quiet)
{
	const BatchPart *part = batch_part(session);
	AnswerMeaning meaning = classify_answer(part, res);

	switch (meaning)
	{
		case ANSWER_END:
		case ANSWER_SYNC:
			batch_advance(session);
			break;
		case ANSWER_FACT:
			facts_take(session, part, res);
			break;
		case ANSWER_DONE:
			accept_answer(session, part, res);
			break;
		case ANSWER_SKIPPED:
			break;
		case ANSWER_COMMIT_FAILED:
			remote_xact_fail_commit(session);
			warn_of_commit(session, res);
			break;
		case ANSWER_NOT_PREPARED:
		case ANSWER_FAILED:
			remote_xact_fail(session);
			if (meaning == ANSWER_FAILED)
				remote_xact_enter(session, PHASE_BROKEN);
			if (!quiet)
				results_report(session, ERROR, res,
							   shown_command(session, part, res));
			break;
	}
	PQclear(res);
}

/* Updates the session from a result of a caller's command, read or drained. */
static void
note_command(Session *session, const BatchPart *part, const PGresult *res)
{
	if (PQresultStatus(res) == PGRES_COMMAND_OK && part->prepares != NULL)
		prepared_note(session, part->prepares);
	if (PQresultStatus(res) != PGRES_FATAL_ERROR)
		return;
	session->counters.errors++;
	if (part->statement != NULL)
		statement_note_error(part->statement, error_sqlstate(res));
}

/* The same for a result that the caller reads: counts its rows. */
static void
note_result(Session *session, const BatchPart *part, PGresult *res)
{
	note_command(session, part, res);
	session->counters.rows += PQntuples(res);
	if (part->statement != NULL &&
		PQresultStatus(res) != PGRES_FATAL_ERROR &&
		PQresultStatus(res) != PGRES_PIPELINE_ABORTED)
		statement_note_success(part->statement, session->xact.lock_epoch);
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
			batch_advance(session);
		return res;
	}
	return NULL;
}

/*
 * Can the caller read on without waiting?  Yes if its result, or the leading
 * answers that it has yet to read, can be read now, if nothing is left to be
 * read, the connection is lost, or a COMMIT has failed.  Reads what has arrived.
 */
bool
results_are_ready(Session *session)
{
	const BatchPart *part;
	bool		is_taken = false;

	while ((part = batch_part(session)) != NULL &&
		   !remote_xact_has_lost_commit(session) &&
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
			(reader_is_ahead(session) && part->kind != PART_COMMIT &&
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

/* Reads the remaining answers, and raises an error of any command. */
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
 * Reads the remaining answers to learn the state of the remote transaction, and
 * raises no error of the remote server.  No answer of the batch is left to be
 * read, even if the connection is lost or the deadline has passed.  Whoever reads
 * the session's answers reads those to what is sent next.
 */
void
results_skip(Session *session)
{
	const BatchPart *part;

	while ((part = batch_part(session)) != NULL &&
		   PQstatus(session->conn) != CONNECTION_BAD)
	{
		PGresult   *res = wait_for_result(session);

		if (session->wait.timed_out)
			break;
		if (part->kind == PART_COMMAND && res != NULL)
		{
			if (PQresultStatus(res) == PGRES_FATAL_ERROR)
				remote_xact_fail(session);
			note_command(session, part, res);
			PQclear(res);
		}
		else
			take_answer(session, res, true);
	}
	batch_abandon(session);
	reader_append(session, false);
}

/* The same, and nobody reads the session's answers any more. */
void
results_drain(Session *session)
{
	results_skip(session);
	reader_release(session);
}

/* What to do about the next of the leading answers */
typedef enum LeadingAction
{
	LEADING_TAKE,
	LEADING_STOP,				/* the connection is lost */
	LEADING_GIVE_UP				/* an error, before there is a remote
								 * transaction */
} LeadingAction;

/* Decides about an answer, which may be NULL. */
static LeadingAction
decide_leading(const Session *session, const BatchPart *part,
			   const PGresult *res)
{
	if (PQstatus(session->conn) == CONNECTION_BAD)
		return LEADING_STOP;
	if (session->xact.remote_depth == 0 && res != NULL &&
		PQresultStatus(res) == PGRES_FATAL_ERROR &&
		part->kind != PART_COMMIT && !part_is_apart(part->kind))
		return LEADING_GIVE_UP;
	return LEADING_TAKE;
}

/*
 * Handles an error among the leading answers, before there is a remote
 * transaction.  Returns if the caller can replace the connection: if it is lost,
 * which shows only once all is read, after a FATAL, and, with may_replace, if its
 * own prepared statements are gone, as behind a pooler; the new connection
 * prepares none.  Any other error is raised.
 */
static void
give_up(Session *session, PGresult *res, bool may_replace)
{
	const char *sql = batch_part(session)->sql;
	RemoteError error = error_read(session, res);

	PQclear(res);
	results_skip(session);
	if (PQstatus(session->conn) == CONNECTION_BAD)
		return;
	remote_xact_enter(session, PHASE_BROKEN);
	if (may_replace && error.sqlstate == ERRCODE_UNDEFINED_PSTATEMENT)
	{
		facts_note_lost_statements(session, true);
		return;
	}
	reader_release(session);
	error_report(session, ERROR, &error, sql);
}

/* Reads the leading answers. */
LeadingAnswers
results_read_leading(Session *session, bool may_replace)
{
	while (PQstatus(session->conn) != CONNECTION_BAD)
	{
		const BatchPart *part = batch_part(session);
		PGresult   *res;

		if (remote_xact_has_lost_commit(session))
			return LEADING_REPLACE;
		if (part == NULL || part->kind == PART_COMMAND)
			return LEADING_READ;
		res = wait_for_result(session);
		switch (decide_leading(session, part, res))
		{
			case LEADING_TAKE:
				take_answer(session, res, false);
				break;
			case LEADING_STOP:
				PQclear(res);
				break;
			case LEADING_GIVE_UP:
				give_up(session, res, may_replace);
				return LEADING_REPLACE;
		}
	}
	return session->xact.remote_depth > 0 ? LEADING_LOST : LEADING_REPLACE;
}
