/*
 * session.c
 *	  A session on a remote server: executing commands in it.
 *
 * A batch is made of commands of our own (control.c, questions.c) and of the
 * caller's, the first of which may be a statement that is kept prepared (statement.c).
 *
 * As long as no answer to START TRANSACTION has arrived a lost connection has
 * lost nothing, so the batch is repeated once on a new one.  The same goes for
 * a SELECT without transaction, as long as none of its rows has arrived.
 *
 * How a batch is sent is batch.c's business, how it is read results.c's, how
 * the connection begins and ends connection.c's, when transactions begin and end
 * transaction.c's, which sessions there are sessions.c's.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "base/compat.h"
#include "base/settings.h"
#include "session/batch.h"
#include "session/connection.h"
#include "session/control.h"
#include "session/error.h"
#include "session/paramtypes.h"
#include "session/pending.h"
#include "session/questions.h"
#include "session/relations.h"
#include "session/results.h"
#include "session/session.h"
#include "session/state.h"
#include "session/statement.h"
#include "sql/command.h"

/*
 * Would a kept statement do what the command does, whatever has been altered
 * since?  If not, that shows when it fails, and where the remote transaction
 * starts with it, it can be repeated then.
 */
static bool
is_lasting(const Session *session, const RemoteCommand *command, bool starts)
{
	if (command->hints.printed_types == NULL)
		return starts || command->hints.returns_nothing;
	return command->hints.returns_nothing &&
		paramtypes_hold(statement_find(session->prepared.cache, command->sql),
						command);
}

/*
 * May the next batch be sent behind one whose answers are not read yet?  Not if
 * it has to change the depth of the remote transaction, which that may do, too.
 */
static bool
can_append(const Session *session)
{
	return session->batch.is_appended && session->xact.remote_depth > 0 &&
		session->xact.remote_depth == session->xact.local_depth &&
		session->xact.kept_depth == session->xact.local_depth;
}

/* How commands are sent; decided before anything of the batch is put together. */
typedef struct Sending
{
	const RemoteCommand *commands;
	int			ncommands;
	bool		only_reads;
	bool		repeats;		/* in place of an attempt, which is rolled
								 * back */
	int			depth;			/* from which the batch goes on */
	StatementUse use;			/* of the first command */
	CachedStatement *statement; /* for that, or NULL */
	bool		autocommits;	/* without a transaction around it? */
} Sending;

/*
 * Decides how the first command is executed, and by which statement.  One that the
 * remote transaction begins with could be repeated; a repetition itself is parsed.
 */
static void
decide_use(Session *session, Sending *sending)
{
	const RemoteCommand *command = &sending->commands[0];

	sending->use = STATEMENT_ONCE;
	if (command->hints.is_cacheable && !sending->repeats)
		sending->use = statement_choose(session->prepared.cache, command->sql,
										session_lock_epoch(session),
										is_lasting(session, command,
												   sending->depth == 0),
										&session->counters.statements,
										&sending->statement);
	if (!sending->repeats)
		settings_require(REQUIRE_CACHED, sending->use == STATEMENT_REUSE);
}

/*
 * Can the only command be sent without a transaction around it?  Only if nobody
 * else uses the session in the local one, and nothing else is in the batch: then
 * there is but one outcome.
 */
static bool
can_autocommit(const Session *session, const Sending *sending)
{
	const RemoteCommand *command = &sending->commands[0];

	return command->hints.sole_relids != NIL && session->xact.users == 1 &&
		session->xact.remote_depth == 0 && session->xact.local_depth == 1 &&
		sending->use != STATEMENT_PREPARE && session->prepared.unused == NIL &&
		!session->remote.is_serializable &&
		relations_are_plain(session->facts.relations,
							command->hints.sole_relids);
}

/* Decides how the commands are sent, all of which has to be known before. */
static void
decide(Session *session, Sending *sending)
{
	sending->depth = sending->repeats ? 0 : session->xact.remote_depth;
	if (sending->depth == 0)
	{
		session->xact.starts++;
		session->xact.has_written = false;
	}
	decide_use(session, sending);
	sending->autocommits = can_autocommit(session, sending);
	settings_require(REQUIRE_AUTOCOMMIT, sending->autocommits);
}

/* Puts into the batch what was decided. */
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
 * Sends commands in one batch.  If they repeat an attempt what that has begun is
 * rolled back, and no kept statement is used.  What is in flight is read before,
 * unless this may be sent behind it: it may have begun the transaction.
 */
static void
send_commands(Session *session, const RemoteCommand *commands, int ncommands,
			  bool only_reads, bool repeats)
{
	Sending		sending = {
		.commands = commands,.ncommands = ncommands,
		.only_reads = only_reads,.repeats = repeats
	};
	bool		appends = can_append(session);

	questions_note_relations(session, commands[0].hints.sole_relids);
	if (!appends)
		pending_drain(session);
	batch_begin(session, appends);
	decide(session, &sending);
	emit(session, &sending);

	if (sending.use == STATEMENT_REUSE && sending.depth == 0 &&
		commands[0].hints.printed_types == NULL)
		session->prepared.repeatable = &commands[0];
	session->prepared.only_reads = only_reads;
	session->counters.autocommit_scans += sending.autocommits;
	session->counters.round_trips += !appends;
	session->batch.is_appended = false;
	(void) batch_send(session);
}

/*
 * Reads the answers to our own commands at the front of the batch; false if
 * the session is of no use but nothing is lost with it.
 */
static bool
read_front(Session *session, bool may_replace)
{
	if (PQstatus(session->conn) != CONNECTION_BAD)
		return results_read_front(session, may_replace);
	return session->xact.remote_depth > 0;
}

/*
 * Connects a session that executor nodes know already, for the user who asked
 * for it first in the transaction: postgres_fdw would have noticed the loss then.
 * It must not become a session of another mapping.
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
 * Replaces a lost connection, with which nothing was lost; nor is what is held
 * back.
 */
static void
replace_connection(Session *session)
{
	void		(*flush) (void *arg) = session->pending.flush;
	void	   *flush_arg = session->pending.flush_arg;

	connection_end(session);
	connect_again(session);
	session->pending.flush = flush;
	session->pending.flush_arg = flush_arg;
}

/*
 * Gets ready to repeat the command that a transaction begins with, since a kept
 * statement was refused: reads what is left of the batch, and forgets the
 * statement.
 */
static void
drop_stale(Session *session, CachedStatement *statement)
{
	results_drain(session);
	session->xact.failed_depth = 0;
	statement_forget(session->prepared.cache, statement);
}

/* Sends a command once more.  Its remote transaction, if any, begins anew. */
static void
repeat(Session *session, const RemoteCommand *command)
{
	send_commands(session, command, 1, session->prepared.only_reads, true);
	if (!read_front(session, false))
		results_report(session, ERROR, NULL, command->shown);
	if (command->hints.in_pieces)
		compat_set_row_mode(session->conn, COMPAT_ROWS_IN_CHUNK);
}

/*
 * Is it an error that a stale statement may have caused?  One whose types are
 * gone fails with an internal error.
 */
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
 * The next result of the caller's current command, which he must clear, or
 * NULL after its last one.  With a lost connection it is an error or NULL;
 * PQstatus tells.
 */
PGresult *
session_result(Session *session)
{
	const RemoteCommand *command = session->prepared.repeatable;
	void		(*drain) (void *arg) = session->pending.drain;
	void	   *drain_arg = session->pending.drain_arg;
	PGresult   *res = results_next(session);

	session->prepared.repeatable = NULL;
	if (command == NULL || !may_be_stale(res))
		return res;
	drop_stale(session, session->batch.parts[session->batch.part].statement);
	PQclear(res);
	repeat(session, command);
	session->pending.drain = drain;
	session->pending.drain_arg = drain_arg;
	return results_next(session);
}

/*
 * Raises an ERROR if one was kept, or if it is not known what state the session
 * is in.
 */
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
 * Sends commands, in the remote transaction that belongs to the local one, and
 * waits for nothing.  only_reads says that they write only what a function or
 * view of the remote server does, which is then checked.  The caller calls
 * session_await_front, up to which the commands must last, reads the results
 * of each with session_result, and then calls results_finish.
 */
void
session_send_ahead(Session *session, const RemoteCommand *commands,
				   int ncommands, bool only_reads)
{
	error_raise_kept(session);
	/* Somebody's attempt to replace it may have failed, and that be forgiven. */
	if (session->conn == NULL)
		connect_again(session);
	/* What is wrong with a lost connection, sending shows better. */
	if (PQstatus(session->conn) == CONNECTION_OK)
		session_check_usable(session);
	pending_settle(session);
	if (session->pending.flush != NULL)
		session->pending.flush(session->pending.flush_arg);
	send_commands(session, commands, ncommands, only_reads, false);
	if (session->batch.part < session->batch.nparts &&
		session->batch.parts[session->batch.part].kind == PART_COMMAND)
		return;
	session->pending.ahead = commands;
	session->pending.nahead = ncommands;
	session->pending.only_reads = only_reads;
}

/*
 * Waits for the answers to our own commands at the front of what was sent.  If
 * the connection was lost before, it is replaced and all is sent again.
 */
void
session_await_front(Session *session)
{
	const RemoteCommand *commands = session->pending.ahead;

	session->pending.ahead = NULL;
	if (commands == NULL || read_front(session, true))
		return;

	replace_connection(session);
	send_commands(session, commands, session->pending.nahead,
				  session->pending.only_reads, false);
	if (!read_front(session, false))
		results_report(session, ERROR, NULL, commands[0].shown);
}

/* Both, for a caller who has nothing else to do. */
void
session_send(Session *session, const RemoteCommand *commands, int ncommands,
			 bool only_reads)
{
	session_send_ahead(session, commands, ncommands, only_reads);
	session_await_front(session);
}

/* Keeps a command's only result.  An error is raised. */
static void
keep_result(Session *session, const RemoteCommand *command, PGresult *res)
{
	PQclear(session->batch.result);
	session->batch.result = NULL;
	if (PQresultStatus(res) != PGRES_COMMAND_OK &&
		PQresultStatus(res) != PGRES_TUPLES_OK)
		results_report(session, ERROR, res, command->shown);
	session->batch.result = res;
	/* The result is followed by the command's end. */
	res = session_result(session);
	if (res != NULL || PQstatus(session->conn) == CONNECTION_BAD)
		results_report(session, ERROR, res, command->shown);
}

/*
 * Reads the results of commands to the end of the batch, and keeps the last
 * one.  An error of any of them is raised.
 */
static void
read_results(Session *session, const RemoteCommand *commands, int ncommands)
{
	for (int i = 0; i < ncommands; i++)
		keep_result(session, &commands[i], session_result(session));
	results_finish(session);
}

/* The result that was kept, which the caller must clear. */
static PGresult *
take_result(Session *session)
{
	PGresult   *res = session->batch.result;

	session->batch.result = NULL;
	return res;
}

/*
 * Sends commands and waits for all of them; the last one's only result, which
 * the caller must clear.  An error of any of them is raised.
 */
PGresult *
session_execute(Session *session, const RemoteCommand *commands,
				int ncommands, bool only_reads)
{
	session_send(session, commands, ncommands, only_reads);
	read_results(session, commands, ncommands);
	return take_result(session);
}

/* Drops a prepared statement with the next batch. */
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
