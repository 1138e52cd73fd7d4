/*
 * results.c
 *	  The answers to a batch of a session: reading them, reporting errors.
 *
 * The parts of the batch (batch.c) say what each answer is about.  The caller
 * reads the results of his commands; answers to our own are taken on the way,
 * and change what is known of the remote transaction.  After an error the rest
 * is read for the same purpose.  Results are the reader's.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "session/error.h"
#include "session/questions.h"
#include "session/results.h"
#include "session/state.h"
#include "session/statement.h"
#include "session/wait.h"

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

		/* An interrupt may have left some of the batch unsent. */
		if (PQflush(session->conn) > 0)
			events |= WL_SOCKET_WRITEABLE;
		if (!wait_for(session, events))
		{
			session->batch.timed_out = true;
			return NULL;
		}
		if (!PQconsumeInput(session->conn))
			break;
	}
	return PQgetResult(session->conn);
}

/*
 * Reports an error of the remote server, or of the connection if it was lost,
 * and clears the result, which may be NULL.  The rest of the batch is read
 * first: after an error nothing of it has been executed.
 */
void
results_report(Session *session, int elevel, PGresult *res, const char *sql)
{
	RemoteError error = error_read(session, res);

	PQclear(res);
	if (session->batch.nparts > session->batch.part)
	{
		session->xact.failed_depth = Max(session->xact.remote_depth, 1);
		results_drain(session);
	}
	error_report(session, elevel, &error, sql);
}

/* Is a result, if there is one, one row that begins with true? */
bool
results_are_true(const PGresult *res)
{
	return PQntuples(res) == 1 && strcmp(PQgetvalue(res, 0, 0), "t") == 0;
}

/* Keeps the types that a description gives to a kept statement's parameters. */
static void
accept_types(Session *session, CachedStatement *statement, PGresult *res)
{
	statement_make_types(session->prepared.cache, statement, PQnparams(res));
	for (int i = 0; i < statement->ntypes; i++)
		statement->types[i] = PQparamtype(res, i);
}

/* The same of a caller's statement, of which only the last is remembered. */
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

/* Forgets which statement was described last. */
void
results_forget_description(Session *session)
{
	if (session->prepared.described_types != NULL)
		pfree(session->prepared.described_types);
	session->prepared.described_types = NULL;
	session->prepared.described[0] = '\0';
}

/*
 * The types that the remote server chose for a statement's first parameters, or
 * NULL if it is not the one described last, or has fewer.
 */
const Oid  *
results_described_types(const Session *session, const char *statement,
						int ntypes)
{
	const PreparedStatements *prepared = &session->prepared;

	return statement != NULL && strcmp(prepared->described, statement) == 0 &&
		ntypes <= prepared->ndescribed ? prepared->described_types : NULL;
}

/* Keeps what the answer to one of our own commands tells. */
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
			/* The level may have been released since that was sent. */
			session->xact.kept_depth = Min(part->depth, session->xact.local_depth);
			break;
		case PART_PREPARE:
			part->statement->is_prepared = true;
			part->statement->safe_epoch = session_lock_epoch(session);
			break;
		case PART_DESCRIBE:
			if (part->statement != NULL)
				accept_types(session, part->statement, res);
			else
				accept_description(session, part->prepares, res);
			break;
		case PART_WRITE_CHECK:
			session->xact.may_have_written = !results_are_true(res);
			session->xact.has_written |= session->xact.may_have_written;
			break;
		default:
			break;
	}
}

/* Notes that a kept statement has failed, and whether it has been dropped. */
static void
note_failure(CachedStatement *statement, const PGresult *res)
{
	statement->is_doubtful = statement->types != NULL;
	if (error_sqlstate(res) == ERRCODE_UNDEFINED_PSTATEMENT)
		statement->is_prepared = false;
}

/*
 * Warns of a COMMIT that has failed without anybody waiting for it.  Nothing is
 * lost with one that the server did not come to, because the session was being
 * ended, whatever for, or the prepared statement was gone.
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
 * Takes the answer to one of our own commands, and clears it.  An error is
 * raised unless quiet, and leaves the session unusable, but for one in a
 * statement that was to be prepared for the caller, and for questions without an
 * answer.
 */
static void
take_answer(Session *session, PGresult *res, bool quiet)
{
	const BatchPart *part = &session->batch.parts[session->batch.part];

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
			session->batch.part++;	/* nothing follows it */
			break;
		case PGRES_PIPELINE_ABORTED:
			break;				/* what came before it has failed */
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
				results_report(session, ERROR, res, part->sql);
			break;
	}
	PQclear(res);
}

/* Notes that a caller's statement has been prepared, which he is to drop. */
static void
note_prepared(Session *session, const char *name)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	session->prepared.own = lappend(session->prepared.own, pstrdup(name));
	MemoryContextSwitchTo(old);
}

/* Notes what the answer to a caller's command tells, whoever reads it. */
static void
note_command(Session *session, const BatchPart *part, const PGresult *res)
{
	ExecStatusType status = PQresultStatus(res);

	if (status == PGRES_COMMAND_OK && part->prepares != NULL)
		note_prepared(session, part->prepares);
	if (status == PGRES_FATAL_ERROR && part->statement != NULL)
		note_failure(part->statement, res);
}

/*
 * Counts the rows of a result, and notes what statement made it.  Rows that
 * were written have given the remote transaction an ID.  That a statement whose
 * parameters' types the remote server chose has worked says nothing of them.
 */
static void
note_result(Session *session, const BatchPart *part, PGresult *res)
{
	note_command(session, part, res);
	session->counters.rows += PQntuples(res);
	if (!session->prepared.only_reads && atoi(PQcmdTuples(res)) > 0)
		session->xact.has_written = true;
	if (part->statement != NULL && part->statement->types == NULL &&
		PQresultStatus(res) != PGRES_FATAL_ERROR &&
		PQresultStatus(res) != PGRES_PIPELINE_ABORTED)
		part->statement->safe_epoch = session_lock_epoch(session);
}

/*
 * The next result of the current command, which the caller must clear, or NULL
 * after its last one.  Answers to our own commands on the way are taken.  With
 * a lost connection it is an error or NULL; PQstatus tells.
 */
PGresult *
results_next(Session *session)
{
	while (session->batch.part < session->batch.nparts)
	{
		const BatchPart *part = &session->batch.parts[session->batch.part];
		PGresult   *res = wait_for_result(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
			return res;
		if (res == NULL)
		{
			session->batch.part++;
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
 * Is it to be read without waiting what comes next, the front of the batch or
 * a caller's result?  Takes in what has arrived, and answers that nobody asks
 * for.
 */
bool
results_are_ready(Session *session)
{
	bool		is_taken = false;

	while (session->batch.part < session->batch.nparts &&
		   !session->xact.commit_failed &&
		   PQstatus(session->conn) != CONNECTION_BAD)
	{
		PartKind	kind = session->batch.parts[session->batch.part].kind;
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
			(session->pending.ahead != NULL && kind != PART_COMMIT &&
			 kind != PART_SYNC && !part_is_apart(kind)))
			return true;
		res = PQgetResult(session->conn);
		if (res == NULL)
			session->batch.part++;
		else
			take_answer(session, res, false);
	}
	return true;
}

/*
 * Reads all that is left of the batch; an error in it is raised, also that of
 * a command whose results nobody asked for.
 */
void
results_finish(Session *session)
{
	while (session->batch.part < session->batch.nparts)
	{
		PGresult   *res = results_next(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
			results_report(session, ERROR, res, NULL);
		if (res != NULL && PQresultStatus(res) == PGRES_FATAL_ERROR)
			results_report(session, ERROR, res,
						   session->batch.parts[session->batch.part].sql);
		PQclear(res);
	}
}

/*
 * Reads all that is left of the batch, for the state it leaves behind; errors
 * of the remote server are not raised.  The batch is over in any case.
 */
void
results_drain(Session *session)
{
	while (session->batch.part < session->batch.nparts &&
		   PQstatus(session->conn) != CONNECTION_BAD)
	{
		PGresult   *res = wait_for_result(session);

		if (session->batch.timed_out)
			break;
		if (res == NULL)
			session->batch.part++;
		else if (session->batch.parts[session->batch.part].kind != PART_COMMAND)
			take_answer(session, res, true);
		else
		{
			if (PQresultStatus(res) == PGRES_FATAL_ERROR)
				session->xact.failed_depth = Max(session->xact.remote_depth, 1);
			note_command(session, &session->batch.parts[session->batch.part], res);
			PQclear(res);
		}
	}
	session->batch.part = session->batch.nparts;
	session->pending.drain = NULL;
	session->batch.is_appended = false;
}

/*
 * Takes an error before there is a remote transaction.  A server's farewell
 * looks like one until it hangs up, and a session whose own statements are
 * gone may be replaced by another one; any other error is raised.
 */
static void
take_early_error(Session *session, PGresult *res, bool may_replace)
{
	const char *sql = session->batch.parts[session->batch.part].sql;
	RemoteError error = error_read(session, res);

	PQclear(res);
	results_drain(session);
	if (PQstatus(session->conn) == CONNECTION_BAD)
		return;
	session->unusable = true;
	if (may_replace && error.sqlstate == ERRCODE_UNDEFINED_PSTATEMENT)
		return;
	error_report(session, ERROR, &error, sql);
}

/*
 * Reads the answers to our own commands at the front of a batch; false if the
 * session is of no use any more, but nothing is lost with it.
 */
bool
results_read_front(Session *session, bool may_replace)
{
	while (session->batch.part < session->batch.nparts &&
		   !session->xact.commit_failed &&
		   session->batch.parts[session->batch.part].kind != PART_COMMAND)
	{
		PGresult   *res = wait_for_result(session);

		if (PQstatus(session->conn) == CONNECTION_BAD)
		{
			PQclear(res);
			return session->xact.remote_depth > 0;
		}
		if (res == NULL)
			session->batch.part++;
		else if (session->xact.remote_depth == 0 &&
				 PQresultStatus(res) == PGRES_FATAL_ERROR &&
				 session->batch.parts[session->batch.part].kind != PART_COMMIT &&
				 !part_is_apart(session->batch.parts[session->batch.part].kind))
		{
			take_early_error(session, res, may_replace);
			return false;
		}
		else
			take_answer(session, res, false);
	}
	return !session->xact.commit_failed;
}
