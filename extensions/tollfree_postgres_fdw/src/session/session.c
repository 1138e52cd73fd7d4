/*
 * session.c
 *	  A session on a remote server: executing commands in it.
 *
 * A batch consists of commands of our own (control.c, questions.c) and of the
 * caller's commands.  The first of the caller's may be executed by a cached
 * statement (statement.c).
 *
 * A connection that is lost before START TRANSACTION was answered, or before the
 * first answer to a SELECT without a transaction, has lost nothing.  So the batch
 * is then sent once more on a new connection.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "base/compat.h"
#include "base/settings.h"
#include "session/batch.h"
#include "session/connection.h"
#include "session/pending.h"
#include "session/questions.h"
#include "session/results.h"
#include "session/session.h"

/*
 * May the next batch be sent while the answers to the last one are unread?
 * Not if it changes the depth of the remote transaction: so may these answers.
 */
static bool
can_append(const Session *session)
{
	return session->batch.is_appended && session->xact.remote_depth > 0 &&
		session->xact.remote_depth == session->xact.local_depth &&
		session->xact.kept_depth == session->xact.local_depth;
}

/* How commands are sent.  Decided completely before the batch is built. */
typedef struct Sending
{
	const RemoteCommand *commands;
	int			ncommands;
	bool		only_reads;
	bool		appends;		/* to a batch with unread answers */
	bool		repeats;		/* a failed attempt, which is rolled back
								 * first */
	int			depth;			/* of the remote transaction before the batch */
	StatementUse use;			/* of the first command */
	CachedStatement *statement; /* that it uses, or NULL */
	bool		autocommits;	/* without a transaction around it? */
} Sending;

/*
 * Decides how the first command is executed.  A repetition does without the cache.
 * So does a batch that is appended: what it looks for could take the place of a
 * statement to which answers are still to come.
 */
static void
decide_use(Session *session, Sending *sending)
{
	const RemoteCommand *command = &sending->commands[0];

	sending->use = STATEMENT_ONCE;
	if (command->hints.is_cacheable && !sending->repeats && !sending->appends)
		sending->use = statement_choose(session->prepared.cache, command,
										session->xact.lock_epoch,
										sending->depth == 0,
										&session->counters.statements,
										&sending->statement);
	if (!sending->repeats)
		settings_require(REQUIRE_CACHED, sending->use == STATEMENT_REUSE);
}

/*
 * Can the only command be sent without a transaction around it?  Only if nobody
 * else uses the session in the local transaction, and it is alone in the batch.
 * Nor if there is something to be asked, which is done behind a COMMIT.
 */
static bool
can_autocommit(const Session *session, const Sending *sending)
{
	const RemoteCommand *command = &sending->commands[0];

	return command->hints.sole_relids != NIL && session->xact.users == 1 &&
		session->xact.remote_depth == 0 && session->xact.local_depth == 1 &&
		sending->use != STATEMENT_PREPARE && session->prepared.unused == NIL &&
		!session->remote.is_serializable && session->facts.unasked == NIL &&
		questions_know_plain(session, command->hints.sole_relids);
}

/* Makes all decisions about the batch.  Counts a transaction that it starts. */
static void
decide(Session *session, Sending *sending)
{
	sending->depth = sending->repeats ? 0 : session->xact.remote_depth;
	if (sending->depth == 0)
	{
		session->xact.lock_epoch++;
		session->xact.has_written = false;
	}
	decide_use(session, sending);
	sending->autocommits = can_autocommit(session, sending);
	settings_require(REQUIRE_AUTOCOMMIT, sending->autocommits);
}

/* Builds the batch as decided. */
static void
emit(Session *session, const Sending *sending)
{
	const RemoteCommand *first = &sending->commands[0];

	if (sending->repeats && session->xact.remote_depth > 0)
		batch_add(session, PART_ROLLBACK, 0, "ABORT TRANSACTION");
	if (sending->autocommits)
		batch_add_beginning(session);
	else
	{
		control_add_transaction(session, sending->depth);
		control_add_cleanup(session);
	}
	if (sending->use == STATEMENT_ONCE)
		batch_add_command(session, first);
	else
		batch_add_cached(session, first, sending->statement,
						 sending->use == STATEMENT_PREPARE);
	for (int i = 1; i < sending->ncommands; i++)
		batch_add_command(session, &sending->commands[i]);
	if (!sending->autocommits)
		questions_add_write_check(session, sending->only_reads);
}

/*
 * Sends commands in one batch; repeats is Sending's.  Unless this batch can be
 * appended, all answers in flight are read before deciding, because they may have
 * started the transaction.
 */
static void
send_commands(Session *session, const RemoteCommand *commands, int ncommands,
			  bool only_reads, bool repeats)
{
	Sending		sending = {
		.commands = commands,.ncommands = ncommands,
		.only_reads = only_reads,.appends = can_append(session),
		.repeats = repeats
	};

	questions_note_relations(session, commands[0].hints.sole_relids);
	if (!sending.appends)
	{
		pending_drain(session);
		questions_settle(session);
	}
	batch_begin(session, sending.appends);
	decide(session, &sending);
	emit(session, &sending);

	if (sending.use == STATEMENT_REUSE && sending.depth == 0 &&
		commands[0].hints.printed_types == NULL)
		session->prepared.repeatable = &commands[0];
	session->prepared.only_reads = only_reads;
	session->counters.autocommit_scans += sending.autocommits;
	session->counters.round_trips += !sending.appends;
	session->batch.is_appended = false;
	(void) batch_send(session);
}

/*
 * Reconnects a session that executor nodes already hold, for the user who
 * first got it in this transaction: postgres_fdw would have noticed the loss
 * at that time.  It must not become a session of another mapping.
 */
static void
connect_again(Session *session)
{
	UserMapping *user = GetUserMapping(session->user, session->server);

	if (user->umid != session->mapping)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("could not connect to server \"%s\" again: the user has another user mapping now",
						GetForeignServer(session->server)->servername)));
	connection_begin(session, user);
}

/*
 * Replaces a connection that was lost before anything could be lost with it.
 * Buffered commands stay buffered.
 */
static void
replace_connection(Session *session)
{
	PendingAction flush = session->pending.flush;

	Assert(session->xact.remote_depth == 0);
	connection_end(session);
	connect_again(session);
	session->counters.reconnects++;
	session->pending.flush = flush;
}

/* Sends a command once more, in a new remote transaction if it had one. */
static void
repeat(Session *session, const RemoteCommand *command)
{
	send_commands(session, command, 1, session->prepared.only_reads, true);
	if (!results_read_leading(session, false))
		results_report(session, ERROR, NULL, command->shown);
	if (command->hints.in_pieces)
		compat_set_row_mode(session->conn, COMPAT_ROWS_IN_CHUNK);
}

/* Can a stale cached statement, or a type that is gone, have caused this? */
static bool
may_be_stale(const PGresult *res)
{
	int			code = error_sqlstate(res);

	return PQresultStatus(res) == PGRES_FATAL_ERROR &&
		(code == ERRCODE_UNDEFINED_PSTATEMENT ||
		 code == ERRCODE_FEATURE_NOT_SUPPORTED ||
		 code == ERRCODE_INTERNAL_ERROR);
}

/*
 * The next result of the caller's current command, as results_next returns it.
 * A command whose cached statement was refused is repeated without it.
 */
PGresult *
session_result(Session *session)
{
	const RemoteCommand *command = session->prepared.repeatable;
	PendingAction drain = session->pending.drain;
	PGresult   *res = results_next(session);
	CachedStatement *statement;

	session->prepared.repeatable = NULL;
	if (command == NULL || !may_be_stale(res))
		return res;
	PQclear(res);
	statement = batch_part(session)->statement;
	results_drain(session);
	session->xact.failed_depth = 0;
	statement_forget(session->prepared.cache, statement);
	session->counters.repeats++;
	repeat(session, command);
	session->pending.drain = drain;
	return results_next(session);
}

/* Raises the kept error of an outer level, or an ERROR if unusable. */
void
session_check_usable(Session *session)
{
	error_raise_kept(session);
	if (session->unusable)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_EXCEPTION),
				 errmsg("connection to server \"%s\" cannot be used due to abort cleanup failure",
						GetForeignServer(session->server)->servername)));
}

/*
 * Sends commands in the remote transaction of the local one, without waiting.
 * only_reads says that only functions and views of the remote server can
 * write; a write check finds out.  The caller then calls session_await_front,
 * reads the results of each command with session_result, and calls
 * results_finish.
 *
 * The commands must stay valid until session_await_front returns, since all
 * may be sent again.  A first command that is cacheable and has no
 * printed_types must stay valid until its first result: a stale statement has
 * it repeated.
 */
void
session_send_ahead(Session *session, const RemoteCommand *commands,
				   int ncommands, bool only_reads)
{
	const BatchPart *part;

	error_raise_kept(session);

	/* An attempt to reconnect may have failed, and its error been caught. */
	if (session->conn == NULL)
		connect_again(session);
	/* Of a lost connection, sending gives the better error. */
	if (PQstatus(session->conn) == CONNECTION_OK)
		session_check_usable(session);
	pending_settle(session);
	pending_flush(session);
	send_commands(session, commands, ncommands, only_reads, false);
	part = batch_part(session);
	if (part != NULL && part->kind == PART_COMMAND)
		return;
	session->pending.ahead = commands;
	session->pending.nahead = ncommands;
}

/*
 * Reads the leading answers of what session_send_ahead sent.  If the
 * connection was lost before, it is replaced and all is sent again.
 */
void
session_await_front(Session *session)
{
	const RemoteCommand *commands = session->pending.ahead;
	bool		only_reads = session->prepared.only_reads;

	session->pending.ahead = NULL;
	if (commands == NULL || results_read_leading(session, true))
		return;

	replace_connection(session);
	send_commands(session, commands, session->pending.nahead, only_reads, false);
	if (!results_read_leading(session, false))
		results_report(session, ERROR, NULL, commands[0].shown);
}

/* Sends commands and reads the leading answers. */
void
session_send(Session *session, const RemoteCommand *commands, int ncommands,
			 bool only_reads)
{
	session_send_ahead(session, commands, ncommands, only_reads);
	session_await_front(session);
}

/* Reads the NULL behind a command's only result; ERROR if there is more. */
void
session_end_command(Session *session, const char *sql)
{
	PGresult   *res = session_result(session);

	if (res != NULL || PQstatus(session->conn) == CONNECTION_BAD)
		results_report(session, ERROR, res, sql);
}

/* Reads all of the answer to a command without rows.  Raises its error. */
void
session_finish_command(Session *session, const char *sql)
{
	PGresult   *res = session_result(session);

	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		results_report(session, ERROR, res, sql);
	PQclear(res);
	session_end_command(session, sql);
}

/* Has the command of this result succeeded? */
static bool
has_worked(const PGresult *res)
{
	return PQresultStatus(res) == PGRES_COMMAND_OK ||
		PQresultStatus(res) == PGRES_TUPLES_OK;
}

/* Hands over the kept result, which the caller must clear. */
static PGresult *
take_result(Session *session)
{
	PGresult   *res = session->batch.result;

	session->batch.result = NULL;
	return res;
}

/*
 * Waits for all of the commands that session_send_ahead has sent.  Returns the
 * only result of the last one, which the caller must clear.  Raises an error of
 * any command.
 */
PGresult *
session_receive(Session *session, const RemoteCommand *commands,
				int ncommands)
{
	session_await_front(session);
	for (int i = 0; i < ncommands; i++)
	{
		PGresult   *res = session_result(session);

		PQclear(take_result(session));
		if (!has_worked(res))
			results_report(session, ERROR, res, commands[i].shown);
		session->batch.result = res;
		session_end_command(session, commands[i].shown);
	}
	results_finish(session);
	return take_result(session);
}

/* Sends commands and waits for all of them, as session_receive does. */
PGresult *
session_execute(Session *session, const RemoteCommand *commands,
				int ncommands, bool only_reads)
{
	session_send_ahead(session, commands, ncommands, only_reads);
	return session_receive(session, commands, ncommands);
}

/*
 * Asks a question in the remote transaction, in a savepoint, which leaves that
 * transaction as it was.  For commands that have to know the answer, such as
 * ANALYZE.  Returns the answer, which the caller must clear, or NULL if the
 * server gives an error.  Because of the Sync behind the question the server
 * executes the rollback after an error, too: it costs no further round trip.
 */
PGresult *
session_ask(Session *session, const char *sql)
{
	const RemoteCommand commands[] = {
		{.sql = "SAVEPOINT tollfree_question",.shown = sql},
		{.sql = sql,.shown = sql,.hints.syncs = true},
		{.sql = "ROLLBACK TO SAVEPOINT tollfree_question",.shown = sql},
		{.sql = "RELEASE SAVEPOINT tollfree_question",.shown = sql}
	};
	PGresult   *res;

	session_send(session, commands, lengthof(commands), true);
	session_finish_command(session, sql);
	res = session_result(session);
	if (PQstatus(session->conn) == CONNECTION_BAD)
		results_report(session, ERROR, res, sql);
	if (has_worked(res))
		session->batch.result = res;
	else
		PQclear(res);
	session_end_command(session, sql);
	session_finish_command(session, sql);
	session_finish_command(session, sql);
	results_finish(session);
	return take_result(session);
}

/* Has the next batch drop a caller's prepared statement, if it exists. */
void
session_deallocate_later(Session *session, const char *name)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	ListCell   *cell;

	foreach(cell, session->prepared.own)
	{
		char	   *known = lfirst(cell);

		if (strcmp(known, name) == 0)
		{
			session->prepared.own = foreach_delete_current(session->prepared.own,
														   cell);
			session->prepared.unused = lappend(session->prepared.unused, known);
			break;
		}
	}
	MemoryContextSwitchTo(old);
}
