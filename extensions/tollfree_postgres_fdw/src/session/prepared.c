/*
 * prepared.c
 *	  The prepared statements of a session's connection.
 *
 * This file alone writes PreparedStatements.  The statements of the cache are
 * statement.c's.  Callers prepare others, and have them dropped with a later
 * batch.  Names are never given twice on a connection.
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "session/prepared.h"

/* The part that this file writes. */
static PreparedStatements *
prepared_own(Session *session)
{
	return session_own(PreparedStatements, session, prepared);
}

/* A connection has been made, on which nothing is prepared. */
void
prepared_begin(Session *session)
{
	PreparedStatements *prepared = prepared_own(session);

	snprintf(prepared->prefix, sizeof(prepared->prefix), "tollfree_%08x_",
			 pg_prng_uint32(&pg_global_prng_state));
	prepared->cache = statement_create_cache(session->options.statement_cache_size,
											 prepared->prefix,
											 &prepared->unused);
}

/* The types of the parameters of a caller's statement; in TopMemoryContext */
typedef struct StatementDescription
{
	char		name[STATEMENT_NAME_SIZE];
	int			ntypes;
	Oid			types[FLEXIBLE_ARRAY_MEMBER];
} StatementDescription;

/* The description of a statement, or NULL. */
static StatementDescription *
find_description(const PreparedStatements *prepared, const char *name)
{
	ListCell   *cell;

	foreach(cell, prepared->descriptions)
	{
		StatementDescription *description = lfirst(cell);

		if (strcmp(description->name, name) == 0)
			return description;
	}
	return NULL;
}

/* Forgets the description of a statement, if there is one. */
static void
forget_description(PreparedStatements *prepared, const char *name)
{
	StatementDescription *description = find_description(prepared, name);

	prepared->descriptions = list_delete_ptr(prepared->descriptions, description);
	if (description != NULL)
		pfree(description);
}

/* Forgets the descriptions of all statements. */
static void
forget_descriptions(PreparedStatements *prepared)
{
	list_free_deep(prepared->descriptions);
	prepared->descriptions = NIL;
}

/* The connection is gone, if there was one, and all statements with it. */
void
prepared_end(Session *session)
{
	PreparedStatements *prepared = prepared_own(session);

	statement_drop_cache(prepared->cache);
	list_free_deep(prepared->unused);
	list_free_deep(prepared->own);
	forget_descriptions(prepared);
	memset(prepared, 0, sizeof(PreparedStatements));
}

/* The name of one of the session's own commands, of up to 12 letters. */
const char *
prepared_own_name(const Session *session, const char *what, char *name)
{
	memcpy(name, session->prepared.prefix, STATEMENT_PREFIX_LENGTH);
	strlcpy(name + STATEMENT_PREFIX_LENGTH, what,
			STATEMENT_NAME_SIZE - STATEMENT_PREFIX_LENGTH);
	return name;
}

/* The name of a statement that an execution prepares for itself. */
const char *
prepared_next_name(Session *session, char *name)
{
	PreparedStatements *prepared = prepared_own(session);

	snprintf(name, STATEMENT_NAME_SIZE, "%s%u", prepared->prefix,
			 ++prepared->names);
	return name;
}

/*
 * Makes the commands that execute a caller's statement: the first time one that
 * prepares the SQL under a new name, then the execution.  Returns their number.
 * Where a pooler could hand the statement to another session each execution has the
 * SQL, and the name says only that there was one.
 */
int
prepared_make(Session *session, char *name, const char *sql,
			  RemoteCommand execution, RemoteCommand *commands)
{
	int			n = 0;

	if (session->options.is_pooled)
	{
		if (name[0] == '\0')
			(void) prepared_next_name(session, name);
		execution.sql = sql;
		commands[0] = execution;
		return 1;
	}
	execution.statement = name;
	if (name[0] == '\0')
		commands[n++] = (RemoteCommand)
	{
		.sql = sql,.shown = execution.shown,.prepare = true,
			.statement = prepared_next_name(session, name)
	};
	commands[n++] = execution;
	return n;
}

/*
 * Notes that a caller's statement exists; the caller is to drop it.  One without a
 * name on the server, which the next command replaces, is not there.
 */
void
prepared_note(Session *session, const char *name)
{
	PreparedStatements *prepared = prepared_own(session);
	MemoryContext old;

	if (session->options.is_pooled)
		return;
	old = MemoryContextSwitchTo(TopMemoryContext);
	prepared->own = lappend(prepared->own, pstrdup(name));
	MemoryContextSwitchTo(old);
}

/* Has the next batch drop a caller's prepared statement, if it exists. */
void
prepared_deallocate_later(Session *session, const char *name)
{
	PreparedStatements *prepared = prepared_own(session);
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	ListCell   *cell;

	foreach(cell, prepared->own)
	{
		char	   *known = lfirst(cell);

		if (strcmp(known, name) == 0)
		{
			prepared->own = foreach_delete_current(prepared->own, cell);
			prepared->unused = lappend(prepared->unused, known);
			break;
		}
	}
	MemoryContextSwitchTo(old);
	forget_description(prepared, name);
}

/* Has the statements dropped that callers left prepared, after an error. */
void
prepared_deallocate_all_later(Session *session)
{
	PreparedStatements *prepared = prepared_own(session);
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	prepared->unused = list_concat(prepared->unused, prepared->own);
	list_free(prepared->own);
	prepared->own = NIL;
	MemoryContextSwitchTo(old);
	forget_descriptions(prepared);
}

/* The dropping of the unused statements is part of the batch. */
void
prepared_forget_unused(Session *session)
{
	PreparedStatements *prepared = prepared_own(session);

	list_free_deep(prepared->unused);
	prepared->unused = NIL;
}

/*
 * Keeps the types of the parameters of a caller's statement, from its
 * description, until the statement is to be dropped.
 */
void
prepared_describe(Session *session, const char *statement, const PGresult *res)
{
	PreparedStatements *prepared = prepared_own(session);
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	int			ntypes = PQnparams(res);
	StatementDescription *description = palloc(offsetof(StatementDescription, types) +
											   ntypes * sizeof(Oid));

	strlcpy(description->name, statement, STATEMENT_NAME_SIZE);
	description->ntypes = ntypes;
	for (int i = 0; i < ntypes; i++)
		description->types[i] = PQparamtype(res, i);
	prepared->descriptions = lappend(prepared->descriptions, description);
	MemoryContextSwitchTo(old);
}

/*
 * The types that the remote server chose for the ntypes parameters of a
 * statement; NULL if it was not described, or has another number of them.
 */
const Oid  *
prepared_types(const Session *session, const char *statement, int ntypes)
{
	const StatementDescription *description = find_description(&session->prepared,
															   statement);

	return description != NULL && description->ntypes == ntypes ?
		description->types : NULL;
}

/*
 * A batch is about to be sent.  repeatable is its command that is sent again if
 * its cached statement is stale, or NULL; it must last until its first result.
 */
void
prepared_note_sent(Session *session, const RemoteCommand *repeatable,
				   bool only_reads)
{
	PreparedStatements *prepared = prepared_own(session);

	prepared->repeatable = repeatable;
	prepared->only_reads = only_reads;
}

/* No command may be repeated any more. */
void
prepared_forget_repeatable(Session *session)
{
	prepared_own(session)->repeatable = NULL;
}
