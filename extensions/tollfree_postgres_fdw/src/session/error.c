/*
 * error.c
 *	  Errors of the remote server, and of the connection to it.
 *
 * An error of the remote server is reported as one of the local server, with the
 * remote command as context.  One of an outer transaction level is also kept in
 * the session: see pending.c.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "session/error.h"
#include "session/reader.h"
#include "session/remote_xact.h"

/* libpq's own notice receiver, which writes to the server's log */
static PQnoticeReceiver default_receiver = NULL;

/* The SQLSTATE of an error, or of a lost connection. */
int
error_sqlstate(const PGresult *res)
{
	const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	return state == NULL ? ERRCODE_CONNECTION_FAILURE
		: MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
}

/* Copies a string, which may be NULL, into this context. */
static char *
error_copy(const char *string)
{
	return string == NULL ? NULL : pstrdup(string);
}

/* Copies the error of a result, or of the connection, into this context. */
RemoteError
error_read(Session *session, PGresult *res)
{
	RemoteError error = {
		.sqlstate = error_sqlstate(res),
		.primary = error_copy(PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY)),
		.detail = error_copy(PQresultErrorField(res, PG_DIAG_MESSAGE_DETAIL)),
		.hint = error_copy(PQresultErrorField(res, PG_DIAG_MESSAGE_HINT)),
		.context = error_copy(PQresultErrorField(res, PG_DIAG_CONTEXT))
	};

	if (error.primary == NULL)
		error.primary = pchomp(PQerrorMessage(session->conn));
	return error;
}

/*
 * Keeps an error that is about to be raised, if its command belongs to an outer
 * level: rolling back the current level does not undo it.  Then nobody reads what
 * is in flight, or sends what is buffered, any more.
 */
static void
keep_outer_error(Session *session, const RemoteError *error, const char *sql)
{
	MemoryContext old;
	RemoteError *kept;

	if (!session->pending.is_settling &&
		session->batch.level >= GetCurrentTransactionNestLevel())
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	kept = palloc(sizeof(RemoteError));
	*kept = (RemoteError)
	{
		.sqlstate = error->sqlstate,
			.primary = error_copy(error->primary),
			.detail = error_copy(error->detail),
			.hint = error_copy(error->hint),
			.context = error_copy(error->context),
			.sql = error_copy(sql)
	};
	MemoryContextSwitchTo(old);
	remote_xact_keep_error(session, kept);
	reader_forget(session);
}

/* Reports an error of the remote server as one of the local server. */
static void
error_emit(int elevel, const RemoteError *error, const char *sql)
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

/* Raises the error of an outer level, if there is one.  It stays kept. */
void
error_raise_kept(Session *session)
{
	if (session->xact.kept_level == 0 || session->pending.is_settling)
		return;
	if (session->xact.kept_error != NULL)
		error_emit(ERROR, session->xact.kept_error, session->xact.kept_error->sql);
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_EXCEPTION),
			 errmsg("connection to server \"%s\" cannot be used because a command of an outer transaction level was interrupted",
					GetForeignServer(session->server)->servername)));
}

/* Does a command name a parameter of this number? */
static bool
names_parameter(const char *sql, int number)
{
	for (const char *p = strchr(sql, '$'); p != NULL; p = strchr(p + 1, '$'))
	{
		if (atoi(p + 1) == number)
			return true;
	}
	return false;
}

/*
 * Removes the lines of a context that name parameters of which the command, as the
 * user knows it, has none: they are constants in it (sql/parameterize.c).
 */
static void
remove_constants(char *context, const char *sql)
{
	static const char start[] = "unnamed portal parameter $";
	char	   *line = context;

	while (*line != '\0')
	{
		char	   *next = line + strcspn(line, "\n");

		next += *next == '\n';
		if (strncmp(line, start, strlen(start)) == 0 &&
			!names_parameter(sql, atoi(line + strlen(start))))
			memmove(line, next, strlen(next) + 1);
		else
			line = next;
	}
	/* The last line may have been one of them. */
	if (line > context && line[-1] == '\n')
		line[-1] = '\0';
}

/* Has the remote server ended the session with this? */
bool
error_is_fatal(const PGresult *res)
{
	const char *severity = PQresultErrorField(res,
											  PG_DIAG_SEVERITY_NONLOCALIZED);

	return severity != NULL &&
		(strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0);
}

/*
 * Keeps the text of a FATAL, all of it.  It arrives as an answer, before the
 * connection is lost, and is the reason for that.
 */
void
error_note_fatal(Session *session, const PGresult *res)
{
	if (session->fatal == NULL && error_is_fatal(res))
		*session_own(char *, session, fatal) =
			PQresultVerboseErrorMessage(res, PQERRORS_DEFAULT,
										PQSHOW_CONTEXT_ALWAYS);
}

/* The connection on which it arrived is gone. */
void
error_forget_fatal(Session *session)
{
	PQfreemem(session->fatal);
	*session_own(char *, session, fatal) = NULL;
}

/*
 * libpq's notice receiver.  It gets the answers, too, that libpq finds when it has
 * noticed, in sending, that the connection is lost: it expects none then.
 */
static void
receive_notice(void *arg, const PGresult *res)
{
	Session    *session = arg;

	error_note_fatal(session, res);
	if (PQstatus(session->conn) != CONNECTION_BAD)
		default_receiver(COMPAT_NOTICE_PREFIX, res);
}

/* Has the session's notices looked at. */
void
error_receive_notices(Session *session)
{
	default_receiver = PQsetNoticeReceiver(session->conn, receive_notice,
										   session);
}

/*
 * Has libpq look at what had arrived, and was not read, when the connection was
 * lost.  It gives NULL again and again when it is done.
 */
static void
read_rest(Session *session)
{
	int			nulls = 0;

	while (session->fatal == NULL && nulls < 2)
	{
		PGresult   *res = PQgetResult(session->conn);

		error_note_fatal(session, res);
		nulls = res == NULL ? nulls + 1 : 0;
		PQclear(res);
	}
}

/*
 * The error of a lost connection, as postgres_fdw puts it: the FATAL, if there
 * was one, with all that belongs to it, and what libpq says.
 */
static RemoteError
describe_loss(Session *session, const RemoteError *error)
{
	const char *message = pstrdup(PQerrorMessage(session->conn));
	const char *fatal;
	RemoteError loss = {.sqlstate = ERRCODE_CONNECTION_FAILURE};

	read_rest(session);
	fatal = session->fatal != NULL ? session->fatal : "";
	/* libpq's message begins with the FATAL, unless it has been reset since. */
	if (strncmp(message, fatal, strlen(fatal)) == 0)
		fatal = "";
	loss.primary = pchomp(psprintf("%s%s", fatal, message));
	if (loss.primary[0] == '\0')
		loss.primary = error->primary;
	return loss;
}

/*
 * Reports an error.  If the connection is lost, that becomes the error.  No
 * answer of the batch may be left unread.
 */
void
error_report(Session *session, int elevel, RemoteError *error, const char *sql)
{
	if (PQstatus(session->conn) == CONNECTION_BAD)
		*error = describe_loss(session, error);
	if (error->context != NULL && sql != NULL)
	{
		remove_constants(error->context, sql);
		if (*error->context == '\0')
			error->context = NULL;
	}
	if (elevel >= ERROR)
		keep_outer_error(session, error, sql);
	error_emit(elevel, error, sql);
}
