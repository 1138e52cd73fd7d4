/*
 * control.c
 *	  Commands of our own, sent together with the caller's.
 *
 * They bring the remote transaction to the depth of the local one, and drop
 * cursors and prepared statements.  The session's questions are in questions.c.
 */
#include "postgres.h"

#include "access/xact.h"

#include "base/compat.h"
#include "session/batch.h"
#include "session/control.h"
#include "session/portals.h"
#include "session/prepared.h"

/* Names; control_prepare says when they are prepared. */
#define START_NAME "start"
#define SERIALIZABLE_NAME "serializable"
#define SERIALIZABLE_SQL "START TRANSACTION ISOLATION LEVEL SERIALIZABLE"
#define COMMIT_NAME "commit"
#define COMMIT_SQL "COMMIT TRANSACTION"

/* Under which values are exchanged, and names are those of pg_catalog */
static const char *const settings[] = {
	"search_path = pg_catalog",
	"timezone = 'GMT'",
	"datestyle = ISO",
	"intervalstyle = postgres",
	"extra_float_digits = 3"
};

/* Adds the settings: for the session, or for the transaction if there is one. */
void
control_add_settings(Session *session, int depth)
{
	for (int i = 0; i < lengthof(settings); i++)
		batch_add(session, PART_CLEANUP, depth,
				  psprintf("%s %s", depth > 0 ? "SET LOCAL" : "SET",
						   settings[i]));
}

/*
 * Prepares one of our own commands, since parsing and planning it takes as long
 * as many a query; not where the server's owner wants no prepared statements.
 */
void
control_prepare(Session *session, PartKind kind, const char *what,
				const char *sql)
{
	char		name[STATEMENT_NAME_SIZE];
	RemoteCommand command = {
		.sql = sql,.shown = sql,.prepare = true,
		.statement = prepared_own_name(session, what, name)
	};

	if (session->options.statement_cache_size > 0)
		batch_queue(session, kind, 0, &command);
}

/* Adds one of our own commands, by its prepared statement if there is one. */
void
control_add(Session *session, PartKind kind, int depth, const char *what,
			const char *sql)
{
	char		name[STATEMENT_NAME_SIZE];
	RemoteCommand command = {.sql = sql,.shown = sql};

	if (session->options.statement_cache_size > 0)
		command.statement = prepared_own_name(session, what, name);
	batch_queue(session, kind, depth, &command);
}

/*
 * Adds the COMMIT.  Where it is waited for (PART_COMMAND) it does not rely on
 * the prepared statement, which somebody may have dropped.
 */
void
control_add_commit(Session *session, PartKind kind)
{
	if (kind == PART_COMMAND)
		batch_add(session, kind, 0, COMMIT_SQL);
	else
	{
		control_add(session, kind, 0, COMMIT_NAME, COMMIT_SQL);
		session->counters.unawaited_commits++;
	}
}

/* The command that starts a remote transaction that is not serializable. */
static const char *
start_sql(const Session *session)
{
	return session->options.read_committed ?
		"START TRANSACTION ISOLATION LEVEL READ COMMITTED" :
		"START TRANSACTION ISOLATION LEVEL REPEATABLE READ";
}

/*
 * Adds what makes the remote transaction at this depth read-only, if the local one
 * is from there on, and has not been so before.
 */
static void
add_read_only(Session *session, int depth, bool is_new)
{
	int			done = session->xact.read_only_depth;

	if (depth == session->xact.read_only_level &&
		(is_new || done == 0 || done > depth))
		batch_add(session, PART_READ_ONLY, depth, "SET TRANSACTION READ ONLY");
}

/*
 * Adds the start of a remote transaction.  Its prepared statement has only the
 * isolation level, which the other properties follow.
 */
static void
add_start(Session *session)
{
	if (IsolationIsSerializable())
		control_add(session, PART_START, 1, SERIALIZABLE_NAME,
					SERIALIZABLE_SQL);
	else
		control_add(session, PART_START, 1, START_NAME, start_sql(session));
	if (compat_is_deferrable())
		batch_add(session, PART_CLEANUP, 1, "SET TRANSACTION DEFERRABLE");
	if (session->options.is_pooled)
		control_add_settings(session, 1);
}

/*
 * Adds the commands that bring the remote transaction from a depth to the
 * depth of the local one.  A new transaction always starts with a prepared
 * statement: if the session's prepared statements are gone, that shows while
 * there is nothing to lose.
 */
void
control_add_transaction(Session *session, int depth)
{
	char		sql[64];
	bool		starts = depth == 0;

	if (session->xact.kept_depth < depth)
	{
		depth = session->xact.kept_depth;
		snprintf(sql, sizeof(sql), "RELEASE SAVEPOINT s%d", depth + 1);
		batch_add(session, PART_RELEASE, depth, sql);
	}
	if (starts)
	{
		add_start(session);
		depth = 1;
	}
	add_read_only(session, depth, starts);
	while (depth < session->xact.local_depth)
	{
		snprintf(sql, sizeof(sql), "SAVEPOINT s%d", ++depth);
		batch_add(session, PART_SAVEPOINT, depth, sql);
		add_read_only(session, depth, true);
	}
}

/* Adds the dropping of cursors and statements that are not used any more. */
void
control_add_cleanup(Session *session)
{
	ListCell   *cell;

	portals_close_unused(session);

	/*
	 * Those that an earlier transaction has left may be another server
	 * connection's, if a pooler hands these around.  Nobody keeps any then.
	 */
	if (session->prepared.unused != NIL && session->xact.remote_depth == 0 &&
		session->options.statement_cache_size == 0)
		batch_add(session, PART_CLEANUP, 0, "DEALLOCATE ALL");
	else
	{
		foreach(cell, session->prepared.unused)
			batch_add_deallocate(session, lfirst(cell));
	}
	prepared_forget_unused(session);
}

/* Adds the preparation of the statements that transactions need. */
void
control_add_preparations(Session *session)
{
	control_prepare(session, PART_CLEANUP, START_NAME, start_sql(session));
	control_prepare(session, PART_CLEANUP, SERIALIZABLE_NAME, SERIALIZABLE_SQL);
	control_prepare(session, PART_CLEANUP, COMMIT_NAME, COMMIT_SQL);
}
