/*
 * answers.c
 *	  The answers to a flight of a session: reading them, reporting errors.
 *
 * The parts of the flight (flight.c) say what each answer is about.  The caller
 * reads the results of his commands; answers to our own are taken on the way,
 * and change what is known of the remote transaction.  After an error the rest
 * is read for the same purpose.  Results are the reader's.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "questions.h"

/* All that an error of the remote server says */
typedef struct RemoteError
{
	int			sqlstate;
	char	   *primary;
	char	   *detail;
	char	   *hint;
	char	   *context;
	char	   *sql;			/* of the command, if it is kept, or NULL */
} RemoteError;

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
		if (!session_wait(session, events))
		{
			session->timed_out = true;
			return NULL;
		}
		if (!PQconsumeInput(session->conn))
			break;
	}
	return PQgetResult(session->conn);
}

/* The SQLSTATE of an error, or of a lost connection. */
int
session_sqlstate(const PGresult *res)
{
	const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	return state == NULL ? ERRCODE_CONNECTION_FAILURE
		: MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
}

/* Reads the error into this context. */
static RemoteError
copy_error(Session *session, PGresult *res)
{
	const char *primary = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
	const char *detail = PQresultErrorField(res, PG_DIAG_MESSAGE_DETAIL);
	const char *hint = PQresultErrorField(res, PG_DIAG_MESSAGE_HINT);
	const char *context = PQresultErrorField(res, PG_DIAG_CONTEXT);
	RemoteError error = {0};

	error.sqlstate = session_sqlstate(res);
	error.primary = primary ? pstrdup(primary)
		: pchomp(PQerrorMessage(session->conn));
	error.detail = detail ? pstrdup(detail) : NULL;
	error.hint = hint ? pstrdup(hint) : NULL;
	error.context = context ? pstrdup(context) : NULL;
	return error;
}

/* Copies a string, which may be NULL, into memory of the local transaction. */
static char *
copy_for_transaction(const char *string)
{
	return string == NULL ? NULL
		: MemoryContextStrdup(TopTransactionContext, string);
}

/*
 * Keeps an error that is being raised, if it belongs to an outer level: a
 * rollback of the present one does not make up for it.  Nobody reads on.
 */
static void
keep_if_outer(Session *session, const RemoteError *error, const char *sql)
{
	RemoteError *kept;

	if (!session->is_settling &&
		session->flight_level >= GetCurrentTransactionNestLevel())
		return;
	kept = MemoryContextAlloc(TopTransactionContext, sizeof(RemoteError));
	kept->sqlstate = error->sqlstate;
	kept->primary = copy_for_transaction(error->primary);
	kept->detail = copy_for_transaction(error->detail);
	kept->hint = copy_for_transaction(error->hint);
	kept->context = copy_for_transaction(error->context);
	kept->sql = copy_for_transaction(sql);
	session->kept_error = kept;
	session->kept_level = session->xact_depth;
	session_forget_readers(session);
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
 * Raises the error of an outer level that was kept, if there is one; it is kept
 * on.
 */
void
session_raise_kept(Session *session)
{
	if (session->kept_level == 0 || session->is_settling)
		return;
	if (session->kept_error != NULL)
		throw_error(ERROR, session->kept_error, session->kept_error->sql);
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_EXCEPTION),
			 errmsg("connection to server \"%s\" cannot be used because a command of an outer transaction level was interrupted",
					GetForeignServer(session->server)->servername)));
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

	if (elevel >= ERROR)
		keep_if_outer(session, &error, sql);
	throw_error(elevel, &error, sql);
}

/* Is a result, if there is one, one row that begins with true? */
bool
session_is_true(const PGresult *res)
{
	return PQntuples(res) == 1 && strcmp(PQgetvalue(res, 0, 0), "t") == 0;
}

/* Keeps the types that a description gives to a statement's parameters. */
static void
accept_types(Session *session, CachedStatement *statement, PGresult *res)
{
	statement_make_types(session->cache, statement, PQnparams(res));
	for (int i = 0; i < statement->ntypes; i++)
		statement->types[i] = PQparamtype(res, i);
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
			/* The level may have been released since that was sent. */
			session->kept_depth = Min(part->depth, session->xact_depth);
			break;
		case PART_PREPARE:
			part->statement->is_prepared = true;
			part->statement->safe_epoch = session_lock_epoch(session);
			break;
		case PART_DESCRIBE:
			accept_types(session, part->statement, res);
			break;
		case PART_WRITE_CHECK:
			session->may_have_written = !session_is_true(res);
			session->has_written |= session->may_have_written;
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
	if (session_sqlstate(res) == ERRCODE_UNDEFINED_PSTATEMENT)
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
	int			sqlstate = session_sqlstate(res);
	const char *severity = PQresultErrorField(res,
											  PG_DIAG_SEVERITY_NONLOCALIZED);
	RemoteError error;

	if (severity == NULL || strcmp(severity, "ERROR") != 0 ||
		sqlstate == ERRCODE_UNDEFINED_PSTATEMENT)
		return;
	error = copy_error(session, res);
	ereport(WARNING,
			(errcode(sqlstate),
			 errmsg("a remote COMMIT that was not waited for has failed: %s",
					error.primary),
			 errhint("Set tollfree_postgres_fdw.unawaited_commit to off where remote functions do more than write to tables of their server.")));
}

/*
 * Takes the answer to one of our own commands, and clears it.  An error is
 * raised unless quiet, and leaves the session half done, but for one in a
 * statement that was to be prepared for the caller, and for questions without an
 * answer.
 */
static void
take_answer(Session *session, PGresult *res, bool quiet)
{
	const Part *part = &session->parts[session->part];

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
			session->part++;	/* nothing follows it */
			break;
		case PGRES_PIPELINE_ABORTED:
			break;				/* what came before it has failed */
		default:
			if (part->kind == PART_COMMIT)
			{
				session->is_stale = true;
				warn_of_commit(session, res);
				break;
			}
			session->failed_depth = Max(session->remote_depth, 1);
			if (part->kind != PART_PREPARE)
				session->half_done = true;
			if (!quiet)
				session_report(session, ERROR, res, part->sql);
			break;
	}
	PQclear(res);
}

/* Notes that a caller's statement has been prepared, which he is to drop. */
static void
note_prepared(Session *session, const char *name)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	session->statements = lappend(session->statements, pstrdup(name));
	MemoryContextSwitchTo(old);
}

/* Notes what the answer to a caller's command tells, whoever reads it. */
static void
note_command(Session *session, const Part *part, const PGresult *res)
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
note_result(Session *session, const Part *part, PGresult *res)
{
	note_command(session, part, res);
	session->rows += PQntuples(res);
	if (!session->repeats_reads && atoi(PQcmdTuples(res)) > 0)
		session->has_written = true;
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
			 kind != PART_SYNC && !part_is_apart(kind)))
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
			note_command(session, &session->parts[session->part], res);
			PQclear(res);
		}
	}
	session->part = session->nparts;
	session->absorb = NULL;
	session->joins_flight = false;
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
	keep_if_outer(session, &error, sql);
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
				 session->parts[session->part].kind != PART_COMMIT &&
				 !part_is_apart(session->parts[session->part].kind))
		{
			take_early_error(session, res, may_replace);
			return false;
		}
		else
			take_answer(session, res, false);
	}
	return !session->is_stale;
}
