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
#include "session/control.h"
#include "session/facts.h"
#include "session/pending.h"
#include "session/prepared.h"
#include "session/questions.h"
#include "session/reader.h"
#include "session/remote_xact.h"
#include "session/results.h"
#include "session/session.h"
#include "session/timezones.h"

/*
 * May the next batch be sent while the answers to the last one are unread?
 * Not if it changes the depth of the remote transaction: so may these answers.
 */
static bool
can_append(const Session *session)
{
	return session->pending.may_append && session->xact.remote_depth > 0 &&
		remote_xact_is_level(session);
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
 * Nor if a question is pending, which is sent behind a COMMIT, or if its settings
 * are those of a transaction.
 */
static bool
can_autocommit(const Session *session, const Sending *sending)
{
	const RemoteCommand *command = &sending->commands[0];

	return command->hints.sole_relids != NIL && session->xact.users == 1 &&
		session->xact.remote_depth == 0 && session->xact.local_depth == 1 &&
		sending->use != STATEMENT_PREPARE && session->prepared.unused == NIL &&
		!session->remote.is_serializable && !session->options.is_pooled &&
		session->facts.pending_questions == NIL &&
		facts_know_plain(session, command->hints.sole_relids);
}

/* Makes all decisions about the batch.  Counts a transaction that it starts. */
static void
decide_sending(Session *session, Sending *sending)
{
	sending->depth = sending->repeats ? 0 : session->xact.remote_depth;
	if (sending->depth == 0)
		remote_xact_begin(session);
	decide_use(session, sending);
	sending->autocommits = can_autocommit(session, sending);
	settings_require(REQUIRE_AUTOCOMMIT, sending->autocommits);
}

/* Builds the batch as decided. */
static void
build_batch(Session *session, const Sending *sending)
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
	bool		repeatable;

	facts_note_relations(session, commands[0].hints.sole_relids);
	if (!sending.appends)
	{
		pending_drain(session);
		questions_settle(session);
	}
	batch_begin(session, sending.appends);
	decide_sending(session, &sending);
	build_batch(session, &sending);

	repeatable = sending.use == STATEMENT_REUSE && sending.depth == 0 &&
		commands[0].hints.printed_types == NULL;
	prepared_note_sent(session, repeatable ? &commands[0] : NULL, only_reads);
	session->counters.autocommit_scans += sending.autocommits;
	session->counters.round_trips += !sending.appends;
	reader_append(session, false);
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

/* Raises an ERROR if the server of a new connection has other rules of a time zone. */
static void
check_zone_again(Session *session, const pg_tz *zone)
{
	bool		is_same = false;

	questions_ask_zone(session, zone);
	if (!facts_know_zone(session, zone, &is_same) || !is_same)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("could not connect to server \"%s\" again: it has other rules of time zone \"%s\" now",
						GetForeignServer(session->server)->servername,
						pg_get_timezone_name(unconstify(pg_tz *, zone)))));
}

/* Raises an ERROR if a new connection is to what the transaction cannot rely on. */
static void
check_again(Session *session)
{
	const RemoteTraits *traits = &session->remote;
	const char *what = NULL;
	ListCell   *cell;

	foreach(cell, traits->relied_zones)
		check_zone_again(session, lfirst(cell));
	if (traits->relies_on_version && !session_is_same_version(session))
		what = "major version";
	else if (traits->relies_on_encoding && !traits->same_encoding)
		what = "encoding";
	if (what != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("could not connect to server \"%s\" again: it has another %s now",
						GetForeignServer(session->server)->servername, what)));
}

/*
 * Replaces a connection that was lost before anything could be lost with it.
 * Whoever reads the session's answers reads those to what is sent again, and
 * buffered commands stay buffered.
 */
static void
replace_connection(Session *session)
{
	const PendingWork pending = session->pending;

	Assert(session->xact.remote_depth == 0);
	connection_end(session);
	connect_again(session);
	session->counters.reconnects++;
	check_again(session);
	reader_keep(session, &pending);
}

/*
 * Sends the command that has failed once more, without its cached statement and in
 * a new remote transaction if it had one.
 */
static void
repeat_command(Session *session, const RemoteCommand *command)
{
	CachedStatement *statement = batch_part(session)->statement;

	results_skip(session);
	remote_xact_forget_failure(session);
	statement_forget(session->prepared.cache, statement);
	session->counters.repeats++;
	send_commands(session, command, 1, session->prepared.only_reads, true);
	if (results_read_leading(session, false) == LEADING_REPLACE)
		results_report(session, ERROR, NULL, command->shown);
	if (command->hints.in_pieces)
		compat_set_row_mode(session->conn, COMPAT_ROWS_IN_CHUNK);
}

/*
 * Is a command to be repeated after this result?  It must be repeatable (or else
 * NULL), and a stale cached statement, or a type that is gone, may have caused the
 * error.
 */
static bool
is_to_repeat(const RemoteCommand *command, const PGresult *res)
{
	int			code;

	if (command == NULL || PQresultStatus(res) != PGRES_FATAL_ERROR)
		return false;
	code = error_sqlstate(res);
	return code == ERRCODE_UNDEFINED_PSTATEMENT ||
		code == ERRCODE_FEATURE_NOT_SUPPORTED ||
		code == ERRCODE_INTERNAL_ERROR;
}

/*
 * The next result of the caller's current command, as results_next returns it.
 * A command whose cached statement was refused is repeated without it.
 */
PGresult *
session_result(Session *session)
{
	const RemoteCommand *command = session->prepared.repeatable;
	PGresult   *res = results_next(session);

	prepared_forget_repeatable(session);
	if (!is_to_repeat(command, res))
		return res;
	PQclear(res);
	repeat_command(session, command);
	return results_next(session);
}

/* Raises the kept error of an outer level, or an ERROR if unusable. */
void
session_check_usable(Session *session)
{
	error_raise_kept(session);
	if (remote_xact_is_unusable(session))
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
	reader_send_ahead(session, commands, ncommands);
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

	reader_end_ahead(session);
	if (commands == NULL ||
		results_read_leading(session, true) != LEADING_REPLACE)
		return;

	replace_connection(session);
	send_commands(session, commands, session->pending.nahead, only_reads, false);
	if (results_read_leading(session, false) == LEADING_REPLACE)
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

		PQclear(batch_take_result(session));
		if (!result_has_worked(res))
			results_report(session, ERROR, res, commands[i].shown);
		batch_keep_result(session, res);
		session_end_command(session, commands[i].shown);
	}
	results_finish(session);
	return batch_take_result(session);
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
	if (result_has_worked(res))
		batch_keep_result(session, res);
	else
		PQclear(res);
	session_end_command(session, sql);
	session_finish_command(session, sql);
	session_finish_command(session, sql);
	results_finish(session);
	return batch_take_result(session);
}

/*
 * May keys and rows be sent as arrays?  If that is not answered yet the server
 * gets the question before the transaction begins, or in it.
 */
bool
session_takes_arrays(Session *session)
{
	if (!session->remote.knows_arrays)
		questions_await(session);
	if (!session->remote.knows_arrays)
	{
		PGresult   *res = session_ask(session, QUESTIONS_ARRAYS_SQL);

		facts_take_arrays(session, res != NULL);
		PQclear(res);
	}
	return session->remote.takes_arrays;
}

/*
 * Has the remote server the local rules of a time zone?  If that is not known yet, it
 * gets the question before the transaction begins, or in it.  If it has, the
 * transaction relies on that from here on.
 */
bool
session_has_zone(Session *session, const pg_tz *zone)
{
	bool		is_same;

	if (!facts_know_zone(session, zone, &is_same))
		questions_ask_zone(session, zone);
	if (!facts_know_zone(session, zone, &is_same))
	{
		PGresult   *res = session_ask(session, timezones_question(zone));

		facts_expect_zone(session, zone);
		facts_take_zone(session, res);
		PQclear(res);
	}
	if (!facts_know_zone(session, zone, &is_same) || !is_same)
		return false;
	facts_rely_on_zone(session, zone);
	return true;
}

/*
 * Has the remote server the local major version?  If so, the transaction relies on
 * that from here on.
 */
bool
session_has_version(Session *session)
{
	if (!session_is_same_version(session))
		return false;
	facts_rely_on_version(session);
	return true;
}

/* The same of the encoding of its database. */
bool
session_has_encoding(Session *session)
{
	if (!session->remote.same_encoding)
		return false;
	facts_rely_on_encoding(session);
	return true;
}
